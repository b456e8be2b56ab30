package sandbox

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
)

// maxForm bounds a posted form, in bytes.
const maxForm = 64 << 10

// send writes as a contact. The answer comes at once: what ManyChat makes of the
// message shows on the phone when it happens.
func (p *Page) send(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	id, text := r.FormValue("contact"), r.FormValue("text")
	if _, err := p.cfg.Account.Contact(id); err != nil {
		http.Error(w, "There is no such contact. Reload the page.", http.StatusNotFound)
		return
	}
	if strings.TrimSpace(text) == "" {
		http.Error(w, "Write something first.", http.StatusBadRequest)
		return
	}
	p.sent.Go(func() {
		if _, err := p.cfg.Account.Write(p.ctx, id, text); err != nil && p.ctx.Err() == nil {
			p.cfg.Log.Error("sandbox message not sent", "error", err)
		}
	})
	back(w, r, id)
}

// addContact makes one more contact.
func (p *Page) addContact(w http.ResponseWriter, r *http.Request) {
	id, err := p.cfg.Account.AddContact(manychattest.Contact{FirstName: fmt.Sprintf("Contact %d", len(p.cfg.Account.Contacts())+1)})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	back(w, r, id)
}

// setModel changes how the mock model behaves.
func (p *Page) setModel(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	seconds, err := strconv.ParseFloat(r.FormValue("latency"), 64)
	if err != nil {
		http.Error(w, "Latency must be a number of seconds.", http.StatusBadRequest)
		return
	}
	if p.cfg.Model == nil {
		http.Error(w, "This model has no switches.", http.StatusNotFound)
		return
	}
	if err := p.cfg.Model.Behave(time.Duration(seconds*float64(time.Second)), r.FormValue("mode")); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	back(w, r, r.FormValue("contact"))
}

// setFaults changes what goes wrong at ManyChat; no kind restores health.
func (p *Page) setFaults(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	var faults manychattest.Faults
	if kind := r.FormValue("kind"); kind != "" {
		times, err := strconv.Atoi(r.FormValue("times"))
		if err != nil {
			http.Error(w, "Times must be a whole number; 0 is until it is switched off.", http.StatusBadRequest)
			return
		}
		f := fault.Fault{Kind: fault.Kind(kind), Path: r.FormValue("path"), Times: times, Name: strings.TrimSpace(r.FormValue("name"))}
		if f.Kind == fault.Latency {
			f.DelayMS = 3000
		}
		faults.Faults = []fault.Fault{f}
	}
	if err := p.cfg.Account.SetFaults(faults); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	back(w, r, r.FormValue("contact"))
}

// back returns to the page: the script asked for no page of its own.
func back(w http.ResponseWriter, r *http.Request, contact string) {
	if r.Header.Get("Accept") == "text/plain" {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte(contact)) // the script notices what it does not get
		return
	}
	http.Redirect(w, r, Path+"?contact="+url.QueryEscape(contact), http.StatusSeeOther)
}

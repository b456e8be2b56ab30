package sandbox

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/sandbox/label"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
)

// maxForm bounds a posted form, in bytes.
const maxForm = 64 << 10

// maxLatency is the longest latency of the model, in seconds: twice the time after
// which its request is aborted.
const maxLatency = 60

// posted reads a form, or answers why it cannot.
func posted(w http.ResponseWriter, r *http.Request) bool {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	err := r.ParseForm()
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		http.Error(w, "This is too long for a message. Write less.", http.StatusRequestEntityTooLarge)
	case err != nil:
		http.Error(w, "The form could not be read. Reload the page and try again.", http.StatusBadRequest)
	}
	return err == nil
}

// send writes as a contact. The answer comes at once: what ManyChat makes of the
// message shows on the phone when it happens.
func (p *Page) send(w http.ResponseWriter, r *http.Request) {
	if !posted(w, r) {
		return
	}
	id, text := r.PostFormValue("contact"), r.PostFormValue("text")
	if _, err := p.cfg.Account.Contact(id); err != nil {
		http.Error(w, "There is no such contact. Reload the page.", http.StatusNotFound)
		return
	}
	if strings.TrimSpace(text) == "" {
		http.Error(w, "Write something first.", http.StatusBadRequest)
		return
	}
	if !p.write(id, text) {
		http.Error(w, "The sandbox is stopping. Start it again, and send once more.", http.StatusServiceUnavailable)
		return
	}
	back(w, r, id)
}

// write sends a text behind its request; it reports false when the page is closed.
func (p *Page) write(id, text string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ctx.Err() != nil {
		return false
	}
	p.sent.Go(func() {
		if _, err := p.cfg.Account.Write(p.ctx, id, text); err != nil && p.ctx.Err() == nil {
			p.cfg.Log.Error("sandbox message not sent", "error", err)
		}
	})
	return true
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
	if !posted(w, r) {
		return
	}
	if p.cfg.Model == nil {
		http.Error(w, "This model has no switches.", http.StatusNotFound)
		return
	}
	seconds, err := strconv.ParseFloat(r.PostFormValue("latency"), 64)
	if err != nil || !(seconds >= 0 && seconds <= maxLatency) { // NaN is in no range
		http.Error(w, fmt.Sprintf("Latency must be a number of seconds from 0 to %d.", maxLatency), http.StatusBadRequest)
		return
	}
	if err := p.cfg.Model.Behave(time.Duration(seconds*float64(time.Second)), r.PostFormValue("mode")); err != nil {
		http.Error(w, "The model cannot do that: "+err.Error(), http.StatusBadRequest)
		return
	}
	p.tell()
	back(w, r, r.PostFormValue("contact"))
}

// setFaults changes what goes wrong at ManyChat; no kind restores health.
func (p *Page) setFaults(w http.ResponseWriter, r *http.Request) {
	if !posted(w, r) {
		return
	}
	if err := p.setFault(r); err != nil {
		http.Error(w, "Nothing was changed at ManyChat: "+err.Error(), http.StatusBadRequest)
		return
	}
	p.tell()
	back(w, r, r.PostFormValue("contact"))
}

func (p *Page) setFault(r *http.Request) error {
	kind, path := fault.Kind(r.PostFormValue("kind")), r.PostFormValue("path")
	if kind == "" {
		return p.cfg.Account.Mend()
	}
	times, err := strconv.Atoi(r.PostFormValue("times"))
	switch {
	case err != nil || times < 0:
		return errors.New("the number of calls must be a whole number, 0 for all until it is switched off")
	case !slices.Contains(label.Families(), path):
		return fmt.Errorf("there are no calls named %q; choose from the list", path)
	case !slices.Contains(fault.Kinds(), kind):
		return fmt.Errorf("there is no fault named %q; choose from the list", kind)
	}
	return p.cfg.Account.Break(kind, path, times)
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

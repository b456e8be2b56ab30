package sandbox

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
)

// The lengths of the lists beside the phone.
const (
	shownTurns = 8
	shownCalls = 12
)

// view is everything the page shows.
type view struct {
	Contact  manychattest.Contact
	Contacts []entry
	Chat     []manychattest.ChatItem
	Waiting  bool
	Turns    []Turn
	Problem  string // why turns are not shown
	Last     *manychattest.Exchange
	Block    string // the newest response, indented
	Calls    []manychattest.Call

	HasModel   bool
	Latency    float64 // seconds
	Mode       string
	Modes      []string
	Fault      fault.Fault
	FaultKinds []fault.Kind
	Families   []string
}

// entry is a line of the list of contacts.
type entry struct {
	ID, Name, Last string
	Selected       bool
}

// show writes the whole page.
func (p *Page) show(w http.ResponseWriter, r *http.Request) { p.render(w, r, "page.html") }

// live writes the parts that change by themselves.
func (p *Page) live(w http.ResponseWriter, r *http.Request) { p.render(w, r, "live") }

func (p *Page) render(w http.ResponseWriter, r *http.Request, name string) {
	id := r.URL.Query().Get("contact")
	if id == "" {
		var err error
		if id, err = p.cfg.Account.Ensure("Contact 1"); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	contact, err := p.cfg.Account.Contact(id)
	if err != nil {
		http.Redirect(w, r, Path, http.StatusSeeOther)
		return
	}
	var out bytes.Buffer
	if err := templates.ExecuteTemplate(&out, name, p.view(r, contact)); err != nil {
		p.cfg.Log.Error("sandbox page not rendered", "error", err)
		http.Error(w, "The page could not be rendered; the service's log says why.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = out.WriteTo(w) // a browser that is gone needs no page
}

func (p *Page) view(r *http.Request, contact manychattest.Contact) view {
	v := view{
		Contact: contact, Chat: p.cfg.Account.Chat(contact.ID),
		FaultKinds: fault.Kinds(), Families: []string{"sendFlow", "subscriber writes"},
	}
	for _, c := range p.cfg.Account.Contacts() {
		e := entry{ID: c.ID, Name: c.Name(), Selected: c.ID == contact.ID}
		if chat := p.cfg.Account.Chat(c.ID); len(chat) > 0 {
			e.Last = chat[len(chat)-1].Text
		}
		v.Contacts = append(v.Contacts, e)
	}
	var err error
	if v.Turns, err = p.cfg.Turns.Recent(r.Context(), contact.ID, shownTurns); err != nil {
		v.Problem = err.Error()
	}
	for _, c := range p.cfg.Account.Calls() {
		if c.Contact == contact.ID {
			v.Calls = append(v.Calls, c)
		}
	}
	v.Calls = v.Calls[max(0, len(v.Calls)-shownCalls):]
	p.mu.Lock()
	v.Waiting = p.waiting[contact.ID] > 0
	if last, ok := p.last[contact.ID]; ok {
		v.Last, v.Block = &last, indented(last.Response)
	}
	p.mu.Unlock()
	if p.cfg.Model != nil {
		var latency time.Duration
		latency, v.Mode = p.cfg.Model.Behaviour()
		v.HasModel, v.Latency, v.Modes = true, latency.Seconds(), p.cfg.Model.Modes()
	}
	if set := p.cfg.Account.Faults().Faults; len(set) > 0 {
		v.Fault = set[0]
	}
	return v
}

// indented is JSON for a person to read, or the text as it is.
func indented(text string) string {
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text), "", "  "); err != nil {
		return text
	}
	return out.String()
}

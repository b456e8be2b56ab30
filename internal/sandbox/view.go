package sandbox

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/manychat-agent/manychat-agent/internal/sandbox/desk"
	"github.com/manychat-agent/manychat-agent/internal/sandbox/label"
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
	Chat     []bubble
	Example  string // what to ask; empty: no suggestion
	Waiting  bool
	Turns    []told
	Problem  string // why turns are not shown
	Notices  []desk.Notice
	Last     *manychattest.Exchange
	Block    string // the newest response, indented
	Calls    []call // newest first
	Fields   []field

	HasModel  bool
	Latency   float64 // seconds
	Modes     []label.Option
	Faults    []label.Option
	Families  []label.Option
	Times     []label.Option
	Broken    bool // there is a fault
	Unsettled bool // something of the shown turns is under way or queued
}

// Mode says in words how the model behaves.
func (v view) Mode() string { return label.Chosen(v.Modes) }

// Fault says in words what is wrong with ManyChat.
func (v view) Fault() string {
	return label.Chosen(v.Faults) + " " + label.Chosen(v.Families) + ", " + label.Chosen(v.Times)
}

// field is a custom field of the contact that holds something. The business's own come
// first.
type field struct {
	Name  string
	Value any
	Role  string // what the service has it for; empty: it is the business's own
}

// entry is a line of the list of contacts.
type entry struct {
	ID, Name string
	Selected bool
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
	v := view{Contact: contact, Example: p.cfg.Example, Chat: p.bubbles(contact.ID), Fields: p.fields(contact)}
	for _, c := range p.cfg.Account.Contacts() {
		v.Contacts = append(v.Contacts, entry{c.ID, c.Name(), c.ID == contact.ID})
	}
	p.fillBehind(&v, r)
	p.fillSwitches(&v)
	return v
}

// fillBehind adds what happened behind the phone.
func (p *Page) fillBehind(v *view, r *http.Request) {
	turns, err := p.cfg.Turns.Recent(r.Context(), v.Contact.ID, shownTurns)
	if err != nil {
		v.Problem = err.Error()
	}
	v.Calls = p.calls(v.Contact.ID)
	p.mu.Lock()
	v.Waiting = p.waiting[v.Contact.ID] > 0
	exchanges := slices.Clone(p.recent[v.Contact.ID])
	p.mu.Unlock()
	if len(exchanges) > 0 {
		v.Last = &exchanges[len(exchanges)-1]
		v.Block = indented(v.Last.Response)
	}
	var ids []string
	for i, t := range turns {
		ids = append(ids, t.ID)
		v.Turns = append(v.Turns, told{Turn: t, Newest: i == 0, Acked: t.acknowledged(exchanges), Arrived: p.arrived(t, v.Chat)})
		v.Unsettled = v.Unsettled || !t.ended()
	}
	if p.cfg.Desk != nil {
		v.Notices = p.cfg.Desk.Of(ids)
	}
}

// fields are a contact's custom fields, by name, those of the service last.
func (p *Page) fields(c manychattest.Contact) (all []field) {
	roles := map[string]string{p.cfg.Account.replyField: "the reply field", p.cfg.Account.tokenField: "the contact's token"}
	for _, name := range slices.Sorted(maps.Keys(c.Fields)) {
		all = append(all, field{name, c.Fields[name], roles[name]})
	}
	slices.SortStableFunc(all, func(a, b field) int { return min(len(a.Role), 1) - min(len(b.Role), 1) })
	return all
}

// fillSwitches adds what the forms are set to.
func (p *Page) fillSwitches(v *view) {
	if p.cfg.Model != nil {
		latency, mode := p.cfg.Model.Behaviour()
		v.HasModel, v.Latency = true, latency.Seconds()
		v.Modes = label.Options(p.cfg.Model.Modes(), label.Modes(), mode)
	}
	var set fault.Fault
	if all := p.cfg.Account.Faults().Faults; len(all) > 0 {
		set, v.Broken = all[0], true
	}
	v.Times = label.Options(label.Times(), label.TimesLabels(), strconv.Itoa(set.Times))
	v.Faults = label.Options(append([]fault.Kind{""}, fault.Kinds()...), label.Faults(), set.Kind)
	v.Families = label.Options(label.Families(), label.FamilyLabels(), set.Path)
}

// indented is JSON for a person to read, or the text as it is.
func indented(text string) string {
	var out bytes.Buffer
	if err := json.Indent(&out, []byte(text), "", "  "); err != nil {
		return text
	}
	return out.String()
}

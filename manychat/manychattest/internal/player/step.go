package player

import (
	"fmt"
	"unicode/utf16"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/placeholder"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// step runs one step and tells what it could not show.
func (p *Player) step(contact, ns string, st phone.Step) {
	var warnings []string
	err := p.cfg.Account.Update(func(s *account.State) error {
		c, err := s.Contact(contact)
		if err != nil {
			return fmt.Errorf("contact %s is gone", contact)
		}
		run := stepRun{State: s, contact: c, rules: p.cfg.PlayFlow, variables: s.Variables(c, p.cfg.ByName)}
		run.change(st)
		run.show(ns, st)
		warnings = run.warnings
		return nil
	})
	if err != nil {
		warnings = append(warnings, err.Error())
	}
	for _, w := range warnings {
		p.tell(phone.Event{Type: phone.EventWarning, Contact: contact, Flow: ns, Warning: w})
	}
}

// stepRun is a step while it runs.
type stepRun struct {
	*account.State
	contact   *account.Contact
	rules     PlayFlow
	variables placeholder.Lookup
	warnings  []string
}

func (r *stepRun) warn(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

func (r *stepRun) render(text string) string { return placeholder.Raw(text, r.variables) }

func (r *stepRun) change(st phone.Step) {
	if st.SetField != nil {
		r.assign(*st.SetField)
	}
	r.tag(st.AddTag, true)
	r.tag(st.RemoveTag, false)
}

func (r *stepRun) tag(name string, on bool) {
	if name == "" {
		return
	}
	if _, ok := r.Tag(name); !ok {
		r.warn("the tag %q does not exist", name)
		return
	}
	r.SetTag(r.contact, name, on)
}

func (r *stepRun) assign(a phone.Assignment) {
	f, ok := r.Field(a.Field)
	if !ok {
		r.warn("the custom field %q does not exist", a.Field)
		return
	}
	v, err := account.ConvertValue(f.Type, r.render(a.Value))
	if err != nil {
		r.warn("the value for the custom field %q is not a %s", a.Field, f.Type)
		return
	}
	r.SetValue(r.contact, f.Name, v)
}

// show puts what the step says on the phone. Outside the window only a template
// passes: a delay beyond it publishes fine and never delivers (platform notes, 5).
func (r *stepRun) show(ns string, st phone.Step) {
	items := r.items(st)
	switch {
	case len(items) == 0:
		return
	case r.contact.Blocked:
		r.warn("the contact has blocked the page: nothing is delivered")
		return
	case !st.Template && !r.WindowOpen(r.contact):
		r.warn("the 24-hour window is closed and the step is no template: nothing is delivered")
		return
	}
	for _, item := range items {
		item.From, item.Via, item.Flow, item.Template = phone.FromBusiness, phone.ViaFlow, ns, st.Template
		r.Show(r.contact, item)
	}
}

func (r *stepRun) items(st phone.Step) []phone.Item {
	var items []phone.Item
	if st.Text != "" {
		if text := r.render(st.Text); r.fits(text) {
			items = append(items, phone.Item{Kind: phone.KindText, Text: text, Buttons: st.Buttons})
		}
	}
	if m := st.Media; m != nil {
		items = append(items, phone.Item{Kind: m.Kind, URL: r.render(m.URL), Text: r.render(m.Caption)})
	}
	if len(st.Cards) > 0 {
		items = append(items, phone.Item{Kind: phone.KindCards, Cards: st.Cards})
	}
	if st.Text == "" && len(items) > 0 {
		items[len(items)-1].Buttons = st.Buttons
	}
	return items
}

// fits reports whether a rendered text is delivered. That the limits of a text
// bind here too is an inference (platform notes, 3.1).
func (r *stepRun) fits(text string) bool {
	limit := 2000
	if r.contact.Channel == manychat.Instagram {
		limit = 1000
	}
	switch {
	case text == "":
		r.warn("the text is empty: nothing is delivered")
		return false
	case !r.rules.AnyTextSize && len(utf16.Encode([]rune(text))) > limit:
		r.warn("the text is longer than %d symbols: nothing is delivered", limit)
		return false
	}
	return true
}

package mock

import (
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm/mock/catalog"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/cue"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/fold"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/read"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/toolbox"
)

// acts is what the desk does for a contact besides answering.
type acts struct {
	flow, tag, field *toolbox.Thing
	value            string              // of the field
	wish             *cue.Wish           // that the flow, else the tag, fulfils; nil: they share words alone
	note             *toolbox.Thing      // for the people who take over
	about            []*catalog.Offering // what the note names
	asked            bool                // the contact asked for the flow in so many words
	contact          bool                // is read

	writes []toolbox.Write // of a sale, before whatever depends on them
	delay  string          // after which the contact is asked once more; empty: not
}

// any reports whether something is done that a message may have asked for.
func (a acts) any() bool { return a.flow != nil || a.tag != nil || a.field != nil }

// decide finds the answer and what is done beside it. What the catalog does not hold may
// be what a tool is for; a message that goes to a person for any other reason does nothing
// but tell that person why.
func (m *Model) decide(d *desk, c read.Conversation, box toolbox.Box) (acts, answer) {
	q := m.understand(d, c)
	a := m.answer(d, c, q)
	if len(q.words) == 0 {
		return m.passing(acts{}, a, box), a
	}
	do := m.acts(d, c, q, box)
	unanswered := a.reason == outOfScope || a.reason == lowConfidence
	switch {
	case a.reason != "" && (!unanswered || !do.any() || m.beyond(d, q, do)):
		do = m.passing(acts{contact: do.contact}, a, box)
		if !q.described() {
			do.about = q.about
		}
	case a.reason != "", do.flow != nil && do.wish == m.cues.Pay && len(d.payments) > 0:
		a = m.instead(d, q, do)
		a.needsFlow = do.tag == nil && do.field == nil
	}
	return m.selling(heard{d, c, q, box}, do, a.orHandOff())
}

// passing adds the note for whoever takes over.
func (m *Model) passing(do acts, a answer, box toolbox.Box) acts {
	if a.reason == "" {
		return do
	}
	for i, n := range box.Notes {
		if cue.Has(n.Padded, m.cues.Handing) {
			do.note = &box.Notes[i]
		}
	}
	return do
}

// acts finds what a message asks for, or tells, that a tool can see to.
func (m *Model) acts(d *desk, c read.Conversation, q question, box toolbox.Box) (do acts) {
	do.contact = box.Contact && cue.Has(q.padded, m.cues.Earlier)
	do.tag, do.wish = m.fitting(d, q, box.Tags)
	if flow, wish := m.fitting(d, q, box.Flows); flow != nil {
		do.flow, do.wish, do.asked = flow, wish, wish == m.cues.Pay
	}
	do.field, do.value = m.told(d, q, box.Fields)
	if do.tag != nil && slices.Contains(c.Done, toolbox.AddTag+" "+do.tag.ID) {
		do.tag = nil
	}
	if do.field != nil && slices.Contains(c.Done, toolbox.SetField+" "+do.field.ID+" "+do.value) {
		do.field = nil
	}
	return do
}

// fitting is the one thing that fits a message best; nil: none does, or several do
// equally.
func (m *Model) fitting(d *desk, q question, things []toolbox.Thing) (best *toolbox.Thing, by *cue.Wish) {
	top, tied := 0.0, false
	for i := range things {
		score, wish := m.fit(d, q, &things[i])
		switch {
		case score >= 1 && score > top:
			best, by, top, tied = &things[i], wish, score, false
		case score >= 1 && score == top:
			tied = true
		}
	}
	if tied {
		return nil, nil
	}
	return best, by
}

// fit scores a thing: what a contact wants counts double, and its whole id, but for the
// offerings in it, as much as two words of its description. A thing of one offering fits
// no message about another.
func (m *Model) fit(d *desk, q question, t *toolbox.Thing) (score float64, wish *cue.Wish) {
	for i := range m.cues.Wishes {
		if w := &m.cues.Wishes[i]; cue.Has(q.padded, w.Asked) && w.Holds(t.Padded) {
			score += 2
			if wish == nil {
				wish = w
			}
		}
	}
	own := slices.DeleteFunc(slices.Clone(t.IDWords), func(w string) bool { return d.names(w) || fold.Weight(w) < 0.25 })
	missing := func(w string) bool { return !fold.Holds(q.words, w) }
	if !slices.ContainsFunc(own, missing) && m.strange(own, 0.25, func(string) bool { return false }) {
		score++
	}
	telling := slices.DeleteFunc(m.telling(q.words), func(w string) bool { return d.knows(w) || fold.Holds(own, w) })
	slices.Sort(telling)
	score += float64(fold.Count(slices.Compact(telling), func(w string) bool { return fold.Holds(t.AllWords, w) })) / 2
	if score < 1 {
		return 0, nil
	}
	of, meant := m.offeringOf(d, t), q.about
	if len(meant) == 0 {
		meant = q.before()
	}
	switch {
	case of == nil || len(meant) == 0:
		return score, wish
	case !slices.Contains(meant, of):
		return 0, nil
	case len(meant) == 1:
		score += 0.25
	}
	return score, wish
}

// offeringOf is the one offering that a thing's id names; nil: none, or several.
func (m *Model) offeringOf(d *desk, t *toolbox.Thing) *catalog.Offering {
	about, by := d.named(t.IDWords, m.isCue)
	if len(about) != 1 || by < ownWord {
		return nil
	}
	return about[0]
}

// told is the field, and its value, of which a message says that it is the contact's
// own choice. How a sale stands is not for the contact to say.
func (m *Model) told(d *desk, q question, fields []toolbox.Thing) (*toolbox.Thing, string) {
	if !cue.Has(q.padded, m.cues.Suits) {
		return nil, ""
	}
	message := strings.Fields(cue.Without(q.padded, m.cues.Greeting))
	for i := range fields {
		var said []string
		for _, v := range fields[i].Values {
			list := fold.Words(v)
			if len(list) > 0 && !slices.ContainsFunc(list, func(w string) bool { return fold.Weight(w) < 0.25 || !fold.Holds(message, w) }) {
				said = append(said, v)
			}
		}
		if len(said) == 1 && !d.ofSale(fields[i].Values) {
			return &fields[i], said[0]
		}
	}
	return nil, ""
}

// ofSale reports whether a field's values are the steps of a sale or the offerings
// (docs/spec/08-sales.md, "Markers").
func (d *desk) ofSale(values []string) bool {
	isOffering := func(v string) bool {
		return slices.ContainsFunc(d.offerings, func(o catalog.Offering) bool { return o.ID == v })
	}
	return slices.Contains(values, "prospect") || slices.Contains(values, "link_sent") || slices.ContainsFunc(values, isOffering)
}

// beyond reports whether a message has a word that neither the catalog nor what is done
// for it knows: it then asks for more than that.
func (m *Model) beyond(d *desk, q question, do acts) bool {
	rest := q.padded
	if do.wish != nil {
		rest = cue.Without(rest, do.wish.Asked)
	}
	if do.field != nil {
		rest = cue.Without(rest, m.cues.Suits)
	}
	return m.strange(strings.Fields(cue.Without(rest, m.cues.Earlier)), 0.6, func(w string) bool {
		for _, t := range []*toolbox.Thing{do.flow, do.tag, do.field} {
			if t != nil && fold.Holds(t.AllWords, w) {
				return true
			}
		}
		return d.knows(w) || fold.Holds(fold.Words(do.value), w)
	})
}

// instead is what the desk says to a message for which it has no answer but did
// something: the fact of the catalog that comes nearest, or a sign.
func (m *Model) instead(d *desk, q question, do acts) answer {
	if do.flow != nil && do.wish == m.cues.Pay && len(d.payments) > 0 {
		return said(strings.Join(m.ways(d, nil, nil), "\n"))
	}
	if do.flow != nil {
		if o := m.offeringOf(d, do.flow); o != nil {
			return answer{messages: o.Describe()[:1], closing: d.closing}
		}
	}
	if do.wish != nil {
		for _, f := range d.faq {
			if do.wish.Answers(fold.Pad(f.QuestionWords)) {
				return said(f.Answer)
			}
		}
	}
	if do.field != nil {
		var at []*catalog.Offering
		for i := range d.offerings {
			if o := &d.offerings[i]; fold.Holds(o.AllWords, fold.Words(do.value)[0]) || fold.Holds(o.TimeWords, fold.Words(do.value)[0]) {
				at = append(at, o)
			}
		}
		if text := d.lines(at, (*catalog.Offering).ScheduleLine); text != "" {
			return answer{messages: []string{text}, closing: d.closing}
		}
	}
	return answer{messages: []string{done}, closing: d.closing}
}

// done is said to something that was done, where the catalog says nothing of it.
const done = "👍"

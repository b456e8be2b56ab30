package mock

import (
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm/mock/catalog"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/cue"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/read"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/sale"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/toolbox"
)

// heard is a message as the desk has it before it.
type heard struct {
	d   *desk
	c   read.Conversation
	q   question
	box toolbox.Box
}

// selling adds what a turn does for a sale, where the tenant has one and its fields may be set. A
// message that goes to a person does nothing for it, unless the sale knows what to say to it.
func (m *Model) selling(h heard, do acts, a answer) (acts, answer) {
	d, c, box := h.d, h.c, h.box
	if !box.Sets(d.sale.Intent) {
		return do, a
	}
	step := sale.Next(d.sale, c.Sale, m.seen(h, do, a))
	instead := m.forSale(d, step)
	if unanswered := a.reason == outOfScope || a.reason == lowConfidence; a.reason != "" && (!unanswered || instead == "") {
		return do, a
	}
	if instead != "" {
		a = said(instead)
	}
	if !step.Prospect {
		if a.needsFlow && do.flow != nil && a.messages[0] == done {
			return m.passing(acts{}, handOff(outOfScope), box), handOff(outOfScope)
		}
		do, a.needsFlow = acts{contact: do.contact}, false
	}
	do.note, do.writes = nil, step.Writes
	if step.Link {
		i := slices.IndexFunc(box.Flows, func(t toolbox.Thing) bool { return m.cues.Pay.Holds(t.Padded) })
		if i >= 0 {
			do.flow, do.asked = &box.Flows[i], false
		}
	}
	if step.Nudge && len(box.Delays) > 0 {
		do.delay = box.Delays[0].ID
	}
	if says := d.says[step.Occasion]; says != "" && step.Reply != sale.Sentence {
		a.closing = says
		if strings.HasSuffix(c.LastAnswer(), says) {
			a.closing = ""
		}
	}
	return do, a
}

// seen is what a message tells of a sale.
func (m *Model) seen(h heard, do acts, a answer) sale.Message {
	q, cues := h.q, m.cues.Sale
	named := slices.ContainsFunc(m.cues.Methods, func(way []string) bool { return cue.Has(q.padded, way) })
	s := sale.Message{
		Foreign: cue.Has(q.padded, cues.Elsewhere), Customer: cue.Has(q.padded, cues.Customer),
		Asks: q.asks, Price: !q.described() && m.wantsPrice(q.padded), Ways: named || cue.Has(q.padded, m.cues.Payment),
		Agrees: !q.asks && cue.Has(q.padded, cues.Agrees), Nothing: !q.asks && cue.Has(q.padded, cues.Nothing),
		Later: cue.Has(q.padded, cues.Later), Link: do.asked, Answered: a.reason == "",
	}
	if len(q.about) == 1 && !q.described() {
		s.Offering = q.about[0].ID
	}
	place := cue.Has(q.padded, m.cues.Location) || cue.Has(q.padded, m.cues.Opening)
	s.Buys = s.Price || s.Ways || s.Link || len(q.about) > 0 || do.any() && do.wish != m.cues.Route || m.wantsFact(q.padded) && !place ||
		cue.Has(q.padded, m.cues.List) || cue.Has(q.padded, cues.Fits) || q.fit >= probablyMeant && !place
	return s
}

// forSale is what is said for a sale in place of an answer; empty: nothing, or the catalog and the
// persona do not say it.
func (m *Model) forSale(d *desk, step sale.Step) string {
	i := slices.IndexFunc(d.offerings, func(o catalog.Offering) bool { return o.ID == step.Offering })
	switch {
	case step.Reply == sale.Sentence:
		return d.says[step.Occasion]
	case step.Reply == sale.Ways:
		return strings.Join(m.ways(d, nil, nil), "\n")
	case i >= 0 && step.Reply == sale.Describes:
		return d.offerings[i].Describe()[0]
	case i >= 0 && step.Reply == sale.Offers:
		return strings.TrimSpace(d.offerings[i].PriceLine() + "\n" + d.offerings[i].ScheduleLine())
	}
	return ""
}

package mock

import (
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm/mock/catalog"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/cue"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/fold"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/read"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/sale"
)

// question is a message with what was found in it.
type question struct {
	words  []string
	padded string
	about  []*catalog.Offering        // the offerings it names; several when it fits them equally
	by     naming                     // how closely it names them
	before func() []*catalog.Offering // finds those the conversation was about; nil: none
	faq    *catalog.Question          // the entry that fits best; nil: none
	fit    float64                    // how well faq fits, 0 to 1

	asks    bool // it has a question mark
	alien   bool // it has a word, of three letters at least, that is in no list and in no name
	content bool // it has such a word of four letters at least
}

// described tells that the offerings are named by their description alone, which is too
// little to quote a price.
func (q question) described() bool { return len(q.about) > 0 && q.by == description }

// answer applies the rules of the desk in order; the first that knows what to say wins.
// A closing question is not asked twice in a row.
func (m *Model) answer(d *desk, c read.Conversation, q question) answer {
	if says := d.says[sale.FollowUp]; c.FollowUp && says != "" {
		return said(says)
	}
	if c.FollowUp {
		return said("🙂 "+d.business, d.closing).orHandOff()
	}
	rules := []func(*desk, question) (answer, bool){m.wordless, m.escalations, m.pleasantries, m.whereabouts, m.intents, m.paying, m.lookups}
	for _, rule := range rules {
		if a, ok := rule(d, q); ok {
			if strings.HasSuffix(c.LastAnswer(), a.closing) {
				a.closing = ""
			}
			return a.orHandOff()
		}
	}
	return handOff(outOfScope)
}

// wordless: an emoji is answered with one; anything else without words is unclear.
func (m *Model) wordless(_ *desk, q question) (answer, bool) {
	switch {
	case len(q.words) > 0:
		return answer{}, false
	case strings.ContainsFunc(q.padded, func(r rune) bool { return r > 0x2190 }):
		return said("🙂"), true
	}
	return handOff(lowConfidence), true
}

// How well a question of the FAQ must fit a message: to win over every cue, and to
// answer when no cue was found.
const (
	surelyMeant   = 0.8
	probablyMeant = 0.45
)

// escalations is the table, but for what the catalog itself answers.
func (m *Model) escalations(d *desk, q question) (answer, bool) {
	switch {
	case cue.Has(q.padded, m.cues.Paid), cue.Only(q.padded, m.cues.PaidAlone, 0):
		return handOff(paymentReported), true
	case q.fit >= surelyMeant:
		return said(q.faq.Answer), true
	case cue.Has(q.padded, m.cues.Complaint):
		return handOff(complaint), true
	case cue.Has(cue.Without(q.padded, m.cues.Bot), m.cues.Person):
		return handOff(explicitRequest), true
	case cue.Has(q.padded, m.cues.Change) && (len(q.about) > 0 || len(q.before()) > 0):
		return handOff(explicitRequest), true
	case cue.Has(q.padded, m.cues.Plan):
		return m.plan(d, q)
	case len(q.about) > 1 && cue.Has(q.padded, m.cues.Compare) && !cue.Has(cue.Without(q.padded, m.cues.Compare), m.cues.Discount):
		return answer{messages: []string{d.list(q.about)}, closing: d.closing}, true
	case cue.Has(q.padded, m.cues.Discount):
		return handOff(priceNegotiation), true
	}
	return answer{}, false
}

// plan answers with the payment options that speak of a plan themselves: of the one that
// the message names, else of any.
func (m *Model) plan(d *desk, q question) (answer, bool) {
	asked := slices.DeleteFunc(slices.Clone(m.cues.Plan), func(one string) bool { return !cue.Has(q.padded, []string{one}) })
	for _, cues := range [][]string{asked, m.cues.Plan} {
		var covered []string
		for _, p := range d.payments {
			if cue.Has(fold.Pad(p.Words), cues) {
				covered = append(covered, p.Description)
			}
		}
		if len(covered) > 0 {
			return said(strings.Join(covered, "\n")), true
		}
	}
	return handOff(priceNegotiation), true
}

func (m *Model) pleasantries(d *desk, q question) (answer, bool) {
	switch {
	case len(q.about) == 0 && cue.Only(q.padded, m.cues.Greeting, 1):
		return m.welcome(d), true
	case cue.Only(q.padded, m.cues.Closer, 2) && !q.asks && len(q.about) == 0 && !m.wantsFact(q.padded):
		return said("🙂"), true
	case cue.Has(q.padded, m.cues.Bot) && q.fit < probablyMeant:
		return said("🤖 " + d.business), true
	}
	return answer{}, false
}

func (m *Model) welcome(d *desk) answer {
	return answer{messages: []string{d.business, d.list(d.all())}, closing: d.closing}
}

// whereabouts answers where the business is and when it is open from a question of the
// FAQ that asks for the same, in whatever language either is asked, and not from one that
// asks where something may be done. Without one, it is open when its offerings take place.
func (m *Model) whereabouts(d *desk, q question) (answer, bool) {
	for _, cues := range [][]string{m.cues.Location, m.cues.Opening} {
		if !cue.Has(q.padded, cues) || cue.Has(q.padded, m.cues.Link) || cue.Has(q.padded, m.cues.Payment) {
			continue
		}
		for _, f := range d.faq {
			entry := fold.Pad(f.QuestionWords)
			if cue.Has(entry, cues) && !cue.Has(entry, m.cues.Doing) &&
				!m.strange(q.words, 0.6, func(w string) bool { return fold.Holds(f.AllWords, w) || d.names(w) }) {
				return said(f.Answer), true
			}
		}
	}
	if cue.Has(q.padded, m.cues.Opening) && !m.strange(q.words, 0.6, func(string) bool { return false }) {
		return said(d.lines(d.all(), (*catalog.Offering).ScheduleLine)), true
	}
	return answer{}, false
}

// intents answers what is asked of an offering, each fact in a message of its own: of
// the one named, else the one the conversation was about, else of all.
func (m *Model) intents(d *desk, q question) (answer, bool) {
	var messages []string
	meant := false
	for _, f := range m.facts(q) {
		offerings := m.meant(d, q, f.price)
		meant = meant || len(offerings) > 0
		if text := d.lines(offerings, f.line); text != "" {
			messages = append(messages, text)
		}
	}
	switch {
	case len(messages) > 0:
		return answer{messages: messages, closing: d.closing}, true
	case meant && q.fit < probablyMeant:
		return handOff(outOfScope), true
	}
	return answer{}, false
}

// fact is something that the catalog states of an offering.
type fact struct {
	line  func(*catalog.Offering) string
	price bool
}

// facts are what a message asks to know, at most three. The words of a question for how
// long are none for how much or when.
func (m *Model) facts(q question) []fact {
	var facts []fact
	padded := q.padded
	long := cue.Has(padded, m.cues.Duration)
	if long {
		facts = append(facts, fact{line: (*catalog.Offering).DurationLine})
		padded = cue.Without(padded, m.cues.Duration)
	}
	padded = cue.Without(padded, m.cues.Count)
	if !q.described() && cue.Has(padded, m.cues.Price) {
		facts = append(facts, fact{(*catalog.Offering).PriceLine, true})
	}
	if !long && cue.Has(padded, m.cues.Schedule) {
		facts = append(facts, fact{line: (*catalog.Offering).ScheduleLine})
	}
	if cue.Has(padded, m.cues.Link) {
		facts = append(facts, fact{line: (*catalog.Offering).LinkLine})
	}
	return facts
}

// wantsPrice reports whether a padded message asks for a price.
func (m *Model) wantsPrice(padded string) bool {
	return slices.ContainsFunc(m.facts(question{padded: padded}), func(f fact) bool { return f.price })
}

// wantsFact reports whether a padded message asks for a fact.
func (m *Model) wantsFact(padded string) bool { return len(m.facts(question{padded: padded})) > 0 }

// paying answers a question for the ways to pay with those it names, else with all; one
// that the catalog does not hold is out of scope.
func (m *Model) paying(d *desk, q question) (answer, bool) {
	asked := slices.DeleteFunc(slices.Clone(m.cues.Methods), func(way []string) bool { return !cue.Has(q.padded, way) })
	switch {
	case len(d.payments) == 0 || len(asked) == 0 && !cue.Has(q.padded, m.cues.Payment):
		return answer{}, false
	case m.strange(q.words, 0.6, func(w string) bool { return d.knows(w) || d.offersToPay(w) }):
		return handOff(outOfScope), true
	}
	return said(strings.Join(m.ways(d, q.words, asked), "\n")), true
}

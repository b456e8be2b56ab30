package mock

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

// The escalation reasons of the table that a prompt carries.
const (
	priceNegotiation = "price_negotiation"
	complaint        = "complaint"
	outOfScope       = "out_of_scope"
	explicitRequest  = "explicit_request"
	lowConfidence    = "low_confidence"
	paymentReported  = "payment_reported"
)

// How sure the desk says it is: of what it read in the catalog, and of nothing.
const (
	sure   = 0.95
	unsure = 0.3
)

// answer is a reply in the making.
type answer struct {
	messages []string
	reason   string // escalates when not empty
	closing  string
}

// legible reports whether a text shows a contact anything that is no programmer's word.
func legible(text string) bool {
	shown := func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }
	return strings.ContainsFunc(text, shown) && strings.TrimSpace(text) != "null"
}

func said(messages ...string) answer { return answer{messages: messages} }

// handOff escalates. The contract wants a message, which a handoff replaces; a sign
// speaks no language.
func handOff(reason string) answer { return answer{messages: []string{"🙏"}, reason: reason} }

// encode writes the reply as the contract's JSON.
func (a answer) encode() (string, error) {
	confidence := sure
	if a.reason == lowConfidence {
		confidence = unsure
	}
	b, err := json.Marshal(struct {
		Messages         []string `json:"messages"`
		Escalate         bool     `json:"escalate"`
		EscalationReason *string  `json:"escalation_reason"`
		Confidence       float64  `json:"confidence"`
		ClosingQuestion  *string  `json:"closing_question"`
	}{a.messages, a.reason != "", orNull(a.reason), confidence, orNull(a.closing)})
	return string(b), err
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// question is a message with what was found in it.
type question struct {
	words  []string
	padded string
	about  []*offering      // the offerings it names; several when it fits them equally
	before func() *offering // finds the one the conversation was about; nil: none
	faq    *faq             // the entry that fits best; nil: none
	fit    float64          // how well faq fits, 0 to 1
	alien  bool             // it has a word of some length that is in no list and not in the catalog
	// described tells that the offerings are named by their description alone, which is
	// too little to quote a price.
	described bool
	content   bool // it has a word of some length that is in no list and in no name
}

// answer applies the rules of the desk in order; the first that knows what to say wins.
func (m *Model) answer(d *desk, c conversation) answer {
	q := m.understand(d, c)
	rules := []func(*desk, question) (answer, bool){
		m.wordless, m.escalations, m.pleasantries, m.intents, m.lookups,
	}
	for _, rule := range rules {
		if a, ok := rule(d, q); ok {
			return a.orHandOff()
		}
	}
	return handOff(outOfScope)
}

// orHandOff leaves out messages for which the catalog had no text.
func (a answer) orHandOff() answer {
	a.messages = slices.DeleteFunc(a.messages, func(m string) bool { return !legible(m) })
	if len(a.messages) == 0 {
		return handOff(outOfScope)
	}
	return a
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
	case has(q.padded, m.cues.paid), only(q.padded, m.cues.paidAlone, 0):
		return handOff(paymentReported), true
	case q.fit >= surelyMeant:
		return said(q.faq.answer), true
	case has(q.padded, m.cues.complaint):
		return handOff(complaint), true
	case has(without(q.padded, m.cues.bot), m.cues.person):
		return handOff(explicitRequest), true
	case has(q.padded, m.cues.plan):
		return m.plan(d)
	case has(q.padded, m.cues.discount):
		return handOff(priceNegotiation), true
	}
	return answer{}, false
}

// plan answers with the payment options that speak of a plan themselves.
func (m *Model) plan(d *desk) (answer, bool) {
	var covered []string
	for _, p := range d.payments {
		if has(pad(p.words), m.cues.plan) {
			covered = append(covered, p.description)
		}
	}
	if len(covered) == 0 {
		return handOff(priceNegotiation), true
	}
	return said(strings.Join(covered, "\n")), true
}

func (m *Model) pleasantries(d *desk, q question) (answer, bool) {
	switch {
	case len(q.about) == 0 && only(q.padded, m.cues.greeting, 1):
		return answer{messages: []string{d.business, d.list(d.all())}, closing: d.closing}, true
	case only(q.padded, m.cues.closer, 2):
		return said("🙂"), true
	case has(q.padded, m.cues.bot) && q.fit < probablyMeant:
		return said("🤖 " + d.business), true
	}
	return answer{}, false
}

// intents answers what is asked of an offering, each fact in a message of its own: of
// the one named, else the one the conversation was about, else of all.
func (m *Model) intents(d *desk, q question) (answer, bool) {
	var messages []string
	for _, f := range m.facts(q) {
		if text := d.lines(d.meant(q), f); text != "" {
			messages = append(messages, text)
		}
	}
	switch {
	case len(messages) > 0:
		return answer{messages: messages, closing: d.closing}, true
	case len(d.payments) > 0 && (has(q.padded, m.cues.payment) || has(q.padded, m.cues.method)):
		if m.strange(q.words, 1, func(w string) bool { return d.knows(w) || d.offersToPay(w) }) {
			return handOff(outOfScope), true
		}
		return said(m.pay(d, q.words)), true
	}
	return answer{}, false
}

// facts are what a message asks to know, at most three. Where it asks how long, a word
// for how much is about time.
func (m *Model) facts(q question) []func(*offering) string {
	padded := q.padded
	var facts []func(*offering) string
	long := has(padded, m.cues.duration)
	if long {
		facts = append(facts, (*offering).durationLine)
	}
	if !long && !q.described && has(padded, m.cues.price) {
		facts = append(facts, (*offering).priceLine)
	}
	if !long && has(padded, m.cues.schedule) {
		facts = append(facts, (*offering).scheduleLine)
	}
	if has(padded, m.cues.link) {
		facts = append(facts, (*offering).linkLine)
	}
	return facts
}

// lookups answers without a known intent, from what fits best.
func (m *Model) lookups(d *desk, q question) (answer, bool) {
	switch {
	case q.fit >= probablyMeant:
		return said(q.faq.answer), true
	case q.described && has(q.padded, m.cues.price):
		return handOff(outOfScope), true
	case len(q.about) == 1:
		return answer{messages: q.about[0].describe(), closing: d.closing}, true
	case has(q.padded, m.cues.list) && !q.alien:
		return answer{messages: []string{d.list(d.all())}, closing: d.closing}, true
	case len(q.about) > 1:
		return answer{messages: []string{d.list(q.about)}, closing: d.closing}, true
	case !q.alien && !q.content:
		return handOff(lowConfidence), true
	}
	return answer{}, false
}

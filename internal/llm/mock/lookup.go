package mock

import (
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm/mock/catalog"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/cue"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/fold"
)

// lookups answers without a known intent, from what fits best.
func (m *Model) lookups(d *desk, q question) (answer, bool) {
	price := m.wantsPrice(q.padded)
	switch {
	case q.fit >= probablyMeant && m.apt(d, q):
		return said(q.faq.Answer), true
	case q.described() && price, len(q.about) > 0 && q.asks && m.strange(q.words, 1, d.knows):
		return handOff(outOfScope), true
	case len(q.about) > 0:
		return m.tell(d, q), true
	case !price:
		if option := m.option(d, q.words); option != "" {
			return said(option), true
		}
		if text := m.details(d, q); text != "" {
			return said(text), true
		}
	}
	switch {
	case cue.Has(q.padded, m.cues.List) && !q.alien:
		return answer{messages: []string{d.list(d.all())}, closing: d.closing}, true
	case !q.content && cue.Has(q.padded, m.cues.Greeting):
		return m.welcome(d), true
	case !q.content && !cue.Has(q.padded, m.cues.Location):
		return handOff(lowConfidence), true
	}
	return answer{}, false
}

// apt reports whether the entry of the FAQ that fits a message answers that very message:
// it shares a word that tells something, if the message has one, and asks for a price, a
// time or a place when the message does, and not where something may be done.
func (m *Model) apt(d *desk, q question) bool {
	telling := m.telling(q.words)
	if len(telling) > 0 && !slices.ContainsFunc(telling, func(w string) bool { return fold.Holds(q.faq.AllWords, w) }) {
		return false
	}
	entry := fold.Pad(q.faq.QuestionWords)
	if len(telling) == 0 && cue.Has(q.padded, m.cues.Location) && cue.Has(entry, m.cues.Doing) {
		return false
	}
	for _, cues := range [][]string{m.cues.Duration, m.cues.Location} {
		if cue.Has(q.padded, cues) && !cue.Has(entry, cues) {
			return false
		}
	}
	return !m.wantsPrice(q.padded) || m.wantsPrice(entry) || strings.Contains(q.faq.Answer, d.currency)
}

// tell says what the message asks of the one offering that it names, else everything;
// of several, what they cost. Where one of several is named in full, the message is
// about that one.
func (m *Model) tell(d *desk, q question) answer {
	about := q.about
	if full := d.fullNames(q.words); len(about) > 1 && len(full) == 1 {
		about = full
	}
	switch {
	case len(about) > 1 && cue.Has(q.padded, m.cues.List) && !q.alien:
		return answer{messages: []string{d.list(d.all())}, closing: d.closing}
	case len(about) > 1:
		return answer{messages: []string{d.list(about)}, closing: d.closing}
	case q.by != description || slices.Contains(q.before(), about[0]):
		if text := m.detail(about[0], q.words); text != "" {
			return said(text)
		}
	}
	return answer{messages: about[0].Describe(), closing: d.closing}
}

// details is what the conversation's offerings, else all, have to say to the message,
// when every one of them has.
func (m *Model) details(d *desk, q question) string {
	about := q.before()
	if len(about) == 0 {
		about = d.all()
	}
	var out []string
	for _, o := range about {
		if text := m.detail(o, q.words); text != "" {
			out = append(out, text)
		}
	}
	if len(out) < len(about) {
		return ""
	}
	return strings.Join(out, "\n")
}

// detail is the part of an offering's description that has what the message asks for;
// empty when a telling word of it is not there, or none is.
func (m *Model) detail(o *catalog.Offering, message []string) string {
	var telling []string
	for _, w := range message {
		if fold.Weight(w) >= 0.25 && !m.isCue(w) && !fold.Holds(o.NameWords, w) {
			telling = append(telling, w)
		}
	}
	return o.Sentences(telling)
}

// option is the payment option that has every telling word of a message; empty: none has,
// or there is no such word.
func (m *Model) option(d *desk, message []string) string {
	telling := m.telling(message)
	for _, p := range d.payments {
		if len(telling) > 0 && !slices.ContainsFunc(telling, func(w string) bool { return !fold.Holds(p.Words, w) }) {
			return p.Description
		}
	}
	return ""
}

// telling are the words of a message, of four letters at least, that are in no list.
func (m *Model) telling(message []string) []string {
	return slices.DeleteFunc(slices.Clone(message), func(w string) bool { return fold.Weight(w) < 0.6 || m.isCue(w) })
}

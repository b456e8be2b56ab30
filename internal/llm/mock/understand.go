package mock

import (
	"slices"
	"strings"
	"sync"

	"github.com/manychat-agent/manychat-agent/internal/llm/mock/catalog"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/cue"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/fold"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/read"
)

// understand finds what a message is about.
func (m *Model) understand(d *desk, c read.Conversation) question {
	w := fold.Words(c.Message)
	q := question{words: w, padded: fold.Pad(w), asks: asks(c.Message)}
	if len(w) == 0 {
		q.padded = c.Message
		return q
	}
	q.before = sync.OnceValue(func() []*catalog.Offering { return m.earlier(d, c) })
	q.about, q.by = m.named(d, w)
	if q.described() && !cue.Has(q.padded, m.cues.List) && len(q.before()) > 0 && !slices.Contains(q.before(), q.about[0]) {
		q.about = nil // it asks whether what was talked of is so, not what else is
	}
	q.faq, q.fit = d.bestFAQ(w)
	q.alien = m.strange(w, 0.25, d.names)
	q.content = m.strange(w, 0.6, d.names)
	return q
}

// asks reports whether a text has a question mark. Greek writes a semicolon.
func asks(text string) bool { return strings.ContainsAny(text, "?؟？;\u037e") }

// named returns the offerings that a message is about by its own words, and how closely
// it names them; none when it may be about another thing.
func (m *Model) named(d *desk, message []string) ([]*catalog.Offering, naming) {
	telling := strings.Fields(cue.Without(fold.Pad(message), m.cues.Greeting))
	about, by := d.named(telling, m.isCue)
	if m.doubtful(d, telling, by) {
		return nil, by
	}
	return about, by
}

// doubtful reports whether a message that names an offering loosely has a word that
// the desk does not know, and so may ask for another thing. One that asks whether it is
// for something is about what was talked of before.
func (m *Model) doubtful(d *desk, message []string, by naming) bool {
	switch by {
	case fullName:
		return false
	case ownWord:
		return m.strange(message, 1, d.knows) || cue.Has(fold.Pad(message), m.cues.Pronoun) && !m.wantsFact(fold.Pad(message))
	}
	return m.strange(message, 0.6, d.knows)
}

// bestFAQ returns the entry whose question fits the words best. The fit is the
// harmonic mean of how much of each the other has; an answer's words count a little,
// since people ask with the words they expect to hear.
func (d *desk) bestFAQ(message []string) (*catalog.Question, float64) {
	var best *catalog.Question
	var top float64
	for i := range d.faq {
		f := &d.faq[i]
		asked, matched := fold.Cover(message, f.QuestionWords)
		if matched < 0.6 {
			continue
		}
		held, _ := fold.Cover(f.QuestionWords, message)
		whole, _ := fold.Cover(message, f.AllWords)
		if whole > asked {
			asked = (asked + whole) / 2
		}
		if fit := 2 * asked * held / (asked + held); fit > top {
			best, top = f, fit
		}
	}
	return best, top
}

// earlier are the offerings that the conversation was about: those that its newest text
// speaks of which speaks of any but all, else the one of the server's notice.
func (m *Model) earlier(d *desk, c read.Conversation) []*catalog.Offering {
	for _, u := range c.Earlier {
		var about []*catalog.Offering
		if u.ByAgent {
			about = d.spokenOf(u.Text)
		} else if named, by := m.named(d, fold.Words(u.Text)); by >= ownWord {
			about = named
		}
		if len(about) == 1 || len(about) > 1 && len(about) < len(d.offerings) {
			return about
		}
	}
	for i := range d.offerings {
		if d.offerings[i].ID == c.Offering {
			return []*catalog.Offering{&d.offerings[i]}
		}
	}
	return nil
}

// spokenOf are the offerings of which an answer of the desk states something.
func (d *desk) spokenOf(answer string) []*catalog.Offering {
	var out []*catalog.Offering
	for i := range d.offerings {
		if o := &d.offerings[i]; strings.Contains("\n"+answer, "\n"+o.Name+": ") {
			out = append(out, o)
		}
	}
	return out
}

// strange reports whether the message has a word of at least a weight that is neither
// a cue nor known: it may then ask for what is not sold.
func (m *Model) strange(message []string, least float64, known func(string) bool) bool {
	return slices.ContainsFunc(message, func(w string) bool {
		return fold.Weight(w) >= least && !known(w) && !m.isCue(w)
	})
}

func (m *Model) isCue(word string) bool { return m.cues.Known(word) }

// knows reports whether an offering's texts have the word.
func (d *desk) knows(word string) bool {
	return slices.ContainsFunc(d.offerings, func(o catalog.Offering) bool { return o.Knows(word) }) || d.names(word)
}

// names reports whether an offering's name has the word, or the same in a language akin.
func (d *desk) names(word string) bool {
	return slices.ContainsFunc(d.offerings, func(o catalog.Offering) bool {
		return fold.Holds(o.OwnWords, word) || slices.ContainsFunc(o.OwnWords, func(w string) bool { return fold.Akin(w, word) })
	})
}

// offersToPay reports whether a payment option has the very word.
func (d *desk) offersToPay(word string) bool {
	return slices.ContainsFunc(d.payments, func(p catalog.Payment) bool { return slices.Contains(p.Words, word) })
}

// meant is what a question about a fact is about: what it names, else what the
// conversation was about, else everything; none when it seems to ask for something that
// is not sold. A word of a description is enough, but not for a price.
func (m *Model) meant(d *desk, q question, price bool) []*catalog.Offering {
	if len(q.about) > 0 {
		return q.about
	}
	before := q.before()
	speaksOf := func(word string) bool {
		return slices.ContainsFunc(before, func(o *catalog.Offering) bool { return o.Knows(word) })
	}
	switch {
	case price && cue.Has(q.padded, m.cues.All) && !q.content:
		return d.all()
	case len(before) > 0 && (!q.content || !price && !m.strange(q.words, 0.6, speaksOf)):
		return before
	case q.content:
		return nil
	}
	return d.all()
}

package mock

import (
	"slices"
	"strings"
)

// understand finds what a message is about.
func (m *Model) understand(d *desk, c conversation) question {
	w := words(c.message)
	q := question{words: w, padded: pad(w)}
	if len(w) == 0 {
		q.padded = c.message
		return q
	}
	telling := strings.Fields(without(q.padded, m.cues.greeting))
	about, by := d.named(telling, m.isCue)
	if !m.doubtful(d, telling, by) {
		q.about, q.described = about, len(about) > 0 && by == description
	}
	q.faq, q.fit = d.bestFAQ(w)
	q.before = func() *offering { return d.earlier(c, m.isCue) }
	q.alien = m.strange(w, 0.6, d.knows)
	q.content = m.strange(w, 0.6, d.names)
	return q
}

// doubtful reports whether a message that names an offering loosely has a word that
// the desk does not know, and so may ask for another thing: a weekend in Paris.
func (m *Model) doubtful(d *desk, message []string, by naming) bool {
	switch by {
	case fullName:
		return false
	case ownWord:
		return m.strange(message, 1, d.knows)
	}
	return m.strange(message, 0.6, d.knows)
}

// bestFAQ returns the entry whose question fits the words best. The fit is the
// harmonic mean of how much of each the other has; an answer's words count a little,
// since people ask with the words they expect to hear.
func (d *desk) bestFAQ(message []string) (*faq, float64) {
	var best *faq
	var top float64
	for i := range d.faq {
		f := &d.faq[i]
		asked, matched := cover(message, f.questionWords)
		if matched < 0.6 {
			continue
		}
		held, _ := cover(f.questionWords, message)
		whole, _ := cover(message, f.allWords)
		if whole > asked {
			asked = (asked + whole) / 2
		}
		if fit := 2 * asked * held / (asked + held); fit > top {
			best, top = f, fit
		}
	}
	return best, top
}

// earlier is the offering that the conversation was about: the server's notice, else
// the last one that a message named alone.
func (d *desk) earlier(c conversation, isCue func(string) bool) *offering {
	for i := range d.offerings {
		if d.offerings[i].id == c.offering {
			return &d.offerings[i]
		}
	}
	for _, text := range c.earlier {
		if about, by := d.named(words(text), isCue); len(about) == 1 && by >= ownWord {
			return about[0]
		}
	}
	return nil
}

// strange reports whether the message has a word of at least a weight that is neither
// a cue nor known: it may then ask for what is not sold.
func (m *Model) strange(message []string, least float64, known func(string) bool) bool {
	return slices.ContainsFunc(message, func(w string) bool {
		return weight(w) >= least && !known(w) && !m.isCue(w)
	})
}

func (m *Model) isCue(word string) bool { return m.cues.vocabulary.has(word) }

// knows reports whether an offering's texts have the word.
func (d *desk) knows(word string) bool {
	return d.count(func(o *offering) bool { return holds(o.allWords, word) }) > 0
}

// names reports whether an offering's name has the word.
func (d *desk) names(word string) bool {
	return d.count(func(o *offering) bool { return holds(o.ownWords, word) }) > 0
}

// offersToPay reports whether a payment option has the very word.
func (d *desk) offersToPay(word string) bool {
	return slices.ContainsFunc(d.payments, func(p payment) bool { return slices.Contains(p.words, word) })
}

// meant is what a question about a fact is about; none when it seems to ask for
// something that is not sold.
func (d *desk) meant(q question) []*offering {
	switch {
	case len(q.about) > 0:
		return q.about
	case q.content:
		return nil
	}
	if before := q.before(); before != nil {
		return []*offering{before}
	}
	return d.all()
}

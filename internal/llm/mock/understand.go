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
	q.about = d.named(strings.Fields(without(q.padded, m.cues.greeting)), m.isCue)
	q.faq, q.fit = d.bestFAQ(w)
	q.before = func() *offering { return d.earlier(c, m.isCue) }
	q.alien = m.alien(d, w)
	return q
}

// named returns the offerings that the words name best: by a whole name, else by what
// sets a name apart from the others', then by its description, in which cue words tell
// nothing.
func (d *desk) named(message []string, isCue func(string) bool) []*offering {
	if full := d.fullNames(message); len(full) > 0 {
		return full
	}
	telling := slices.DeleteFunc(slices.Clone(message), isCue)
	var best []*offering
	top := 0.5 // a name's own word of five letters, or two that half of the names share
	for i := range d.offerings {
		o := &d.offerings[i]
		switch score := d.nameScore(message, o) + d.descriptionScore(telling, o); {
		case score > top:
			best, top = []*offering{o}, score
		case score == top:
			best = append(best, o)
		}
	}
	return best
}

func (d *desk) nameScore(message []string, o *offering) float64 {
	return d.score(message, o, func(o *offering) []string { return o.nameWords })
}

// descriptionScore is worth half a name's, and leaves out what the name has.
func (d *desk) descriptionScore(message []string, o *offering) float64 {
	rest := slices.DeleteFunc(slices.Clone(message), func(w string) bool { return holds(o.nameWords, w) })
	return d.score(rest, o, func(o *offering) []string { return o.allWords }) / 2
}

// score adds up the words that an offering's list holds, each shared among the
// offerings whose list holds it too. The shortest words tell nothing.
func (d *desk) score(message []string, o *offering, list func(*offering) []string) float64 {
	var score float64
	for _, w := range message {
		if weight(w) >= 0.25 && holds(list(o), w) {
			score += weight(w) / d.count(func(other *offering) bool { return holds(list(other), w) })
		}
	}
	return score
}

func (d *desk) count(has func(*offering) bool) float64 {
	var n float64
	for i := range d.offerings {
		if has(&d.offerings[i]) {
			n++
		}
	}
	return n
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
		if about := d.named(words(text), isCue); len(about) == 1 {
			return about[0]
		}
	}
	return nil
}

// alien reports whether the message has a word that tells something and is neither a
// cue nor anywhere in the catalog: it may then ask for what is not sold.
func (m *Model) alien(d *desk, message []string) bool {
	for _, w := range message {
		if weight(w) < 0.6 || d.knows(w) || m.isCue(w) {
			continue
		}
		return true
	}
	return false
}

func (m *Model) isCue(word string) bool { return m.cues.vocabulary.has(word) }

func (d *desk) knows(word string) bool {
	for _, o := range d.offerings {
		if holds(o.allWords, word) {
			return true
		}
	}
	return false
}

// meant is what a question about a fact is about; none when it seems to ask for
// something that is not sold.
func (d *desk) meant(q question) []*offering {
	switch {
	case len(q.about) > 0:
		return q.about
	case q.alien:
		return nil
	}
	if before := q.before(); before != nil {
		return []*offering{before}
	}
	return d.all()
}

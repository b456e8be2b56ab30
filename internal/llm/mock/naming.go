package mock

import (
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm/mock/catalog"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/fold"
)

// naming is how closely a message names an offering.
type naming int

const (
	description naming = iota // by words of its description alone
	sharedWord                // by words that other names have too
	ownWord                   // by a word of its name that no other has
	fullName                  // by its whole name, or two words of it of which one is its own
)

// named returns the offerings that the words name best: all that are named in full or
// by a word of their own, else by the words that several names share, else by their
// description, in which cue words tell nothing.
func (d *desk) named(message []string, isCue func(string) bool) ([]*catalog.Offering, naming) {
	telling := slices.DeleteFunc(slices.Clone(message), isCue)
	names, texts := d.holders(message, inName), d.holders(telling, inText)
	if named, by := d.distinct(message, telling, names); len(named) > 0 {
		return named, by
	}
	var best []*catalog.Offering
	top := 0.5 // a word of five letters that half of the names share, or two of a description
	for i := range d.offerings {
		o := &d.offerings[i]
		name := names.score(message, o)
		switch score := name + descriptionScore(telling, o, texts); {
		case score > top:
			best, top = []*catalog.Offering{o}, score
		case score == top && name > 0:
			best = append(best, o)
		}
	}
	if len(best) > 0 && names.score(message, best[0]) > 0 {
		return best, sharedWord
	}
	return best, description
}

// A word is looked for in an offering's name alone, or in all that is said of it.
func inName(o *catalog.Offering) []string { return o.OwnWords }
func inText(o *catalog.Offering) []string { return o.AllWords }

// holders tells by how many offerings each word of a message is held, in a list of theirs.
type holders struct {
	list  func(*catalog.Offering) []string
	count map[string]float64
}

func (d *desk) holders(message []string, list func(*catalog.Offering) []string) holders {
	h := holders{list, map[string]float64{}}
	for _, w := range message {
		if _, counted := h.count[w]; counted {
			continue
		}
		h.count[w] = 0
		for i := range d.offerings {
			if fold.Holds(list(&d.offerings[i]), w) {
				h.count[w]++
			}
		}
	}
	return h
}

// score adds up the words that an offering's list holds, each shared among the
// offerings whose list holds it too. The shortest words tell nothing.
func (h holders) score(message []string, o *catalog.Offering) float64 {
	var score float64
	for _, w := range message {
		if h.count[w] > 0 && fold.Weight(w) >= 0.25 && fold.Holds(h.list(o), w) {
			score += fold.Weight(w) / h.count[w]
		}
	}
	return score
}

// descriptionScore is worth half a name's, and leaves out what the name has.
func descriptionScore(message []string, o *catalog.Offering, texts holders) float64 {
	rest := slices.DeleteFunc(slices.Clone(message), func(w string) bool { return texts.count[w] == 0 || fold.Holds(o.OwnWords, w) })
	return texts.score(rest, o) / 2
}

// distinct are the offerings that are named in full, and those that the rest of the
// message names by a word of their own. The loosest naming counts for all.
func (d *desk) distinct(message, telling []string, names holders) ([]*catalog.Offering, naming) {
	full := d.fullNames(message)
	rest := slices.DeleteFunc(slices.Clone(telling), func(w string) bool {
		return slices.ContainsFunc(full, func(o *catalog.Offering) bool { return slices.Contains(o.NameWords, w) })
	})
	var named []*catalog.Offering
	by := fullName
	for i := range d.offerings {
		o := &d.offerings[i]
		switch {
		case slices.Contains(full, o):
			named = append(named, o)
		case slices.ContainsFunc(rest, func(w string) bool { return isOwn(w, o, names) }):
			named = append(named, o)
			if matched := fold.Count(message, func(w string) bool { return fold.Weight(w) >= 0.6 && fold.Holds(o.OwnWords, w) }); matched < 2 && len(o.OwnWords) > 1 {
				by = ownWord
			}
		}
	}
	return named, by
}

// isOwn reports whether a word is of one offering's name alone.
func isOwn(word string, o *catalog.Offering, names holders) bool {
	return names.count[word] == 1 && fold.Weight(word) >= 0.6 && fold.Holds(o.OwnWords, word)
}

// fullNames are the offerings whose whole name the message has. A name that is part of
// a longer one found is not meant.
func (d *desk) fullNames(message []string) []*catalog.Offering {
	var found []*catalog.Offering
	for i := range d.offerings {
		if o := &d.offerings[i]; len(o.NameWords) > 0 && strings.Contains(fold.Pad(message), fold.Pad(o.NameWords)) {
			found = append(found, o)
		}
	}
	return slices.DeleteFunc(slices.Clone(found), func(o *catalog.Offering) bool {
		return slices.ContainsFunc(found, func(longer *catalog.Offering) bool {
			return len(longer.NameWords) > len(o.NameWords) && strings.Contains(fold.Pad(longer.NameWords), fold.Pad(o.NameWords))
		})
	})
}

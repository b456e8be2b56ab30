package mock

import (
	"slices"
	"strings"
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
func (d *desk) named(message []string, isCue func(string) bool) ([]*offering, naming) {
	telling := slices.DeleteFunc(slices.Clone(message), isCue)
	if named, by := d.distinct(message, telling); len(named) > 0 {
		return named, by
	}
	var best []*offering
	top := 0.5 // a word of five letters that half of the names share, or two of a description
	for i := range d.offerings {
		o := &d.offerings[i]
		switch score := d.nameScore(message, o) + d.descriptionScore(telling, o); {
		case score > top:
			best, top = []*offering{o}, score
		case score == top && d.nameScore(message, o) > 0:
			best = append(best, o)
		}
	}
	if len(best) > 0 && d.nameScore(message, best[0]) > 0 {
		return best, sharedWord
	}
	return best, description
}

// distinct are the offerings that are named in full, and those that the rest of the
// message names by a word of their own. The loosest naming counts for all.
func (d *desk) distinct(message, telling []string) ([]*offering, naming) {
	full := d.fullNames(message)
	rest := slices.DeleteFunc(slices.Clone(telling), func(w string) bool {
		return slices.ContainsFunc(full, func(o *offering) bool { return slices.Contains(o.nameWords, w) })
	})
	var named []*offering
	by := fullName
	for i := range d.offerings {
		o := &d.offerings[i]
		switch {
		case slices.Contains(full, o):
			named = append(named, o)
		case slices.ContainsFunc(rest, func(w string) bool { return d.isOwn(w, o) }):
			named = append(named, o)
			if matched := countOf(message, func(w string) bool { return weight(w) >= 0.6 && holds(o.ownWords, w) }); matched < 2 && len(o.ownWords) > 1 {
				by = ownWord
			}
		}
	}
	return named, by
}

// isOwn reports whether a word is of one offering's name alone.
func (d *desk) isOwn(word string, o *offering) bool {
	return weight(word) >= 0.6 && holds(o.ownWords, word) &&
		d.count(func(other *offering) bool { return holds(other.ownWords, word) }) == 1
}

func countOf(words []string, is func(string) bool) (n int) {
	for _, w := range words {
		if is(w) {
			n++
		}
	}
	return n
}

// fullNames are the offerings whose whole name the message has. A name that is part of
// a longer one found is not meant.
func (d *desk) fullNames(message []string) []*offering {
	var found []*offering
	for i := range d.offerings {
		if o := &d.offerings[i]; len(o.nameWords) > 0 && strings.Contains(pad(message), pad(o.nameWords)) {
			found = append(found, o)
		}
	}
	return slices.DeleteFunc(slices.Clone(found), func(o *offering) bool {
		return slices.ContainsFunc(found, func(longer *offering) bool {
			return len(longer.nameWords) > len(o.nameWords) && strings.Contains(pad(longer.nameWords), pad(o.nameWords))
		})
	})
}

func (d *desk) nameScore(message []string, o *offering) float64 {
	return d.score(message, o, func(o *offering) []string { return o.ownWords })
}

// descriptionScore is worth half a name's, and leaves out what the name has.
func (d *desk) descriptionScore(message []string, o *offering) float64 {
	rest := slices.DeleteFunc(slices.Clone(message), func(w string) bool { return holds(o.ownWords, w) })
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

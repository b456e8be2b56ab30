// Package cue recognises what a contact wants by the words of several languages, folded:
// no case, no accents. It holds no word of a trade, and nothing of it is ever said.
package cue

import (
	"slices"
	"strings"
)

// Cues are the lists, split once into what a padded message is searched for: its words
// with one space round each.
type Cues struct {
	Greeting, Closer, Price, Count, All, Schedule, Opening, Duration, Location, Doing, Payment, Link, List []string
	Discount, Compare, Plan, Complaint, Person, Change, Paid, PaidAlone, Bot, Pronoun                      []string

	Methods [][]string // ways to pay, and the words for each

	Wishes                  []Wish // what may be done for a contact besides answering
	Pay                     *Wish  // the one of them for the way to pay
	Route                   *Wish  // the one of them for the way to the place
	Suits, Earlier, Handing []string
	Sale                    Sale

	// vocabulary holds the words that tell what is asked, not what it is asked of.
	vocabulary vocabulary
}

// Read splits the lists.
func Read() *Cues {
	c := &Cues{
		Greeting: split(greetingCues), Closer: split(closerCues), Price: split(priceCues), Count: split(countCues), All: split(allCues),
		Schedule: split(scheduleCues), Opening: split(openingCues), Duration: split(durationCues),
		Location: split(locationCues), Doing: split(doingCues), Payment: split(paymentCues), Link: split(linkCues), List: split(listCues),
		Discount: split(discountCues), Compare: split(compareCues), Plan: split(planCues), Complaint: split(complaintCues),
		Person: split(personCues), Change: split(changeCues), Paid: split(paidCues), PaidAlone: split(paidAloneCues),
		Bot: split(botCues), Pronoun: split(pronounCues),
		Suits: split(suitsCues), Earlier: split(earlierCues), Handing: split(handingCues), Sale: readSale(),
	}
	c.Wishes = readWishes()
	c.Pay, c.Route = &c.Wishes[0], &c.Wishes[2]
	for line := range strings.Lines(methodCues) {
		c.Methods = append(c.Methods, split(line))
	}
	c.vocabulary = newVocabulary(c.Greeting, c.Closer, c.Price, c.All, c.Schedule, c.Opening, c.Duration, c.Location, c.Payment,
		slices.Concat(c.Methods...), c.Link, c.List, c.Compare, split(fillerCues))
	return c
}

// vocabulary is every word of some cues.
type vocabulary struct {
	words map[string]bool
	stems []string // beginnings of words
}

func newVocabulary(lists ...[]string) vocabulary {
	v := vocabulary{words: map[string]bool{}}
	for _, cue := range slices.Concat(lists...) {
		words := strings.Fields(cue)
		if last := len(words) - 1; !strings.HasSuffix(cue, " ") {
			v.stems = append(v.stems, words[last])
			words = words[:last]
		}
		for _, word := range words {
			v.words[word] = true
		}
	}
	return v
}

func (v vocabulary) has(word string) bool {
	return v.words[word] || slices.ContainsFunc(v.stems, func(stem string) bool { return strings.HasPrefix(word, stem) })
}

// split turns a list into the strings that a padded message is searched for.
func split(list string) []string {
	var out []string
	for cue := range strings.SplitSeq(list, ",") {
		cue = " " + strings.ReplaceAll(strings.TrimSpace(cue), "ς", "σ") + " "
		if stem, open := strings.CutSuffix(cue, "* "); open {
			cue = stem
		}
		out = append(out, cue)
	}
	return out
}

// Has reports whether a padded message (one space round every word) holds any cue.
func Has(padded string, cues []string) bool {
	for _, cue := range cues {
		if strings.Contains(padded, cue) {
			return true
		}
	}
	return false
}

// Only reports whether a padded message holds a cue, and at most spare words beside.
func Only(padded string, cues []string, spare int) bool {
	return Has(padded, cues) && len(strings.Fields(Without(padded, cues))) <= spare
}

// Without takes the cues out of a padded message; a stem goes with its ending.
func Without(padded string, cues []string) string {
	for _, cue := range cues {
		if !strings.Contains(padded, cue) {
			continue
		}
		var kept strings.Builder
		rest := padded
		for i := strings.Index(rest, cue); i >= 0; i = strings.Index(rest, cue) {
			kept.WriteString(rest[:i])
			rest = rest[i+len(cue)-1:] // the space that ends a word begins the next one
			rest = rest[max(0, strings.IndexByte(rest, ' ')):]
		}
		padded = kept.String() + rest
	}
	return padded
}

// Known reports whether a word is in a list of what is asked, and so not of what it is
// asked of.
func (c *Cues) Known(word string) bool { return c.vocabulary.has(word) }

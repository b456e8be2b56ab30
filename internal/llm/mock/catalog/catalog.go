// Package catalog is what the mock model reads of a catalog, and its sentences about it: catalog text with
// nothing but punctuation between.
package catalog

import (
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm/mock/fold"
)

// Offering is an offering, as the catalog of a prompt has it.
type Offering struct {
	ID, Name, Price, Duration, Schedule, Link, Description string

	NameWords, AllWords, TimeWords []string

	OwnWords []string // of its name, without those of the business's name
}

// OfferingOf reads an offering from the lines of its block.
func OfferingOf(id string, f map[string]string) Offering {
	o := Offering{ID: id, Name: f["Name"], Price: f["Price"], Duration: f["Duration"],
		Schedule: f["Schedule"], Link: f["Link"], Description: f["Description"]}
	o.NameWords = fold.Words(o.Name)
	o.AllWords = fold.Words(o.Name + " " + o.Description + " " + id)
	o.TimeWords = fold.Words(o.Schedule)
	return o
}

// Of says whose offering it is.
func (o *Offering) Of(business string) {
	common := fold.Words(business)
	o.OwnWords = slices.DeleteFunc(slices.Clone(o.NameWords), func(w string) bool { return slices.Contains(common, w) })
}

// Question is an entry of the FAQ.
type Question struct {
	Question, Answer string

	QuestionWords, AllWords []string
}

// QuestionOf reads an entry from the lines of its block.
func QuestionOf(f map[string]string) Question {
	q := Question{Question: f["Question"], Answer: f["Answer"]}
	q.QuestionWords = fold.Words(q.Question)
	q.AllWords = fold.Words(q.Question + " " + q.Answer)
	return q
}

// Payment is a way to pay.
type Payment struct {
	Description string
	Words       []string
}

// PaymentOf reads a way to pay from the lines of its block.
func PaymentOf(id string, f map[string]string) Payment {
	return Payment{f["Description"], fold.Words(id + " " + f["Description"])}
}

// PriceLine tells what the offering costs.
func (o *Offering) PriceLine() string { return o.Name + ": " + o.Price }

// ScheduleLine is empty when the catalog does not say when the offering takes place.
func (o *Offering) ScheduleLine() string {
	if o.Schedule == "" {
		return ""
	}
	return o.Name + ": " + o.Schedule
}

// DurationLine tells how long the offering takes and when; empty when the catalog
// says neither.
func (o *Offering) DurationLine() string {
	when := strings.Trim(o.Duration+", "+o.Schedule, ", ")
	if when == "" {
		return ""
	}
	return o.Name + ": " + when
}

// LinkLine is empty when the offering has no page.
func (o *Offering) LinkLine() string {
	if o.Link == "" {
		return ""
	}
	return o.Name + ": " + o.Link
}

// Describe tells everything about one offering in up to three messages.
func (o *Offering) Describe() []string {
	facts := []string{o.Price}
	for _, fact := range []string{o.Duration, o.Schedule} {
		if fact != "" {
			facts = append(facts, fact)
		}
	}
	messages := []string{o.Name + ": " + o.Description, strings.Join(facts, ", ")}
	if o.Link != "" {
		messages = append(messages, o.Link)
	}
	return messages
}

// Sentences are those of the description that have a word of some, which it must all
// have; empty: it has not.
func (o *Offering) Sentences(some []string) string {
	var out []string
	missing := slices.Clone(some)
	for sentence := range strings.SplitAfterSeq(o.Description, ". ") {
		list := fold.Words(sentence)
		if slices.ContainsFunc(some, func(w string) bool { return fold.Holds(list, w) }) {
			out = append(out, strings.TrimSpace(sentence))
		}
		missing = slices.DeleteFunc(missing, func(w string) bool { return fold.Holds(list, w) })
	}
	if len(missing) > 0 || len(out) == 0 {
		return ""
	}
	return o.Name + ": " + strings.Join(out, " ")
}

// Knows reports whether the offering's texts have the word.
func (o *Offering) Knows(word string) bool {
	return fold.Holds(o.AllWords, word) || fold.Holds(o.TimeWords, word)
}

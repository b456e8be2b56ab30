// Package measure counts what sales came to, week by week (docs/spec/08-sales.md, "Measures"). It is
// arithmetic over what is known of contacts, and keeps nothing.
package measure

import (
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
)

// Contact is what a report needs to know of a contact on one channel.
type Contact struct {
	Since time.Time // their first message
	Sale  contact.Sale
	// Reached are when their stages were, as ManyChat took the writes. A stage that was passed over,
	// or whose turn is kept no more, has none.
	Reached map[contact.FunnelStage]time.Time
	// Linked says that the turn which sent the link to pay is kept, and Asked that in it the
	// contact's own asking opened the gate, before the stage was prepared.
	Linked, Asked bool
	// Nudges are the follow-ups that were sent, and Answered those after which the contact wrote within
	// [AnswerWithin].
	Nudges, Answered int
}

// AnswerWithin is how long behind a follow-up a message counts as its answer: WhatsApp's window,
// in which a business may go on.
const AnswerWithin = 24 * time.Hour

// Share is a part of a number. A part of nothing is no share.
type Share struct {
	N  int `json:"n"`
	Of int `json:"of"`
}

// Ratio is the part, from 0 to 1; known is false when there is nothing to be a part of.
func (s Share) Ratio() (ratio float64, known bool) {
	if s.Of == 0 {
		return 0, false
	}
	return float64(s.N) / float64(s.Of), true
}

// add counts one more, and it among the part when it is.
func (s *Share) add(is bool) {
	s.Of++
	if is {
		s.N++
	}
}

// Step is a stage of a funnel: how many of those who came to the stage before it, of prospects at the
// first, came at least to it; and how long after their first message half of those had come, of whom that
// is known.
type Step struct {
	Stage   contact.FunnelStage
	Came    Share
	Median  time.Duration // zero when Of is
	TimesOf int           // whose time is known
}

// Week is the contacts who first wrote in one week, and all that became of them until now. Each belongs to
// one week, so that the shares are of the same people however long they take.
type Week struct {
	Monday    time.Time // 00:00 UTC
	Contacts  int
	Prospects Share // of contacts
	Links     Share // of contacts: the link to pay was sent
	Paying    Share // the same, of prospects
	Bypassed  Share // of those whose link is on record: they asked for it before it was its turn
	Replies   Share // of follow-ups sent
	Steps     []Step
}

// Monday is the beginning of an instant's ISO week, in UTC.
func Monday(at time.Time) time.Time {
	day := at.UTC().Truncate(24 * time.Hour)
	return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
}

// Weeks counts contacts by the weeks in which they first wrote, the newest first. A week in which
// nobody came for the first time is left out.
func Weeks(contacts []Contact) (weeks []Week) {
	by := map[time.Time][]Contact{}
	for _, c := range contacts {
		monday := Monday(c.Since)
		by[monday] = append(by[monday], c)
	}
	for monday, of := range by {
		weeks = append(weeks, count(monday, of))
	}
	slices.SortFunc(weeks, func(a, b Week) int { return b.Monday.Compare(a.Monday) })
	return weeks
}

// All counts all contacts as one; its Monday is that of the first week.
func All(contacts []Contact) Week {
	var first time.Time
	for _, c := range contacts {
		if monday := Monday(c.Since); first.IsZero() || monday.Before(first) {
			first = monday
		}
	}
	return count(first, contacts)
}

func count(monday time.Time, contacts []Contact) Week {
	w := Week{Monday: monday, Contacts: len(contacts)}
	for _, c := range contacts {
		prospect, linked := c.Sale.Prospect(), c.Sale.Stage == contact.LinkSent
		w.Prospects.add(prospect)
		w.Links.add(linked)
		if prospect {
			w.Paying.add(linked)
		}
		if c.Linked {
			w.Bypassed.add(c.Asked)
		}
		w.Replies.N += c.Answered
		w.Replies.Of += c.Nudges
	}
	before := func(c Contact) bool { return c.Sale.Prospect() }
	for _, stage := range contact.FunnelStages()[1:] {
		w.Steps = append(w.Steps, step(stage, contacts, before))
		before = func(c Contact) bool { return !c.Sale.Stage.Before(stage) }
	}
	return w
}

// step counts a stage of those who came to the one before.
func step(stage contact.FunnelStage, contacts []Contact, before func(Contact) bool) Step {
	s := Step{Stage: stage}
	var took []time.Duration
	for _, c := range contacts {
		if before(c) {
			s.Came.add(!c.Sale.Stage.Before(stage))
		}
		if at, known := c.Reached[stage]; known {
			took = append(took, max(0, at.Sub(c.Since)))
		}
	}
	s.TimesOf, s.Median = len(took), median(took)
	return s
}

// median is the middle one, or halfway between the two in the middle; zero of none.
func median(took []time.Duration) time.Duration {
	if len(took) == 0 {
		return 0
	}
	slices.Sort(took)
	middle := len(took) / 2
	if len(took)%2 == 1 {
		return took[middle]
	}
	return (took[middle-1] + took[middle]) / 2
}

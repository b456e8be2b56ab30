// Package sale decides how the mock model sells: what it records of a buyer in the turn in which it
// learns it, which stage the sale comes to, and on which occasion it says what. It speaks no words of its
// own: what it says are sentences that the persona gives, in lines such as
//
//   - offered: "What else do you need to know before you start?"
//
// The occasions are the names of the stages, and those below. Where the persona gives none, it says
// nothing for the sake of the sale.
package sale

import (
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/llm/mock/read"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/toolbox"
)

// Occasions beside the stages.
const (
	NotProspect = "not_prospect" // whoever writes wants something else than to buy
	Later       = "later"        // they put the decision off
	FollowUp    = "follow-up"    // they have not written since
)

// The values of the fields (docs/spec/08-sales.md, "Markers").
const (
	prospect   = "prospect"
	fresh      = "new"
	qualifying = "qualifying"
	nurturing  = "nurturing"
	offered    = "offered"
	prepared   = "prepared"
	linkSent   = "link_sent"
)

// Message is what the desk found in a message that matters to a sale.
type Message struct {
	Buys     bool   // asks what is asked by someone who means to buy
	Foreign  bool   // comes for something else
	Customer bool   // has bought before
	Offering string // id of the one that it is about; empty: of none, or of several
	Asks     bool   // is a question
	Price    bool   // asks for a price
	Ways     bool   // is about the ways to pay
	Agrees   bool   // says yes
	Nothing  bool   // says that nothing is missing
	Later    bool   // puts the decision off
	Link     bool   // asks for the link to pay
	Answered bool   // the catalog has an answer
}

// Reply is what is said for the sake of a sale in place of an answer.
type Reply int

// Replies.
const (
	Same      Reply = iota // the answer
	Describes              // what the offering is
	Offers                 // the offering with its price
	Ways                   // the ways to pay
	Sentence               // the occasion's, alone
)

// Step is what a turn does for a sale.
type Step struct {
	Prospect bool            // they mean to buy, as far as is known now
	Writes   []toolbox.Write // in order: the intent comes before whatever depends on it
	Offering string          // that it is about; empty: none
	Reply    Reply
	Occasion string // whose sentence ends the reply; empty: none
	Link     bool   // it is the turn of the link to pay
	Nudge    bool   // they are to be asked once more
}

// Next decides a turn of the sale whose fields are f, from where it stands.
func Next(f read.SaleFields, at read.Standing, m Message) Step {
	s := Step{Prospect: at.Intent == prospect, Offering: at.Offering}
	known := s.Prospect
	switch {
	case known:
	case m.Foreign, m.Customer:
		return elsewhere(f, at, m)
	case !m.Buys && !at.Advertised:
		return s
	default:
		s.Prospect, s.Writes = true, []toolbox.Write{{Field: f.Intent, Value: prospect}}
	}
	stage := at.Stage
	if m.Offering != "" && (m.Offering != at.Offering || at.Advertised) && f.Offering != "" && !slices.Contains([]string{offered, prepared, linkSent}, stage) {
		s.Offering, s.Writes = m.Offering, append(s.Writes, toolbox.Write{Field: f.Offering, Value: m.Offering})
	}
	if m.Later {
		s.Nudge, s.Occasion = true, Later
		if !m.Answered {
			s.Reply = Sentence
		}
		return s
	}
	if m.Link || f.Stage == "" {
		return s
	}
	if stage == fresh && known {
		stage = qualifying // the first answer was its question
	}
	to := s.advance(stage, m)
	if to != at.Stage {
		s.Writes = append(s.Writes, toolbox.Write{Field: f.Stage, Value: to})
	}
	return s
}

// elsewhere is the turn of somebody who does not mean to buy.
func elsewhere(f read.SaleFields, at read.Standing, m Message) (s Step) {
	if at.Intent != NotProspect {
		s.Writes = []toolbox.Write{{Field: f.Intent, Value: NotProspect}}
	}
	if m.Foreign || !m.Answered {
		s.Reply, s.Occasion = Sentence, NotProspect
	}
	return s
}

// advance decides what is said at a stage, and the stage that the sale comes to by that.
func (s *Step) advance(stage string, m Message) (to string) {
	told := !m.Asks && !m.Answered // more about themselves
	switch {
	case stage == fresh && s.Offering != "":
		return fresh // a question is answered first
	case (stage == fresh || stage == qualifying) && s.Offering == "":
		s.Occasion = qualifying
		return qualifying
	case stage == qualifying && m.Price, stage == nurturing && (m.Price || m.Agrees || told):
		s.Occasion = offered
		if !m.Answered {
			s.Reply = Offers
		}
		return offered
	case stage == qualifying && !m.Asks:
		s.Occasion = nurturing
		if !m.Answered {
			s.Reply = Describes
		}
		return nurturing
	case stage == offered && (m.Nothing || m.Ways || m.Agrees):
		s.Occasion = prepared
		if !m.Ways || !m.Answered {
			s.Reply = Ways
		}
		return prepared
	case stage == offered && m.Answered:
		s.Occasion = offered
	case stage == prepared && !m.Asks && (m.Ways || m.Agrees || m.Nothing):
		s.Link = true
		if !m.Answered {
			s.Reply = Ways
		}
	case stage == prepared && m.Answered:
		s.Occasion = prepared
	}
	return stage
}

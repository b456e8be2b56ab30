// Package guard answers messages without a model where the tenant's rules say so. It is pure:
// what was read decides.
package guard

import (
	"slices"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn/limit"
)

// Messages are what one turn answers.
type Messages struct {
	Turn   conversation.Turn
	Texts  []string    // of the messages that are answered together, oldest first
	Recent []time.Time // arrivals of the contact's messages before the turn's own, newest first
	Talk   conversation.Conversation
	// Taken says whether a person has the conversation. It is asked of nobody whom the agent does
	// not answer, and may take a while.
	Taken func() bool
}

// Verdict is how a turn ends that no model sees.
type Verdict struct {
	Outcome       conversation.Outcome
	Reason        conversation.EscalationReason // of a handoff, whose text is the tenant's; empty: none
	Messages      []string                      // none, and no reason: the turn is silent
	Interventions []string                      // what the record says of it
}

// says is the verdict of a turn that says what the tenant's rules have for it; empty: nothing.
func says(outcome conversation.Outcome, message string) (v Verdict, decided bool) {
	if v.Outcome = outcome; message != "" {
		v.Messages = []string{message}
	}
	return v, true
}

// Check decides, in the order of docs/spec/03-turn.md, "Steps". It reports false when a model
// is to answer.
func Check(t *tenant.Tenant, m Messages) (Verdict, bool) {
	texts := plain(m.Texts)
	handoff := func(reason conversation.EscalationReason) (Verdict, bool) {
		return Verdict{Outcome: conversation.EscalatedPrecheck, Reason: reason}, true
	}
	if !t.Rules.Audience.Includes(m.Turn.Key.SubscriberID) {
		return Verdict{Outcome: conversation.Paused, Interventions: []string{"audience"}}, true
	}
	if m.Taken() {
		return says(conversation.Paused, "")
	}
	switch wish := WishOf(t, m.Turn, m.Talk, m.Texts); {
	case wish.Out:
		return says(conversation.OptedOut, t.Rules.Messages.OptOut)
	case m.Talk.Mute(wish):
		return says(conversation.OptedOut, "")
	}
	if all(texts, t.Keywords.Opening.Equals) {
		return says(conversation.AnsweredScripted, t.Rules.OpeningTrigger.Message)
	}
	if reason, over := limit.Over(t.Rules, m.Turn, m.Recent, m.Talk.AnsweredAt); over {
		return handoff(reason)
	}
	if all(texts, unreadable) {
		if fallback := t.Rules.Messages.MediaFallback; fallback != "" {
			return says(conversation.MediaFallback, fallback)
		}
		return handoff(conversation.ByMedia)
	}
	if slices.ContainsFunc(texts, func(text string) bool { _, found := t.Keywords.Escalation.Find(text); return found }) {
		return handoff(conversation.ByKeyword)
	}
	return Verdict{}, false
}

// WishOf is what the messages that a turn answers say about writing to their contact: one that
// asks for an end to it does so whatever stands beside it. A request that does not prove
// who its contact is says nothing: whoever has the secret alone silences nobody.
func WishOf(t *tenant.Tenant, turn conversation.Turn, c conversation.Conversation, texts []string) (w conversation.Wish) {
	if !turn.Bound {
		return w
	}
	texts = plain(texts)
	switch out := slices.ContainsFunc(texts, t.Keywords.OptOut.Equals); {
	case out:
		w.Out = c.OptedOutAt.IsZero()
	case !c.OptedOutAt.IsZero() && slices.ContainsFunc(texts, t.Keywords.OptIn.Equals):
		w.Back = c.OptedOutAt
	}
	return w
}

// plain are texts in the form that keywords are matched on.
func plain(texts []string) []string {
	all := make([]string, 0, len(texts))
	for _, text := range texts {
		all = append(all, conversation.Plain(text))
	}
	return all
}

// Readable is what a model reads of messages that are answered together. What says nothing is
// left out.
func Readable(texts []string) string {
	var said []string
	for _, text := range texts {
		if text = conversation.Plain(text); !unreadable(text) {
			said = append(said, text)
		}
	}
	return strings.Join(said, "\n")
}

// all reports whether every text is so. What covers a set of messages only in part answers
// none of it.
func all(texts []string, is func(string) bool) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return !is(text) })
}

// unreadable reports whether a message says nothing an agent can read: no text at
// all, or a ManyChat variable that was not filled in.
func unreadable(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || (strings.HasPrefix(text, "{{") && strings.HasSuffix(text, "}}"))
}

// Plain is a history whose contact's words are as a model reads them.
func Plain(history []conversation.Entry) []conversation.Entry {
	history = slices.Clone(history)
	for i := range history {
		if history[i].Role == conversation.ByContact {
			history[i].Text = conversation.Plain(history[i].Text)
		}
	}
	return history
}

// LastReply is what the agent said last; nil: nothing.
func LastReply(history []conversation.Entry) []string {
	for _, e := range slices.Backward(history) {
		if e.Role != conversation.ByContact {
			return []string{e.Text}
		}
	}
	return nil
}

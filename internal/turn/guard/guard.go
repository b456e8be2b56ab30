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
	// Answered is when a person last answered the contact; zero: never.
	Answered time.Time
	// Taken says whether a person has the conversation. It is asked of nobody whom the agent does
	// not answer, and may take a while.
	Taken func() bool
}

// Verdict is how a turn ends that no model sees.
type Verdict struct {
	Outcome      conversation.Outcome
	Reason       conversation.EscalationReason // of a handoff, whose text is the tenant's; empty: none
	Message      string                        // empty, and no reason: the turn is silent
	Intervention string                        // what the record says of it; empty: nothing
}

// Check decides, in the order of docs/spec/03-turn.md, "Steps". It reports false when a model
// is to answer.
func Check(t *tenant.Tenant, m Messages) (Verdict, bool) {
	texts := make([]string, 0, len(m.Texts))
	for _, text := range m.Texts {
		texts = append(texts, conversation.Plain(text))
	}
	handoff := func(reason conversation.EscalationReason) (Verdict, bool) {
		return Verdict{Outcome: conversation.EscalatedPrecheck, Reason: reason}, true
	}
	if !t.Rules.Audience.Includes(m.Turn.Key.SubscriberID) {
		return Verdict{Outcome: conversation.Paused, Intervention: "audience"}, true
	}
	if m.Taken() {
		return Verdict{Outcome: conversation.Paused}, true
	}
	if all(texts, t.Keywords.Opening.Equals) {
		return Verdict{Outcome: conversation.AnsweredScripted, Message: t.Rules.OpeningTrigger.Message}, true
	}
	if reason, over := limit.Over(t.Rules, m.Turn, m.Recent, m.Answered); over {
		return handoff(reason)
	}
	if all(texts, unreadable) {
		if fallback := t.Rules.Messages.MediaFallback; fallback != "" {
			return Verdict{Outcome: conversation.MediaFallback, Message: fallback}, true
		}
		return handoff(conversation.ByMedia)
	}
	if slices.ContainsFunc(texts, func(text string) bool { _, found := t.Keywords.Escalation.Find(text); return found }) {
		return handoff(conversation.ByKeyword)
	}
	return Verdict{}, false
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

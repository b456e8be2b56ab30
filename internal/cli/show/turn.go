package show

import (
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
)

// TurnView is a turn as JSON, with the names of the console's API.
type TurnView struct {
	ID            string                        `json:"id"`
	Conversation  string                        `json:"conversation"`
	Subscriber    contact.SubscriberID          `json:"subscriber"`
	Channel       contact.Channel               `json:"channel"`
	State         conversation.State            `json:"state"`
	Attempt       int                           `json:"attempt"`
	Bound         bool                          `json:"bound"`
	Text          string                        `json:"text"`
	Merged        []MergedView                  `json:"merged,omitempty"`     // answered together with it
	MergedInto    string                        `json:"mergedInto,omitempty"` // the turn that answers it
	Replies       []string                      `json:"replies"`
	Outcome       conversation.Outcome          `json:"outcome,omitempty"`
	Path          conversation.Path             `json:"path,omitempty"`
	Reason        conversation.EscalationReason `json:"escalationReason,omitempty"`
	Model         string                        `json:"model,omitempty"`
	PromptVersion string                        `json:"promptVersion,omitempty"`
	Confidence    *float64                      `json:"confidence"`
	Spend         conversation.Spend            `json:"spend"`
	Micros        conversation.Timings          `json:"micros"`
	Interventions []string                      `json:"interventions"`
	Actions       []action.Record               `json:"actions"`
	Calls         []action.Call                 `json:"calls"`
	ReceivedAt    time.Time                     `json:"receivedAt"`
	SettledAt     *time.Time                    `json:"settledAt"`
	RespondedAt   *time.Time                    `json:"respondedAt"`
	Outbox        []RowView                     `json:"outbox"`
}

// MergedView is a message that a later turn answered together with its own.
type MergedView struct {
	ID   string `json:"id"` // of its turn
	Text string `json:"text"`
}

// Told is a turn and what belongs to it.
type Told struct {
	Turn   conversation.Turn
	Merged []conversation.Turn // whose messages it answers too, oldest first
	Rows   []outbox.Row        // whose texts are among its replies
}

// TurnOf is a turn as JSON.
func TurnOf(told Told) TurnView {
	t := told.Turn
	var merged []MergedView
	for _, m := range told.Merged {
		merged = append(merged, MergedView{m.ID, m.Text})
	}
	return TurnView{
		ID: t.ID, Conversation: t.ConversationID, Subscriber: t.Key.SubscriberID, Channel: t.Key.Channel,
		State: t.State, Attempt: t.Attempt, Bound: t.Bound, Text: t.Text, Merged: merged, MergedInto: t.MergedInto, Replies: t.Replies,
		Outcome: t.Outcome, Path: t.Path, Reason: t.Reason, Model: t.Model, PromptVersion: t.PromptVersion,
		Confidence: t.Confidence, Spend: t.Spend, Micros: t.Timings, Interventions: t.Interventions,
		Actions: t.Actions, Calls: t.Calls, ReceivedAt: t.ReceivedAt, SettledAt: instant(t.SettledAt),
		RespondedAt: instant(t.RespondedAt), Outbox: RowsOf(told.Rows),
	}
}

// TurnLine is a turn as a line of a list. It names neither the contact nor a text.
type TurnLine struct {
	ID         string                        `json:"id"`
	ReceivedAt time.Time                     `json:"receivedAt"`
	State      conversation.State            `json:"state"`
	Outcome    conversation.Outcome          `json:"outcome,omitempty"`
	Reason     conversation.EscalationReason `json:"escalationReason,omitempty"`
	Path       conversation.Path             `json:"path,omitempty"`
	Actions    int                           `json:"actions"`
}

// TurnLineOf is a turn as a list shows it.
func TurnLineOf(t conversation.Turn) TurnLine {
	return TurnLine{
		ID: t.ID, ReceivedAt: t.ReceivedAt, State: t.State, Outcome: t.Outcome, Reason: t.Reason, Path: t.Path,
		Actions: len(t.Actions),
	}
}

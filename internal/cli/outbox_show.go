package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/cli/show"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
)

type outboxShow struct {
	ID   string `arg:"" help:"The row's id, as list prints it."`
	JSON bool   `help:"As a JSON object."`
}

// Run prints the row with its contact and texts, and what to do about it: a table in a
// terminal, and JSON elsewhere or when asked for.
func (s outboxShow) Run(ctx context.Context, std Streams) error {
	return withDatabase(ctx, std, func(ctx context.Context, db *store.DB) error {
		r, err := db.OutboxRow(ctx, s.ID)
		if err != nil {
			return rowError(ctx, db, s.ID, err)
		}
		if s.JSON || !terminal(std.Out) {
			v := show.RowOf(r)
			v.Subscriber, v.Texts = string(r.Key.SubscriberID), r.Payload.Texts
			err = show.Object(std.Out, v)
		} else {
			err = show.Row(std.Out, r)
		}
		if advice := advice(r); err == nil && advice != "" {
			fmt.Fprintln(std.Err, advice)
		}
		return err
	})
}

// advice says what an operator can do about a row.
func advice(r outbox.Row) string {
	switch r.Reason {
	case outbox.ReasonRejected:
		return refusal(r)
	case outbox.ReasonUnknown:
		return "ManyChat did not answer twice, so the text may have arrived. Look at the contact's chat in ManyChat before you retry it."
	case outbox.ReasonExhausted:
		return "Every try failed. When ManyChat answers again: outbox retry " + r.ID
	case outbox.ReasonStale:
		return "It grew too old to be of use. If the contact still waits: outbox retry " + r.ID
	}
	return ""
}

// refusal tells by ManyChat's message, and by the call that it answered, what to put
// right. That a contact does not exist is at times said of one who then gets the text.
func refusal(r outbox.Row) string {
	refused := strings.ToLower(r.LastError)
	retry := ", then: outbox retry " + r.ID
	switch {
	case strings.Contains(refused, "subscriber"):
		return "ManyChat says that it does not know the contact, which is at times a mistake. Look for the subscriber in ManyChat. " +
			"If the text is not in the chat: outbox retry " + r.ID + ". If there is no such contact: outbox discard " + r.ID
	case strings.Contains(refused, "setcustomfield"):
		return "ManyChat refused to write the reply field. Check that MANYCHAT_REPLY_FIELD is the name of a custom field of type text" + retry
	case strings.Contains(refused, "sendflow"):
		return "ManyChat refused to start the reply flow. Check that MANYCHAT_REPLY_FLOW_NS is the namespace of a published flow" + retry
	}
	return "ManyChat refused it. Put right what its message says" + retry
}

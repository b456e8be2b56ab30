package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

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
			v := view(r)
			v.Subscriber, v.Texts = string(r.Key.SubscriberID), r.Payload.Texts
			out := json.NewEncoder(std.Out)
			out.SetIndent("", "  ")
			err = out.Encode(v)
		} else {
			err = printRow(std.Out, r)
		}
		if advice := advice(r); err == nil && advice != "" {
			fmt.Fprintln(std.Err, advice)
		}
		return err
	})
}

// printRow writes a row for a person to read.
func printRow(w io.Writer, r outbox.Row) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name string, value any) { fmt.Fprintf(table, "%s\t%v\n", name, value) }
	line("id", r.ID)
	line("kind", r.Kind)
	line("status", r.Status)
	if why := why(r); why != "" {
		line("why", why)
	}
	line("subscriber", r.Key.SubscriberID)
	line("turn", r.TurnID)
	line("queued", local(r.CreatedAt))
	line("tries", r.Attempts)
	if r.Status == outbox.Pending {
		line("next try", local(r.NextAttemptAt))
	}
	if !r.DeliveredAt.IsZero() {
		line("delivered", local(r.DeliveredAt))
	}
	for i, text := range r.Payload.Texts {
		name := "not sent"
		if i < r.Payload.Sent {
			name = "sent"
		}
		line(name, strings.ReplaceAll(text, "\n", "\n\t"))
	}
	return table.Flush()
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

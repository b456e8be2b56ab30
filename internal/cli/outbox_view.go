package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/outbox"
)

func printTable(w io.Writer, rows []outbox.Row) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tKIND\tSTATUS\tTRIES\tNEXT\tWHY")
	for _, r := range rows {
		next := "-"
		if r.Status == outbox.Pending {
			next = local(r.NextAttemptAt)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\n", r.ID, r.Kind, r.Status, r.Attempts, next, why(r))
	}
	return table.Flush()
}

func why(r outbox.Row) string {
	return strings.TrimPrefix(strings.Trim(string(r.Reason)+": "+r.LastError, ": "), ": ")
}

// rowView is a row as JSON. In a list it names neither the contact nor the text.
type rowView struct {
	ID            string        `json:"id"`
	Turn          string        `json:"turn"`
	Conversation  string        `json:"conversation"`
	Subscriber    string        `json:"subscriber,omitempty"`
	Kind          outbox.Kind   `json:"kind"`
	Status        outbox.Status `json:"status"`
	Reason        outbox.Reason `json:"reason,omitempty"`
	Attempts      int           `json:"attempts"`
	NextAttemptAt time.Time     `json:"nextAttemptAt"`
	LastError     string        `json:"lastError,omitempty"`
	QueuedAt      time.Time     `json:"queuedAt"` // by a turn, or by an operator again
	DeliveredAt   *time.Time    `json:"deliveredAt,omitempty"`
	Sent          int           `json:"sent"`
	Texts         []string      `json:"texts,omitempty"`
}

func view(r outbox.Row) rowView {
	v := rowView{
		ID: r.ID, Turn: r.TurnID, Conversation: r.ConversationID, Kind: r.Kind, Status: r.Status, Reason: r.Reason,
		Attempts: r.Attempts, NextAttemptAt: r.NextAttemptAt, LastError: r.LastError, QueuedAt: r.CreatedAt,
		Sent: r.Payload.Sent,
	}
	if !r.DeliveredAt.IsZero() {
		v.DeliveredAt = &r.DeliveredAt
	}
	return v
}

func listed(rows []outbox.Row) []rowView {
	views := make([]rowView, len(rows))
	for i, r := range rows {
		views[i] = view(r)
	}
	return views
}

// local is an instant for a person to read.
func local(at time.Time) string { return at.Local().Format(time.DateTime + " MST") }

// printLines writes one JSON object a line.
func printLines[T any](w io.Writer, values []T) error {
	lines := json.NewEncoder(w)
	for _, v := range values {
		if err := lines.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

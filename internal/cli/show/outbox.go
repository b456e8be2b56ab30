// Package show is what the commands print of outbox rows and turns: tables for people,
// whom no text of a contact or a model may play tricks on their terminal, and JSON for
// programs.
package show

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
)

// Rows prints a table of outbox rows.
func Rows(w io.Writer, rows []outbox.Row) error {
	table := columns(w)
	fmt.Fprintln(table, "ID\tKIND\tSTATUS\tTRIES\tNEXT\tWHY")
	for _, r := range rows {
		next := "-"
		if r.Status == outbox.Pending {
			next = Local(r.NextAttemptAt)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\t%s\n", r.ID, Name(r), r.Status, r.Attempts, next, why(r))
	}
	return table.Flush()
}

func why(r outbox.Row) string {
	return printable(strings.TrimPrefix(strings.Trim(string(r.Reason)+": "+r.LastError, ": "), ": "))
}

// Row prints one row with its contact and texts.
func Row(w io.Writer, r outbox.Row) error {
	table := columns(w)
	line := func(name string, value any) { fmt.Fprintf(table, "%s\t%v\n", name, value) }
	line("id", r.ID)
	line("kind", Name(r))
	line("status", r.Status)
	if why := why(r); why != "" {
		line("why", why)
	}
	line("subscriber", r.Key.SubscriberID)
	line("turn", r.TurnID)
	line("queued", Local(r.CreatedAt))
	line("tries", r.Attempts)
	if r.Status == outbox.Pending {
		line("next try", Local(r.NextAttemptAt))
	}
	if !r.DeliveredAt.IsZero() {
		line("delivered", Local(r.DeliveredAt))
	}
	for i, text := range r.Payload.Texts {
		name := "not sent"
		if i < r.Payload.Sent {
			name = "sent"
		}
		line(name, strings.ReplaceAll(printable(text), "\n", "\n\t"))
	}
	return table.Flush()
}

// RowView is a row as JSON. In a list it names neither the contact nor the text.
type RowView struct {
	ID            string        `json:"id"`
	Turn          string        `json:"turn"`
	Conversation  string        `json:"conversation"`
	Subscriber    string        `json:"subscriber,omitempty"`
	Kind          outbox.Kind   `json:"kind"`
	Part          string        `json:"part,omitempty"` // of a handoff notice: tag, flow or webhook
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

// RowOf is a row as a list shows it.
func RowOf(r outbox.Row) RowView {
	return RowView{
		ID: r.ID, Turn: r.TurnID, Conversation: r.ConversationID, Kind: r.Kind, Part: Part(r), Status: r.Status, Reason: r.Reason,
		Attempts: r.Attempts, NextAttemptAt: r.NextAttemptAt, LastError: r.LastError, QueuedAt: r.CreatedAt,
		DeliveredAt: instant(r.DeliveredAt), Sent: r.Payload.Sent,
	}
}

// RowsOf are rows as a list shows them.
func RowsOf(rows []outbox.Row) []RowView {
	views := make([]RowView, len(rows))
	for i, r := range rows {
		views[i] = RowOf(r)
	}
	return views
}

func instant(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

// Local is an instant for a person to read.
func Local(at time.Time) string { return at.Local().Format(time.DateTime + " MST") }

// Lines writes one JSON object a line.
func Lines[T any](w io.Writer, values []T) error {
	lines := json.NewEncoder(w)
	for _, v := range values {
		if err := lines.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// Object writes one JSON object over several lines.
func Object(w io.Writer, v any) error {
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(v)
}

// Table writes a line of headings and one for each value, their columns apart by tabs.
func Table[T any](w io.Writer, headings string, values []T, line func(T) string) error {
	table := columns(w)
	fmt.Fprintln(table, headings)
	for _, v := range values {
		fmt.Fprintln(table, line(v))
	}
	return table.Flush()
}

func columns(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

// printable is a text without what a terminal would obey.
func printable(text string) string { return conversation.Plain(text) }

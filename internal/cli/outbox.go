package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
)

type outboxCommands struct {
	List    outboxList    `cmd:"" help:"List deferred replies that are not delivered yet, or never will be."`
	Show    outboxShow    `cmd:"" help:"Explain one deferred reply."`
	Retry   outboxRetry   `cmd:"" help:"Send a dead or withheld reply again."`
	Discard outboxDiscard `cmd:"" help:"Give a pending, dead or withheld reply up."`
}

// Help shows examples.
func (outboxCommands) Help() string {
	return `Examples:

    manychat-agent outbox list --status dead
    manychat-agent outbox show ID
    manychat-agent outbox retry ID
    manychat-agent outbox retry --all`
}

type outboxList struct {
	Status []string `help:"Only these: pending, delivering, delivered, dead, withheld, discarded." enum:"pending,delivering,delivered,dead,withheld,discarded" default:"pending,delivering,dead,withheld"`
	Limit  int      `help:"At most so many." default:"100"`
	After  string   `help:"Only rows behind this one: the last id of the page before." placeholder:"ID"`
	JSON   bool     `help:"One JSON object a line."`
}

// Run prints a table in a terminal, and JSON elsewhere or when asked for.
func (l outboxList) Run(ctx context.Context, std Streams) error {
	filter := store.OutboxFilter{Limit: l.Limit, After: l.After}
	for _, s := range l.Status {
		filter.Statuses = append(filter.Statuses, outbox.Status(s))
	}
	return withDatabase(ctx, std, func(ctx context.Context, db *store.DB) error {
		rows, err := db.ListOutbox(ctx, filter)
		if err != nil {
			return err
		}
		if l.JSON || !terminal(std.Out) {
			return printLines(std.Out, rows)
		}
		if len(rows) == 0 {
			_, err := fmt.Fprintln(std.Out, "No deferred replies in these states.")
			return err
		}
		return printTable(std.Out, rows)
	})
}

func printTable(w io.Writer, rows []outbox.Row) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "ID\tSTATUS\tTRIES\tNEXT\tWHY")
	for _, r := range rows {
		next := "-"
		if r.Status == outbox.Pending {
			next = r.NextAttemptAt.Local().Format(time.DateTime)
		}
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\n", r.ID, r.Status, r.Attempts, next, why(r))
	}
	return table.Flush()
}

func why(r outbox.Row) string {
	return strings.TrimPrefix(strings.Trim(string(r.Reason)+": "+r.LastError, ": "), ": ")
}

// rowView is a row as JSON. It names neither the contact nor, in a list, the text.
type rowView struct {
	ID            string        `json:"id"`
	Turn          string        `json:"turn"`
	Conversation  string        `json:"conversation"`
	Kind          outbox.Kind   `json:"kind"`
	Status        outbox.Status `json:"status"`
	Reason        outbox.Reason `json:"reason,omitempty"`
	Attempts      int           `json:"attempts"`
	NextAttemptAt time.Time     `json:"nextAttemptAt"`
	LastError     string        `json:"lastError,omitempty"`
	CreatedAt     time.Time     `json:"createdAt"`
	DeliveredAt   *time.Time    `json:"deliveredAt,omitempty"`
	Sent          int           `json:"sent"`
	Texts         []string      `json:"texts,omitempty"`
}

func view(r outbox.Row, texts []string) rowView {
	v := rowView{
		ID: r.ID, Turn: r.TurnID, Conversation: r.ConversationID, Kind: r.Kind, Status: r.Status, Reason: r.Reason,
		Attempts: r.Attempts, NextAttemptAt: r.NextAttemptAt, LastError: r.LastError, CreatedAt: r.CreatedAt,
		Sent: r.Payload.Sent, Texts: texts,
	}
	if !r.DeliveredAt.IsZero() {
		v.DeliveredAt = &r.DeliveredAt
	}
	return v
}

func printLines(w io.Writer, rows []outbox.Row) error {
	lines := json.NewEncoder(w)
	for _, r := range rows {
		if err := lines.Encode(view(r, nil)); err != nil {
			return err
		}
	}
	return nil
}

type outboxShow struct {
	ID string `arg:"" help:"The row's id, as list prints it."`
}

// Run prints the row with its texts, and what to do about it.
func (s outboxShow) Run(ctx context.Context, std Streams) error {
	return withDatabase(ctx, std, func(ctx context.Context, db *store.DB) error {
		r, err := db.OutboxRow(ctx, s.ID)
		if err != nil {
			return rowError(s.ID, err)
		}
		out := json.NewEncoder(std.Out)
		out.SetIndent("", "  ")
		if err := out.Encode(view(r, r.Payload.Texts)); err != nil {
			return err
		}
		if advice := advice(r); advice != "" {
			fmt.Fprintln(std.Err, advice)
		}
		return nil
	})
}

// advice says what an operator can do about a row.
func advice(r outbox.Row) string {
	switch r.Reason {
	case outbox.ReasonRejected:
		return "ManyChat refused it. Check that the reply field and the reply flow still have the configured names, then: outbox retry " + r.ID
	case outbox.ReasonUnknown:
		return "ManyChat did not answer twice, so the text may have arrived. Look at the contact's chat in ManyChat before you retry it."
	case outbox.ReasonExhausted:
		return "Every try failed. When ManyChat answers again: outbox retry " + r.ID
	case outbox.ReasonStale:
		return "It grew too old to be of use. If the contact still waits: outbox retry " + r.ID
	}
	return ""
}

type outboxRetry struct {
	ID  string `arg:"" optional:"" help:"The row's id."`
	All bool   `help:"Every dead row."`
}

// Run makes rows pending again; a running service picks them up within a second.
func (o outboxRetry) Run(ctx context.Context, std Streams) error {
	if (o.ID == "") == !o.All {
		return usageError{errors.New("name one row, or give --all for every dead one")}
	}
	return withDatabase(ctx, std, func(ctx context.Context, db *store.DB) error {
		count := 1
		var err error
		if o.All {
			count, err = db.RetryAllDead(ctx)
		} else {
			err = rowError(o.ID, db.RetryOutbox(ctx, o.ID))
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(std.Out, "%d will be sent again.\n", count)
		return err
	})
}

type outboxDiscard struct {
	ID string `arg:"" help:"The row's id."`
}

// Run gives a row up.
func (o outboxDiscard) Run(ctx context.Context, std Streams) error {
	return withDatabase(ctx, std, func(ctx context.Context, db *store.DB) error {
		if err := rowError(o.ID, db.DiscardOutbox(ctx, o.ID)); err != nil {
			return err
		}
		_, err := fmt.Fprintln(std.Out, "Discarded.")
		return err
	})
}

// rowError says which row a request was about, and what its state allows.
func rowError(id string, err error) error {
	switch {
	case errors.Is(err, outbox.ErrNotFound):
		return fmt.Errorf("no deferred reply has the id %q; outbox list shows them", id)
	case errors.Is(err, outbox.ErrState):
		return fmt.Errorf("the reply %s is in a state that does not allow this; outbox show %s says which", id, id)
	}
	return err
}

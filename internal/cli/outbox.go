package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/cli/show"
	"github.com/manychat-agent/manychat-agent/internal/cli/talk"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
)

type outboxCommands struct {
	List    outboxList    `cmd:"" help:"List late replies, handoff notices and tokens that are not delivered yet, or never will be."`
	Show    outboxShow    `cmd:"" help:"Explain one row, and what to do about it."`
	Retry   outboxRetry   `cmd:"" help:"Send a dead or withheld row again."`
	Discard outboxDiscard `cmd:"" help:"Give a pending, dead or withheld row up."`
}

// Help shows examples.
func (outboxCommands) Help() string {
	return `A row is a late reply, a part of a handoff notice (tag, flow or webhook) or a contact's token.

Examples:

    manychat-agent outbox list --status dead
    manychat-agent outbox list --status delivered
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
	if l.Limit < 1 {
		return usageError{fmt.Errorf("--limit is %d: give a number of at least 1", l.Limit)}
	}
	filter := store.OutboxFilter{Limit: l.Limit, After: l.After}
	for _, s := range l.Status {
		filter.Statuses = append(filter.Statuses, outbox.Status(s))
	}
	return withDatabase(ctx, std, func(ctx context.Context, db *store.DB) error {
		rows, err := db.ListOutbox(ctx, filter)
		if err != nil {
			return err
		}
		if len(rows) == 0 && (terminal(std.Out) || terminal(std.Err)) {
			fmt.Fprintln(std.Err, l.nothing())
		}
		if len(rows) == 0 || l.JSON || !terminal(std.Out) {
			return show.Lines(std.Out, show.RowsOf(rows))
		}
		return show.Rows(std.Out, rows)
	})
}

// nothing says what was looked for in vain.
func (l outboxList) nothing() string {
	states := strings.Join(l.Status, ", ")
	if last := len(l.Status) - 1; last > 0 {
		states = strings.Join(l.Status[:last], ", ") + " or " + l.Status[last]
	}
	which := ""
	if l.After != "" {
		which = " behind " + l.After
	}
	return fmt.Sprintf("No row%s is %s: no late reply, no handoff notice and no token.", which, states)
}

type outboxRetry struct {
	ID  string `arg:"" optional:"" help:"The row's id."`
	All bool   `help:"Every dead row that has surely not done its work."`
}

// Run makes rows pending again; a running service picks them up within a second.
func (o outboxRetry) Run(ctx context.Context, std Streams) error {
	if (o.ID == "") == !o.All {
		return usageError{errors.New("name one row, or give --all for every dead one")}
	}
	return withDatabase(ctx, std, func(ctx context.Context, db *store.DB) error {
		if o.All {
			return retryAll(ctx, std, db)
		}
		if err := db.RetryOutbox(ctx, o.ID); err != nil {
			return rowError(ctx, db, o.ID, err)
		}
		if _, err := fmt.Fprintln(std.Out, "1 will be sent again."); err != nil {
			return err
		}
		return talk.TellTaken(ctx, shell(std), db, o.ID)
	})
}

func retryAll(ctx context.Context, std Streams, db *store.DB) error {
	done, err := db.RetryAllDead(ctx)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(std.Out, "%d will be sent again.\n", done.Queued); err != nil {
		return err
	}
	if done.Left > 0 {
		fmt.Fprintf(std.Err, "%d left out, since ManyChat did not answer and what they send may have arrived. outbox list --status dead shows them, reason unknown. What to look at before you retry one: outbox show ID\n", done.Left)
	}
	return nil
}

type outboxDiscard struct {
	ID string `arg:"" help:"The row's id."`
}

// Run gives a row up.
func (o outboxDiscard) Run(ctx context.Context, std Streams) error {
	return withDatabase(ctx, std, func(ctx context.Context, db *store.DB) error {
		if err := db.DiscardOutbox(ctx, o.ID); err != nil {
			return rowError(ctx, db, o.ID, err)
		}
		_, err := fmt.Fprintln(std.Out, "Discarded.")
		return err
	})
}

// rowError says which row a request was about, and what becomes of it without one.
func rowError(ctx context.Context, db *store.DB, id string, err error) error {
	if errors.Is(err, outbox.ErrNotFound) {
		return fmt.Errorf("no outbox row has the id %q; outbox list shows them", id)
	}
	if !errors.Is(err, outbox.ErrState) {
		return err
	}
	r, err := db.OutboxRow(ctx, id)
	if err != nil {
		return err
	}
	return fmt.Errorf("nothing was changed of the %s %s: %s", show.Name(r), id, next(r))
}

// next says what happens to a row that no operator touches.
func next(r outbox.Row) string {
	switch r.Status {
	case outbox.Pending:
		return "it is pending and is tried again at " + show.Local(r.NextAttemptAt) + " by itself"
	case outbox.Delivering:
		return "it is delivering: a service sends it just now, or takes it up again when it starts"
	case outbox.Delivered:
		return "it is delivered, and ManyChat has accepted all of it"
	case outbox.Discarded:
		if r.Kind == outbox.HandoffNotice {
			return "it is discarded for good; the contact's next handoff is told as ever"
		}
		return "it is discarded for good; the contact's next message is answered as ever"
	case outbox.Dead, outbox.Withheld:
	}
	return "it is " + string(r.Status) + ", and stays so until it is retried or discarded"
}

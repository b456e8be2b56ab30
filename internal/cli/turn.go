package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/manychat-agent/manychat-agent/internal/cli/show"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
)

type turnCommands struct {
	List turnList `cmd:"" help:"List turns, newest first."`
	Show turnShow `cmd:"" help:"Explain one turn: what was written, called, done and replied."`
}

// Help shows examples.
func (turnCommands) Help() string {
	return `Examples:

    manychat-agent turn list
    manychat-agent turn list --subscriber 900000001
    manychat-agent turn show ID
    manychat-agent turn show ID --json | jq .actions`
}

type turnList struct {
	Subscriber string `help:"Only those of the contact with this id at ManyChat." placeholder:"ID"`
	Limit      int    `help:"At most so many." default:"20"`
	JSON       bool   `help:"One JSON object a line."`
}

// Run prints a table in a terminal, and JSON elsewhere or when asked for.
func (l turnList) Run(ctx context.Context, std Streams) error {
	if l.Limit < 1 {
		return usageError{fmt.Errorf("--limit is %d: give a number of at least 1", l.Limit)}
	}
	if l.Subscriber != "" && !subscriberForm.MatchString(l.Subscriber) {
		return usageError{fmt.Errorf("--subscriber is %q: give the id of a contact, 1 to 32 digits", l.Subscriber)}
	}
	c, err := environment(config.Once, std)
	if err != nil {
		return err
	}
	return withDatabase(ctx, std, func(ctx context.Context, db *store.DB) error {
		found, err := l.read(ctx, db, c.Tenant.ID)
		if err != nil {
			return err
		}
		lines := make([]show.TurnLine, len(found))
		for i, t := range found {
			lines[i] = show.TurnLineOf(t.Turn)
		}
		if len(lines) == 0 && (terminal(std.Out) || terminal(std.Err)) {
			fmt.Fprintln(std.Err, "No turns.")
		}
		if len(lines) == 0 || l.JSON || !terminal(std.Out) {
			return show.Lines(std.Out, lines)
		}
		return show.Turns(std.Out, lines)
	})
}

func (l turnList) read(ctx context.Context, db *store.DB, tenantID string) ([]store.RecentTurn, error) {
	if l.Subscriber == "" {
		return db.LatestTurns(ctx, tenantID, l.Limit)
	}
	return db.RecentTurns(ctx, tenantID, contact.SubscriberID(l.Subscriber), l.Limit)
}

type turnShow struct {
	ID   string `arg:"" help:"The turn's id, as turn list and the log print it."`
	JSON bool   `help:"As a JSON object."`
}

// Run prints an account of the turn in a terminal, and JSON elsewhere or when asked for.
func (s turnShow) Run(ctx context.Context, std Streams) error {
	return withDatabase(ctx, std, func(ctx context.Context, db *store.DB) error {
		t, err := db.Turn(ctx, s.ID)
		if errors.Is(err, store.ErrNoTurn) {
			return fmt.Errorf("no turn has the id %q; turn list shows the latest", s.ID)
		}
		if err != nil {
			return err
		}
		rows, err := db.TurnRows(ctx, s.ID)
		if err != nil {
			return err
		}
		merged, err := db.MergedTurns(ctx, s.ID)
		if err != nil {
			return err
		}
		told := show.Told{Turn: t, Merged: merged, Rows: rows}
		if s.JSON || !terminal(std.Out) {
			err = show.Object(std.Out, show.TurnOf(told))
		} else {
			err = show.Turn(std.Out, told)
		}
		if err == nil {
			tellDead(std, rows)
		}
		return err
	})
}

// tellDead says where an operator learns what to do about what was not delivered.
func tellDead(std Streams, rows []outbox.Row) {
	for _, r := range rows {
		if r.Status == outbox.Dead || r.Status == outbox.Withheld {
			fmt.Fprintf(std.Err, "A %s of this turn is %s. What to do about it: outbox show %s\n", show.Name(r), r.Status, r.ID)
		}
	}
}

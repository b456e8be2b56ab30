// Package transfer copies everything that one database holds into another one, of
// either kind, and proves that it arrived.
package transfer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/tables"
)

// Errors of [Copy], each a sentence that says what to do. Those of opening a database
// are its own.
var (
	ErrSame      = errors.New("both addresses name one database; give another one to copy to")
	ErrNoTables  = errors.New("it has no tables yet; run the migrate command with DATABASE_URL set to it")
	ErrOlder     = errors.New("it is older than this program; run the migrate command with DATABASE_URL set to it")
	ErrNotEmpty  = errors.New("the database to copy to holds rows already; give an empty one, since nothing is overwritten or merged")
	ErrDifferent = errors.New("the databases do not have the same tables and columns, which is a defect of this program; please report it")
	ErrText      = errors.New("PostgreSQL cannot keep this text, which is not valid UTF-8 or holds a zero byte")
	ErrArrived   = errors.New("what arrived is not what was sent, so nothing was kept; please report it")
)

// Options name the databases.
type Options struct {
	From, To string           // addresses
	Now      func() time.Time // required
}

// Copied is a table that arrived.
type Copied struct {
	Table string
	Rows  int64
	Hash  string // of its rows, the same in both databases; hexadecimal
}

// Copy copies every table of a database into another one, which must be migrated and
// empty, in one transaction there: all of it arrives or nothing does. Neither database may
// be a SQLite file that a service runs on, and both stay locked to services meanwhile; of a
// PostgreSQL database that others write, what it held at one moment is copied. Each table is
// read back before the transaction is committed, and has as many rows with the same content.
func Copy(ctx context.Context, o Options) ([]Copied, error) {
	if o.From == o.To {
		return nil, ErrSame
	}
	if err := ready(ctx, o); err != nil {
		return nil, err
	}
	for _, url := range []string{o.From, o.To} {
		unlock, err := database.Lock(url)
		if err != nil {
			return nil, err
		}
		defer unlock()
	}
	from, err := database.Open(ctx, database.Options{URL: o.From, Now: o.Now, ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer from.Close()
	to, err := database.Open(ctx, database.Options{URL: o.To, Now: o.Now, NoMigration: true})
	if err != nil {
		return nil, err
	}
	defer to.Close()
	return between(ctx, from, to)
}

// ready refuses databases of another version before anything is created or locked.
func ready(ctx context.Context, o Options) error {
	for _, which := range [][2]string{{"from", o.From}, {"to", o.To}} {
		v, err := database.Version(ctx, which[1])
		switch {
		case err != nil:
		case v.Database == 0:
			err = ErrNoTables
		case v.Database < v.Binary:
			err = ErrOlder
		}
		if err != nil {
			return fmt.Errorf("the database to copy %s: %w", which[0], err)
		}
	}
	return nil
}

func between(ctx context.Context, from, to *database.DB) ([]Copied, error) {
	all, err := same(ctx, from, to)
	if err != nil {
		return nil, err
	}
	source, err := from.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the database to copy from: %w", err)
	}
	defer source.Rollback()
	if !from.SQLite() {
		if _, err := source.ExecContext(ctx, takesLong); err != nil {
			return nil, fmt.Errorf("read the database to copy from: %w", err)
		}
	}
	return database.Write(ctx, to, func(tx *groupcommit.Tx) ([]Copied, error) {
		target := &target{tx: tx, sqlite: to.SQLite()}
		if err := target.prepare(all); err != nil {
			return nil, err
		}
		var done []Copied
		for _, t := range all {
			c, err := copyTable(ctx, source, target, t)
			if err != nil {
				return nil, fmt.Errorf("copy table %s: %w", t.Name, err)
			}
			done = append(done, c)
		}
		return done, target.finish()
	})
}

// same reads the tables of both databases, which are the same if they are of one version.
func same(ctx context.Context, from, to *database.DB) ([]tables.Table, error) {
	source, err := tables.Of(ctx, from)
	if err != nil {
		return nil, err
	}
	target, err := tables.Of(ctx, to)
	if err != nil {
		return nil, err
	}
	outline := func(all []tables.Table) (lines []string) {
		for _, t := range all {
			lines = append(lines, t.Name+"("+strings.Join(t.Columns, ", ")+")")
		}
		slices.Sort(lines)
		return lines
	}
	a, b := outline(source), outline(target)
	for _, line := range slices.Concat(a, b) {
		if !slices.Contains(a, line) || !slices.Contains(b, line) {
			return nil, fmt.Errorf("%w: %s", ErrDifferent, line)
		}
	}
	return target, nil
}

// copyTable copies one table and reads it back.
func copyTable(ctx context.Context, source *sql.Tx, to *target, t tables.Table) (Copied, error) {
	rows, err := source.QueryContext(ctx, selectAll(t))
	if err != nil {
		return Copied{}, err
	}
	defer rows.Close()
	load := to.load(t)
	sent, err := read(rows, t, func(row []any) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return load.add(row)
	})
	if err == nil {
		err = load.flush()
	}
	if err != nil {
		return Copied{}, err
	}
	back, err := to.tx.Query(selectAll(t))
	if err != nil {
		return Copied{}, err
	}
	defer back.Close()
	arrived, err := read(back, t, func([]any) error { return ctx.Err() })
	if err != nil {
		return Copied{}, err
	}
	if sent != arrived {
		return Copied{}, fmt.Errorf("%w: %d rows were sent and %d arrived", ErrArrived, sent.rows, arrived.rows)
	}
	return Copied{Table: t.Name, Rows: sent.rows, Hash: sent.String()}, nil
}

func selectAll(t tables.Table) string {
	return "SELECT " + list(t.Columns) + " FROM " + quoted(t.Name)
}

func list(columns []string) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = quoted(c)
	}
	return strings.Join(names, ", ")
}

func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

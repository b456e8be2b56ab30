package transfer

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/tables"
)

// parameters is how many one statement has at most: SQLite takes 32 766.
const parameters = 8000

// target is the transaction that a copy arrives in.
type target struct {
	tx     *groupcommit.Tx
	sqlite bool
	later  []constraint // PostgreSQL's, to be checked at once again
}

// constraint is a foreign key of a PostgreSQL table.
type constraint struct{ table, name string }

// takesLong lifts the limits of PostgreSQL for one transaction: they are made for a service's, and
// each database waits here for the other one, for as long as a large table takes.
const takesLong = `
SELECT set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)`

// selectOwn are the foreign keys of tables whose rows name other rows of their own.
const selectOwn = `
SELECT t.relname, f.conname FROM pg_constraint f
JOIN pg_class t ON t.oid = f.conrelid JOIN pg_namespace n ON n.oid = t.relnamespace
WHERE f.contype = 'f' AND f.confrelid = f.conrelid AND n.nspname = current_schema() ORDER BY 1, 2`

// prepare refuses a database that holds anything. Rows may come before others of their own
// table that they name; whether those came is checked at the end.
func (t *target) prepare(all []tables.Table) error {
	if !t.sqlite {
		if _, err := t.tx.Exec(takesLong); err != nil {
			return err
		}
	}
	for _, table := range all {
		var found bool
		if err := t.tx.QueryRow("SELECT EXISTS (SELECT 1 FROM " + quoted(table.Name) + ")").Scan(&found); err != nil {
			return err
		}
		if found {
			return fmt.Errorf("%w (table %s)", ErrNotEmpty, table.Name)
		}
	}
	if t.sqlite {
		_, err := t.tx.Exec("PRAGMA defer_foreign_keys = ON") // until the transaction ends
		return err
	}
	rows, err := t.tx.Query(selectOwn)
	t.later, err = database.Collect(rows, err, func(r database.Row) (c constraint, err error) {
		err = r.Scan(&c.table, &c.name)
		return c, err
	})
	if err != nil {
		return err
	}
	return t.alter("DEFERRABLE INITIALLY DEFERRED")
}

// finish checks what prepare put off, and leaves the tables as they were.
func (t *target) finish() error {
	if t.sqlite {
		return nil // its commit does
	}
	if _, err := t.tx.Exec("SET CONSTRAINTS ALL IMMEDIATE"); err != nil {
		return err
	}
	return t.alter("NOT DEFERRABLE")
}

func (t *target) alter(how string) error {
	for _, c := range t.later {
		if _, err := t.tx.Exec("ALTER TABLE " + quoted(c.table) + " ALTER CONSTRAINT " + quoted(c.name) + " " + how); err != nil {
			return err
		}
	}
	return nil
}

// load inserts rows of one table, many at once.
type load struct {
	*target
	table tables.Table
	batch int   // rows a statement
	args  []any // of rows that wait
}

func (t *target) load(table tables.Table) *load {
	return &load{target: t, table: table, batch: max(1, parameters/len(table.Columns))}
}

func (l *load) add(row []any) error {
	if !l.sqlite {
		if err := l.check(row); err != nil {
			return err
		}
	}
	l.args = append(l.args, row...)
	if len(l.args) < l.batch*len(row) {
		return nil
	}
	return l.insert(&l.args, l.batch)
}

// flush inserts what waits, a row at a time: each number of rows would be a statement of
// its own, which the database prepares and keeps.
func (l *load) flush() error {
	width := len(l.table.Columns)
	for args := range slices.Chunk(l.args, width) {
		if err := l.insert(&args, 1); err != nil {
			return err
		}
	}
	return nil
}

func (l *load) insert(args *[]any, rows int) error {
	_, err := l.tx.Exec(insertInto(l.table, rows), *args...)
	*args = (*args)[:0]
	return err
}

func insertInto(t tables.Table, rows int) string {
	var b strings.Builder
	b.WriteString("INSERT INTO " + quoted(t.Name) + " (" + list(t.Columns) + ") VALUES ")
	for n := range rows * len(t.Columns) {
		switch {
		case n == 0:
			b.WriteString("(")
		case n%len(t.Columns) == 0:
			b.WriteString("), (")
		default:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "$%d", n+1)
	}
	return b.String() + ")"
}

// check refuses what SQLite keeps and PostgreSQL does not, and says where it is.
func (l *load) check(row []any) error {
	for i, value := range row {
		text, ok := value.(string)
		if !ok || utf8.ValidString(text) && !strings.Contains(text, "\x00") {
			continue
		}
		var key []string
		for j, c := range l.table.Columns {
			if slices.Contains(l.table.Key, c) && j != i {
				key = append(key, fmt.Sprintf("%s = %v", c, row[j]))
			}
		}
		return fmt.Errorf("%w: column %s of the row with %s", ErrText, l.table.Columns[i], strings.Join(key, ", "))
	}
	return nil
}

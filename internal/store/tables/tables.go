// Package tables tells which tables a database has, as the database itself says, for
// whatever has to reach every one of them: a list in the program would be forgotten when
// a table is added.
package tables

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/store/database"
)

// Table is a table of the program's; the record of migrations is none.
type Table struct {
	Name       string
	Columns    []string // by name
	Key        []string // the columns of its primary key, by name
	References []string // the tables that its rows name, itself among them
}

// Has reports whether the table has all of these columns.
func (t Table) Has(columns ...string) bool {
	for _, c := range columns {
		if !slices.Contains(t.Columns, c) {
			return false
		}
	}
	return true
}

const sqliteColumns = `
SELECT m.name, c.name, CASE WHEN c.pk > 0 THEN 1 ELSE 0 END, coalesce(f."table", '')
FROM sqlite_master m JOIN pragma_table_info(m.name) c
LEFT JOIN pragma_foreign_key_list(m.name) f ON f."from" = c.name
WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name <> 'goose_db_version'
ORDER BY m.name, c.name`

const postgresColumns = `
SELECT t.relname, a.attname, CASE WHEN p.oid IS NULL THEN 0 ELSE 1 END, coalesce(r.relname, '')
FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_constraint p ON p.conrelid = t.oid AND p.contype = 'p' AND a.attnum = ANY (p.conkey)
LEFT JOIN pg_constraint f ON f.conrelid = t.oid AND f.contype = 'f' AND a.attnum = ANY (f.conkey)
LEFT JOIN pg_class r ON r.oid = f.confrelid
WHERE t.relkind = 'r' AND n.nspname = current_schema() AND t.relname <> 'goose_db_version'
ORDER BY t.relname COLLATE "C", a.attname COLLATE "C"`

// Reader is what the tables are read with: a pool, a connection or a transaction.
type Reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Of reads a database's tables, each behind those that its rows name.
func Of(ctx context.Context, db *database.DB) ([]Table, error) {
	return Read(ctx, db.Read(), db.SQLite())
}

// Read reads the tables beside a database's own pool; sqlite is the kind of database.
func Read(ctx context.Context, from Reader, sqlite bool) ([]Table, error) {
	query := postgresColumns
	if sqlite {
		query = sqliteColumns
	}
	type column struct {
		table, name, references string
		key                     bool
	}
	rows, err := from.QueryContext(ctx, query)
	all, err := database.Collect(rows, err, func(r database.Row) (c column, err error) {
		err = r.Scan(&c.table, &c.name, &c.key, &c.references)
		return c, err
	})
	if err != nil {
		return nil, fmt.Errorf("read which tables there are: %w", err)
	}
	var tables []Table
	for _, c := range all {
		if len(tables) == 0 || tables[len(tables)-1].Name != c.table {
			tables = append(tables, Table{Name: c.table})
		}
		t := &tables[len(tables)-1]
		if !slices.Contains(t.Columns, c.name) { // one that names two tables has two rows
			t.Columns = append(t.Columns, c.name)
			if c.key {
				t.Key = append(t.Key, c.name)
			}
		}
		if c.references != "" && !slices.Contains(t.References, c.references) {
			t.References = append(t.References, c.references)
		}
	}
	return ordered(tables)
}

// ordered puts every table behind those that its rows name.
func ordered(tables []Table) ([]Table, error) {
	var done []Table
	for len(done) < len(tables) {
		before := len(done)
		for _, t := range tables {
			if !contains(done, t.Name) && t.follows(done) {
				done = append(done, t)
			}
		}
		if len(done) == before {
			return nil, fmt.Errorf("tables name each other in a circle, which is a defect of this program; please report it")
		}
	}
	return done, nil
}

func (t Table) follows(done []Table) bool {
	for _, r := range t.References {
		if r != t.Name && !contains(done, r) {
			return false
		}
	}
	return true
}

func contains(tables []Table, name string) bool {
	return slices.ContainsFunc(tables, func(t Table) bool { return t.Name == name })
}

// Names reports whether the table's rows name those of another one.
func (t Table) Names(other string) bool { return slices.Contains(t.References, other) }

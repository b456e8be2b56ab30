package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// micros is an instant as a column keeps it; the zero time is NULL.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// instant reads a column of microseconds; NULL is the zero time.
type instant struct{ to *time.Time }

// Scan fills the time.
func (c instant) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		*c.to = time.Time{}
	case int64:
		*c.to = time.UnixMicro(v).UTC()
	default:
		return fmt.Errorf("scan instant: unexpected %T", src)
	}
	return nil
}

// optional is a string as a column keeps it; empty is NULL. Queries read it back by
// coalesce(column, ”).
func optional[S ~string](s S) any {
	if s == "" {
		return nil
	}
	return string(s)
}

// flag is a boolean as a column keeps it.
func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// list is a slice as a column keeps it: a JSON array; nil is NULL.
func list[T any](values []T) any {
	if values == nil {
		return nil
	}
	return object(values)
}

// object is a value as a column keeps it: JSON. The types given here are plain data,
// which always encodes.
func object(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("store: encode %T: %v", v, err))
	}
	return string(b)
}

// decoded reads a column of JSON; NULL leaves the value as it is.
type decoded struct{ to any }

// Scan fills the value.
func (c decoded) Scan(src any) error {
	switch v := src.(type) {
	case nil:
		return nil
	case string:
		return json.Unmarshal([]byte(v), c.to)
	case []byte:
		return json.Unmarshal(v, c.to)
	}
	return fmt.Errorf("scan JSON: unexpected %T", src)
}

// row is what a single row and the current one of many have in common.
type row interface{ Scan(dest ...any) error }

// collect scans every row of a query's answer.
func collect[T any](rows *sql.Rows, err error, scan func(row) (T, error)) ([]T, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		v, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// scanString reads a row of one column.
func scanString(r row) (s string, err error) {
	err = r.Scan(&s)
	return s, err
}

// newID makes an id that sorts by its time.
func newID() (string, error) {
	id, err := uuid.NewV7()
	return id.String(), err
}

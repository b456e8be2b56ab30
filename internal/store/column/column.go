// Package column says how values are kept in columns that SQLite and PostgreSQL both
// have: times as whole microseconds, the rest that is not text or a number as JSON.
package column

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// Micros is an instant as a column keeps it; the zero time is NULL.
func Micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// Instant reads a column of microseconds into to; NULL is the zero time.
func Instant(to *time.Time) sql.Scanner { return instant{to} }

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

// Optional is a string as a column keeps it; empty is NULL. Queries read it back by
// coalesce(column, ”).
func Optional[S ~string](s S) any {
	if s == "" {
		return nil
	}
	return string(s)
}

// Flag is a boolean as a column keeps it.
func Flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// List is a slice as a column keeps it: a JSON array; nil is NULL.
func List[T any](values []T) any {
	if values == nil {
		return nil
	}
	return Object(values)
}

// Object is a value as a column keeps it: JSON. The types given here are plain data,
// which always encodes.
func Object(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("column: encode %T: %v", v, err))
	}
	return string(b)
}

// JSON reads a column of JSON into to; NULL leaves the value as it is.
func JSON(to any) sql.Scanner { return decoded{to} }

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

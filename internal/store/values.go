package store

import (
	"database/sql"

	"github.com/google/uuid"
)

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

package database

import (
	"database/sql"

	"github.com/google/uuid"
)

// Row is what a single row and the current one of many have in common.
type Row interface{ Scan(dest ...any) error }

// Collect scans every row of a query's answer.
func Collect[T any](rows *sql.Rows, err error, scan func(Row) (T, error)) ([]T, error) {
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

// ScanString reads a row of one column.
func ScanString(r Row) (s string, err error) {
	err = r.Scan(&s)
	return s, err
}

// NewID makes an id that sorts by its time.
func NewID() (string, error) {
	id, err := uuid.NewV7()
	return id.String(), err
}

// Affected is how many rows a statement changed.
func Affected(result sql.Result, err error) (int64, error) {
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

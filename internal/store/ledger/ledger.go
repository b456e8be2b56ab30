// Package ledger keeps the daily budgets in the database; it fills [budget.Ledger]. Every
// transaction locks its day's row first and reads behind the lock. The SQL is of the
// dialect that SQLite and PostgreSQL share.
package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
)

var _ budget.Ledger = (*Ledger)(nil)

// Ledger is the budgets of a database. It is safe for concurrent use.
type Ledger struct{ db *database.DB }

// New reads and writes db, which the caller closes.
func New(db *database.DB) *Ledger { return &Ledger{db} }

// lockDay opens a day that is not there, and locks it.
const lockDay = `
INSERT INTO budget_days (tenant_id, day) VALUES ($1, $2)
ON CONFLICT (tenant_id, day) DO UPDATE SET waiting = budget_days.waiting
RETURNING tokens_spent, micros_spent, tokens_leased, micros_leased, waiting`

const updateDay = `
UPDATE budget_days SET tokens_spent = $3, micros_spent = $4, tokens_leased = $5, micros_leased = $6, waiting = $7
WHERE tenant_id = $1 AND day = $2`

const selectLease = `
SELECT tokens_spent, micros_spent, tokens_leased, micros_leased, tokens_unused, micros_unused, waiting FROM budget_leases
WHERE tenant_id = $1 AND owner = $2 AND day = $3`

const putLease = `
INSERT INTO budget_leases (tenant_id, owner, day,
    tokens_spent, micros_spent, tokens_leased, micros_leased, tokens_unused, micros_unused, waiting)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (tenant_id, owner, day) DO UPDATE SET
    tokens_spent = excluded.tokens_spent, micros_spent = excluded.micros_spent,
    tokens_leased = excluded.tokens_leased, micros_leased = excluded.micros_leased,
    tokens_unused = excluded.tokens_unused, micros_unused = excluded.micros_unused, waiting = excluded.waiting`

// State fills [budget.Ledger].
func (l *Ledger) State(ctx context.Context, s budget.Statement) (budget.Answer, error) {
	ans, err := database.Write(ctx, l.db, func(tx *groupcommit.Tx) (budget.Answer, error) { return state(tx, s) })
	if err != nil {
		return budget.Answer{}, fmt.Errorf("state the budget of %s: %w", s.Day, err)
	}
	return ans, nil
}

func state(tx *groupcommit.Tx, s budget.Statement) (budget.Answer, error) {
	total, err := lock(tx, s.TenantID, s.Day)
	if err != nil {
		return budget.Answer{}, err
	}
	share, err := scanShare(tx.QueryRow(selectLease, s.TenantID, s.Owner, int64(s.Day)))
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return budget.Answer{}, err
	}
	total, share, ans := s.Apply(total, share)
	if err := keep(tx, s.TenantID, s.Day, total); err != nil {
		return budget.Answer{}, err
	}
	_, err = tx.Exec(putLease, s.TenantID, s.Owner, int64(s.Day),
		share.Spent.Tokens, share.Spent.Micros, share.Leased.Tokens, share.Leased.Micros,
		share.Unused.Tokens, share.Unused.Micros, column.Flag(share.Waiting))
	return ans, err
}

func lock(tx *groupcommit.Tx, tenantID string, day budget.Day) (t budget.Total, err error) {
	err = tx.QueryRow(lockDay, tenantID, int64(day)).
		Scan(&t.Spent.Tokens, &t.Spent.Micros, &t.Leased.Tokens, &t.Leased.Micros, &t.Waiting)
	return t, err
}

func keep(tx *groupcommit.Tx, tenantID string, day budget.Day, t budget.Total) error {
	_, err := tx.Exec(updateDay, tenantID, int64(day), t.Spent.Tokens, t.Spent.Micros, t.Leased.Tokens, t.Leased.Micros, t.Waiting)
	return err
}

func scanShare(r database.Row) (s budget.Share, err error) {
	err = r.Scan(&s.Spent.Tokens, &s.Spent.Micros, &s.Leased.Tokens, &s.Leased.Micros, &s.Unused.Tokens, &s.Unused.Micros, &s.Waiting)
	return s, err
}

package ledger

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
)

const selectLeases = `
SELECT owner, day FROM budget_leases WHERE tenant_id = $1 AND owner <> $2`

const deleteLease = `
DELETE FROM budget_leases WHERE tenant_id = $1 AND owner = $2 AND day = $3
RETURNING tokens_spent, micros_spent, tokens_leased, micros_leased, tokens_unused, micros_unused, waiting`

// lease names a row of budget_leases of a tenant.
type lease struct {
	owner string
	day   budget.Day
}

// End ends the leases of processes of a tenant that are dead, and charges each as
// [Ledger.TakeOver] does.
func (l *Ledger) End(ctx context.Context, tenantID string, dead []string) error {
	_, err := database.Write(ctx, l.db, func(tx *groupcommit.Tx) (struct{}, error) {
		leases, err := read(tx, tenantID, "")
		if err == nil {
			leases = slices.DeleteFunc(leases, func(of lease) bool { return !slices.Contains(dead, of.owner) })
			err = endAll(tx, tenantID, leases)
		}
		return struct{}{}, err
	})
	if err != nil {
		return fmt.Errorf("take over the budget of dead processes: %w", err)
	}
	return nil
}

// TakeOver ends the leases of every process of a tenant but owner, which must know that
// they are dead: on SQLite the file's lock proves it. Each is charged what
// [budget.Total.TakeOver] says, on its own day.
func (l *Ledger) TakeOver(ctx context.Context, tenantID, owner string) error {
	_, err := database.Write(ctx, l.db, func(tx *groupcommit.Tx) (struct{}, error) {
		return struct{}{}, takeOver(tx, tenantID, owner)
	})
	if err != nil {
		return fmt.Errorf("take over the budget of earlier processes: %w", err)
	}
	return nil
}

func takeOver(tx *groupcommit.Tx, tenantID, owner string) error {
	leases, err := read(tx, tenantID, owner)
	if err != nil {
		return err
	}
	return endAll(tx, tenantID, leases)
}

// read reads the leases of every process of a tenant but owner.
func read(tx *groupcommit.Tx, tenantID, owner string) ([]lease, error) {
	rows, err := tx.Query(selectLeases, tenantID, owner)
	return database.Collect(rows, err, func(r database.Row) (l lease, err error) {
		err = r.Scan(&l.owner, &l.day)
		return l, err
	})
}

// endAll locks days in one order, so that two of these never wait for each other.
func endAll(tx *groupcommit.Tx, tenantID string, leases []lease) error {
	slices.SortFunc(leases, func(a, b lease) int { return cmp.Compare(a.day, b.day) })
	for _, l := range leases {
		if err := end(tx, tenantID, l); err != nil {
			return err
		}
	}
	return nil
}

// end charges a lease to its day, unless another process did so meanwhile.
func end(tx *groupcommit.Tx, tenantID string, l lease) error {
	total, err := lock(tx, tenantID, l.day)
	if err != nil {
		return err
	}
	share, err := scanShare(tx.QueryRow(deleteLease, tenantID, l.owner, int64(l.day)))
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	return keep(tx, tenantID, l.day, total.TakeOver(share))
}

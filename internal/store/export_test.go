package store

import (
	"context"

	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
)

// TurnPath are the queries of a turn, the worker and recovery, and the operators' reads of
// one thing. Lists of everything are left out.
var TurnPath = map[string]string{
	"enterConversation":       enterConversation,
	"insertAgentRow":          insertAgentRow,
	"insertContactRow":        insertContactRow,
	"selectHistory":           selectHistory,
	"selectRecent":            selectRecent,
	"updateEntered":           updateEntered,
	"moveHandoffSaid":         moveHandoffSaid,
	"moveNotified":            moveNotified,
	"settleTurn":              settleTurn,
	"stampTurn":               stampTurn,
	"forgetReserved":          forgetReserved,
	"rerouteTurn":             rerouteTurn,
	"settleStamped":           settleStamped,
	"selectUnstamped":         selectUnstamped,
	"selectConversationOf":    selectConversationOf,
	"selectOpen":              selectOpen,
	"selectLast":              selectLast,
	"mergeTurn":               mergeTurn,
	"moveMerged":              moveMerged,
	"hideMerged":              hideMerged,
	"showMerged":              showMerged,
	"selectEarlier":           selectEarlier,
	"startTurn":               startTurn,
	"selectStarted":           selectStarted,
	"selectMerged":            selectMerged,
	"selectWaiting":           selectWaiting,
	"requeueAll":              requeueAll,
	"selectUnowned":           selectUnowned,
	"selectOrphans":           selectOrphans,
	"selectLost":              selectLost,
	"takeTurn":                takeTurn,
	"selectConversation":      selectConversation,
	"selectConversationByKey": selectConversationByKey,
}

// Write runs a statement on the connection that writes.
func (db *DB) Write(ctx context.Context, query string, args ...any) error {
	return exec(ctx, db, func(tx *groupcommit.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
}

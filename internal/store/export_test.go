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
	"selectQueued":            selectQueued,
	"selectRecent":            selectRecent,
	"updateEntered":           updateEntered,
	"selectHandoffSaid":       selectHandoffSaid,
	"moveHandoffSaid":         moveHandoffSaid,
	"moveNotified":            moveNotified,
	"forgetHandoffSaid":       forgetHandoffSaid,
	"settleTurn":              settleTurn,
	"insertOutbox":            insertOutbox,
	"stampTurn":               stampTurn,
	"moveLastSent":            moveLastSent,
	"selectLastSent":          selectLastSent,
	"forgetReserved":          forgetReserved,
	"rerouteTurn":             rerouteTurn,
	"claimOutbox":             claimOutbox,
	"progressOutbox":          progressOutbox,
	"releaseOutbox":           releaseOutbox,
	"selectNextDue":           selectNextDue,
	"markNeedsPerson":         markNeedsPerson,
	"selectSaid":              selectSaid,
	"selectReplyRows":         selectReplyRows,
	"updateSaid":              updateSaid,
	"requeueDelivering":       requeueDelivering,
	"settleStamped":           settleStamped,
	"selectUnstamped":         selectUnstamped,
	"restartUnfinished":       restartUnfinished,
	"selectRunning":           selectRunning,
	"selectConversation":      selectConversation,
	"selectTurn":              selectTurn,
	"selectTurnRows":          selectTurnRows,
	"selectRecentTurns":       selectRecentTurns,
	"selectOutboxRow":         selectOutboxRow,
	"retryOutbox":             retryOutbox,
	"discardOutbox":           discardOutbox,
	"selectConversationsOf":   selectConversationsOf,
	"selectConversationByKey": selectConversationByKey,
}

// Write runs a statement on the connection that writes.
func (db *DB) Write(ctx context.Context, query string, args ...any) error {
	return exec(ctx, db, func(tx *groupcommit.Tx) error {
		_, err := tx.Exec(query, args...)
		return err
	})
}

package queue

// TurnPath are the queries of a turn and of the worker, and the operators' reads and writes of one row.
var TurnPath = map[string]string{
	"insertOutbox":      insertOutbox,
	"selectQueued":      selectQueued,
	"selectAhead":       selectAhead,
	"carryRow":          carryRow,
	"carriedRow":        carriedRow,
	"keepSaid":          keepSaid,
	"selectUnsent":      selectUnsent,
	"keepRowBack":       keepRowBack,
	"withdrawRow":       withdrawRow,
	"unsendNudge":       unsendNudge,
	"selectRecalled":    selectRecalled,
	"uncarryRows":       uncarryRows,
	"claimOutbox":       claimOutbox,
	"postponeOutbox":    postponeOutbox,
	"abandonOutbox":     abandonOutbox,
	"selectHeld":        selectHeld,
	"progressOutbox":    progressOutbox,
	"releaseOutbox":     releaseOutbox,
	"selectNextDue":     selectNextDue,
	"selectPending":     selectPending,
	"markNeedsPerson":   markNeedsPerson,
	"selectSaid":        selectSaid,
	"selectReplyRows":   selectReplyRows,
	"updateSaid":        updateSaid,
	"selectOutboxRow":   selectOutboxRow,
	"retryOutbox":       retryOutbox,
	"discardOutbox":     discardOutbox,
	"moveLastSent":      moveLastSent,
	"forgetHandoffSaid": forgetHandoffSaid,
}

// Locks are the queries that run where others write at the same time.
var Locks = map[string]string{
	"lockDue":          lockDue,
	"claimLocked":      claimLocked,
	"lockConversation": lockConversation,
}

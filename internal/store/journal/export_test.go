package journal

// TurnPath are the reads of one thing. Lists of everything are left out.
var TurnPath = map[string]string{
	"selectTurn": selectTurn, "selectMergedTurns": selectMergedTurns, "selectTurnRows": selectTurnRows,
	"selectRecentTurns": selectRecentTurns, "selectConversationsOf": selectConversationsOf,
}

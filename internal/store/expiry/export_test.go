package expiry

// Queries are the SQL texts of the package.
var Queries = map[string]string{
	"selectOver": selectOver, "deleteOver": deleteOver, "selectConversations": selectConversations, "selectTurns": selectTurns,
	"selectMerged": selectMerged, "selectStays": selectStays, "deleteRows": deleteRows, "deleteTurn": deleteTurn, "selectEnded": selectEnded, "deleteNudge": deleteNudge,
}

// Batch is how many rows a statement reads.
const Batch = batch

package nudges

// TurnPath are the queries of turns, of what calls nudges off and of the poller.
var TurnPath = map[string]string{
	"selectPlanned": selectPlanned, "upsertNudge": upsertNudge, "markNudged": markNudged, "selectDue": selectDue, "cancelOpen": cancelOpen,
	"endTurn": endTurn, "clearNudged": clearNudged, "selectWroteBehind": selectWroteBehind, "selectNudge": selectNudge,
	"beginNudge": beginNudge, "endNudge": endNudge, "takePlace": takePlace, "insertNudgeTurn": insertNudgeTurn, "settleNudge": settleNudge,
}

package talk

// TurnPath are the queries of a turn and of the worker, and what a person does to one contact.
// Lists of everything are left out.
var TurnPath = map[string]string{
	"selectTalk":    selectTalk,
	"selectTalksOf": selectTalksOf,
	"insertTalk":    insertTalk,
	"pauseTalks":    pauseTalks,
	"resumeTalks":   resumeTalks,
	"answerTalks":   answerTalks,
	"holdTalk":      holdTalk,
	"askTag":        askTag,
	"noteTag":       noteTag,
	"optOutTalks":   optOutTalks,
	"optInTalks":    optInTalks,

	"selectConfirms":   selectConfirms,
	"selectActiveAt":   selectActiveAt,
	"selectOnTheirWay": selectOnTheirWay,
}

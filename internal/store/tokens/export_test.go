package tokens

// TurnPath are the queries of a turn and of the worker.
var TurnPath = map[string]string{
	"lockToken": lockToken, "lockKnown": lockKnown, "updateToken": updateToken, "endTokenRow": endTokenRow, "hastenTokenRow": hastenTokenRow,
	"insertTokenRow": insertTokenRow,
}

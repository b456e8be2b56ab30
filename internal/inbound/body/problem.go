package body

import "net/http"

// The events that a problem is counted under.
const (
	RefusedBody   = "refused_body"             // it breaks a rule
	AmbiguousBody = "ambiguous_body"           // it is not JSON, and its readings disagree
	InvalidID     = "subscriber_id_invalid"    // there is no subscriber id, or it is not digits
	UnrenderedID  = "subscriber_id_unrendered" // a set-up error: a variable that ManyChat did not fill
)

// Problem is why a body is refused. It holds nothing of a value; the key can be one
// that a contact's words became part of, so only the caller may see it.
type Problem struct {
	Status  int    // HTTP status
	Key     string // the key that is wrong; empty: the body as a whole
	Message string // for the person who sets ManyChat up
	Event   string // what to count it as
}

// invalid refuses a body for the sake of one key.
func invalid(key, message string) *Problem {
	return &Problem{Status: http.StatusBadRequest, Key: key, Message: message, Event: RefusedBody}
}

// withEvent counts a problem as something else.
func withEvent(event string, p *Problem) *Problem {
	p.Event = event
	return p
}

func notUTF8() *Problem { return invalid("", "the body is not UTF-8") }

func notAnObject() *Problem { return invalid("", "the body is not a JSON object") }

func notJSON() *Problem {
	return invalid("", `the body is not JSON: in ManyChat, switch on "Encode to JSON" for the variables in it`)
}

func ambiguous(k key) *Problem {
	return withEvent(AmbiguousBody, invalid(k.String(), `the body is not JSON and can be read in more than one way: in ManyChat, switch on "Encode to JSON" for the variables in it`))
}

// Package reply is the contract a model's final answer must meet: one type that is
// the source of the JSON Schema sent to providers, of the tolerant decoder, and of
// the documentation.
package reply

import "github.com/manychat-agent/manychat-agent/internal/conversation"

// MaxMessages is how many messages a reply keeps apart; further ones join the last.
const MaxMessages = 3

// maxWritten is how many messages an answer may hold before they are joined: more than any
// answer needs, and few enough to read.
const maxWritten = 50

// Reply is a model's final answer, decoded and valid: 1 to [MaxMessages] messages,
// none of them blank, and a reason exactly when it escalates. The tags are
// what a provider's schema says about each field.
type Reply struct {
	Messages         []string                      `json:"messages" jsonschema:"minItems=1,maxItems=3" jsonschema_description:"1 to 3 short messages to the contact, each 1 to 1000 characters."`
	Escalate         bool                          `json:"escalate" jsonschema_description:"true hands the conversation to a person."`
	EscalationReason conversation.EscalationReason `json:"escalation_reason" jsonschema_description:"Why a person takes over; null exactly when escalate is false."`
	Confidence       float64                       `json:"confidence" jsonschema:"minimum=0,maximum=1" jsonschema_description:"How sure you are that the answer is right and complete, 0 to 1."`
	ClosingQuestion  string                        `json:"closing_question" jsonschema_description:"One question that moves the conversation on, sent as its own last message, or null."`
}

// Validate reports the first rule of the contract that r breaks, as an [*Error].
func (r Reply) Validate() error {
	if len(r.Messages) == 0 {
		return &Error{Field: "messages", Problem: "is empty: give 1 to 3 messages"}
	}
	for _, m := range r.Messages {
		if Blank(m) {
			return &Error{Field: "messages", Problem: "holds an empty message"}
		}
	}
	if r.ClosingQuestion != "" && Blank(r.ClosingQuestion) {
		return &Error{Field: "closing_question", Problem: "is blank: leave it out"}
	}
	if !(r.Confidence >= 0 && r.Confidence <= 1) {
		return &Error{Field: "confidence", Problem: "is not between 0 and 1"}
	}
	return validateReason(r.Escalate, r.EscalationReason)
}

func validateReason(escalate bool, reason conversation.EscalationReason) error {
	switch {
	case escalate && reason == "":
		return &Error{Field: "escalation_reason", Problem: "is missing although escalate is true"}
	case !escalate && reason != "":
		return &Error{Field: "escalation_reason", Problem: "is given although escalate is false"}
	case reason == "" || isModelReason(reason):
		return nil
	}
	return &Error{Field: "escalation_reason", Problem: "is not one of the reasons a model may give"}
}

func isModelReason(reason conversation.EscalationReason) bool {
	for _, r := range conversation.ModelReasons() {
		if r == reason {
			return true
		}
	}
	return false
}

// Error says which rule of the contract an answer broke. It never quotes the answer,
// which may hold personal data.
type Error struct {
	Field   string // JSON name of the field; empty: the answer as a whole
	Problem string
}

func (e *Error) Error() string {
	if e.Field == "" {
		return "model reply " + e.Problem
	}
	return "model reply: " + e.Field + " " + e.Problem
}

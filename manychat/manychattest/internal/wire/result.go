// Package wire reads the parameters of public API calls and shapes the answers
// (platform notes, 2.4 and 2.5).
package wire

import (
	"encoding/json"
	"net/http"
)

// Result is an answer. The zero Result was never sent.
type Result struct {
	Status int
	HTML   string // sent instead of JSON

	envelope envelope
}

type envelope struct {
	Status  string   `json:"status"`
	Data    any      `json:"data,omitempty"`
	Message string   `json:"message,omitempty"`
	Code    int      `json:"code,omitempty"`
	Details *details `json:"details,omitempty"`
}

type details struct {
	Messages []detail `json:"messages"`
}

type detail struct {
	Message string `json:"message"`
}

// OK reports whether the envelope says success.
func (r Result) OK() bool { return r.envelope.Status == "success" }

// Body is what goes over the wire.
func (r Result) Body() string {
	if r.HTML != "" || r.Status == 0 {
		return r.HTML
	}
	data, err := json.Marshal(r.envelope)
	if err != nil {
		return "" // unreachable: the data holds only JSON values
	}
	return string(data)
}

// Success is 200 with data; commands have none.
func Success(data any) Result {
	return Result{Status: http.StatusOK, envelope: envelope{Status: "success", Data: data}}
}

// List is a success whose data is an array, also when it is empty.
func List[T any](items []T) Result {
	if items == nil {
		items = []T{}
	}
	return Success(items)
}

// Fail is an error with a message and nothing else.
func Fail(status int, message string) Result {
	return Result{Status: status, envelope: envelope{Status: "error", Message: message}}
}

// Refuse is the 400 whose message was observed; the detail repeats it.
func Refuse(message string) Result {
	r := Fail(http.StatusBadRequest, message)
	r.envelope.Details = &details{Messages: []detail{{message}}}
	return r
}

// Invalid is the generic 400 of the OpenAPI file, for texts that were not observed.
func Invalid(message string) Result {
	r := Refuse(message)
	r.envelope.Message = "Validation error"
	return r
}

// Coded is the 400 with an integer code (2.5).
func Coded(code int, message string) Result {
	r := Fail(http.StatusBadRequest, message)
	r.envelope.Code = code
	return r
}

// NoSubscriber is the answer for an unknown subscriber id.
func NoSubscriber() Result { return Refuse("Subscriber does not exist") }

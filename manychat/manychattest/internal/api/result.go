package api

import (
	"encoding/json"
	"net/http"
)

// result is an answer. The zero result was never sent.
type result struct {
	status   int
	envelope envelope
	html     string // sent instead of the envelope
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

func (r result) ok() bool { return r.envelope.Status == "success" }

func (r result) body() string {
	if r.html != "" || r.status == 0 {
		return r.html
	}
	data, err := json.Marshal(r.envelope)
	if err != nil {
		return "" // unreachable: the data holds only JSON values
	}
	return string(data)
}

// success is 200 with data; commands have none.
func success(data any) result {
	return result{status: http.StatusOK, envelope: envelope{Status: "success", Data: data}}
}

// list is a success whose data is an array, also when it is empty.
func list[T any](items []T) result {
	if items == nil {
		items = []T{}
	}
	return success(items)
}

// fail is an error with a message and nothing else.
func fail(status int, message string) result {
	return result{status: status, envelope: envelope{Status: "error", Message: message}}
}

// refuse is the 400 whose message was observed; the detail repeats it.
func refuse(message string) result {
	r := fail(http.StatusBadRequest, message)
	r.envelope.Details = &details{Messages: []detail{{message}}}
	return r
}

// invalid is the generic 400 of the OpenAPI file, for texts that were not observed.
func invalid(message string) result {
	r := refuse(message)
	r.envelope.Message = "Validation error"
	return r
}

// coded is the 400 with an integer code (2.5).
func coded(code int, message string) result {
	r := fail(http.StatusBadRequest, message)
	r.envelope.Code = code
	return r
}

func noSubscriber() result { return refuse("Subscriber does not exist") }

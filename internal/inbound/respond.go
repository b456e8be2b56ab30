package inbound

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/inbound/body"
)

// writeWithin is how long a response may take to be written.
const writeWithin = 2 * time.Second

// The events that the endpoint counts.
const (
	RefusedUnauthorized = "refused_unauthorized"
	RefusedRate         = "refused_rate"
	RefusedBody         = body.RefusedBody
	BodyRepaired        = body.BodyRepaired
	LoadShed            = "load_shed"
	RenderFailed        = "render_failed"
	Panicked            = "panic"
)

// Events lists everything that Config.Count is called with.
func Events() []string {
	return []string{RefusedUnauthorized, RefusedRate, RefusedBody, BodyRepaired, LoadShed, RenderFailed, Panicked,
		body.AmbiguousBody, body.InvalidID, body.UnrenderedID}
}

// Refusal is the body of the answer to a request that began no turn.
type Refusal struct {
	Error   string `json:"error"`             // of [Refusals]
	Key     string `json:"key,omitempty"`     // the key of the request that is wrong
	Message string `json:"message,omitempty"` // for the person who sets ManyChat up
}

// Refusals are the statuses of such answers, and what is wrong with the request in each.
func Refusals() map[int]string {
	return map[int]string{
		http.StatusBadRequest:            "bad_request",
		http.StatusUnauthorized:          "unauthorized",
		http.StatusRequestTimeout:        "timeout",
		http.StatusRequestEntityTooLarge: "too_large",
		http.StatusUnsupportedMediaType:  "unsupported_media_type",
		http.StatusTooManyRequests:       "too_many_requests",
	}
}

// Internal is the error of the answer, on a 200, to a request whose handoff cannot be
// rendered.
const Internal = "internal"

const internalBody = `{"error":"` + Internal + `"}`

// refusal is the answer to a request that began no turn. What its error is follows from
// the status.
type refusal struct {
	Refusal
	status     int
	retryAfter int    // seconds; 0: not said
	event      string // what it is counted as
}

// refused is the refusal of a body for the sake of all of it.
func refused(status int, message string) *refusal {
	return &refusal{Refusal: Refusal{Message: message}, status: status, event: RefusedBody}
}

// known is a key as it may be logged: one of the request's own, or that it is none.
// With variables pasted raw into the body, a contact's words can be a key.
func known(key string) string {
	named := func(k body.Key) bool { return k.Name == key }
	if key == "" || slices.ContainsFunc(body.MessageKeys(), named) || slices.ContainsFunc(body.FullContactKeys(), named) || slices.ContainsFunc(body.PauseKeys(), named) {
		return key
	}
	return "unknown"
}

// refuse answers a request whose body may be unread. The connection is closed behind
// it: the server would wait for the body before it answers otherwise, as long as the
// caller likes. What it still reads after the answer is the server's to bound.
func refuse(w http.ResponseWriter, bad refusal) {
	w.Header().Set("Connection", "close")
	if bad.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(bad.retryAfter))
	}
	if bad.Error == "" {
		bad.Error = Refusals()[bad.status]
	}
	body, err := json.Marshal(bad.Refusal)
	if err != nil {
		body = []byte(internalBody)
	}
	// The caller of a refused request has nothing to lose by a failed write.
	_ = writeBody(w, bad.status, body)
}

// writeBody writes and flushes a JSON body under a deadline of its own. An error
// means that the caller may not have got it.
func writeBody(w http.ResponseWriter, status int, body []byte) error {
	c := http.NewResponseController(w)
	// A transport without deadlines is bounded by the server's own.
	_ = c.SetWriteDeadline(time.Now().Add(writeWithin))
	header := w.Header()
	header.Set("Content-Type", "application/json")
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		return err
	}
	return c.Flush()
}

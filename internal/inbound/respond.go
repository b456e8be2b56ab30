package inbound

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// refusal is the answer to a request that began no turn.
type refusal struct {
	status  int
	Error   string `json:"error"`
	Key     string `json:"key,omitempty"`
	Message string `json:"message,omitempty"`
}

// invalid refuses a body for the sake of one key.
func invalid(key, message string) *refusal {
	return &refusal{status: http.StatusBadRequest, Error: "bad_request", Key: key, Message: message}
}

// known is a key as it may be logged: one of the request's own, or that it is none.
// With variables pasted raw into the body, a contact's words can be a key.
func known(key string) string {
	switch key {
	case "", "subscriber_id", "text", "ai_token", "course", "offering", "channel", "first_name", "last_name", "locale":
		return key
	}
	return "unknown"
}

// refuse answers a request whose body may be unread. The connection is closed behind
// it: the server would wait for the body before it answers otherwise, as long as the
// caller likes.
func refuse(w http.ResponseWriter, bad refusal) {
	w.Header().Set("Connection", "close")
	body, err := json.Marshal(bad)
	if err != nil {
		body = []byte(`{"error":"internal"}`)
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

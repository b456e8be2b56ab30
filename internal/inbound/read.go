package inbound

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// The limits of docs/spec/02-inbound.md, "Order of checks", and docs/deadlines.md.
const (
	MaxBody    = 64 << 10        // bytes
	ReadWithin = 3 * time.Second // for the body, from the handler's start
	repairLog  = time.Hour       // between two log lines about repaired bodies
)

// read takes the body within its limits and decodes it; the refusal it returns is for a
// caller who holds the secret.
func (h *Handler) read(w http.ResponseWriter, r *http.Request, started time.Time, decode decoder) (turn.Message, *refusal) {
	data, bad := take(w, r, started)
	if bad != nil {
		return turn.Message{}, bad
	}
	read, problem := decode(data)
	if problem != nil {
		return turn.Message{}, &refusal{Refusal: Refusal{Key: problem.Key, Message: problem.Message}, status: problem.Status, event: problem.Event}
	}
	if read.Repaired {
		h.sayRepaired(started)
	}
	channel := read.Channel
	if channel == "" {
		channel = h.cfg.Channel
	}
	return turn.Message{
		Key:           contact.Key{TenantID: h.cfg.TenantID, Channel: channel, SubscriberID: read.SubscriberID},
		Token:         read.Token,
		FirstName:     read.FirstName,
		Text:          read.Text,
		Offering:      read.Offering,
		ReceivedAt:    started,
		Interventions: read.Interventions,
	}, nil
}

// take reads the bytes of a body.
func take(w http.ResponseWriter, r *http.Request, started time.Time) ([]byte, *refusal) {
	if types := r.Header.Values("Content-Type"); len(types) > 0 && !isJSON(types) {
		return nil, refused(http.StatusUnsupportedMediaType, "send application/json")
	}
	if r.Header.Get("Content-Encoding") != "" {
		return nil, refused(http.StatusUnsupportedMediaType, "send the body without compression")
	}
	// A transport without deadlines is bounded by the server's own.
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(started.Add(ReadWithin))
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxBody))
	_ = c.SetReadDeadline(time.Time{})
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, refused(http.StatusRequestEntityTooLarge, "the body is longer than 64 KiB")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, refused(http.StatusRequestTimeout, "the body did not arrive in time")
	case err != nil:
		return nil, refused(http.StatusBadRequest, "the body could not be read")
	}
	return data, nil
}

// isJSON reports whether every Content-Type that a request gives is JSON's.
func isJSON(types []string) bool {
	for _, t := range types {
		kind, _, err := mime.ParseMediaType(t)
		if err != nil || (kind != "application/json" && !strings.HasSuffix(kind, "+json")) {
			return false
		}
	}
	return true
}

// sayRepaired counts a repaired body, and says once an hour what to do about them.
func (h *Handler) sayRepaired(now time.Time) {
	h.cfg.Count(BodyRepaired)
	last := h.repaired.Load()
	if now.Unix()-last < int64(repairLog/time.Second) || !h.repaired.CompareAndSwap(last, now.Unix()) {
		return
	}
	h.cfg.Log.Warn(`request bodies are not JSON and are repaired: in ManyChat, switch on "Encode to JSON" for every variable of the Dynamic Block, or send Full Contact Data`)
}

package inbound

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// request is the body of a message: every key that docs/spec/02-inbound.md,
// "Request body" accepts. Names and locale are accepted and dropped.
type request struct {
	SubscriberID jsontext.Value `json:"subscriber_id"`
	Text         *string        `json:"text"`
	AIToken      *string        `json:"ai_token"`
	Course       *string        `json:"course"`
	Offering     *string        `json:"offering"`
	Channel      *string        `json:"channel"`
	FirstName    *string        `json:"first_name"`
	LastName     *string        `json:"last_name"`
	Locale       *string        `json:"locale"`
}

// read takes the body within its limits and decodes it; the refusal it returns is
// for a caller who holds the secret.
func (h *Handler) read(w http.ResponseWriter, r *http.Request, started time.Time) (turn.Message, *refusal) {
	if ct := r.Header.Get("Content-Type"); ct != "" {
		kind, _, err := mime.ParseMediaType(ct)
		if err != nil || (kind != "application/json" && !strings.HasSuffix(kind, "+json")) {
			return turn.Message{}, &refusal{status: http.StatusUnsupportedMediaType, Error: "unsupported_media_type", Message: "send application/json"}
		}
	}
	if r.Header.Get("Content-Encoding") != "" {
		return turn.Message{}, &refusal{status: http.StatusUnsupportedMediaType, Error: "unsupported_media_type", Message: "send the body without compression"}
	}
	// A transport without deadlines is bounded by the server's own.
	_ = http.NewResponseController(w).SetReadDeadline(started.Add(readWithin))
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return turn.Message{}, &refusal{status: http.StatusRequestEntityTooLarge, Error: "too_large", Message: "the body is longer than 64 KiB"}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return turn.Message{}, &refusal{status: http.StatusRequestTimeout, Error: "timeout", Message: "the body did not arrive in time"}
	case err != nil:
		return turn.Message{}, &refusal{status: http.StatusBadRequest, Error: "bad_request", Message: "the body could not be read"}
	}
	m, bad := decode(body)
	m.Key.TenantID, m.Key.Channel = h.cfg.TenantID, h.cfg.Channel
	m.ReceivedAt = started
	return m, bad
}

// decode turns a body into a message. A rule that is broken is refused with the key
// named; nothing of a value is repeated.
func decode(body []byte) (turn.Message, *refusal) {
	if !utf8.Valid(body) {
		return turn.Message{}, &refusal{status: http.StatusBadRequest, Error: "bad_request", Message: "the body is not UTF-8"}
	}
	var req request
	// In valid UTF-8 only an escaped lone surrogate is invalid, as of a text that was
	// cut inside an emoji; it becomes U+FFFD.
	if err := json.Unmarshal(body, &req, json.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return turn.Message{}, malformed(err)
	}
	id, bad := subscriberID(req.SubscriberID)
	if bad != nil {
		return turn.Message{}, bad
	}
	if req.Text == nil {
		return turn.Message{}, invalid("text", "required: the contact's message as a string")
	}
	for key, v := range map[string]*string{"ai_token": req.AIToken, "course": req.Course, "offering": req.Offering} {
		if v != nil && utf8.RuneCountInString(*v) > 256 {
			return turn.Message{}, invalid(key, "longer than 256 characters")
		}
	}
	m := turn.Message{
		Key:      contact.Key{SubscriberID: id},
		Text:     cut(strings.ReplaceAll(*req.Text, "\x00", "\uFFFD"), maxTextRunes),
		Token:    first(req.AIToken),
		Offering: first(req.Offering, req.Course),
	}
	if len(m.Text) < len(*req.Text) {
		m.Interventions = append(m.Interventions, "text_truncated")
	}
	return m, nil
}

// subscriberID accepts a string or an integer literal of 1 to 32 digits and keeps
// them as they were written: the ids exceed what a float holds.
func subscriberID(v jsontext.Value) (contact.SubscriberID, *refusal) {
	if v == nil {
		return "", invalid("subscriber_id", "required: ManyChat's id of the contact")
	}
	digits := string(v)
	if v.Kind() == '"' {
		var s string
		if err := json.Unmarshal(v, &s); err != nil {
			return "", malformed(err)
		}
		digits = s
	}
	id, err := contact.ParseSubscriberID(digits)
	if err != nil {
		return "", invalid("subscriber_id", "must be 1 to 32 digits; check that the variable was picked from ManyChat's list")
	}
	return id, nil
}

// malformed names the key of a decoding error without its value.
func malformed(err error) *refusal {
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return invalid(syntax.JSONPointer.LastToken(), "given twice")
		}
		return &refusal{status: http.StatusBadRequest, Error: "bad_request", Message: "the body is not JSON: in ManyChat, switch on \"Encode to JSON\" for the variables in it"}
	}
	var semantic *json.SemanticError
	if errors.As(err, &semantic) {
		if errors.Is(err, json.ErrUnknownName) {
			return invalid(semantic.JSONPointer.LastToken(), "not a key of this request")
		}
		if semantic.JSONPointer == "" {
			return &refusal{status: http.StatusBadRequest, Error: "bad_request", Message: "the body is not a JSON object"}
		}
		return invalid(semantic.JSONPointer.LastToken(), "of the wrong type")
	}
	return &refusal{status: http.StatusBadRequest, Error: "bad_request", Message: "the body could not be decoded"}
}

// first is the first value that names something: not empty and not an unrendered
// ManyChat variable.
func first(values ...*string) string {
	for _, v := range values {
		if v != nil && strings.TrimSpace(*v) != "" && !strings.Contains(*v, "{{") {
			return strings.TrimSpace(*v)
		}
	}
	return ""
}

// cut shortens text to at most n code points.
func cut(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}

// Package inbound is the endpoint that ManyChat calls: it authenticates before it
// reads, decodes strictly, begins a turn, and answers a Dynamic Block in time. For
// an authenticated caller every failure of ours is a handoff on a 200, so that the
// contact reaches a person.
package inbound

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// MessagePath is where ManyChat posts a contact's message.
const MessagePath = "/v1/channels/manychat/message"

// The limits of docs/spec/02-inbound.md, "Order of checks", and docs/deadlines.md.
const (
	maxBody      = 64 << 10        // bytes
	readWithin   = 3 * time.Second // for the body, from the handler's start
	writeWithin  = 2 * time.Second // for the response
	maxTextRunes = 4096            // code points; what is longer is cut
)

// Config is what a [Handler] needs; every field but Callback is required.
type Config struct {
	Turns    *turn.Runner
	Tenant   func() *tenant.Tenant
	Shape    delivery.Shape
	Channel  contact.Channel
	TenantID string
	Secrets  []string // one, or two during a rotation
	Callback Callback
	Now      func() time.Time
	Log      *slog.Logger
}

// Callback is how ManyChat is asked to send the contact's next message here.
type Callback struct {
	BaseURL    string // PUBLIC_BASE_URL; empty: no callback is registered (CALLBACK=off)
	ContactID  string // ManyChat's variable for the subscriber id; empty: the channel's own
	TokenField string // MANYCHAT_TOKEN_FIELD
}

// Handler serves [MessagePath].
type Handler struct {
	cfg  Config
	keys [][32]byte // SHA-256 of each secret
}

// New checks the config.
func New(cfg Config) (*Handler, error) {
	switch {
	case cfg.Turns == nil, cfg.Tenant == nil, cfg.Now == nil, cfg.Log == nil:
		return nil, errors.New("inbound: a collaborator is missing from the handler's config")
	case len(cfg.Secrets) == 0:
		return nil, errors.New("inbound: at least one shared secret must be set")
	}
	return &Handler{cfg: cfg, keys: digests(cfg.Secrets)}, nil
}

// Register adds the handler's route to a mux.
func (h *Handler) Register(mux *http.ServeMux) { mux.HandleFunc("POST "+MessagePath, h.message) }

// message answers one message of a contact.
func (h *Handler) message(w http.ResponseWriter, r *http.Request) {
	started := h.cfg.Now()
	secret, ok := h.authenticate(r)
	if !ok {
		refuse(w, refusal{status: http.StatusUnauthorized, Error: "unauthorized"})
		return
	}
	defer h.handOff(w, secret)
	m, bad := h.read(w, r, started)
	if bad != nil {
		h.cfg.Log.Warn("request refused", "status", bad.status, "key", known(bad.Key), "error", bad.Message)
		refuse(w, *bad)
		return
	}
	x := h.cfg.Turns.Begin(m)
	written := false
	defer func() { x.Written(written) }()
	answer := x.Wait(r.Context())
	if answer.Gone {
		return
	}
	body, err := h.render(answer.Texts, secret)
	if err != nil {
		h.cfg.Log.Error("response not rendered, handing off", "error", err)
		writeBody(w, http.StatusOK, h.handoffBody(secret))
		return
	}
	if r.Context().Err() != nil {
		return // nobody is there to read it
	}
	// Once it is written and flushed, a caller who closes has most likely read it.
	if err := writeBody(w, http.StatusOK, body); err != nil {
		h.cfg.Log.Warn("response not written", "error", err)
		return
	}
	written = true
}

// handOff turns a panic of the handler into the escalation copy.
func (h *Handler) handOff(w http.ResponseWriter, secret string) {
	if p := recover(); p != nil {
		h.cfg.Log.Error("handler panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		writeBody(w, http.StatusOK, h.handoffBody(secret))
	}
}

// handoffBody is the escalation copy as a response, or the bare error when even that
// cannot be rendered.
func (h *Handler) handoffBody(secret string) []byte {
	body, err := h.render([]string{h.cfg.Tenant().Rules.Messages.Escalation}, secret)
	if err != nil {
		return []byte(`{"error":"internal"}`)
	}
	return body
}

// render makes the Dynamic Block that carries texts and asks for the next message.
func (h *Handler) render(texts []string, secret string) ([]byte, error) {
	response, err := h.cfg.Shape.Render(texts, h.callback(secret))
	if err != nil {
		return nil, err
	}
	return json.Marshal(response)
}

// callback asks ManyChat for the contact's next message, with the secret that this
// caller presented: never a newer one, which the account may not know yet.
func (h *Handler) callback(secret string) *delivery.Callback {
	cb := h.cfg.Callback
	if cb.BaseURL == "" {
		return nil
	}
	id := cb.ContactID
	if id == "" {
		id = "{{contact.id}}"
		if h.cfg.Channel == contact.Messenger {
			id = "{{user_id}}"
		}
	}
	return &delivery.Callback{
		URL:    cb.BaseURL + MessagePath,
		Secret: secret,
		Payload: map[string]string{
			"text":          "{{last_input_text}}",
			"subscriber_id": id,
			"ai_token":      "{{" + cb.TokenField + "}}",
		},
	}
}

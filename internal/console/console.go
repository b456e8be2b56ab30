// Package console is what an operator asks a running service. In this version it is
// one read of the API: a contact's recorded turns, newest first, for whoever holds
// the console's key. The shared secret of ManyChat's requests opens nothing here.
package console

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
)

// TurnsPath lists a contact's recorded turns: ?subscriber=ID&limit=N.
const TurnsPath = "/console/api/turns"

// The limits of a list.
const (
	DefaultLimit = 20
	MaxLimit     = 100
)

// Turns reads recorded turns.
type Turns interface {
	// RecentTurns reads a contact's last turns, newest first. A contact who never
	// wrote has none.
	RecentTurns(ctx context.Context, id contact.SubscriberID, limit int) ([]Recorded, error)
}

// Recorded is a turn and where its outbox rows stand.
type Recorded struct {
	Turn       conversation.Turn
	Deliveries []outbox.Status
}

// Config is what a [Handler] needs; every field is required.
type Config struct {
	Turns Turns
	Key   string // CONSOLE_API_KEY
	Log   *slog.Logger
}

// Handler serves the console's API.
type Handler struct {
	cfg Config
	key [32]byte
}

// New checks the config.
func New(cfg Config) (*Handler, error) {
	if cfg.Turns == nil || cfg.Key == "" || cfg.Log == nil {
		return nil, errors.New("console: turns, key and log must be set")
	}
	return &Handler{cfg: cfg, key: sha256.Sum256([]byte(cfg.Key))}, nil
}

// Register adds the console's routes to a mux.
func (h *Handler) Register(mux *http.ServeMux) { mux.HandleFunc("GET "+TurnsPath, h.turns) }

// authenticated compares the presented key in constant time.
func (h *Handler) authenticated(r *http.Request) bool {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return false
	}
	scheme, key, found := strings.Cut(values[0], " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return false
	}
	sum := sha256.Sum256([]byte(key))
	return subtle.ConstantTimeCompare(sum[:], h.key[:]) == 1
}

func (h *Handler) turns(w http.ResponseWriter, r *http.Request) {
	if !h.authenticated(r) {
		h.answer(w, http.StatusUnauthorized, Failure{"unauthorized"})
		return
	}
	id, err := contact.ParseSubscriberID(r.URL.Query().Get("subscriber"))
	if err != nil {
		h.answer(w, http.StatusBadRequest, Failure{"subscriber: " + err.Error()})
		return
	}
	limit := DefaultLimit
	if s := r.URL.Query().Get("limit"); s != "" {
		if limit, err = strconv.Atoi(s); err != nil || limit < 1 || limit > MaxLimit {
			h.answer(w, http.StatusBadRequest, Failure{fmt.Sprintf("limit: must be 1 to %d", MaxLimit)})
			return
		}
	}
	recorded, err := h.cfg.Turns.RecentTurns(r.Context(), id, limit)
	if err != nil {
		h.cfg.Log.Error("console read failed", "error", err)
		h.answer(w, http.StatusServiceUnavailable, Failure{"unavailable"})
		return
	}
	list := List{Turns: make([]Turn, 0, len(recorded))}
	for _, t := range recorded {
		list.Turns = append(list.Turns, view(t))
	}
	h.answer(w, http.StatusOK, list)
}

// Failure is the answer to a request that could not be met.
type Failure struct {
	Error string `json:"error"`
}

func (h *Handler) answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		h.cfg.Log.Debug("console answer not written", "error", err)
	}
}

// List is the answer of [TurnsPath].
type List struct {
	Turns []Turn `json:"turns"`
}

// Turn is a recorded turn as an operator sees it. It holds the contact's words, and
// no id of the contact.
type Turn struct {
	ID            string                        `json:"id"`
	State         conversation.State            `json:"state"`
	Attempt       int                           `json:"attempt"`
	Text          string                        `json:"text"`
	MergedInto    string                        `json:"mergedInto,omitempty"`
	Replies       []string                      `json:"replies"`
	Outcome       conversation.Outcome          `json:"outcome,omitempty"`
	Path          conversation.Path             `json:"path,omitempty"`
	Reason        conversation.EscalationReason `json:"escalationReason,omitempty"`
	Model         string                        `json:"model,omitempty"`
	PromptVersion string                        `json:"promptVersion,omitempty"`
	Confidence    *float64                      `json:"confidence"`
	Spend         conversation.Spend            `json:"spend"`
	Micros        conversation.Timings          `json:"micros"`
	Interventions []string                      `json:"interventions"`
	Actions       []action.Record               `json:"actions"`
	Calls         []action.Call                 `json:"calls"`
	ReceivedAt    time.Time                     `json:"receivedAt"`
	SettledAt     *time.Time                    `json:"settledAt"`
	RespondedAt   *time.Time                    `json:"respondedAt"`
	Deliveries    []outbox.Status               `json:"deliveries"`
}

func view(r Recorded) Turn {
	t := r.Turn
	return Turn{
		ID: t.ID, State: t.State, Attempt: t.Attempt, Text: t.Text, MergedInto: t.MergedInto, Replies: t.Replies,
		Outcome: t.Outcome, Path: t.Path, Reason: t.Reason, Model: t.Model, PromptVersion: t.PromptVersion,
		Confidence: t.Confidence, Spend: t.Spend, Micros: t.Timings, Interventions: t.Interventions, Actions: t.Actions, Calls: t.Calls,
		ReceivedAt: t.ReceivedAt, SettledAt: instant(t.SettledAt), RespondedAt: instant(t.RespondedAt), Deliveries: r.Deliveries,
	}
}

func instant(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

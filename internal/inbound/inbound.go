// Package inbound is the endpoint that ManyChat calls: it authenticates before it
// reads, decodes strictly and repairs what ManyChat's raw templating broke, begins a
// turn, and answers a Dynamic Block in time. For an authenticated caller every failure
// of ours is a handoff on a 200, so that the contact reaches a person.
package inbound

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/inbound/body"
	"github.com/manychat-agent/manychat-agent/internal/inbound/gate"
	"github.com/manychat-agent/manychat-agent/internal/redact"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// Where ManyChat posts: a contact's message in a body that the operator wrote, and the
// Full Contact Data object that ManyChat builds itself.
const (
	MessagePath = "/v1/channels/manychat/message"
	ContactPath = "/v1/channels/manychat/contact"
)

// Config is what a [Handler] needs; every field but Callback is required.
type Config struct {
	Turns    *turn.Runner
	Pauses   Pauses
	Tenant   func() *tenant.Tenant
	Gate     *gate.Gate
	Shapes   delivery.Shapes
	Channel  contact.Channel // of a request that names none
	TenantID string
	Token    string // MANYCHAT_TOKEN_FIELD
	Callback Callback
	Count    func(event string) // of [Events]
	Plain    func()             // is told of every authenticated request that came without TLS
	Now      func() time.Time
	Log      *slog.Logger
}

// Callback is how ManyChat is asked to send the contact's next message here.
type Callback struct {
	BaseURL   string // PUBLIC_BASE_URL; empty: no callback is registered (CALLBACK=off)
	ContactID string // ManyChat's variable for the subscriber id; empty: the channel's own
}

// Handler serves [MessagePath], [ContactPath] and [PausePath].
type Handler struct {
	cfg      Config
	repaired atomic.Int64 // when a repaired body was last logged, in Unix seconds
}

// New checks the config.
func New(cfg Config) (*Handler, error) {
	switch {
	case cfg.Turns == nil, cfg.Pauses == nil, cfg.Tenant == nil, cfg.Gate == nil, cfg.Count == nil, cfg.Plain == nil, cfg.Now == nil, cfg.Log == nil:
		return nil, errors.New("inbound: a collaborator is missing from the handler's config")
	case cfg.Token == "":
		return nil, errors.New("inbound: the token field must be set")
	}
	return &Handler{cfg: cfg}, nil
}

// Register adds the handler's routes to a mux.
func (h *Handler) Register(mux *http.ServeMux) {
	mux.HandleFunc("POST "+MessagePath, func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, body.Message) })
	mux.HandleFunc("POST "+PausePath, h.pause)
	mux.HandleFunc("POST "+ContactPath, func(w http.ResponseWriter, r *http.Request) { h.serve(w, r, h.fullContact) })
}

// decoder reads a body of one of the routes.
type decoder func(data []byte) (body.Read, *body.Problem)

// fullContact reads what ManyChat inserts for Full Contact Data.
func (h *Handler) fullContact(data []byte) (body.Read, *body.Problem) {
	return body.FullContact(data, body.Fields{Token: h.cfg.Token, Offering: offeringField(h.cfg.Tenant())})
}

// serve answers one message of a contact.
func (h *Handler) serve(w http.ResponseWriter, r *http.Request, decode decoder) {
	started := h.cfg.Now()
	admitted := h.cfg.Gate.Admit(r)
	if !admitted.Admitted {
		h.turnAway(w, admitted)
		return
	}
	if admitted.Plain {
		h.cfg.Plain()
	}
	a := answer{h: h, w: w, secret: admitted.Secret, channel: h.cfg.Channel}
	defer a.survive()
	m, bad := h.read(w, r, started, decode)
	if bad != nil {
		h.cfg.Count(bad.event)
		h.cfg.Log.Warn("request refused", "status", bad.status, "key", known(bad.Key), "error", bad.Message)
		refuse(w, *bad)
		return
	}
	a.channel = m.Key.Channel
	x := h.cfg.Turns.Begin(m)
	written := false
	defer func() { x.Written(written) }()
	settled := x.Wait(r.Context())
	if settled.Shed {
		h.cfg.Count(LoadShed)
	}
	if settled.Gone {
		return
	}
	written = a.write(settled.Texts, func() bool { return r.Context().Err() == nil })
}

// turnAway answers a caller without a valid secret; nothing tells of the schema.
func (h *Handler) turnAway(w http.ResponseWriter, v gate.Verdict) {
	bad := refusal{status: v.Status, event: RefusedUnauthorized}
	if v.Status == http.StatusTooManyRequests {
		bad.event, bad.retryAfter = RefusedRate, v.RetryAfter
	}
	h.cfg.Count(bad.event)
	refuse(w, bad)
}

// answer is the response to one authenticated request.
type answer struct {
	h       *Handler
	w       http.ResponseWriter
	secret  string // as the caller presented it
	channel contact.Channel
}

// write renders and writes texts while the caller is there. It reports whether they went
// out: what is written and flushed, a caller who then closes has most likely read.
func (a *answer) write(texts []string, there func() bool) bool {
	response, err := a.render(texts)
	if err != nil {
		a.h.cfg.Count(RenderFailed)
		a.h.cfg.Log.Error("response not rendered, handing off", "error", err)
		a.handOff()
		return false
	}
	if !there() {
		return false // nobody is there to read it
	}
	if err := writeBody(a.w, http.StatusOK, response); err != nil {
		a.h.cfg.Log.Warn("response not written", "error", err)
		return false
	}
	return true
}

// survive turns a panic of the handler into the escalation copy.
func (a *answer) survive() {
	if p := recover(); p != nil {
		a.h.cfg.Count(Panicked)
		a.h.cfg.Log.Error("handler panicked, handing off", "panic", redact.Panic(p), "stack", string(debug.Stack()))
		a.handOff()
	}
}

// handOff answers the escalation copy, or the bare error when even that cannot be
// rendered.
func (a *answer) handOff() {
	response, err := a.render(a.h.cfg.Shapes.For(a.channel).Copy(a.h.cfg.Tenant().Rules.Handover(a.h.cfg.Now())))
	if err != nil {
		response = []byte(internalBody)
	}
	// Whoever asked has nothing to lose by a failed write.
	_ = writeBody(a.w, http.StatusOK, response)
}

// render makes the Dynamic Block that carries texts and asks for the next message.
func (a *answer) render(texts []string) ([]byte, error) {
	response, err := a.h.cfg.Shapes.For(a.channel).Render(texts, a.callback())
	if err != nil {
		return nil, err
	}
	return json.Marshal(response)
}

// callback asks ManyChat for the contact's next message, with the secret that this
// caller presented: never a newer one, which the account may not know yet.
func (a *answer) callback() *delivery.Callback {
	cb := a.h.cfg.Callback
	if cb.BaseURL == "" {
		return nil
	}
	id := cb.ContactID
	if id == "" {
		id = "{{contact.id}}"
		if a.channel == contact.Messenger {
			id = "{{user_id}}"
		}
	}
	payload := map[string]string{
		"text":          "{{last_input_text}}",
		"subscriber_id": id,
		"ai_token":      "{{" + a.h.cfg.Token + "}}",
	}
	if field := offeringField(a.h.cfg.Tenant()); field != "" {
		payload["offering"] = "{{" + field + "}}"
	}
	return &delivery.Callback{URL: cb.BaseURL + MessagePath, Secret: a.secret, Payload: payload}
}

// offeringField is the name of the custom field that holds which offering a contact
// wants; empty: the tenant has none.
func offeringField(t *tenant.Tenant) string {
	if t.Tools == nil {
		return ""
	}
	if f := t.Tools.OfferingField(); f != nil {
		return f.Field
	}
	return ""
}

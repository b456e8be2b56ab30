package inbound

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/inbound/body"
)

// PausePath is where the business's own ManyChat flow says that a person takes a contact
// over, or gives them back.
const PausePath = "/v1/channels/manychat/pause"

// pauseWithin bounds what the database takes; ManyChat gives up after ten seconds.
const pauseWithin = 5 * time.Second

// Pauses gives conversations to people, and back to the agent.
type Pauses interface {
	// Pause gives a contact to a person until an instant, and returns how many replies it kept
	// back.
	Pause(ctx context.Context, who contact.Key, until time.Time) (withheld int, err error)
	// Resume gives a contact back to the agent.
	Resume(ctx context.Context, who contact.Key) error
}

// Paused is the answer to a pause.
type Paused struct {
	SubscriberID string     `json:"subscriber_id"`
	Paused       bool       `json:"paused"`
	Until        *time.Time `json:"until"` // null: the agent answers
	Withheld     int        `json:"withheld"`
}

// Unavailable is the error of the answer when the database does not take a pause.
const Unavailable = "unavailable"

// pause serves [PausePath].
func (h *Handler) pause(w http.ResponseWriter, r *http.Request) {
	started := h.cfg.Now()
	admitted := h.cfg.Gate.Admit(r)
	if !admitted.Admitted {
		h.turnAway(w, admitted)
		return
	}
	if admitted.Plain {
		h.cfg.Plain()
	}
	asked, bad := h.readPause(w, r, started)
	if bad != nil {
		h.cfg.Count(bad.event)
		h.cfg.Log.Warn("pause refused", "status", bad.status, "key", known(bad.Key), "error", bad.Message)
		refuse(w, *bad)
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), pauseWithin)
	defer cancel()
	answer, err := h.setPause(ctx, asked)
	if err != nil {
		h.cfg.Log.Error("a conversation was neither paused nor resumed", "error", err)
		refuse(w, refusal{
			Refusal: Refusal{Error: Unavailable, Message: "the database does not answer, and nothing was changed: call again in a while"},
			status:  http.StatusServiceUnavailable,
		})
		return
	}
	text, err := json.Marshal(answer)
	if err != nil {
		text = []byte(internalBody)
	}
	// What was asked for is done, whether the caller reads so or not.
	_ = writeBody(w, http.StatusOK, text)
}

// readPause takes the body within its limits and decodes it.
func (h *Handler) readPause(w http.ResponseWriter, r *http.Request, started time.Time) (body.Pausing, *refusal) {
	data, bad := take(w, r, started)
	if bad != nil {
		return body.Pausing{}, bad
	}
	asked, problem := body.Pause(data)
	if problem != nil {
		return asked, &refusal{Refusal: Refusal{Key: problem.Key, Message: problem.Message}, status: problem.Status, event: problem.Event}
	}
	return asked, nil
}

func (h *Handler) setPause(ctx context.Context, asked body.Pausing) (Paused, error) {
	who := contact.Key{TenantID: h.cfg.TenantID, Channel: h.cfg.Channel, SubscriberID: asked.SubscriberID}
	answer := Paused{SubscriberID: string(asked.SubscriberID)}
	if asked.Hours == 0 {
		if err := h.cfg.Pauses.Resume(ctx, who); err != nil {
			return answer, err
		}
		h.cfg.Log.Info("conversation resumed")
		return answer, nil
	}
	until := h.cfg.Now().Add(time.Duration(asked.Hours * float64(time.Hour))).UTC().Truncate(time.Second)
	withheld, err := h.cfg.Pauses.Pause(ctx, who, until)
	if err != nil {
		return answer, err
	}
	h.cfg.Log.Info("conversation paused", "until", until, "withheld", withheld)
	answer.Paused, answer.Until, answer.Withheld = true, &until, withheld
	return answer, nil
}

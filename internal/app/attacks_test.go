package app_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/inbound"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// The scenarios of this file are attacks that worked once.

// known is a contact with a history and a token, beyond the first burst.
func (r *rig) known(id string) string {
	r.t.Helper()
	r.contact(id)
	r.write(id, "my word is alpha")
	time.Sleep(15 * time.Minute)
	return id
}

// send posts a message with more keys than forge does, as whoever holds the secret.
func (r *rig) send(body string) (*http.Response, string) {
	r.t.Helper()
	return r.post(inbound.MessagePath, body, "Authorization", "Bearer "+devSecret)
}

// Holds docs/spec/06-contact.md, "Contact token": ManyChat keeps one field for all channels
// of a contact, so requests that name other channels, forged or not, unbind nobody.
func TestOtherChannelsUnbindNobody(t *testing.T) {
	ear := &listener{}
	inBubble(t, func(r *rig) {
		id := r.known("900000001")
		for i := range 4 {
			r.send(fmt.Sprintf(`{"subscriber_id":%q,"text":"forged","channel":%q}`, id, []string{"instagram", "messenger", "telegram"}[i%3]))
			time.Sleep(10 * time.Minute)
			r.write(id, "what was my word?")
			if !strings.Contains(ear.last(), "alpha") {
				t.Errorf("behind forged request %d the contact is unbound", i)
			}
			time.Sleep(10 * time.Minute)
		}
		r.send(fmt.Sprintf(`{"subscriber_id":%q,"text":"my word is bravo","channel":"instagram","ai_token":%q}`, id, r.tokenOf(id)))
		r.send(fmt.Sprintf(`{"subscriber_id":%q,"text":"and now?","channel":"instagram","ai_token":%q}`, id, r.tokenOf(id)))
		if !strings.Contains(ear.last(), "bravo") || strings.Contains(ear.last(), "alpha") || strings.Contains(ear.last(), "forged") {
			t.Errorf("on another channel the history is\n%s", ear.last())
		}
	}, setup{model: ear})
}

// slowFor is a model that is slow for messages that say so.
type slowFor struct{ word string }

func (s slowFor) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	if strings.Contains(req.Messages[len(req.Messages)-1].Text, s.word) {
		select {
		case <-ctx.Done():
			return llm.Response{}, ctx.Err()
		case <-time.After(15 * time.Second):
		}
	}
	return llm.Response{Text: `{"messages":["Noted."],"confidence":1,"escalate":false}`, Stop: llm.StopEnd, Usage: llm.Usage{Input: 100, Output: 10}}, nil
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": unbound turns neither wait nor
// are waited for. A forged request whose late reply ManyChat does not take silences nobody.
func TestForgedRepliesSilenceNobody(t *testing.T) {
	inBubble(t, func(r *rig) {
		id := r.known("900000001")
		r.faults(fault.Fault{Kind: fault.ServerError, Path: "sendFlow"})
		r.forge(id, "wrong", "slow one")
		time.Sleep(20 * time.Second)
		for range 3 {
			if got := r.write(id, "hello"); len(got.Shown) != 1 {
				t.Errorf("behind a forged reply that is queued the contact is shown %d messages", len(got.Shown))
			}
			time.Sleep(20 * time.Second)
		}
		// The contact's own late reply goes before the forged ones.
		r.faults()
		r.write(id, "slow one of my own")
		before := len(r.phone(id, 0))
		if after := r.phone(id, time.Minute); len(after) == before {
			t.Error("the contact's own late reply never came")
		}
	}, setup{model: slowFor{"slow"}})
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": an unbound response waits for
// no gap and makes nobody wait, so that it neither tells nor changes when the contact wrote.
func TestForgedRequestsShareNoGap(t *testing.T) {
	inBubble(t, func(r *rig) {
		id := r.known("900000001")
		took := func(send func()) time.Duration {
			start := time.Now()
			send()
			return time.Since(start)
		}
		r.write(id, "hello")
		if got := took(func() { r.forge(id, "wrong", "hello") }); got != 0 {
			t.Errorf("a forged request right behind the contact's took %s, which tells that one was there", got)
		}
		time.Sleep(time.Minute)
		r.forge(id, "wrong", "slow") // its acknowledgement is out now
		if got := took(func() { r.write(id, "hello") }); got != 0 {
			t.Errorf("the contact's message waited %s for a forged one's acknowledgement", got)
		}
	}, setup{model: slowFor{"slow"}})
}

// Holds docs/spec/05-delivery.md, "Outbox", Pacing: what an unbound response could not hold
// follows a gap behind it.
func TestUnboundOverflowFollows(t *testing.T) {
	inBubble(t, func(r *rig) {
		id := r.known("900000001")
		r.forge(id, "wrong", "hello")
		all := r.phone(id, 30*time.Second)
		if last := all[len(all)-1]; last.Via != phone.ViaFlow || last.At < 15*time.Minute+2*time.Second {
			t.Errorf("the rest of an unbound reply came by %s at %s", last.Via, last.At)
		}
	}, setup{model: says{strings.Repeat("Many words. ", 250)}})
}

// Holds docs/spec/01-principles.md, "Rules nothing may break": C5. An unbound turn reads no
// offering of the contact's.
func TestForgedRequestsReadNoOffering(t *testing.T) {
	ear := &listener{}
	inBubble(t, func(r *rig) {
		id := r.known("900000001")
		r.send(fmt.Sprintf(`{"subscriber_id":%q,"text":"this one","offering":"wheel_course","ai_token":%q}`, id, r.tokenOf(id)))
		if !strings.Contains(ear.last(), "OFFERING: wheel_course") {
			t.Fatalf("the offering of the request is not the turn's:\n%s", ear.last())
		}
		if r.forge(id, "wrong", "which one?"); strings.Contains(ear.last(), "OFFERING:") {
			t.Errorf("a forged request was told\n%s", ear.last())
		}
		r.forge(id, "wrong", "which one?")
	}, setup{model: ear})
}

// Holds docs/spec/06-contact.md, "Contact token": a slow write that lands behind its
// successor's, and an answer that denies a write that was made, cost no history.
func TestTokenWritesThatLie(t *testing.T) {
	for name, f := range map[string]fault.Fault{
		"a slow write lands last": {Kind: fault.Latency, Path: "subscriber writes", DelayMS: 15_000, Times: 1},
		"a false denial":          {Kind: fault.FalseMissing, Path: "subscriber writes", Times: 1},
	} {
		t.Run(name, func(t *testing.T) {
			ear := &listener{}
			inBubble(t, func(r *rig) {
				id := r.contact("900000001")
				r.faults(f)
				r.write(id, "my word is alpha")
				time.Sleep(12 * time.Minute)
				if r.write(id, "what was my word?"); !strings.Contains(ear.last(), "alpha") {
					t.Errorf("the contact was asked\n%s", ear.last())
				}
			}, setup{model: ear})
		})
	}
}

// Holds docs/spec/06-contact.md, "Caps, all before the model runs, all escalating": the quiet
// rule hides no handoff that the contact never heard of (C6).
func TestUnsaidHandoffIsSaid(t *testing.T) {
	inBubble(t, func(r *rig) {
		id := r.known("900000001")
		r.faults(fault.Fault{Kind: fault.MissingField, Name: "ai_message"})
		r.model(9*time.Second, mock.OK)
		r.write(id, "I want to talk to a human") // late, and its row dies
		time.Sleep(time.Minute)
		r.model(0, mock.OK)
		r.write(id, "I want to talk to a human")
		said := 0
		for _, b := range r.phone(id, time.Minute) {
			if b.Text == escalation {
				said++
			}
		}
		if said != 1 {
			t.Errorf("the handoff was said %d times", said)
		}
	}, setup{rules: func(rules *tenant.Rules) { rules.EscalationQuietMinutes = 30 }})
}

// Holds docs/spec/05-delivery.md, "Outbox": contacts wait for each other only at ManyChat's own
// limits; tokens of new ones hold up nobody's reply.
func TestNewContactsHoldUpNobody(t *testing.T) {
	inBubble(t, func(r *rig) {
		id := r.known("900000001")
		for i := range 80 { // eight seconds of ManyChat's limit, twice over
			r.forge(fmt.Sprint(910000000+i), "", "hello")
		}
		sent := time.Since(r.start)
		r.write(id, "slow one")
		all := r.phone(id, 30*time.Second)
		last := all[len(all)-1]
		if took := last.At - sent; last.Text != "Noted." || took > 18*time.Second {
			t.Errorf("beside 80 new contacts %q came after %s, want the late reply 15 s behind its message", last.Text, took)
		}
	}, setup{model: slowFor{"slow"}})
}

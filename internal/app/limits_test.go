package app_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// outcome is how the contact's newest turn ended, as an operator sees it.
func (r *rig) outcome(id string) string {
	r.t.Helper()
	turn := r.newest(id)
	return strings.TrimRight(fmt.Sprintf("%s %s %s", turn.Outcome, turn.Path, turn.Reason), " ")
}

// Holds docs/spec/06-contact.md, "Caps, all before the model runs, all escalating": messages
// an hour, bound and unbound counted apart.
func TestHourlyLimit(t *testing.T) {
	ear := &listener{}
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		for range 3 {
			r.write(id, "hello")
			time.Sleep(10 * time.Minute)
		}
		for i, want := range []string{
			"answered inline", "answered inline", "answered inline", "escalated_precheck inline rate_limit",
		} {
			r.forge(id, "wrong", fmt.Sprint("flood ", i))
			if got := r.outcome(id); got != want {
				t.Errorf("unbound message %d ended %s, want %s", i, got, want)
			}
		}
		asked := ear.calls()
		r.write(id, "the fourth of this hour")
		if got := r.outcome(id); got != "escalated_precheck inline rate_limit" || ear.calls() != asked {
			t.Errorf("the fourth message of an hour ended %s with %d calls of the model", got, ear.calls()-asked)
		}
		if got := r.phone(id, 0); got[len(got)-1].Text != escalation {
			t.Errorf("the contact was shown %q", got[len(got)-1].Text)
		}
		time.Sleep(51 * time.Minute) // the first three are over an hour old, the refused one is not
		r.write(id, "an hour later")
		if got := r.outcome(id); got != "answered inline" {
			t.Errorf("an hour after the first three a message ended %s", got)
		}
		r.write(id, "and one more")
		r.write(id, "and another")
		if got := r.outcome(id); got != "escalated_precheck inline rate_limit" {
			t.Errorf("the fourth message of the last hour ended %s", got)
		}
	}, setup{model: ear, rules: func(rules *tenant.Rules) {
		rules.RateLimit.TurnsPerSubscriberPerHour, rules.EscalationQuietMinutes = 3, 0
	}})
}

// Holds docs/spec/06-contact.md, "Caps, all before the model runs, all escalating": the cap
// of a conversation, which a gap ends, a day ends, and unbound messages neither reach nor
// reset.
func TestTurnCap(t *testing.T) {
	ear := &listener{}
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		send := func(want string) {
			t.Helper()
			r.write(id, "hello")
			if got := r.outcome(id); got != want {
				t.Errorf("%v after the start the message ended %s, want %s", time.Since(r.start), got, want)
			}
		}
		const capped = "escalated_precheck inline turn_cap"
		for range 3 {
			send("answered inline")
			time.Sleep(20 * time.Minute)
		}
		for range 5 {
			r.forge(id, "wrong", "hello")
			if got := r.outcome(id); got != "answered inline" {
				t.Errorf("an unbound message ended %s", got)
			}
		}
		send(capped)
		time.Sleep(59 * time.Minute)
		send(capped) // the forged messages did not end the conversation, and no gap has
		time.Sleep(time.Hour)
		send("answered inline")
	}, setup{model: ear, rules: func(rules *tenant.Rules) {
		rules.MaxTurnsPerConversation, rules.IdleResetHours, rules.EscalationQuietMinutes = 3, 1, 0
	}})
}

// Holds docs/spec/06-contact.md, "Caps, all before the model runs, all escalating": the
// quiet rule, which an unbound request neither starts nor is held by.
func TestEscalationIsNotRepeated(t *testing.T) {
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		r.write(id, "hello")
		r.forge(id, "wrong", "I want to talk to a human")
		said := func(after time.Duration) (n int) {
			for _, b := range r.phone(id, after) {
				if b.Text == escalation {
					n++
				}
			}
			return n
		}
		r.write(id, "I want to talk to a human")
		if got := said(time.Minute); got != 1 {
			t.Fatalf("the handoff was said %d times, want once", got)
		}
		r.write(id, "a human, please")
		if got := r.outcome(id); said(time.Minute) != 1 || got != "escalated silent explicit_request" {
			t.Errorf("a second handoff ended %s and was said %d times in all", got, said(0))
		}
		if _, body := r.forge(id, "wrong", "a human"); !strings.Contains(body, escalation) {
			t.Errorf("an unbound request was answered %s, which tells who waits for a person", body)
		}
		time.Sleep(8 * time.Minute)
		r.write(id, "a human, now")
		if got := said(time.Minute); got != 2 {
			t.Errorf("behind the quiet time the handoff was said %d times in all, want twice", got)
		}
	}, setup{rules: func(rules *tenant.Rules) { rules.EscalationQuietMinutes = 10 }})
}

// Holds docs/spec/06-contact.md, "Caps, all before the model runs, all escalating": of
// handoffs that settle at once one is said.
func TestEscalationsAtOnceAreSaidOnce(t *testing.T) {
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		r.write(id, "hello")
		time.Sleep(5 * time.Second)
		for range 4 {
			go r.write(id, "I want to talk to a human")
		}
		said := 0
		for _, b := range r.phone(id, time.Minute) {
			if b.Text == escalation {
				said++
			}
		}
		if said != 1 {
			t.Errorf("four handoffs at once were said %d times", said)
		}
	}, setup{rules: func(rules *tenant.Rules) { rules.EscalationQuietMinutes = 10 }})
}

// Holds docs/spec/10-config.md, "rules.json": a start with named contacts. The others are
// recorded and answered silently.
func TestAudience(t *testing.T) {
	ear := &listener{}
	inBubble(t, func(r *rig) {
		in, out := r.contact("900000001"), r.contact("900000002")
		r.write(in, "hello")
		r.write(out, "hello")
		if got := r.outcome(out); got != "paused silent" || ear.calls() != 1 || len(r.phone(out, time.Minute)) != 0 {
			t.Errorf("a contact outside of the audience: %s, %d calls of the model", got, ear.calls())
		}
		if got := r.outcome(in); got != "answered inline" {
			t.Errorf("a contact of the audience: %s", got)
		}
	}, setup{model: ear, rules: func(rules *tenant.Rules) {
		rules.Audience = tenant.Audience{Mode: tenant.AudienceOnly, Subscribers: []contact.SubscriberID{"900000001"}}
	}})
}

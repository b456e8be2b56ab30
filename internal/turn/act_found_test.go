package turn_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// broken is an account whose client has a defect.
type broken struct{ *account }

func (broken) Perform(context.Context, delivery.Batch) []action.Ended { panic("a defect") }

// Holds docs/spec/17-quality.md, "Reliability": a defect behind an action costs the turn its
// actions, and the process nothing.
func TestActionsThatPanic(t *testing.T) {
	inBubble(t, stages(0, says, nil), nil, func(r *rig) {
		r.account = broken{r.at}
		r.runner = newRunnerFor(t, acting(), r.db, stages(0, says, nil), r, deadline)
		r.exchange(r.t.Context(), "a gift please", true)
		turned, _ := r.settled()
		for _, line := range statuses(turned.Actions) {
			if want := "failed: outcome unknown"; line[len(line)-len(want):] != want {
				t.Errorf("record %q", line)
			}
		}
		if turned.State != conversation.Settled || len(turned.Actions) != 5 {
			t.Errorf("turn is %s with %d actions", turned.State, len(turned.Actions))
		}
	})
}

// Holds the seed's "A failed action is logged, never retried": an action that would come when
// the conversation has moved on is not made.
func TestActionsThatWouldComeLate(t *testing.T) {
	for _, tt := range []struct {
		away  int // tries of the stamp that fail
		want  string
		asked int
	}{
		{3, "add_tag gift performed", 5},
		{100, "add_tag gift failed: not started in time", 0},
	} {
		faults := map[string]fault{"stamp": {err: errDatabase, times: tt.away}}
		inBubble(t, stages(0, says, nil), nil, func(r *rig) {
			r.runner = newRunnerFor(t, acting(), &faultyStore{Store: r.db, faults: faults}, stages(0, says, nil), r, deadline)
			r.exchange(r.t.Context(), "a gift please", true)
			turned, _ := r.settled()
			if got := statuses(turned.Actions); got[0] != tt.want || len(r.at.seen()) != tt.asked {
				t.Errorf("stamped at the %dth try: %q, %d requests; want %q and %d", tt.away+1, got, len(r.at.seen()), tt.want, tt.asked)
			}
		})
	}
}

// Holds docs/spec/07-tools.md, "Flows go out before the reply": a flow that was accepted keeps
// its outcome, also when the model is aborted while that is written down.
func TestAbortWhileAFlowIsNoted(t *testing.T) {
	m := model(func(ctx context.Context, call func(tool, args string) string) (reply.Reply, error) {
		_ = after(ctx, abort-time.Second)
		call("send_flow", `{"flow":"map"}`)
		return says, nil
	})
	faults := map[string]fault{"note": {after: 700 * time.Millisecond}}
	inBubble(t, m, nil, func(r *rig) {
		r.runner = newRunnerFor(t, acting(), &faultyStore{Store: r.db, faults: faults}, m, r, deadline)
		r.exchange(r.t.Context(), "hello", true)
		turned, _ := r.settled()
		if d := cmp.Diff([]string{"send_flow map performed"}, statuses(turned.Actions)); d != "" || turned.Outcome != conversation.EscalatedError {
			t.Errorf("turn is %s, its record (-want +got):\n%s", turned.Outcome, d)
		}
	})
}

// refusesOnce is a database that refuses a turn's values once.
type refusesOnce struct {
	turn.Store
	refused bool
}

func (s *refusesOnce) Settle(ctx context.Context, v turn.Settlement) error {
	if !s.refused {
		s.refused = true
		return turn.ErrRefused
	}
	return s.Store.Settle(ctx, v)
}

// Holds the seed's "Every staged action is recorded on its turn": a handoff in place of what
// was decided discards what was staged, and says so.
func TestRecordOfARefusedTurn(t *testing.T) {
	m := stages(0, says, nil)
	inBubble(t, m, nil, func(r *rig) {
		faults := &faultyStore{Store: &refusesOnce{Store: r.db}}
		r.runner = newRunnerFor(t, acting(), faults, m, r, deadline)
		r.exchange(r.t.Context(), "a gift please", true)
		turned, _ := r.settled()
		want := []string{"add_tag gift discarded", "set_field shift discarded", "write_note summary discarded", "write_note handover discarded", "remove_tag group discarded"}
		if d := cmp.Diff(want, statuses(turned.Actions)); d != "" || turned.Outcome != conversation.EscalatedError {
			t.Errorf("turn is %s, its record (-want +got):\n%s", turned.Outcome, d)
		}
		if len(r.at.seen()) != 0 {
			t.Errorf("ManyChat was asked for %q", r.at.seen())
		}
	})
}

// Holds docs/spec/07-tools.md, "The tools": where a request does not prove who its contact is,
// nothing is offered.
func TestUnboundTurnsHaveNoTools(t *testing.T) {
	var told string
	m := model(func(_ context.Context, call func(tool, args string) string) (reply.Reply, error) {
		told = call("add_tag", `{"tag":"gift"}`)
		return says, nil
	})
	withTools(t, acting(), m, func(r *rig) {
		r.exchange(r.t.Context(), "hello", true)
		r.settled()
		if told != `{"staged":true}` {
			t.Fatalf("with the first message the model is told %q", told)
		}
		before := len(r.at.seen())
		time.Sleep(time.Hour)
		r.field.token = "" // somebody else speaks
		r.exchange(r.t.Context(), "tag me", true)
		if turned, _ := r.settled(); told != "not offered" || turned.Bound || turned.Actions != nil || len(r.at.seen()) != before {
			t.Errorf("bound %t, told %q, record %+v, requests %q", turned.Bound, told, turned.Actions, r.at.seen())
		}
	})
}

// Holds docs/spec/08-sales.md, "Flows once": a contact is one person on every channel.
func TestFlowsOnceOnEveryChannel(t *testing.T) {
	var answers []string
	m := model(func(_ context.Context, call func(tool, args string) string) (reply.Reply, error) {
		answers = append(answers, call("send_flow", `{"flow":"brochure"}`))
		return says, nil
	})
	withTools(t, acting(), m, func(r *rig) {
		for _, c := range []contact.Channel{contact.WhatsApp, contact.Instagram, contact.Telegram} {
			k := key
			k.Channel = c
			x := r.runner.Begin(turn.Message{Key: k, Token: r.field.read(), Text: "brochure", ReceivedAt: time.Now()})
			x.Wait(r.t.Context())
			x.Written(true)
			time.Sleep(time.Minute)
		}
		if got := len(r.at.seen()); got != 1 || len(answers) != 3 || answers[2] != `{"sent":false,"reason":"already_sent"}` {
			t.Errorf("%d flows went out, told %q", got, answers)
		}
	})
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": what can be caused without end is told
// to the business once an hour, and no forged message uses up the flows that ManyChat allows
// the contact.
func TestEndlessHandoffsAreToldOnce(t *testing.T) {
	business := notified()
	business.Rules.RateLimit.TurnsPerSubscriberPerHour = 3
	for _, tt := range []struct {
		name  string
		bound bool
		want  []string // of eight handoffs within the hour, and of one behind it
	}{
		{"bound", true, []string{"0 tag", "1 flow", "2 webhook", "0 tag", "1 flow", "2 webhook", "0 tag", "1 flow", "2 webhook", "0 tag", "1 flow", "2 webhook"}},
		{"unbound", false, []string{"0 tag", "2 webhook", "0 tag", "2 webhook"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withTools(t, business, stages(0, says, nil), func(r *rig) {
				r.exchange(r.t.Context(), "hello", true)
				r.settled()
				time.Sleep(2 * time.Hour)
				for n := range 9 {
					if n == 8 {
						time.Sleep(time.Hour)
					}
					if !tt.bound {
						r.field.token = ""
					}
					r.exchange(r.t.Context(), "refund", true)
					if turned, _ := r.settled(); turned.Bound != tt.bound || turned.Reason == "" {
						t.Fatalf("turn %d is bound %t, reason %q", n, turned.Bound, turned.Reason)
					}
					time.Sleep(time.Minute)
				}
				var got []string
				for _, n := range r.notices() {
					got = append(got, fmt.Sprint(n.Part, " ", n.Payload.Actions[0].ID))
				}
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Errorf("told (-want +got):\n%s", d)
				}
			})
		})
	}
}

package turn_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// Holds docs/spec/01-principles.md, C6: a panic anywhere behind the recorded message
// hands off, once, on whichever route is left.
func TestPanicBehindTheModel(t *testing.T) {
	// A store that panics once stands for any defect behind the model.
	tests := []struct {
		name  string
		after time.Duration
		at    time.Duration
		says  string
		path  conversation.Path
	}{
		{"before the deadline", time.Second, time.Second, escalationCopy, conversation.Inline},
		{"behind the acknowledgement", 9 * time.Second, deadline, ackCopy, conversation.Outbox},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, answersAfter(tt.after), nil, func(r *rig) {
				r.runner = newRunner(t, &panickyStore{Store: r.db}, answersAfter(tt.after), r, deadline)
				got := r.exchange(r.t.Context(), "hello", true)
				if want := (response{at: tt.at, texts: []string{tt.says}}); !cmp.Equal(want, got, cmp.AllowUnexported(response{})) {
					t.Errorf("response is %+v, want %+v", got, want)
				}
				turned, rows := r.settled()
				if turned.State != conversation.Settled || turned.Outcome != conversation.EscalatedError || turned.Path != tt.path {
					t.Errorf("turn is %s, %s by %s, want settled, escalated_error by %s", turned.State, turned.Outcome, turned.Path, tt.path)
				}
				if tt.path == conversation.Outbox && (len(rows) != 1 || rows[0].Payload.Texts[0] != escalationCopy) {
					t.Errorf("outbox rows are %+v, want the escalation copy", rows)
				}
			})
		})
	}
}

// panickyStore panics in the first settling.
type panickyStore struct {
	turn.Store
	panicked bool
}

func (s *panickyStore) Settle(ctx context.Context, v turn.Settlement) error {
	if !s.panicked {
		s.panicked = true
		panic("defect")
	}
	return s.Store.Settle(ctx, v)
}

// Holds docs/states.md, "The agent row of a turn": values that the database will never
// take cost the reply, not the contact.
func TestRefusedValuesHandOff(t *testing.T) {
	bad := func(context.Context) (agent.Result, error) {
		return agent.Result{
			Reply: reply.Reply{Messages: []string{answerCopy}, Confidence: 1}, Spend: conversation.Spend{TokensIn: -1},
		}, nil
	}
	inBubble(t, agentFunc(bad), nil, func(r *rig) {
		got := r.exchange(r.t.Context(), "hello", true)
		if want := (response{texts: []string{escalationCopy}}); !cmp.Equal(want, got, cmp.AllowUnexported(response{})) {
			t.Errorf("response is %+v, want %+v", got, want)
		}
		if turned, rows := r.settled(); turned.Outcome != conversation.EscalatedError || len(rows) != 0 {
			t.Errorf("turn is %s with %d rows", turned.Outcome, len(rows))
		}
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": pacing also counts what went out while the
// model ran.
func TestGapBehindATextSentMeanwhile(t *testing.T) {
	inBubble(t, answersAfter(3*time.Second), nil, func(r *rig) {
		first := r.exchange(r.t.Context(), "one", true) // the conversation exists from here on
		if first.at != 3*time.Second {
			t.Fatalf("the first reply left after %s", first.at)
		}
		turned, _ := r.settled()
		time.Sleep(30 * time.Second)
		time.AfterFunc(2900*ms, func() {
			err := r.db.Stamp(context.Background(), turn.Stamp{ConversationID: turned.ConversationID, At: time.Now()})
			if err != nil {
				t.Error(err)
			}
		})
		if got := r.exchange(r.t.Context(), "two", true); got.at != 4900*ms {
			t.Errorf("the second reply left after %s, want 4.9s: a gap behind the text at 2.9s", got.at)
		}
	})
}

// Holds docs/spec/03-turn.md, "The race": won means before the deadline; at it, the race
// is lost, whichever timer fires first.
func TestLostAtTheDeadlineItself(t *testing.T) {
	inBubble(t, answersAfter(deadline), nil, func(r *rig) {
		got := r.exchange(r.t.Context(), "hello", true)
		if want := (response{at: deadline, texts: []string{ackCopy}}); !cmp.Equal(want, got, cmp.AllowUnexported(response{})) {
			t.Errorf("response is %+v, want %+v", got, want)
		}
		if turned, _ := r.settled(); turned.Path != conversation.Outbox {
			t.Errorf("turn went by %s, want outbox", turned.Path)
		}
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": pacing of the responses of messages that arrive at
// once: each turn waits for the one before, and its reply for the gap.
func TestGapBetweenResponsesThatSettleAtOnce(t *testing.T) {
	inBubble(t, answersAfter(time.Second), nil, func(r *rig) {
		var mu sync.Mutex
		var at []time.Duration
		var all sync.WaitGroup
		r.merge = false
		r.runner = newRunner(t, r.db, answersAfter(time.Second), r, deadline)
		for i := range 3 {
			all.Go(func() {
				got := r.exchange(r.t.Context(), fmt.Sprint("hello ", i), true)
				mu.Lock()
				defer mu.Unlock()
				at = append(at, got.at)
			})
		}
		all.Wait()
		slices.Sort(at)
		if want := []time.Duration{time.Second, 3 * time.Second, 5 * time.Second}; !slices.Equal(at, want) {
			t.Errorf("the responses left after %s, want %s", at, want)
		}
	})
}

// Holds docs/spec/03-turn.md, "The race": never two routes, also for what overflows.
func TestUnknownFateDoesNotRepeatTheOverflow(t *testing.T) {
	long := strings.Repeat("word ", 600)
	faults := map[string]fault{"settle": {lost: errDatabase, times: 1}}
	inBubble(t, answersAfter(0, long), faults, func(r *rig) {
		if got := r.exchange(r.t.Context(), "hello", true); len(got.texts) != 0 {
			t.Errorf("the response says %d texts, want none", len(got.texts))
		}
		_, rows := r.settled()
		var texts []string
		for _, row := range rows {
			texts = append(texts, row.Payload.Texts...)
		}
		if got := strings.Join(texts, " "); got != strings.TrimSpace(long) {
			t.Errorf("%d texts of %d characters go out, want the reply once: %d characters", len(texts), len(got), len(long)-1)
		}
	})
}

// Holds docs/spec/03-turn.md, "Silent responses": a reply that goes behind a queued one
// is announced by nothing, however long its settling takes.
func TestSilenceIsFixedBeforeTheRowIsWritten(t *testing.T) {
	faults := map[string]fault{}
	var calls int
	both := func(ctx context.Context) (agent.Result, error) {
		if calls++; calls == 1 {
			return answersAfter(9*time.Second, "first")(ctx)
		}
		return answersAfter(deadline-100*ms, "second")(ctx)
	}
	inBubble(t, agentFunc(both), faults, func(r *rig) {
		r.exchange(r.t.Context(), "one", true)
		r.settled()
		faults["settle"] = fault{after: time.Second}
		if got := r.exchange(r.t.Context(), "two", true); len(got.texts) != 0 {
			t.Errorf("the second response says %q before the first reply is out", got.texts)
		}
	})
}

// Holds docs/spec/03-turn.md, "Steps": who is not in the audience is recorded and
// answered silently, without a model.
func TestAudience(t *testing.T) {
	tests := []struct {
		name     string
		audience tenant.Audience
		says     []string
		path     conversation.Path
	}{
		{"only others", tenant.Audience{Mode: tenant.AudienceOnly, Subscribers: []contact.SubscriberID{"900000002"}}, nil, conversation.Silent},
		{"only this one", tenant.Audience{Mode: tenant.AudienceOnly, Subscribers: []contact.SubscriberID{"900000001"}}, []string{answerCopy}, conversation.Inline},
		{"all but this one", tenant.Audience{Mode: tenant.AudienceExcept, Subscribers: []contact.SubscriberID{"900000001"}}, nil, conversation.Silent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, answersAfter(0), nil, func(r *rig) {
				limited := *fixture
				limited.Rules.Audience = tt.audience
				r.runner = newRunnerFor(t, &limited, r.db, answersAfter(0), r, deadline)
				got := r.exchange(r.t.Context(), "hello", true)
				if want := (response{texts: tt.says}); !cmp.Equal(want, got, cmp.AllowUnexported(response{})) {
					t.Errorf("response is %+v, want %+v", got, want)
				}
				if turned, _ := r.settled(); turned.Path != tt.path || turned.Text != "hello" {
					t.Errorf("turn went by %s, want %s", turned.Path, tt.path)
				}
			})
		})
	}
}

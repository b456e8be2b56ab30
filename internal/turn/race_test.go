package turn_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

var errDatabase = errors.New("the database does not answer")

func hangsForAbort(ctx context.Context) (agent.Result, error) {
	<-ctx.Done()
	return agent.Result{}, ctx.Err()
}

func panics(context.Context) (agent.Result, error) { panic("adapter bug") }

func fails(context.Context) (agent.Result, error) { return agent.Result{}, errors.New("provider down") }

// Holds docs/spec/03-turn.md, "The race", and docs/spec/02-inbound.md, "Errors".
func TestRace(t *testing.T) {
	tests := []struct {
		name   string
		agent  agentFunc
		text   string
		faults map[string]fault
		gone   time.Duration // when the caller closes the connection; 0: never
		lost   bool          // the response is not written although it was tried

		at       time.Duration // when the response leaves, or the caller is found gone
		says     []string
		outcome  conversation.Outcome
		reason   conversation.EscalationReason
		path     conversation.Path
		deferred []string      // the outbox row's texts
		due      time.Duration // of that row, since the handler's start
	}{
		{name: "at once", agent: answersAfter(0),
			at: 0, says: []string{answerCopy}, outcome: conversation.Answered, path: conversation.Inline},
		{name: "won a millisecond before the deadline", agent: answersAfter(deadline - ms),
			at: deadline - ms, says: []string{answerCopy}, outcome: conversation.Answered, path: conversation.Inline},
		{name: "lost a millisecond after the deadline", agent: answersAfter(deadline + ms),
			at: deadline, says: []string{ackCopy}, outcome: conversation.Answered, path: conversation.Outbox,
			deferred: []string{answerCopy}, due: deadline + gap},
		{name: "lost by far", agent: answersAfter(20 * time.Second),
			at: deadline, says: []string{ackCopy}, outcome: conversation.Answered, path: conversation.Outbox,
			deferred: []string{answerCopy}, due: 20 * time.Second},
		{name: "aborted", agent: hangsForAbort,
			at: deadline, says: []string{ackCopy}, outcome: conversation.EscalatedError, reason: conversation.ByError, path: conversation.Outbox,
			deferred: []string{escalationCopy}, due: abort},
		{name: "a model that ignores the abort", agent: answersAfterAnyway(50 * time.Second),
			at: deadline, says: []string{ackCopy}, outcome: conversation.EscalatedError, reason: conversation.ByError, path: conversation.Outbox,
			deferred: []string{escalationCopy}, due: abort},
		{name: "a model that panics", agent: panics,
			at: 0, says: []string{escalationCopy}, outcome: conversation.EscalatedError, reason: conversation.ByError, path: conversation.Inline},
		{name: "a model that fails", agent: fails,
			at: 0, says: []string{escalationCopy}, outcome: conversation.EscalatedError, reason: conversation.ByError, path: conversation.Inline},

		{name: "caller gone before settling", agent: answersAfter(4 * time.Second), gone: 2 * time.Second,
			at: 2 * time.Second, outcome: conversation.Answered, path: conversation.Outbox,
			deferred: []string{answerCopy}, due: 4 * time.Second},
		{name: "caller gone after settling", agent: answersAfter(time.Second), lost: true,
			at: time.Second, says: []string{answerCopy}, outcome: conversation.Answered, path: conversation.Outbox,
			deferred: []string{answerCopy}, due: time.Second},
		{name: "acknowledgement not written", agent: answersAfter(9 * time.Second), lost: true,
			at: deadline, says: []string{ackCopy}, outcome: conversation.Answered, path: conversation.Outbox,
			deferred: []string{answerCopy}, due: 9 * time.Second},

		{name: "recording is slow", agent: answersAfter(0), faults: map[string]fault{"record": {before: 2 * time.Second}},
			at: 2 * time.Second, says: []string{answerCopy}, outcome: conversation.Answered, path: conversation.Inline},
		{name: "recording is too slow", agent: panics, faults: map[string]fault{"record": {before: 3*time.Second + ms}},
			at: 3 * time.Second, says: []string{escalationCopy}, outcome: conversation.EscalatedPrecheck, reason: conversation.ByOverload, path: conversation.Silent},
		{name: "settling is slow but in time", agent: answersAfter(deadline - ms), faults: map[string]fault{"settle": {before: 500 * ms}},
			at: bound - ms, says: []string{answerCopy}, outcome: conversation.Answered, path: conversation.Inline},
		{name: "settling outlasts the bound", agent: answersAfter(deadline - ms), faults: map[string]fault{"settle": {before: 502 * ms}},
			at: bound, says: []string{ackCopy}, outcome: conversation.Answered, path: conversation.Outbox,
			deferred: []string{answerCopy}, due: bound + gap},
		{name: "settling hangs once", agent: answersAfter(deadline - ms), faults: map[string]fault{"settle": {before: 10 * time.Second, err: errDatabase, times: 1}},
			at: bound, says: []string{ackCopy}, outcome: conversation.Answered, path: conversation.Outbox,
			deferred: []string{answerCopy}, due: deadline - ms + 10*time.Second + 100*ms},
		{name: "settling fails once", agent: answersAfter(time.Second), faults: map[string]fault{"settle": {err: errDatabase, times: 1}},
			at: time.Second + 100*ms, says: []string{answerCopy}, outcome: conversation.Answered, path: conversation.Inline},
		{name: "settling fails for two minutes", agent: answersAfter(time.Second), faults: map[string]fault{"settle": {before: 10 * time.Second, err: errDatabase, times: 12}},
			at: bound, says: []string{ackCopy}, outcome: conversation.Answered, path: conversation.Outbox,
			deferred: []string{answerCopy}, due: time.Second + 12*10*time.Second + 36300*ms},
		{name: "settling is committed but reported lost", agent: answersAfter(time.Second), faults: map[string]fault{"settle": {lost: errDatabase, times: 1}},
			at: time.Second + 100*ms, outcome: conversation.Answered, path: conversation.Outbox,
			deferred: []string{answerCopy}, due: time.Second + 100*ms},

		{name: "an escalation keyword", agent: panics, text: "I want a REFUND now",
			at: 0, says: []string{escalationCopy}, outcome: conversation.EscalatedPrecheck, reason: conversation.ByKeyword, path: conversation.Inline},
		{name: "the opening trigger", agent: panics, text: "start",
			at: 0, says: []string{scriptedCopy}, outcome: conversation.AnsweredScripted, path: conversation.Inline},
		{name: "an unrendered variable", agent: panics, text: "{{last_input_text}}",
			at: 0, says: []string{fallbackCopy}, outcome: conversation.MediaFallback, path: conversation.Inline},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, tt.agent, tt.faults, func(r *rig) {
				ctx := r.t.Context()
				if tt.gone > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.gone)
					defer cancel()
				}
				text := tt.text
				if text == "" {
					text = "how much is the wheel course?"
				}
				got := r.exchange(ctx, text, !tt.lost)
				want := response{at: tt.at, texts: tt.says, gone: tt.gone > 0}
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(response{})); diff != "" {
					t.Errorf("response (-want +got):\n%s", diff)
				}
				turned, rows := r.settled()
				if turned.State != conversation.Settled || turned.Outcome != tt.outcome || turned.Reason != tt.reason || turned.Path != tt.path {
					t.Errorf("turn is %s, %s (%s) by %s; want settled, %s (%s) by %s",
						turned.State, turned.Outcome, turned.Reason, turned.Path, tt.outcome, tt.reason, tt.path)
				}
				if tt.deferred == nil {
					if len(rows) != 0 {
						t.Errorf("%d outbox rows, want none", len(rows))
					}
					return
				}
				if len(rows) != 1 {
					t.Fatalf("%d outbox rows, want 1", len(rows))
				}
				if diff := cmp.Diff(tt.deferred, rows[0].Payload.Texts); diff != "" {
					t.Errorf("outbox texts (-want +got):\n%s", diff)
				}
				if due := rows[0].NextAttemptAt.Sub(r.start); due != tt.due {
					t.Errorf("the row is due after %s, want %s", due, tt.due)
				}
			})
		})
	}
}

// answersAfterAnyway is an agent that does not listen to its context.
func answersAfterAnyway(d time.Duration) agentFunc {
	return func(context.Context) (agent.Result, error) {
		time.Sleep(d)
		return agent.Result{}, nil
	}
}

// Holds docs/spec/03-turn.md, "Steps": an acknowledgement promises an answer, so that
// a message which is not recorded by a short deadline is handed off instead.
func TestNoAcknowledgementOfAnUnrecordedMessage(t *testing.T) {
	faults := map[string]fault{"record": {before: 2 * time.Second}}
	inBubble(t, agentFunc(panics), faults, func(r *rig) {
		r.runner = newRunner(t, &faultyStore{Store: r.db, faults: faults}, agentFunc(panics), r, time.Second)
		got := r.exchange(r.t.Context(), "hello", true)
		if want := (response{at: time.Second, texts: []string{escalationCopy}}); !cmp.Equal(want, got, cmp.AllowUnexported(response{})) {
			t.Errorf("response is %+v, want %+v", got, want)
		}
		turned, rows := r.settled()
		if turned.Reason != conversation.ByOverload || turned.Path != conversation.Silent || len(rows) != 0 {
			t.Errorf("turn is %s (%s) by %s with %d rows", turned.Outcome, turned.Reason, turned.Path, len(rows))
		}
	})
}

// Holds docs/spec/03-turn.md, "The race": the response leaves at deadline + 500 ms at
// the latest, whatever the database does, and docs/spec/02-inbound.md, "Errors".
func TestDatabaseThatNeverAnswers(t *testing.T) {
	tests := []struct {
		method string
		at     time.Duration
		says   string
		hangs  bool // the turn is recorded and cannot end
	}{
		{"record", 3 * time.Second, escalationCopy, false},
		{"settle", bound, ackCopy, true},
	}
	for _, tt := range tests {
		t.Run(tt.method, func(t *testing.T) {
			inBubble(t, answersAfter(deadline-ms), map[string]fault{tt.method: {hang: true}}, func(r *rig) {
				r.hangs = tt.hangs
				got := r.exchange(r.t.Context(), "hello", true)
				if want := (response{at: tt.at, texts: []string{tt.says}}); !cmp.Equal(want, got, cmp.AllowUnexported(response{})) {
					t.Errorf("response is %+v, want %+v", got, want)
				}
			})
		})
	}
}

// Holds docs/spec/02-inbound.md, "Errors": what cannot be recorded is handed off.
func TestRecordFails(t *testing.T) {
	inBubble(t, agentFunc(panics), map[string]fault{"record": {err: errDatabase}}, func(r *rig) {
		got := r.exchange(r.t.Context(), "hello", true)
		if want := (response{texts: []string{escalationCopy}}); !cmp.Equal(want, got, cmp.AllowUnexported(response{})) {
			t.Errorf("response is %+v, want %+v", got, want)
		}
		if logged := r.logged(); !strings.Contains(logged, "load shed") {
			t.Errorf("no load-shed line in %q", logged)
		}
	})
}

// Holds docs/spec/02-inbound.md, "Errors": overload.
func TestTooManyTurnsInFlight(t *testing.T) {
	inBubble(t, answersAfter(time.Second), nil, func(r *rig) {
		var open []*turn.Exchange
		for range 3 {
			open = append(open, r.runner.Begin(turn.Message{Key: key, Text: "hello", ReceivedAt: time.Now()}))
		}
		got := r.exchange(r.t.Context(), "one too many", true)
		if want := (response{texts: []string{escalationCopy}}); !cmp.Equal(want, got, cmp.AllowUnexported(response{})) {
			t.Errorf("response is %+v, want %+v", got, want)
		}
		for _, x := range open {
			x.Wait(r.t.Context())
			x.Written(true)
		}
		if got := r.exchange(r.t.Context(), "room again", true); got.texts[0] != answerCopy {
			t.Errorf("after the load the response is %q", got.texts)
		}
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": pacing, and docs/spec/03-turn.md, "One
// turn at a time per contact": a reply never overtakes an earlier one.
func TestReplyBehindAnEarlierOne(t *testing.T) {
	t.Run("held for the gap", func(t *testing.T) {
		inBubble(t, answersAfter(0), nil, func(r *rig) {
			r.exchange(r.t.Context(), "one", true)
			r.settled()
			time.Sleep(500 * ms)
			if got := r.exchange(r.t.Context(), "two", true); got.at != 1500*ms {
				t.Errorf("the second reply left after %s, want 1.5s", got.at)
			}
		})
	})
	t.Run("behind a queued one", func(t *testing.T) {
		var calls int
		second := func(ctx context.Context) (agent.Result, error) {
			if calls++; calls == 1 {
				return answersAfter(9*time.Second, "first")(ctx)
			}
			return answersAfter(0, "second")(ctx)
		}
		inBubble(t, agentFunc(second), nil, func(r *rig) {
			if got := r.exchange(r.t.Context(), "one", true); got.texts[0] != ackCopy {
				t.Fatalf("first response is %q", got.texts)
			}
			first, rows := r.settled() // the first reply is queued from here on
			got := r.exchange(r.t.Context(), "two", true)
			if !slices.Equal(got.texts, []string{"first\n\nsecond"}) {
				t.Errorf("the second response says %q, want the first reply before its own", got.texts)
			}
			turned, own := r.settled()
			if turned.Path != conversation.Inline || len(own) != 0 || !slices.Equal(turned.Replies, []string{"second"}) {
				t.Errorf("second turn said %q by %s with %d rows", turned.Replies, turned.Path, len(own))
			}
			if row := r.row(rows[0].ID); row.Status != outbox.Delivered || row.Payload.Sent != 1 || first.Path != conversation.Outbox {
				t.Errorf("the first reply's row is %s, %d texts sent", row.Status, row.Payload.Sent)
			}
		})
	})
}

// Holds docs/spec/03-turn.md, "Crash recovery": an unfinished turn runs again through
// the outbox, and not for ever.
func TestResume(t *testing.T) {
	tests := []struct {
		name    string
		starts  int // take-overs, each of which starts the turn once more
		says    string
		outcome conversation.Outcome
	}{
		{"second start answers", 1, answerCopy, conversation.Answered},
		{"third start hands off", 2, escalationCopy, conversation.EscalatedError},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, answersAfter(time.Second), nil, func(r *rig) {
				_, err := r.db.Record(r.t.Context(), turn.Arrival{
					TurnID: "t-1", Key: key, Owner: "dead", Text: "hello", ReceivedAt: r.start, Window: turn.Window{HistoryLimit: 10},
				})
				if err != nil {
					t.Fatal(err)
				}
				var orphans []turn.Recorded
				for i := range tt.starts {
					orphans, err = takeOver(r.t.Context(), r.db, fmt.Sprint("p", i))
					if err != nil || len(orphans) != 1 {
						t.Fatalf("take over: %d orphans, %v", len(orphans), err)
					}
				}
				r.runner.Resume(orphans[0])
				turned, rows := r.settled()
				if turned.Outcome != tt.outcome || turned.Path != conversation.Outbox {
					t.Errorf("turn is %s by %s, want %s by outbox", turned.Outcome, turned.Path, tt.outcome)
				}
				if len(rows) != 1 || rows[0].Status != outbox.Pending || rows[0].Payload.Texts[0] != tt.says {
					t.Errorf("rows are %+v, want one pending with %q", rows, tt.says)
				}
			})
		})
	}
}

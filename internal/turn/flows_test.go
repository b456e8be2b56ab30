package turn_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// Holds docs/spec/07-tools.md, "Flows go out before the reply": the reply waits for the
// flow, in the response where the deadline allows it, and through the outbox otherwise.
func TestReplyWaitsForTheFlow(t *testing.T) {
	const asks = `{"tool":"x"}`
	tests := []struct {
		name  string
		flows []string
		takes time.Duration // each request to ManyChat
		model time.Duration // from the last flow to the reply
		reply reply.Reply
		err   error

		at      time.Duration // when the response leaves
		says    []string
		outcome conversation.Outcome
		path    conversation.Path
		due     time.Duration // of the outbox row
		record  []string
	}{
		{name: "a flow that does not play", flows: []string{"map"}, model: time.Second, reply: says,
			at: time.Second, says: []string{answerCopy}, outcome: conversation.Answered, path: conversation.Inline,
			record: []string{"send_flow map performed"}},
		{name: "held until it ends", flows: []string{"brochure"}, takes: time.Second, model: time.Second, reply: says,
			at: 4 * time.Second, says: []string{answerCopy}, outcome: conversation.Answered, path: conversation.Inline,
			record: []string{"send_flow brochure performed"}},
		{name: "ended before the reply was there", flows: []string{"brochure"}, model: 5 * time.Second, reply: says,
			at: 5 * time.Second, says: []string{answerCopy}, outcome: conversation.Answered, path: conversation.Inline,
			record: []string{"send_flow brochure performed"}},
		{name: "until the last of them ends", flows: []string{"brochure", "map"}, takes: time.Second, reply: says,
			at: 4 * time.Second, says: []string{answerCopy}, outcome: conversation.Answered, path: conversation.Inline,
			record: []string{"send_flow brochure performed", "send_flow map performed"}},
		{name: "silent when it ends past the deadline", flows: []string{"film"}, takes: time.Second, model: time.Second, reply: says,
			at: 2 * time.Second, outcome: conversation.Answered, path: conversation.Outbox, due: 21 * time.Second,
			record: []string{"send_flow film performed"}},
		{name: "silent when the race is lost while it plays", flows: []string{"film"}, model: 12 * time.Second, reply: says,
			at: deadline, outcome: conversation.Answered, path: conversation.Outbox, due: 20 * time.Second,
			record: []string{"send_flow film performed"}},
		{name: "the acknowledgement when it ended before", flows: []string{"brochure"}, model: 12 * time.Second, reply: says,
			at: deadline, says: []string{ackCopy}, outcome: conversation.Answered, path: conversation.Outbox, due: 12 * time.Second,
			record: []string{"send_flow brochure performed"}},
		{name: "a handoff waits too", flows: []string{"brochure"}, reply: handsOff,
			at: 3 * time.Second, says: []string{escalationCopy}, outcome: conversation.Escalated, path: conversation.Inline,
			record: []string{"send_flow brochure performed"}},
		{name: "a loop that fails while it plays", flows: []string{"film"}, model: 10 * time.Second, err: errBroken,
			at: deadline, outcome: conversation.EscalatedError, path: conversation.Outbox, due: 20 * time.Second,
			record: []string{"send_flow film performed"}},
		{name: "a request in flight at the deadline does not play", flows: []string{"film"}, takes: 9 * time.Second, reply: says,
			at: deadline, says: []string{ackCopy}, outcome: conversation.Answered, path: conversation.Outbox, due: 29 * time.Second,
			record: []string{"send_flow film performed"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := func(ctx context.Context, call func(tool, args string) string) (reply.Reply, error) {
				for _, flow := range tt.flows {
					if got := call("send_flow", `{"flow":"`+flow+`"}`); got != `{"sent":true}` {
						t.Errorf("%s answers %s", flow, got)
					}
				}
				if err := after(ctx, tt.model); err != nil {
					return reply.Reply{}, err
				}
				return tt.reply, tt.err
			}
			withTools(t, acting(), m, func(r *rig) {
				r.at.takes = tt.takes
				got := r.exchange(r.t.Context(), asks, true)
				if want := (response{at: tt.at, texts: tt.says}); !cmp.Equal(want, got, cmp.AllowUnexported(response{})) {
					t.Errorf("response %+v, want %+v", got, want)
				}
				turned, rows := r.settled()
				if turned.Outcome != tt.outcome || turned.Path != tt.path {
					t.Errorf("turn is %s by %s, want %s by %s", turned.Outcome, turned.Path, tt.outcome, tt.path)
				}
				if d := cmp.Diff(tt.record, statuses(turned.Actions)); d != "" {
					t.Errorf("record (-want +got):\n%s", d)
				}
				if tt.due == 0 && len(rows) > 0 || tt.due > 0 && (len(rows) != 1 || r.due(rows[0]) != tt.due) {
					t.Errorf("rows %+v, want one due after %s", rows, tt.due)
				}
			})
		})
	}
}

// Holds docs/spec/07-tools.md, "Flows go out before the reply": written down before the
// request; what cannot be is not sent. And "Performing": a failure is recorded and never
// retried.
func TestFlowThatDoesNotGoOut(t *testing.T) {
	tests := []struct {
		name   string
		note   fault // of writing it down
		ended  action.Ended
		answer string
		record []string
		asked  int // requests to ManyChat
		again  string
	}{
		{name: "refused", ended: action.Ended{Status: action.Failed, Error: "rejected (400)"},
			answer: `{"sent":false,"reason":"failed"}`, record: []string{"send_flow brochure failed: rejected (400)"}, asked: 1, again: `{"sent":true}`},
		{name: "unknown", ended: action.Ended{Status: action.Failed, Error: action.OutcomeUnknown},
			answer: `{"sent":false,"reason":"unknown"}`, record: []string{"send_flow brochure failed: outcome unknown"}, asked: 1, again: `{"sent":false,"reason":"already_sent"}`},
		{name: "the database is down", note: fault{err: errDatabase, times: 1},
			answer: `{"sent":false,"reason":"failed"}`, record: []string{"send_flow brochure failed: not recorded"}, again: `{"sent":true}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var answers []string
			m := func(_ context.Context, call func(tool, args string) string) (reply.Reply, error) {
				answers = append(answers, call("send_flow", `{"flow":"brochure"}`), call("send_flow", `{"flow":"brochure"}`))
				return says, nil
			}
			faults := map[string]fault{}
			if tt.note != (fault{}) {
				faults["note"] = tt.note
			}
			inBubble(t, model(m), nil, func(r *rig) {
				r.runner = newRunnerFor(t, acting(), &faultyStore{Store: r.db, faults: faults}, model(m), r, deadline)
				r.at.faults = map[string]action.Ended{"brochure": tt.ended}
				if tt.ended == (action.Ended{}) {
					r.at.faults = nil
				}
				if got := r.exchange(r.t.Context(), "please", true); got.at != 0 || len(got.texts) != 1 || got.texts[0] != answerCopy {
					t.Errorf("the reply leaves as %+v", got)
				}
				turned, _ := r.settled()
				if d := cmp.Diff([]string{tt.answer, tt.answer}, answers); d != "" {
					t.Errorf("told (-want +got):\n%s", d)
				}
				if d := cmp.Diff(tt.record, statuses(turned.Actions)); d != "" {
					t.Errorf("record (-want +got):\n%s", d)
				}
				if got := len(r.at.seen()); got != tt.asked {
					t.Errorf("%d requests, want %d", got, tt.asked)
				}
				r.at.faults, answers = nil, nil
				time.Sleep(time.Minute)
				r.exchange(r.t.Context(), "again please", true)
				if len(answers) != 2 || answers[0] != tt.again {
					t.Errorf("asked again on the next turn, told %q, want %s", answers, tt.again)
				}
			})
		})
	}
}

// Holds docs/spec/07-tools.md, "Flows go out before the reply": each flow once a turn, and
// docs/spec/08-sales.md, "Flows once": once a contact.
func TestFlowsOnce(t *testing.T) {
	var answers []string
	m := func(_ context.Context, call func(tool, args string) string) (reply.Reply, error) {
		for _, flow := range []string{"brochure", "brochure", "map", "map"} {
			answers = append(answers, call("send_flow", `{"flow":"`+flow+`"}`))
		}
		return says, nil
	}
	withTools(t, acting(), m, func(r *rig) {
		r.exchange(r.t.Context(), "one", true)
		r.settled()
		time.Sleep(time.Hour)
		r.exchange(r.t.Context(), "two", true)
		r.settled()
		time.Sleep(31 * 24 * time.Hour) // the history is 30 days
		r.exchange(r.t.Context(), "three", true)
		const sent, already = `{"sent":true}`, `{"sent":false,"reason":"already_sent"}`
		want := []string{sent, sent, sent, sent, already, already, sent, sent, sent, sent, sent, sent}
		if d := cmp.Diff(want, answers); d != "" {
			t.Errorf("told (-want +got):\n%s", d)
		}
		if got := len(r.at.seen()); got != 5 {
			t.Errorf("%d flows went out, want 5: %q", got, r.at.seen())
		}
	})
}

// Holds docs/spec/07-tools.md, "Flows go out before the reply": while an earlier reply of
// the contact is queued a flow follows its own text.
func TestFlowBehindAQueuedReply(t *testing.T) {
	var n int
	var answer string
	m := func(ctx context.Context, call func(tool, args string) string) (reply.Reply, error) {
		if n++; n == 1 {
			return says, after(ctx, 9*time.Second)
		}
		answer = call("send_flow", `{"flow":"brochure"}`)
		return says, nil
	}
	withTools(t, acting(), m, func(r *rig) {
		r.exchange(r.t.Context(), "one", true)
		_, queued := r.settled() // no worker: its reply stays queued, and then in hand
		rows, err := r.db.Claim(r.t.Context(), outbox.Claim{Owner: "p1/1", Now: time.Now().Add(time.Minute), Room: map[outbox.Kind]int{outbox.Reply: 1}})
		if err != nil || len(rows) != 1 || len(queued) != 1 {
			t.Fatalf("claimed %d of %d rows, %v", len(rows), len(queued), err)
		}
		if got := r.exchange(r.t.Context(), "two", true); len(got.texts) != 0 {
			t.Errorf("the response says %q", got.texts)
		}
		turned, rows := r.settled()
		if answer != `{"staged":true}` || len(r.at.seen()) != 0 {
			t.Errorf("told %s, requests %q", answer, r.at.seen())
		}
		if d := cmp.Diff([]string{"send_flow brochure staged"}, statuses(turned.Actions)); d != "" {
			t.Errorf("record (-want +got):\n%s", d)
		}
		want := []action.Pending{{Tool: action.SendFlow, ID: "brochure"}}
		if len(rows) != 1 || !cmp.Equal(want, rows[0].Payload.Actions) {
			t.Errorf("rows %+v, want one with %+v", rows, want)
		}
	})
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": a response that carries the
// queued reply lets the flow follow it at once.
func TestFlowBehindACarriedReply(t *testing.T) {
	var n int
	m := func(ctx context.Context, call func(tool, args string) string) (reply.Reply, error) {
		if n++; n == 1 {
			return reply.Reply{Messages: []string{"The late one."}, Confidence: 1}, after(ctx, 9*time.Second)
		}
		call("send_flow", `{"flow":"brochure"}`)
		return says, nil
	}
	withTools(t, acting(), m, func(r *rig) {
		r.exchange(r.t.Context(), "one", true)
		r.settled() // no worker: its reply stays queued
		got := r.exchange(r.t.Context(), "two", true)
		if d := cmp.Diff([]string{"The late one.\n\n" + says.Messages[0]}, got.texts); d != "" {
			t.Errorf("response (-want +got):\n%s", d)
		}
		turned, rows := r.settled()
		if d := cmp.Diff([]string{"send_flow brochure performed"}, statuses(turned.Actions)); d != "" || len(rows) != 0 || len(r.at.seen()) != 1 {
			t.Errorf("requests %q, %d rows, record (-want +got):\n%s", r.at.seen(), len(rows), d)
		}
	})
}

// Holds docs/spec/03-turn.md, "Crash recovery": a turn that runs again keeps what the
// earlier try sent, is told of it, and waits for a flow that still plays.
func TestFlowsOfAnEarlierTry(t *testing.T) {
	var answers []string
	m := func(_ context.Context, call func(tool, args string) string) (reply.Reply, error) {
		answers = append(answers, call("send_flow", `{"flow":"film"}`), call("send_flow", `{"flow":"brochure"}`), call("add_tag", `{"tag":"gift"}`))
		return says, nil
	}
	withTools(t, acting(), m, func(r *rig) {
		ctx := context.Background()
		rec, err := r.db.Record(ctx, turn.Arrival{TurnID: "t-1", Key: key, Owner: "dead", Text: "hello", ReceivedAt: r.start, Window: turn.Window{HistoryLimit: 10}})
		if err != nil {
			t.Fatal(err)
		}
		sent := []action.Record{
			{Tool: action.SendFlow, ID: "film", Status: action.Performed, At: r.start},
			{Tool: action.SendFlow, ID: "brochure", Status: action.Sending},
		}
		for i, flow := range []string{"film", "brochure"} {
			note := turn.FlowNote{TurnID: "t-1", Owner: "dead", Attempt: 1, Actions: []action.Record{{Tool: action.SendFlow, ID: flow, Status: action.Sending}}}
			if i == 1 {
				note.Actions = sent
			}
			note.Claim = action.Claim{ConversationID: rec.Turn.ConversationID, TurnID: "t-1", Flow: flow, At: r.start}
			if err := r.db.NoteFlow(ctx, note); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Second)
		orphans, err := takeOver(ctx, r.db, "p1")
		if err != nil || len(orphans) != 1 {
			t.Fatalf("take over: %d orphans, %v", len(orphans), err)
		}
		r.runner.Resume(orphans[0])
		turned, rows := r.settled()
		if d := cmp.Diff([]string{`{"sent":true}`, `{"sent":false,"reason":"unknown"}`, `{"staged":true}`}, answers); d != "" {
			t.Errorf("told (-want +got):\n%s", d)
		}
		want := []string{"send_flow film performed", "send_flow brochure failed: outcome unknown", "add_tag gift staged"}
		if d := cmp.Diff(want, statuses(turned.Actions)); d != "" {
			t.Errorf("record (-want +got):\n%s", d)
		}
		if len(r.at.seen()) != 0 {
			t.Errorf("ManyChat was asked for %q", r.at.seen())
		}
		if len(rows) != 1 || r.due(rows[0]) != 20*time.Second {
			t.Errorf("rows %+v, want one due when the film ends", rows)
		}
	})
}

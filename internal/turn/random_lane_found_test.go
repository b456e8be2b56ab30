package turn_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

// Holds docs/spec/03-turn.md, "Crash recovery": a message that arrives at a process that stops
// gets what a lost race would get: nothing while an earlier reply is queued. (Found by
// TestRandom: it was acknowledged, and the earlier reply came behind that.)
func TestStoppingBehindAQueuedReply(t *testing.T) {
	l := &listener{takes: deadline + time.Second}
	inBubble(t, l, nil, func(r *rig) {
		r.write("one")()
		<-r.runner.Idle() // its reply is queued
		time.Sleep(time.Minute)
		if err := r.runner.Drain(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := r.write("two")(); len(got.texts) != 0 {
			t.Errorf("before the queued reply the response says %q", got.texts)
		}
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": pacing, from a text to the next response: an
// acknowledgement too would come before a text that a flow has still to show. (Found by
// TestRandomPair.)
func TestNoAcknowledgementRightBehindAText(t *testing.T) {
	l := &listener{takes: deadline - 500*ms}
	inBubble(t, l, nil, func(r *rig) {
		one := r.write("one")
		time.Sleep(time.Second)
		two := r.write("two")
		if got := one(); !slices.Equal(got.texts, []string{"to one"}) {
			t.Fatalf("the first response says %q", got.texts)
		}
		if got := two(); got.at != deadline || len(got.texts) != 0 {
			t.Errorf("1.5 s behind the first reply the response says %q, after %s", got.texts, got.at)
		}
	})
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": messages that wait together
// are answered together, also when the newest was handed off before it was recorded. (Found
// by TestRandom: nothing answered the others.)
func TestHandedOffMessageTakesOthersIn(t *testing.T) {
	l := &listener{takes: 10 * time.Second}
	faults := map[string]fault{}
	inBubble(t, l, faults, func(r *rig) {
		r.write("one")
		time.Sleep(time.Second)
		two := r.write("two")
		faults["record"] = fault{before: 4 * time.Second, times: 1}
		three := r.write("three")
		if got := three(); !slices.Equal(got.texts, []string{escalationCopy}) {
			t.Errorf("what is recorded too late is told %q", got.texts)
		}
		if got := two(); len(got.texts) != 0 {
			t.Errorf("what is merged into it is told %q", got.texts)
		}
		_, rows := r.settled()
		if len(rows) != 1 || !slices.Equal(rows[0].Payload.Texts, []string{"to two\nthree"}) {
			t.Errorf("the set is answered by %+v", rows)
		}
	})
}

// Holds docs/spec/07-tools.md, "Performing": one attempt each. (Found by TestRandom: the
// actions of a reply were on the row of its text and on a row behind it, when the response
// was to carry an earlier reply that has actions and the commit's outcome was lost.)
func TestActionsBehindACarriedReplyAreQueuedOnce(t *testing.T) {
	runs := 0
	tags := model(func(ctx context.Context, call func(tool, args string) string) (reply.Reply, error) {
		runs++
		call("add_tag", `{"tag":"gift"}`)
		if runs == 1 {
			return says, after(ctx, deadline+time.Second)
		}
		return says, after(ctx, time.Second)
	})
	faults := map[string]fault{}
	inBubble(t, tags, nil, func(r *rig) {
		r.runner = newRunnerFor(t, acting(), &faultyStore{Store: r.db, faults: faults}, tags, r, deadline)
		r.exchange(r.t.Context(), "one", true)
		<-r.runner.Idle()
		time.Sleep(time.Minute)
		faults["settle"] = fault{lost: errDatabase, times: 1}
		if got := r.exchange(r.t.Context(), "two", true); len(got.texts) != 0 {
			t.Errorf("a commit of unknown fate lets the response say %q", got.texts)
		}
		_, rows := r.settled()
		actions := 0
		for _, row := range rows {
			actions += len(row.Payload.Actions)
		}
		if len(rows) != 2 || actions != 1 {
			t.Errorf("%d rows hold %d actions, want 2 and 1", len(rows), actions)
		}
	})
}

// Holds docs/spec/03-turn.md, "Crash recovery": what arrives at a process that stops is
// answered by the next one. (Found by TestRandom: the process that had left it took it over
// itself, every two seconds.)
func TestStoppingProcessTakesNothingOver(t *testing.T) {
	inBubble(t, &listener{takes: time.Second}, nil, func(r *rig) {
		k, err := sweep.New(sweep.Config{
			Store: r.db, TenantID: key.TenantID, Lease: lease, Window: func() turn.Window { return turn.Window{} },
			Buried: func(context.Context, []string) error { return nil }, Wake: func() {}, Now: time.Now, Log: slog.New(r.logs),
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.Start(r.t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(r.t.Context())
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			k.Run(ctx, r.runner)
		}()
		k.Rest()
		if err := r.runner.Drain(r.t.Context()); err != nil {
			t.Fatal(err)
		}
		r.write("hello")()
		time.Sleep(10 * time.Second)
		stop()
		<-ended
		if turned, _ := r.settled(); turned.State != conversation.Waiting || turned.Owner != "" {
			t.Errorf("the turn is %s, of %q", turned.State, turned.Owner)
		}
	})
}

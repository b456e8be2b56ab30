package turn_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

// listener is an agent that answers what it was asked, and notes when it ran.
type listener struct {
	takes time.Duration

	mu    sync.Mutex
	asked []string
	runs  int // at this moment
	most  int
}

func (l *listener) Run(ctx context.Context, in agent.Input) (agent.Result, error) {
	l.mu.Lock()
	l.asked = append(l.asked, in.Text)
	l.runs++
	l.most = max(l.most, l.runs)
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.runs--
	}()
	if err := after(ctx, l.takes); err != nil {
		return agent.Result{}, err
	}
	return agent.Result{Reply: reply.Reply{Messages: []string{"to " + in.Text}, Confidence: 1}}, nil
}

// write is a message of the contact, as the test's one contact or as nobody they know.
func (r *rig) write(text string) (answer func() response) {
	done := make(chan response, 1)
	go func() { done <- r.exchange(context.Background(), text, true) }()
	synctest.Wait()
	return func() response { return <-done }
}

// outcomes are those of the contact's turns, oldest first.
func (r *rig) outcomes() (all []string) {
	r.t.Helper()
	turns, err := r.db.RecentTurns(context.Background(), key.TenantID, key.SubscriberID, 100)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, t := range slices.Backward(turns) {
		all = append(all, fmt.Sprint(t.Text, ": ", t.State, " ", t.Outcome, " ", t.Path))
	}
	return all
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": messages that wait together
// are answered together.
func TestWaitingMessagesAreMerged(t *testing.T) {
	l := &listener{takes: 3 * time.Second}
	inBubble(t, l, nil, func(r *rig) {
		one := r.write("one")
		time.Sleep(time.Second)
		two := r.write("two")
		time.Sleep(time.Second)
		three := r.write("three")

		got := []response{two(), one(), three()}
		want := []response{
			{at: time.Second}, // released the moment that the third is recorded
			{at: 3 * time.Second, texts: []string{"to one"}},
			{at: 4 * time.Second, texts: []string{"to two\nthree"}},
		}
		if d := cmp.Diff(want, got, cmp.AllowUnexported(response{})); d != "" {
			t.Errorf("responses (-want +got):\n%s", d)
		}
		<-r.runner.Idle()
		if d := cmp.Diff([]string{
			"one: settled answered inline", "two: merged merged silent", "three: settled answered inline",
		}, r.outcomes()); d != "" || l.most != 1 {
			t.Errorf("%d turns ran at once; turns (-want +got):\n%s", l.most, d)
		}
		time.Sleep(time.Minute)
		if got := r.write("and four")(); !slices.Equal(got.texts, []string{"to and four"}) {
			t.Errorf("the next response says %q", got.texts)
		}
	})
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": keywords are matched on every
// message; what is scripted applies only when it covers the whole set.
func TestGuardsOfMergedMessages(t *testing.T) {
	tests := []struct {
		name  string
		texts []string
		want  string // of the turn that answers
	}{
		{"a keyword in any", []string{"I want a refund", "please"}, "escalated_precheck"},
		{"the opening in one", []string{"start", "and a question"}, "answered"},
		{"what cannot be read in one", []string{"{{last_input_text}}", "a question"}, "answered"},
		{"what cannot be read in all", []string{"{{last_input_text}}", "{{photo}}"}, "media_fallback"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := &listener{takes: time.Second}
			inBubble(t, l, nil, func(r *rig) {
				first := r.write("first")
				for _, text := range tt.texts {
					time.Sleep(100 * ms)
					r.write(text)
				}
				first()
				<-r.runner.Idle()
				turned, _ := r.settled()
				if string(turned.Outcome) != tt.want {
					t.Errorf("the set was %s, want %s; the agent was asked %q", turned.Outcome, tt.want, l.asked)
				}
			})
		})
	}
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": the same message twice is one.
func TestTheSameMessageTwice(t *testing.T) {
	l := &listener{takes: 2 * time.Second}
	inBubble(t, l, nil, func(r *rig) {
		first := r.write("hello")
		time.Sleep(time.Second)
		if got := r.write("hello")(); got.at != 0 || len(got.texts) != 0 {
			t.Errorf("the second response says %q after %s", got.texts, got.at)
		}
		first()
		time.Sleep(500 * ms) // answered by now
		r.write("hello")()
		<-r.runner.Idle()
		if d := cmp.Diff([]string{
			"hello: settled answered inline", "hello: settled duplicate silent", "hello: settled answered inline",
		}, r.outcomes()); d != "" {
			t.Errorf("turns (-want +got):\n%s", d)
		}
	})
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": a waiter whose deadline passes
// answers silently and runs later, through the outbox, behind the one before.
func TestWaitingPastTheDeadline(t *testing.T) {
	l := &listener{takes: 20 * time.Second}
	inBubble(t, l, nil, func(r *rig) {
		one := r.write("one")
		time.Sleep(5 * time.Second)
		two := r.write("two")
		if got := one(); got.texts[0] != ackCopy {
			t.Errorf("the first response says %q", got.texts)
		}
		if got := two(); got.at != deadline || len(got.texts) != 0 {
			t.Errorf("the second response says %q after %s", got.texts, got.at)
		}
		<-r.runner.Idle()
		var texts []string
		for range 2 {
			rows, err := r.db.Claim(context.Background(), outbox.Claim{Owner: "p1/1", Now: time.Now().Add(time.Minute), Room: map[outbox.Kind]int{outbox.Reply: 9}})
			if err != nil || len(rows) != 1 {
				t.Fatalf("claimed %d rows, %v", len(rows), err)
			}
			texts = append(texts, rows[0].Payload.Texts...)
			rows[0].Status, rows[0].DeliveredAt = outbox.Delivered, time.Now()
			if err := r.db.Release(context.Background(), rows[0], nil); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff([]string{"to one", "to two"}, texts); d != "" {
			t.Errorf("replies (-want +got):\n%s", d)
		}
	})
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": unbound turns neither wait nor
// are waited for.
func TestUnboundTurnsDoNotWait(t *testing.T) {
	l := &listener{takes: 2 * time.Second}
	inBubble(t, l, nil, func(r *rig) {
		r.write("mine")() // the token is issued and confirmed
		time.Sleep(time.Hour)
		own := r.field.read()
		mine := r.write("mine again")
		r.field.token = "somebody else's"
		forged := r.write("not mine")
		r.field.token = own
		if got := forged(); got.at != 2*time.Second {
			t.Errorf("the forged message was answered after %s", got.at)
		}
		if got := mine(); got.at != 2*time.Second || l.most != 2 {
			t.Errorf("the contact was answered after %s, %d ran at once", got.at, l.most)
		}
	})
}

// Holds docs/spec/03-turn.md, "Crash recovery": at shutdown those in flight finish, waiting
// ones do not start, and a message that still arrives is recorded for the next process.
func TestDrain(t *testing.T) {
	l := &listener{takes: 3 * time.Second}
	inBubble(t, l, nil, func(r *rig) {
		one := r.write("one")
		two := r.write("two")
		drained := make(chan error, 1)
		go func() { drained <- r.runner.Drain(context.Background()) }()
		if got := two(); got.at != 0 || len(got.texts) != 0 {
			t.Errorf("who waited is told %q after %s", got.texts, got.at)
		}
		three := r.write("three")()
		if three.at != 0 || len(three.texts) != 0 {
			t.Errorf("who comes behind it is told %q after %s", three.texts, three.at)
		}
		if got := one(); !slices.Equal(got.texts, []string{"to one"}) {
			t.Errorf("who was in flight is told %q", got.texts)
		}
		if err := <-drained; err != nil {
			t.Error(err)
		}
		last := r.write("last")()
		if !slices.Equal(last.texts, nil) {
			t.Errorf("behind the others the last is told %q", last.texts)
		}
		if err := r.db.HandBack(context.Background(), sweep.Process{ID: "p1", TenantID: key.TenantID}); err != nil {
			t.Fatal(err)
		}

		next := newRunner(t, r.db, l, r, deadline)
		left, _, err := r.db.TakeOver(context.Background(), sweep.TakeOver{Process: sweep.Process{ID: "p2", TenantID: key.TenantID}})
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range left {
			next.Resume(rec)
		}
		<-next.Idle()
		turned, rows := r.settled()
		if len(rows) != 1 || !slices.Equal(rows[0].Payload.Texts, []string{"to two\nthree\nlast"}) || turned.Attempt != 1 {
			t.Errorf("attempt %d of the next process says %+v", turned.Attempt, rows)
		}
	})
}

// Holds docs/spec/03-turn.md, "Crash recovery": a process that others may take for dead starts
// nothing at ManyChat and answers silently; the reply is the sweep's.
func TestProcessThatMayBeDead(t *testing.T) {
	l := &listener{takes: time.Second}
	inBubble(t, l, nil, func(r *rig) {
		r.dead.Store(true)
		if got := r.write("hello")(); len(got.texts) != 0 {
			t.Errorf("the response says %q", got.texts)
		}
		<-r.runner.Idle()
		turned, _ := r.settled()
		if turned.State != conversation.Answering || r.runner.Holds(turned.ID) {
			t.Fatalf("the turn is %s", turned.State)
		}
		_, _, err := r.db.TakeOver(context.Background(), sweep.TakeOver{
			Process: sweep.Process{ID: "p1", TenantID: key.TenantID}, Lost: []string{turned.ID}, Window: turn.Window{},
		})
		if err != nil {
			t.Fatal(err)
		}
		turned, rows := r.settled()
		if turned.Path != conversation.Outbox || len(rows) != 1 || rows[0].Payload.Texts[0] != "to hello" {
			t.Errorf("the turn went by %s with %+v", turned.Path, rows)
		}
	})
}

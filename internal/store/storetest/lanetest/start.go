package lanetest

import (
	"sync"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

// Holds docs/spec/03-turn.md, "Steps": a turn that waited starts from what is known by then.
func testStart(t *testing.T, f *fixture) {
	first := f.say(t, "700001", "one")
	f.now = f.now.Add(time.Second)
	named := f.arrival("700001", "two")
	named.Offering = "yoga"
	two := f.record(t, named)
	three := f.arrival("700001", "three")
	three.Offering = "tango" // must not become the second turn's
	f.record(t, three)
	wantErr(t, "behind a running turn", second(f.db.Start(t.Context(), f.terms(two))), turn.ErrWaits)
	diff(t, "it goes on waiting", two.Turn, f.turn(t, two))

	ok(t, f.db.ClaimFlow(t.Context(), action.Claim{ConversationID: two.Conversation.ID, TurnID: first.Turn.ID, Flow: "video", At: f.now}))
	f.settle(t, settled(first, conversation.Inline, "answer"))
	wantErr(t, "behind an answering turn", second(f.db.Start(t.Context(), f.terms(two))), turn.ErrWaits)
	f.stamp(t, stamp(first, f.now))
	got := f.start(t, two)
	want := two
	want.Turn.State, want.Turn.Attempt = conversation.Running, 1
	want.Conversation.LastSentAt = f.now
	want.Recent, want.Sent, want.Sale.Offering = []time.Time{start}, []string{"video"}, "yoga"
	want.History = []conversation.Entry{
		{Role: conversation.ByContact, Text: "one", At: start}, {Role: conversation.ByAgent, Text: "answer", At: start},
	}
	want.Binding, want.Behind = "", false // known of its recording alone
	diff(t, "started", want, got)
	diff(t, "as stored", want.Turn, f.turn(t, two))

	later := settled(got, conversation.Outbox, "later")
	f.settle(t, later)
	diff(t, "with a reply queued", true, f.start(t, turn.Recorded{Turn: conversation.Turn{
		ID: three.TurnID, ConversationID: two.Conversation.ID, Owner: owner,
	}}).QueuedAhead)
}

func testStartRefuses(t *testing.T, f *fixture) {
	first := f.say(t, "700001", "one")
	two := f.say(t, "700001", "two")
	for name, change := range map[string]func(*turn.Start){
		"another owner":           func(s *turn.Start) { s.Owner = successor },
		"an unknown turn":         func(s *turn.Start) { s.TurnID = "turn-x" },
		"an unknown conversation": func(s *turn.Start) { s.ConversationID = "conversation-x" },
		"a running turn":          func(s *turn.Start) { s.TurnID = first.Turn.ID },
	} {
		s := f.terms(two)
		change(&s)
		wantErr(t, name, second(f.db.Start(t.Context(), s)), turn.ErrNotOwner)
	}
	diff(t, "turn", two.Turn, f.turn(t, two))
	f.end(t, first)
	wantErr(t, "a settled turn", second(f.db.Start(t.Context(), f.terms(first))), turn.ErrNotOwner)
	f.end(t, f.start(t, two))
	wantErr(t, "once it ran", second(f.db.Start(t.Context(), f.terms(two))), turn.ErrNotOwner)

	f.say(t, "700001", "three")
	four := f.say(t, "700001", "four")
	ok(t, f.db.HandBack(t.Context(), sweep.Process{ID: owner, TenantID: "demo"}))
	wantErr(t, "one that was handed back", second(f.db.Start(t.Context(), f.terms(four))), turn.ErrNotOwner)
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": an unbound turn waits for
// nobody, also when it was left to another process.
func testStartUnbound(t *testing.T, f *fixture) {
	f.say(t, "700001", "one")
	a := f.unbound(t, "700001", "forged")
	a.Owner, a.Offering = "", "yoga"
	f.record(t, a)
	taken := f.sweep(t, sweep.TakeOver{})
	diff(t, "taken", []string{a.TurnID}, turns(taken))
	got := f.start(t, taken[0])
	diff(t, "started", []any{conversation.Running, 1, successor}, []any{got.Turn.State, got.Turn.Attempt, got.Turn.Owner})
	diff(t, "what it knows of the contact", []any{"yoga", 0}, []any{got.Conversation.Offering, len(got.History)})
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": of several that start at once
// one runs.
func testStartAtOnce(t *testing.T, f *fixture) {
	first := f.say(t, "700001", "one")
	waiting := []turn.Recorded{f.say(t, "700001", "two"), f.say(t, "700001", "three"), f.say(t, "700001", "four")}
	f.end(t, first)
	var wg sync.WaitGroup
	started := make(chan string, 20)
	for i, both := 0, f.both(t); i < 18; i++ {
		s := f.terms(waiting[i%3])
		wg.Go(func() {
			if _, err := both[i/3%2].Start(t.Context(), s); err == nil {
				started <- s.TurnID
			}
		})
	}
	wg.Wait()
	close(started)
	diff(t, "started", waiting[0].Turn.ID, <-started)
	diff(t, "started as well", "", <-started)
}

// Holds docs/states.md, "The agent row of a turn": of a conversation that a person has, a turn
// behind the pause may only end in silence.
func testPaused(t *testing.T, f *fixture) {
	for i, c := range []struct {
		name  string
		until time.Duration
		from  int64
		want  error
	}{
		{"paused", time.Hour, 0, turn.ErrPaused},
		{"paused from its place on", time.Hour, 2, turn.ErrPaused},
		{"paused behind it", time.Hour, 3, nil},
		{"until now", 0, 0, nil},
		{"not paused any more", -time.Second, 0, nil},
	} {
		for _, path := range []conversation.Path{conversation.Inline, conversation.Outbox, conversation.Silent} {
			r := f.say(t, string(path)+string(rune('a'+i)), "hello")
			f.write(t, `UPDATE conversations SET paused_until = $2, paused_from = $3 WHERE id = $1`,
				r.Conversation.ID, f.now.Add(c.until).UnixMicro(), c.from)
			want := c.want
			if path == conversation.Silent {
				want = nil
			}
			wantErr(t, c.name+", "+string(path), f.db.Settle(t.Context(), settled(r, path, "answer")), want)
			if want == nil {
				continue
			}
			diff(t, c.name+": turn", r.Turn, f.turn(t, r))
			diff(t, c.name+": rows", 0, len(must(f.db.TurnRows(t.Context(), r.Turn.ID))(t)))
		}
	}
}

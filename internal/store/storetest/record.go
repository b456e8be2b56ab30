package storetest

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/token"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// Holds docs/spec/03-turn.md, "Steps": one transaction gives the message its place.
func testRecord(t *testing.T, f *fixture) {
	got := f.say(t, "700001", "hello")
	want := turn.Recorded{
		Turn: conversation.Turn{
			ID: "turn-000001", ConversationID: got.Conversation.ID, Key: key("700001"), Seq: 2, State: conversation.Running,
			Owner: owner, Attempt: 1, Bound: true, Text: "hello", ReceivedAt: start,
		},
		Conversation: conversation.Conversation{ID: got.Conversation.ID, Key: key("700001")},
		Binding:      token.Bound,
	}
	diff(t, "first record", want, got)
	diff(t, "turn as stored", want.Turn, f.turn(t, "turn-000001"))

	f.settle(t, settled(got, conversation.Silent))
	second := f.say(t, "700001", "anybody?")
	diff(t, "place", int64(4), second.Turn.Seq)
	diff(t, "history", []conversation.Entry{{Role: conversation.ByContact, Text: "hello", At: start}}, second.History)
	other := f.say(t, "700002", "hi")
	if other.Conversation.ID == got.Conversation.ID || len(other.History) > 0 {
		t.Errorf("another contact got conversation and history of the first: %+v", other)
	}
}

// Holds docs/spec/08-sales.md, "Offerings": a bound request's offering is kept.
func testRecordOffering(t *testing.T, f *fixture) {
	for _, step := range []struct {
		named string
		bound bool
		want  string
	}{
		{"", true, ""}, {"yoga", true, "yoga"}, {"", true, "yoga"}, {"tango", false, "yoga"}, {"tango", true, "tango"},
	} {
		a := f.arrival("700001", "hello")
		if !step.bound {
			a = f.unbound(t, "700001", "hello")
		}
		a.Offering = step.named
		r := f.record(t, a)
		f.settle(t, settled(r, conversation.Silent))
		recorded := r.Conversation.Offering
		if !step.bound { // it reads nothing of the contact's, and says nothing about them
			diff(t, "offering of an unbound turn", step.named, recorded)
			recorded = f.conversation(t, "700001").Offering
		}
		diff(t, "offering after "+step.named, step.want, recorded)
	}
}

// Holds docs/spec/15-storage.md: places are dense and in commit order. Of turns that are
// recorded at once the first runs, the others wait for it, and each sees those before it.
func testRecordConcurrently(t *testing.T, f *fixture) {
	const n = 50
	var mu sync.Mutex
	var all []turn.Recorded
	var wg sync.WaitGroup
	for i := range n {
		a := f.arrival("700001", "message "+strconv.Itoa(i))
		wg.Go(func() {
			r, err := f.db.Record(t.Context(), a)
			if err != nil {
				t.Errorf("Record: %v", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, r)
		})
	}
	wg.Wait()
	slices.SortFunc(all, func(a, b turn.Recorded) int { return cmp.Compare(a.Turn.Seq, b.Turn.Seq) })
	for i, r := range all {
		state := conversation.Waiting
		if i == 0 {
			state = conversation.Running
		}
		diff(t, "place and state", []any{int64(2*i + 2), state}, []any{r.Turn.Seq, r.Turn.State})
		if i > 0 {
			r = must(f.db.Start(t.Context(), turn.Start{
				TurnID: r.Turn.ID, ConversationID: r.Conversation.ID, Owner: owner, Window: turn.Window{HistoryLimit: 2 * n},
			}))(t)
		}
		if len(r.History) != i {
			t.Errorf("turn at %d sees %d earlier messages, want %d", r.Turn.Seq, len(r.History), i)
		}
		f.settle(t, settled(r, conversation.Silent))
	}
}

// A record that fails leaves nothing, not even a place in the order.
func testRecordTwice(t *testing.T, f *fixture) {
	a := f.arrival("700001", "hello")
	r := f.record(t, a)
	if _, err := f.db.Record(t.Context(), a); err == nil {
		t.Error("the same turn was recorded twice")
	}
	f.settle(t, settled(r, conversation.Silent))
	f.now = f.now.Add(time.Second)
	next := f.say(t, "700001", "again")
	diff(t, "place after the failure", int64(4), next.Turn.Seq)
	diff(t, "entries after the failure", 1, len(next.History))
}

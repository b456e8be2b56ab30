package lanetest

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// Holds docs/spec/03-turn.md, "One turn at a time per contact": messages that wait together
// are answered together.
func testMerge(t *testing.T, f *fixture) {
	first := f.record(t, f.merging("700001", "one"))
	diff(t, "a first message", []any{conversation.Running, 0}, []any{first.Turn.State, len(first.Merged)})
	two := f.record(t, f.merging("700001", "two"))
	diff(t, "what runs is not merged", []any{conversation.Waiting, 0}, []any{two.Turn.State, len(two.Merged)})
	f.now = f.now.Add(time.Second)
	three := f.record(t, f.merging("700001", "three"))
	diff(t, "merged", []string{two.Turn.ID}, three.Merged)
	want := two.Turn
	want.State, want.Outcome, want.Path, want.SettledAt = conversation.Merged, conversation.MergedAway, conversation.Silent, f.now
	want.MergedInto = three.Turn.ID
	diff(t, "merged turn", want, f.turn(t, two))
	four := f.record(t, f.merging("700001", "four"))
	diff(t, "merged then", []string{three.Turn.ID}, four.Merged)
	for _, r := range []turn.Recorded{two, three} {
		diff(t, "answered by", four.Turn.ID, f.answeredBy(t, r))
		wantErr(t, "starting it", second(f.db.Start(t.Context(), f.terms(r))), turn.ErrMerged)
	}
	diff(t, "what runs goes on", conversation.Running, f.turn(t, first).State)

	f.answer(t, first, "answer")
	got := f.start(t, four)
	diff(t, "texts", []string{"two", "three", "four"}, got.Texts())
	diff(t, "one text", "two\nthree\nfour", got.Text())
	diff(t, "history ends before the first of them", []string{"one", "answer"}, said(got.History))
	wantErr(t, "starting a merged one", second(f.db.Start(t.Context(), f.terms(two))), turn.ErrMerged)
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": MERGE_WAITING may be off, and
// unbound turns are not the contact's.
func testMergeNothing(t *testing.T, f *fixture) {
	f.say(t, "700001", "one")
	two, three := f.say(t, "700001", "two"), f.say(t, "700001", "three")
	forged := f.unbound(t, "700001", "forged")
	forged.Owner = ""
	waits := f.record(t, forged)
	diff(t, "merged", 0, len(three.Merged))
	for _, r := range []turn.Recorded{two, three, waits} {
		diff(t, "state", conversation.Waiting, f.turn(t, r).State)
	}
	four := f.record(t, f.merging("700001", "four"))
	diff(t, "all that wait", []string{two.Turn.ID, three.Turn.ID}, four.Merged)
	diff(t, "the forged one", conversation.Waiting, f.turn(t, waits).State)
	again := f.unbound(t, "700001", "forged again")
	again.Merge = true
	diff(t, "an unbound one merges nothing", 0, len(f.record(t, again).Merged))
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": each message of a set counts
// for limits; offering is the newest request's.
func testMergeCounts(t *testing.T, f *fixture) {
	first := f.say(t, "700001", "one")
	want := []time.Time{f.now}
	for _, text := range []string{"two", "three"} {
		f.now = f.now.Add(time.Minute)
		a := f.merging("700001", text)
		a.Offering = "about " + text
		f.record(t, a)
		want = append([]time.Time{f.now}, want...)
	}
	f.now = f.now.Add(time.Minute)
	four := f.record(t, f.merging("700001", "four"))
	f.end(t, first)
	got := f.start(t, four)
	diff(t, "before it", want, got.Recent)
	diff(t, "offering", "about three", got.Conversation.Offering) // four named none
	f.end(t, got)
	diff(t, "a later one", append([]time.Time{f.now}, want...), f.say(t, "700001", "five").Recent)
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": the set is one entry of the
// history.
func testMergeHistory(t *testing.T, f *fixture) {
	first := f.say(t, "700001", "one")
	for _, text := range []string{"two", "", "three"} {
		f.record(t, f.merging("700001", text))
	}
	f.now = f.now.Add(time.Minute)
	four := f.record(t, f.merging("700001", "four"))
	f.answer(t, first, "answer to one")
	four = f.start(t, four)
	diff(t, "its messages", []string{"two", "", "three", "four"}, four.Texts())
	f.now = f.now.Add(time.Minute)
	f.answer(t, four, "answer to all")
	five := f.say(t, "700001", "five")
	set := conversation.Entry{Role: conversation.ByContact, Text: "two\nthree\nfour", At: four.Turn.ReceivedAt}
	diff(t, "history", []string{"one", "answer to one", set.Text, "answer to all"}, said(five.History))
	diff(t, "entry", set, five.History[2])
	f.end(t, five)
	short := f.arrival("700001", "six")
	short.Window.HistoryLimit = 3
	diff(t, "three entries", []string{set.Text, "answer to all", "five"}, said(f.record(t, short).History))
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": a message without words, such
// as a picture, takes those that wait, and their words stay in history.
func testMergeEmpty(t *testing.T, f *fixture) {
	first := f.say(t, "700001", "one")
	f.record(t, f.merging("700001", "two"))
	f.record(t, f.merging("700001", "three"))
	picture := f.record(t, f.merging("700001", ""))
	f.answer(t, first, "answer to one")
	picture = f.start(t, picture)
	diff(t, "its messages", []any{[]string{"two", "three", ""}, "two\nthree"}, []any{picture.Texts(), picture.Text()})
	diff(t, "history ends before the first of them", []string{"one", "answer to one"}, said(picture.History))
	f.answer(t, picture, "answer to all")
	next := f.say(t, "700001", "four")
	diff(t, "history", []string{"one", "answer to one", "two", "three", "answer to all"}, said(next.History))

	f.record(t, f.merging("700001", "five"))
	f.record(t, f.merging("700001", ""))
	six := f.record(t, f.merging("700001", "six"))
	f.end(t, next)
	six = f.start(t, six)
	diff(t, "with words behind it", []string{"five", "", "six"}, six.Texts())
	f.answer(t, six, "answer to both")
	diff(t, "one entry again", []string{"four", "five\nsix", "answer to both"}, said(f.say(t, "700001", "seven").History)[5:])
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": of messages that come at once,
// in whichever process, the newest answers all, and none is lost.
func testMergeAtOnce(t *testing.T, f *fixture) {
	const n = 20
	first := f.say(t, "700001", "first")
	var mu sync.Mutex
	var all []turn.Recorded
	var wg sync.WaitGroup
	for i, both := 0, f.both(t); i < n; i++ {
		a := f.merging("700001", fmt.Sprint("message ", i))
		wg.Go(func() {
			r, err := both[i%2].Record(t.Context(), a)
			if err != nil {
				t.Errorf("Record: %v", err)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, r)
		})
	}
	wg.Wait()
	slices.SortFunc(all, func(a, b turn.Recorded) int { return cmp.Compare(a.Turn.Seq, b.Turn.Seq) })
	var want []string
	newest := all[n-1]
	for _, r := range all[:n-1] {
		want = append(want, r.Turn.Text)
		diff(t, "answered by", newest.Turn.ID, f.answeredBy(t, r))
	}
	f.end(t, first)
	diff(t, "earlier messages", want, f.start(t, newest).Earlier)
}

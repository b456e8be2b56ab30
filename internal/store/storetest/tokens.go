package storetest

import (
	"strings"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/token"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// proving is a message whose request carries a token and may be issued another.
func (f *fixture) proving(subscriber, presented, candidate string) turn.Arrival {
	a := f.arrival(subscriber, "hello")
	a.Token = token.Request{Token: presented, Enforced: true, Candidate: token.HashOf(candidate)}
	return a
}

func (f *fixture) resolve(t *testing.T, r turn.Recorded, candidate string, result token.Result) {
	t.Helper()
	err := f.db.ResolveToken(t.Context(), token.Resolution{
		Who: r.Conversation.Key, Hash: token.HashOf(candidate), Result: result, RowID: r.TokenRow,
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) mint(t *testing.T, r turn.Recorded, generation int64, name string) token.Minted {
	t.Helper()
	return must(f.db.MintToken(t.Context(), token.Delivery{Who: r.Conversation.Key, Generation: generation}, token.HashOf(name)))(t)
}

// Holds docs/spec/06-contact.md, "Contact token": a row stands behind every write, ends with
// a written one, is due soon after a failed one, and never holds back a reply.
func testTokenRow(t *testing.T, f *fixture) {
	r := f.record(t, f.proving("700001", "", "one"))
	row := f.row(t, r.TokenRow)
	diff(t, "row", []any{outbox.ContactToken, outbox.Pending, int64(1), r.Turn.Seq, f.now.Add(15 * time.Second)},
		[]any{row.Kind, row.Status, row.Payload.Generation, row.Seq, row.NextAttemptAt})
	f.resolve(t, r, "one", token.Unclear)
	diff(t, "row behind a lost answer is due after", 2*time.Second, f.row(t, r.TokenRow).NextAttemptAt.Sub(f.now))
	f.settle(t, settled(r, conversation.Outbox, "text"))
	f.now = f.now.Add(time.Minute)
	diff(t, "rows that are due", []int{1, 1}, []int{len(f.claim(t, 10)), len(f.claimTokens(t))})

	written := f.record(t, f.proving("700002", "", "one"))
	f.resolve(t, written, "one", token.Written)
	if _, err := f.db.OutboxRow(t.Context(), written.TokenRow); err == nil {
		t.Error("the row behind a written token is still there")
	}
	f.now = f.now.Add(time.Hour)
	diff(t, "a request with it", token.Bound, f.record(t, f.proving("700002", "one", "two")).Binding)
	diff(t, "a request without", token.Unbound, f.record(t, f.proving("700002", "", "two")).Binding)
}

// Holds docs/spec/06-contact.md, "Contact token": minting at delivery, under its generation.
func testTokenMint(t *testing.T, f *fixture) {
	r := f.record(t, f.proving("700001", "", "one"))
	for _, name := range []string{"two", "three", "four"} {
		diff(t, name, token.Fresh, f.mint(t, r, 1, name))
	}
	diff(t, "a fifth of unknown outcome", token.Stuck, f.mint(t, r, 1, "five"))
	f.resolve(t, r, "three", token.NotWritten)
	diff(t, "once one has certainly failed", token.Fresh, f.mint(t, r, 1, "five"))
	f.now = f.now.Add(time.Hour)
	again := f.record(t, f.proving("700001", "wrong", "six"))
	diff(t, "an earlier generation", token.Void, f.mint(t, again, 1, "seven"))
	diff(t, "with a new one, the row's place", int64(2), f.row(t, again.TokenRow).Payload.Generation)
}

// Holds docs/spec/06-contact.md, "Contact token": a row that ends without a written token
// calls for no person, and the contact's next message brings another.
func testTokenRowDies(t *testing.T, f *fixture) {
	r := f.record(t, f.proving("700001", "", "one"))
	f.resolve(t, r, "one", token.NotWritten)
	f.now = f.now.Add(time.Minute)
	row := f.claimTokens(t)[0]
	diff(t, "claimed", r.TokenRow, row.ID)
	row.Status, row.Reason, row.LastError = outbox.Dead, outbox.ReasonRejected, "no such field"
	f.release(t, row)
	diff(t, "a person is needed", false, f.conversation(t, "700001").NeedsPerson)
	next := f.record(t, f.proving("700001", "", "two")) // a minute after the first
	diff(t, "the next message", []any{token.Bound, true}, []any{next.Binding, next.TokenRow != ""})
}

// Holds docs/spec/06-contact.md, "Contact token": the first message with a token in force
// starts the history; a roll-out and a backfill keep what is there.
func testTokenStartsHistory(t *testing.T, f *fixture) {
	for _, subscriber := range []string{"700001", "700002", "700003"} {
		f.answer(t, subscriber, "before tokens", "yes")
	}
	f.now = f.now.Add(time.Hour)
	fresh := f.record(t, f.proving("700001", "", "one"))
	diff(t, "enforced: entries", 0, len(fresh.History))
	f.resolve(t, fresh, "one", token.Written)
	f.settle(t, settled(fresh, conversation.Silent))
	diff(t, "enforced: later entries", 1, len(f.record(t, f.proving("700001", "one", "x")).History))

	rollOut := f.proving("700002", "", "one")
	rollOut.Token.Enforced = false
	diff(t, "roll-out: entries", 2, len(f.record(t, rollOut).History))

	queued := must(f.db.BackfillTokens(t.Context(), "demo", f.now.AddDate(0, 0, -30), false))(t)
	diff(t, "backfill", store.Backfill{Lacking: 2, Queued: 1}, queued) // 700002's is queued already
	diff(t, "backfill again", store.Backfill{Lacking: 2}, must(f.db.BackfillTokens(t.Context(), "demo", f.now.AddDate(0, 0, -30), false))(t))
	diff(t, "nobody wrote since", store.Backfill{}, must(f.db.BackfillTokens(t.Context(), "demo", f.now.Add(time.Second), true))(t))
	old := turn.Recorded{Conversation: f.conversation(t, "700003")}
	row := f.claimTokens(t)[0]
	diff(t, "queued by the backfill", []any{old.Conversation.ID, int64(1)}, []any{row.ConversationID, row.Payload.Generation})
	noBurst := f.proving("700003", "", "x")
	noBurst.Token.Candidate = token.Hash{}
	diff(t, "no first burst", token.Unbound, f.record(t, noBurst).Binding)
	diff(t, "minted", token.Fresh, f.mint(t, old, 1, "filled"))
	f.resolve(t, old, "filled", token.Written)
	diff(t, "filled in: entries", 2, len(f.record(t, f.proving("700003", "filled", "x")).History))
	diff(t, "left", store.Backfill{Lacking: 1}, must(f.db.BackfillTokens(t.Context(), "demo", f.now.AddDate(0, 0, -30), true))(t))
}

// Holds docs/spec/06-contact.md, "Caps, all before the model runs, all escalating": what the
// limits look at is bounded, bound and unbound apart.
func testRecent(t *testing.T, f *fixture) {
	var want []time.Time
	for range 5 {
		f.pass(t, "700001", "hello")
		want = append([]time.Time{f.now}, want...)
		f.now = f.now.Add(time.Minute)
	}
	a := f.arrival("700001", "now")
	a.Window.RecentLimit = 3
	diff(t, "bound", want[:3], f.record(t, a).Recent)
	for range 2 {
		a = f.unbound(t, "700001", "forged")
		a.Window.RecentLimit = 10
		f.record(t, a)
		f.now = f.now.Add(time.Minute)
	}
	a = f.unbound(t, "700001", "forged")
	a.Window.RecentLimit = 10
	diff(t, "unbound", []time.Time{f.now.Add(-time.Minute), f.now.Add(-2 * time.Minute)}, f.record(t, a).Recent)
}

// Holds docs/spec/06-contact.md, "Caps, all before the model runs, all escalating": the
// quiet rule, whose time starts with what was said and is an unbound turn's never.
func testQuiet(t *testing.T, f *fixture) {
	handoff := func(r turn.Recorded) error {
		s := settled(r, conversation.Inline, "a person answers you")
		s.Turn.Outcome, s.Turn.Reason, s.Turn.SettledAt, s.Quiet = conversation.EscalatedPrecheck, conversation.ByKeyword, f.now, 10*time.Minute
		return f.db.Settle(t.Context(), s)
	}
	for _, step := range []struct {
		after   time.Duration
		unbound bool
		want    error
	}{
		{0, true, nil}, {0, false, nil}, {time.Minute, false, turn.ErrQuiet}, {time.Minute, true, nil}, {9 * time.Minute, false, nil},
	} {
		f.now = f.now.Add(step.after)
		a := f.arrival("700001", "a person")
		if step.unbound {
			a = f.unbound(t, "700001", "a person")
		}
		r := f.record(t, a)
		err := handoff(r)
		if err != nil {
			f.settle(t, settled(r, conversation.Silent))
		}
		if err == nil != (step.want == nil) || err != nil && !strings.Contains(err.Error(), step.want.Error()) {
			t.Errorf("%v after the start, unbound %v: %v, want %v", f.now.Sub(start), step.unbound, err, step.want)
		}
		f.stamp(t, turn.Stamp{TurnID: r.Turn.ID, ConversationID: r.Conversation.ID, At: f.now})
	}
}

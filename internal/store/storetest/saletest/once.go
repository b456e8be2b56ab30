package saletest

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// claim is the right of a turn to a flow, of which every send counts since an instant.
func claim(r turn.Recorded, flow string, at, since time.Time) action.Claim {
	return action.Claim{ConversationID: r.Conversation.ID, TurnID: r.Turn.ID, Flow: flow, Since: since, At: at}
}

func opens(status action.Status) action.Record {
	return action.Record{Tool: action.SendFlow, ID: "opening", Origin: action.FromOpening, Status: status}
}

// Holds docs/spec/08-sales.md, "Opening": never twice. Three first messages at once, on two
// processes, send it once, whether one turn answers them or three do, and whoever is first.
func testOpeningOnce(t *testing.T, f *fixture) {
	both := []*store.DB{f.db, f.opened.Beside(t)}
	for _, merge := range []bool{true, false} {
		subscriber := map[bool]string{true: "700001", false: "700002"}[merge]
		var opened, had, answered atomic.Int64
		var wg sync.WaitGroup
		for i := range 3 {
			a, db := f.arrival(subscriber, ""), both[i%2]
			a.Merge = merge
			wg.Go(func() {
				r, err := db.Record(t.Context(), a)
				if err == nil {
					r, err = runs(t, db, r, a.Window)
				}
				if errors.Is(err, turn.ErrMerged) {
					return
				}
				if err != nil {
					t.Errorf("a first message: %v", err)
					return
				}
				answered.Add(1)
				var record []action.Record
				err = db.NoteFlow(t.Context(), turn.FlowNote{
					TurnID: r.Turn.ID, Owner: r.Turn.Owner, Attempt: r.Turn.Attempt,
					Actions: []action.Record{opens(action.Sending)}, Claim: claim(r, "opening", f.now, time.Time{}),
				})
				switch {
				case err == nil:
					opened.Add(1)
					record = []action.Record{opens(action.Performed)}
				case errors.Is(err, action.ErrSent) && slices.Contains(r.Sent, "opening"):
					had.Add(1)
				default:
					t.Errorf("the opening: %v, and the turn knows of %q", err, r.Sent)
				}
				s := turn.Settlement{Turn: r.Turn}
				s.Turn.Outcome, s.Turn.Path, s.Turn.Actions = conversation.Answered, conversation.Silent, record
				if err := db.Settle(t.Context(), s); err != nil {
					t.Errorf("settle: %v", err)
				}
			})
		}
		wg.Wait()
		diff(t, "openings, and turns that the contact had it before", []int64{1, answered.Load() - 1}, []int64{opened.Load(), had.Load()})
	}
}

// runs starts a turn as soon as it may.
func runs(t *testing.T, db *store.DB, r turn.Recorded, w turn.Window) (turn.Recorded, error) {
	for r.Turn.State == conversation.Waiting {
		next, err := db.Start(t.Context(), turn.Start{
			TurnID: r.Turn.ID, ConversationID: r.Conversation.ID, Owner: owner, Window: w,
		})
		switch {
		case err == nil:
			r = next
		case !errors.Is(err, turn.ErrWaits):
			return r, err
		}
	}
	return r, nil
}

// Holds docs/spec/08-sales.md, "Flows once", "Opening" and "Stage flows": what is claimed once and for
// all is sent once, however long ago that was, and later turns know of it; of the rest those of the
// days of history count.
func testOnce(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	for _, flow := range []string{"opening", "tour", "brochure"} {
		ok(t, f.db.ClaimFlow(t.Context(), claim(r, flow, f.now, f.now.Add(-30*day))))
	}
	f.end(t, r)
	f.now = start.Add(31 * day)
	r = f.say(t, "700001")
	diff(t, "what a later turn knows of", []string{"opening", "tour"}, r.Sent)
	ok(t, f.db.ClaimFlow(t.Context(), claim(r, "brochure", f.now, f.now.Add(-30*day))))
	again := claim(r, "opening", f.now, time.Time{})
	if err := f.db.ClaimFlow(t.Context(), again); !errors.Is(err, action.ErrSent) {
		t.Errorf("the opening once more: %v", err)
	}
	ok(t, f.db.ReleaseFlow(t.Context(), again)) // it is another turn's to give back
	if err := f.db.ClaimFlow(t.Context(), again); !errors.Is(err, action.ErrSent) {
		t.Errorf("the opening once more: %v", err)
	}
	unsent := claim(r, "never", f.now, time.Time{})
	for range 2 {
		ok(t, f.db.ClaimFlow(t.Context(), unsent))
		ok(t, f.db.ReleaseFlow(t.Context(), unsent))
	}
}

// Holds docs/spec/08-sales.md, "Conversion events": once a contact, beside a flow of the same id.
func testEvents(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	event := claim(r, action.EventClaim("brochure"), f.now, time.Time{})
	ok(t, f.db.ClaimFlow(t.Context(), event))
	ok(t, f.db.ClaimFlow(t.Context(), claim(r, "brochure", f.now, time.Time{})))
	diff(t, "of the flows", []string{"brochure"}, f.forged(t, "700001", "").Sent)
	f.end(t, r)
	f.now = start.Add(400 * day)
	r = f.say(t, "700001")
	diff(t, "of the flows", []string(nil), r.Sent)
	event.TurnID, event.At = r.Turn.ID, f.now
	if err := f.db.ClaimFlow(t.Context(), event); !errors.Is(err, action.ErrSent) {
		t.Errorf("the event once more: %v", err)
	}
}

// Writers that decide about a contact at the same time wait for each other, and for nothing else:
// what was performed is kept, whoever comes between.
func testSideBySide(t *testing.T, f *fixture) {
	both := []*store.DB{f.db, f.opened.Beside(t)}
	stages := contact.FunnelStages()
	for n, to := range stages {
		f.deferred(t, f.say(t, "700001"), stage(to), intent(contact.Prospect))
		row := f.claimOne(t)
		row.Status, row.DeliveredAt = outbox.Delivered, f.now
		acted := f.say(t, "700001")
		next := f.arrival("700001", "")
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := both[n%2].Release(t.Context(), row, all(action.Performed, 2)); err != nil {
				t.Errorf("release: %v", err)
			}
		})
		wg.Go(func() {
			s := turn.Settlement{Turn: acted.Turn, OpeningOver: true}
			s.Turn.Outcome, s.Turn.Path = conversation.Answered, conversation.Silent
			if err := both[1-n%2].Settle(t.Context(), s); err != nil {
				t.Errorf("settle: %v", err)
			}
		})
		wg.Go(func() {
			if _, err := both[n%2].Record(t.Context(), next); err != nil {
				t.Errorf("record: %v", err)
			}
		})
		wg.Wait()
		f.write(t, `UPDATE turns SET state = 'settled', outcome = 'answered', path = 'silent', settled_at = 1 WHERE id = $1`, next.TurnID)
		diff(t, "sale", contact.Sale{Intent: contact.Prospect, Stage: to, OpeningOver: true}, f.sale(t, "700001"))
	}
}

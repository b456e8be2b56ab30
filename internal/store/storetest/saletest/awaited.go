package saletest

import (
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

func pendingRows() store.OutboxFilter {
	return store.OutboxFilter{Statuses: []outbox.Status{outbox.Pending}}
}

// Holds docs/spec/07-tools.md, "Bounds": what the gates read is performed, or staged by an earlier
// turn whose actions have not ended.
func testAwaited(t *testing.T, f *fixture) {
	f.deferred(t, f.say(t, "700001"), intent(contact.Prospect), plain(), stage(contact.Qualifying))
	second := f.say(t, "700001")
	want := contact.Sale{Intent: contact.Prospect, Stage: contact.Qualifying}
	diff(t, "behind a pending row", want, second.Sale)
	diff(t, "what the conversation keeps", contact.Sale{}, second.Conversation.Sale)
	f.deferred(t, second, stage(contact.Offered), offering("intro"))
	third := f.say(t, "700001")
	diff(t, "behind two", contact.Sale{Intent: contact.Prospect, Stage: contact.Offered, Offering: "intro", Chosen: true}, third.Sale)
	f.end(t, third)

	row := f.claimOne(t)
	fourth := f.say(t, "700001")
	diff(t, "behind a row in hand", third.Sale, fourth.Sale)
	f.end(t, fourth)
	f.release(t, row, outbox.Delivered, action.Ended{Status: action.Performed}, action.Ended{Place: 1, Status: action.Performed}, action.Ended{Place: 2, Status: action.Failed, Error: "rejected (400)"})
	fifth := f.say(t, "700001")
	diff(t, "behind one whose write failed", third.Sale, fifth.Sale)
	f.end(t, fifth)
	f.release(t, f.claimOne(t), outbox.Dead)
	last := f.say(t, "700001")
	diff(t, "when all have ended", contact.Sale{Intent: contact.Prospect}, last.Sale)
	diff(t, "as kept", last.Sale, last.Conversation.Sale)
}

// Holds docs/spec/08-sales.md, "Offerings": inbound wins over what an earlier turn staged.
func testAwaitedNamed(t *testing.T, f *fixture) {
	f.deferred(t, f.say(t, "700001"), offering("advanced"), stage(contact.Qualifying))
	now := f.names(t, "700001", "intro")
	want := contact.Sale{Stage: contact.Qualifying, Offering: "intro"}
	diff(t, "named by the turn itself", want, now.Sale)
	f.end(t, now)
	since := f.say(t, "700001")
	diff(t, "named between", want, since.Sale)
	f.deferred(t, since, offering("evening"))
	diff(t, "staged since", contact.Sale{Stage: contact.Qualifying, Offering: "evening", Chosen: true}, f.say(t, "700001").Sale)
}

// A turn that waited for another one knows what that one staged.
func testAwaitedStart(t *testing.T, f *fixture) {
	first, second := f.say(t, "700001"), f.say(t, "700001")
	diff(t, "while it waits", contact.Sale{}, second.Sale)
	f.deferred(t, first, stage(contact.Prepared))
	second = must(f.db.Start(t.Context(), turn.Start{
		TurnID: second.Turn.ID, ConversationID: second.Conversation.ID, Owner: owner, Window: f.window(),
	}))(t)
	diff(t, "once it runs", contact.Sale{Stage: contact.Prepared}, second.Sale)
}

// Holds docs/spec/03-turn.md, "Crash recovery": so does one that is taken over. What its own earlier
// try sent is on its record, and counted there.
func testAwaitedTakeOver(t *testing.T, f *fixture) {
	f.deferred(t, f.say(t, "700001"), intent(contact.Prospect), stage(contact.Prepared))
	r := f.say(t, "700001")
	sent := []action.Record{{Tool: action.SendFlow, ID: "pay", Status: action.Performed, ContactAsked: true, At: start}}
	ok(t, f.db.NoteFlow(t.Context(), turn.FlowNote{TurnID: r.Turn.ID, Owner: owner, Attempt: 1, Actions: sent}))
	taken, _, err := f.db.TakeOver(t.Context(), sweep.TakeOver{
		Process: sweep.Process{ID: successor, TenantID: "demo"}, All: true, Window: f.window(),
	})
	ok(t, err)
	if len(taken) != 1 {
		t.Fatalf("%d turns are run again, want 1", len(taken))
	}
	diff(t, "sale", contact.Sale{Intent: contact.Prospect, Stage: contact.Prepared}, taken[0].Sale)
	diff(t, "record", sent, taken[0].Turn.Actions)
}

// Holds docs/spec/08-sales.md, "Offerings": an unbound request's offering narrows that turn alone,
// which knows nothing else of the contact.
func testUnbound(t *testing.T, f *fixture) {
	f.performs(t, f.say(t, "700001"), intent(contact.Prospect), stage(contact.Offered), offering("intro"))
	f.deferred(t, f.say(t, "700001"), stage(contact.Prepared))
	diff(t, "named", contact.Sale{Offering: "advanced"}, f.forged(t, "700001", "advanced").Sale)
	diff(t, "named nothing", contact.Sale{}, f.forged(t, "700001", "").Sale)
	want := contact.Sale{Intent: contact.Prospect, Stage: contact.Offered, Offering: "intro", Chosen: true}
	diff(t, "kept", want, f.sale(t, "700001"))
	f.deferred(t, f.forged(t, "700001", ""), stage(contact.LinkSent)) // of which no turn knows
	bound := f.say(t, "700001")
	want.Stage = contact.Prepared
	diff(t, "to a bound turn", want, bound.Sale)
	f.end(t, bound)

	orphan := f.forged(t, "700001", "advanced")
	taken, _, err := f.db.TakeOver(t.Context(), sweep.TakeOver{
		Process: sweep.Process{ID: successor, TenantID: "demo"}, All: true, Window: f.window(),
	})
	ok(t, err)
	for _, r := range taken {
		if r.Turn.ID == orphan.Turn.ID {
			diff(t, "taken over", contact.Sale{Offering: "advanced"}, r.Sale)
			return
		}
	}
	t.Error("the unbound turn is not run again")
}

// Holds docs/spec/08-sales.md, "Opening": not on any turn after an escalated prospect turn.
func testOpeningOver(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	s := turn.Settlement{Turn: r.Turn, OpeningOver: true}
	s.Turn.Outcome, s.Turn.Path, s.Turn.Reason = "escalated", "silent", "complaint"
	refused := s
	refused.Turn.Attempt = 2
	if err := f.db.Settle(t.Context(), refused); err == nil {
		t.Error("another attempt settles the turn")
	}
	diff(t, "after a settlement that was refused", contact.Sale{}, f.sale(t, "700001"))
	ok(t, f.db.Settle(t.Context(), s))
	f.now = f.now.Add(400 * day)
	next := f.say(t, "700001")
	diff(t, "next turn", contact.Sale{OpeningOver: true}, next.Sale)
	f.performs(t, next, intent(contact.Prospect))
	diff(t, "whatever moves", contact.Sale{Intent: contact.Prospect, OpeningOver: true}, f.sale(t, "700001"))
	diff(t, "somebody else", contact.Sale{}, f.say(t, "700002").Sale)
}

package saletest

import (
	"errors"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// Holds docs/spec/08-sales.md, "Intent", "Funnel" and "Offerings": what was performed behind a
// response is known of the contact from then on, in the transaction that says that it was.
func testActed(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	record := []action.Record{intent(contact.Prospect), plain(), stage(contact.Qualifying), offering("intro")}
	f.acting(t, r, record...)
	diff(t, "while they are staged", contact.Sale{}, f.sale(t, "700001"))
	ok(t, f.db.Acted(t.Context(), r.Turn.ID, all(action.Performed, len(record))))
	want := contact.Sale{Intent: contact.Prospect, Stage: contact.Qualifying, Offering: "intro", Chosen: true}
	diff(t, "performed", want, f.sale(t, "700001"))
	diff(t, "of somebody else", contact.Sale{}, f.say(t, "700002").Sale)
	diff(t, "as the next turn has it", want, f.say(t, "700001").Sale)
}

// Holds docs/spec/08-sales.md, "Funnel", and docs/spec/05-delivery.md, "Outbox": the same behind a
// reply that the outbox delivered.
func testReleased(t *testing.T, f *fixture) {
	record := []action.Record{intent(contact.Prospect), stage(contact.Nurturing)}
	f.deferred(t, f.say(t, "700001"), record...)
	row := f.claimOne(t)
	f.release(t, row, outbox.Pending) // not done yet
	diff(t, "tried again", contact.Sale{}, f.sale(t, "700001"))
	f.release(t, f.claimOne(t), outbox.Delivered, all(action.Performed, len(record))...)
	diff(t, "performed", contact.Sale{Intent: contact.Prospect, Stage: contact.Nurturing}, f.sale(t, "700001"))
}

// Holds docs/spec/08-sales.md, "Intent": known only from what was performed. A write that failed,
// of unknown outcome too, or that was given up, moves nothing.
func testNotPerformed(t *testing.T, f *fixture) {
	record := []action.Record{intent(contact.Prospect), stage(contact.Qualifying), offering("intro")}
	failed := all(action.Failed, len(record))
	failed[0].Error = action.OutcomeUnknown
	for name, ended := range map[string][]action.Ended{
		"failed": failed, "discarded": all(action.Discarded, len(record)), "never begun": nil,
	} {
		r := f.say(t, "700001")
		f.acting(t, r, record...)
		ok(t, f.db.Acted(t.Context(), r.Turn.ID, ended))
		diff(t, "inline, "+name, contact.Sale{}, f.sale(t, "700001"))
	}
	for status, ended := range map[outbox.Status][]action.Ended{
		outbox.Delivered: failed, outbox.Dead: nil, outbox.Withheld: nil,
	} {
		f.deferred(t, f.say(t, "700001"), record...)
		f.release(t, f.claimOne(t), status, ended...)
		diff(t, "deferred, "+string(status), contact.Sale{}, f.sale(t, "700001"))
	}
	f.deferred(t, f.say(t, "700001"), record...)
	ok(t, f.db.DiscardOutbox(t.Context(), must(f.db.ListOutbox(t.Context(), pendingRows()))(t)[0].ID))
	diff(t, "discarded by a person", contact.Sale{}, f.sale(t, "700001"))
}

// What became of actions is written once; who comes later moves nothing.
func testActedTwice(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	f.performs(t, r, stage(contact.Qualifying))
	if err := f.db.Acted(t.Context(), r.Turn.ID, all(action.Performed, 1)); !errors.Is(err, turn.ErrNotOwner) {
		t.Errorf("Acted once more returned %v", err)
	}
	f.deferred(t, f.say(t, "700001"), stage(contact.Prepared))
	stranger := f.claimOne(t)
	stranger.Owner = successor
	stranger.Status = outbox.Delivered
	if err := f.db.Release(t.Context(), stranger, all(action.Performed, 1)); !errors.Is(err, outbox.ErrNotOwner) {
		t.Errorf("Release by another owner returned %v", err)
	}
	diff(t, "sale", contact.Sale{Stage: contact.Qualifying}, f.sale(t, "700001"))
}

// Holds docs/spec/08-sales.md, "Intent" and "Funnel": never back, whatever order writes end in. An
// offering is what was written last.
func testNeverBack(t *testing.T, f *fixture) {
	f.performs(t, f.say(t, "700001"), intent(contact.Prospect), stage(contact.Prepared), offering("intro"))
	f.performs(t, f.say(t, "700001"), intent(contact.NotProspect), stage(contact.Qualifying), offering("advanced"))
	diff(t, "sale", contact.Sale{Intent: contact.Prospect, Stage: contact.Prepared, Offering: "advanced", Chosen: true}, f.sale(t, "700001"))
	f.performs(t, f.say(t, "700001"), stage(contact.LinkSent))
	diff(t, "on", contact.LinkSent, f.sale(t, "700001").Stage)
}

// Holds docs/spec/08-sales.md, "Offerings": inbound wins.
func testNamedSince(t *testing.T, f *fixture) {
	r := f.names(t, "700001", "intro")
	diff(t, "named", contact.Sale{Offering: "intro"}, r.Sale)
	f.acting(t, r, offering("advanced"), stage(contact.Qualifying))
	f.forged(t, "700001", "forged") // proves nothing
	f.say(t, "700001")              // names nothing
	ok(t, f.db.Acted(t.Context(), r.Turn.ID, all(action.Performed, 2)))
	diff(t, "chosen after it was named", contact.Sale{Stage: contact.Qualifying, Offering: "advanced", Chosen: true}, f.sale(t, "700001"))

	r = f.say(t, "700002")
	f.acting(t, r, offering("advanced"), stage(contact.Qualifying))
	f.names(t, "700002", "intro")
	ok(t, f.db.Acted(t.Context(), r.Turn.ID, all(action.Performed, 2)))
	diff(t, "named after it was chosen", contact.Sale{Stage: contact.Qualifying, Offering: "intro"}, f.sale(t, "700002"))

	r = f.say(t, "700003")
	f.performs(t, r, offering("advanced"))
	f.names(t, "700003", "intro")
	diff(t, "named after it was performed", contact.Sale{Offering: "intro"}, f.sale(t, "700003"))
}

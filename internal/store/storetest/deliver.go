package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/outbox"
)

// Holds docs/spec/05-delivery.md, "A deferred reply is two calls per message": a reply
// of several texts records how far it got.
func testProgress(t *testing.T, f *fixture) {
	f.deferred(t, "700001", "one", "two")
	r := f.claimOne(t)
	r.Payload.Unknown = 1
	if err := f.db.Progress(t.Context(), r, time.Time{}); err != nil {
		t.Fatalf("Progress: %v", err)
	}
	diff(t, "row after an unknown outcome", r, f.row(t, r.ID))
	diff(t, "last sent after an unknown outcome", time.Time{}, f.conversation(t, "700001").LastSentAt)

	r.Payload.Sent, r.Payload.Unknown = 1, 0
	f.now = start.Add(2 * time.Second)
	if err := f.db.Progress(t.Context(), r, start.Add(time.Second)); err != nil {
		t.Fatalf("Progress: %v", err)
	}
	diff(t, "row after a text", r, f.row(t, r.ID))
	diff(t, "last sent", start.Add(time.Second), f.conversation(t, "700001").LastSentAt)
}

func testRelease(t *testing.T, f *fixture) {
	f.deferred(t, "700001", "one")
	r := f.claimOne(t)
	r.Status, r.Attempts, r.NextAttemptAt, r.LastError = outbox.Pending, 0, start.Add(time.Minute), "stopped"
	f.release(t, r)
	r.Owner = ""
	diff(t, "row given back", r, f.row(t, r.ID))

	f.now = f.now.Add(time.Minute)
	r = f.claimOne(t)
	diff(t, "attempts", 1, r.Attempts)
	r.Status, r.DeliveredAt, r.LastError = outbox.Delivered, f.now, ""
	f.release(t, r)
	r.Owner = ""
	diff(t, "row delivered", r, f.row(t, r.ID))
	diff(t, "needs a person", false, f.conversation(t, "700001").NeedsPerson)
}

// Holds docs/spec/05-delivery.md, "Outbox", Dead letters: they mark the conversation.
func testReleaseDead(t *testing.T, f *fixture) {
	f.deferred(t, "700001", "one")
	f.deferred(t, "700002", "one")
	rows := f.claim(t, 2)
	dead := rows[0]
	dead.Status, dead.Reason, dead.LastError = outbox.Dead, outbox.ReasonRejected, "field ai_reply does not exist"
	f.release(t, dead)
	dead.Owner = ""
	diff(t, "row", dead, f.row(t, dead.ID))
	diff(t, "needs a person", true, f.conversation(t, "700001").NeedsPerson)

	withheld := rows[1]
	withheld.Status = outbox.Withheld
	f.release(t, withheld)
	diff(t, "withheld needs a person", false, f.conversation(t, "700002").NeedsPerson)
}

// Holds docs/spec/05-delivery.md, "Outbox": a later write that finds another owner
// changes nothing.
func testOtherOwner(t *testing.T, f *fixture) {
	f.deferred(t, "700001", "one")
	pending := f.row(t, "row-turn-000001")
	pending.Owner = owner
	claimed := f.claimOne(t)
	stranger, unknown := claimed, claimed
	stranger.Owner, unknown.ID = "process-b", "row-x"
	for name, r := range map[string]outbox.Row{"stranger": stranger, "unknown row": unknown} {
		if err := f.db.Progress(t.Context(), r, f.now); !errors.Is(err, outbox.ErrNotOwner) {
			t.Errorf("%s: Progress returned %v, want ErrNotOwner", name, err)
		}
		r.Status, r.DeliveredAt = outbox.Delivered, f.now
		if err := f.db.Release(t.Context(), r, nil); !errors.Is(err, outbox.ErrNotOwner) {
			t.Errorf("%s: Release returned %v, want ErrNotOwner", name, err)
		}
	}
	diff(t, "row", claimed, f.row(t, claimed.ID))
	diff(t, "last sent", time.Time{}, f.conversation(t, "700001").LastSentAt)

	back := claimed
	back.Status = outbox.Pending
	f.release(t, back)
	if err := f.db.Progress(t.Context(), pending, f.now); !errors.Is(err, outbox.ErrNotOwner) {
		t.Errorf("pending row: Progress returned %v, want ErrNotOwner", err)
	}
}

package outbox_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
)

// held are the ways in which a row is kept back.
func held() []outbox.Status { return []outbox.Status{outbox.Withheld, outbox.Discarded} }

// Holds docs/spec/05-delivery.md, "Outbox": just before each text the conversation is checked;
// of a person who has it, and to a contact who opted out, nothing more goes out, and the row
// says how far it got.
func TestHeldBetweenTexts(t *testing.T) {
	for _, as := range held() {
		t.Run(string(as), func(t *testing.T) {
			inBubble(t, func(r *rig) {
				var taken atomic.Bool
				r.held = func(outbox.Row) (outbox.Status, error) {
					if taken.Load() {
						return as, nil
					}
					return "", nil
				}
				r.run()
				id := r.settle("900000001", outbox.Reply, acting("one", "two"))
				next := r.queue("900000001", "three")
				r.after(time.Second)
				taken.Store(true)
				r.want(r.after(10*time.Second), "0s 900000001 write ai_message=one", "0s 900000001 flow content1 shows one")
				r.wantEnd(id, as, "", "keen discarded", "brochure discarded")
				r.wantEnd(next, as, "")
				if row := r.row(id); row.Payload.Sent != 1 || row.Attempts != 0 {
					t.Errorf("%d texts were sent in %d attempts", row.Payload.Sent, row.Attempts)
				}
			})
		})
	}
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": and before a reply's actions.
func TestHeldBeforeActions(t *testing.T) {
	for _, as := range held() {
		t.Run(string(as), func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.held = func(row outbox.Row) (outbox.Status, error) {
					if row.Payload.Sent > 0 {
						return as, nil
					}
					return "", nil
				}
				r.run()
				id := r.settle("900000001", outbox.Reply, acting("one"))
				r.want(r.after(10*time.Second), "0s 900000001 write ai_message=one", "0s 900000001 flow content1 shows one")
				r.wantEnd(id, as, "", "keen discarded", "brochure discarded")
			})
		})
	}
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": the flow of a handoff notice may speak to
// the contact; its tag and its webhook speak to people.
func TestHeldNotices(t *testing.T) {
	for _, as := range held() {
		t.Run(string(as), func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.held = func(outbox.Row) (outbox.Status, error) { return as, nil }
				r.run()
				r.settle("900000001", outbox.HandoffNotice, outbox.Payload{Actions: []action.Pending{
					{Place: 0, Tool: action.NotifyHandoff, ID: action.NoticeTag}, {Place: 1, Tool: action.NotifyHandoff, ID: action.NoticeFlow},
				}})
				r.want(r.after(10*time.Second), "0s 900000001 notice tag")
			})
		})
	}
}

// Holds docs/spec/05-delivery.md, "Outbox": a row whose conversation cannot be read waits, and
// its attempt is not counted.
func TestHeldUnknown(t *testing.T) {
	inBubble(t, func(r *rig) {
		down := errors.New("the database is away")
		r.held = func(outbox.Row) (outbox.Status, error) { return "", down }
		r.run()
		id := r.queue("900000001", "one")
		r.want(r.after(5500 * time.Millisecond))
		down = nil
		if row := r.row(id); row.Status != outbox.Pending || row.Attempts != 0 {
			t.Errorf("the row is %s after %d attempts", row.Status, row.Attempts)
		}
		r.want(r.after(5*time.Second), "6s 900000001 write ai_message=one", "6s 900000001 flow content1 shows one")
	})
}

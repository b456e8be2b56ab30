package outbox_test

import (
	"slices"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/outbox"
)

// Holds docs/spec/05-delivery.md, "Outbox": what a dead process had in hand is made again; of
// a flow once at most, and never hours later.
func TestNoticeOfADeadProcess(t *testing.T) {
	none := func(*outbox.Payload) {}
	begun := func(n int) func(*outbox.Payload) { return func(p *outbox.Payload) { p.Unknown = n } }
	tests := []struct {
		name   string
		part   string
		wrote  func(*outbox.Payload)
		late   time.Duration
		faults []error
		want   []string
		reason outbox.Reason
		became string
	}{
		{"a tag", "tag", none, 0, nil, []string{"0s 900000001 notice tag"}, "", "performed"},
		{"a webhook", "webhook", none, 0, nil, []string{"0s 900000001 notice webhook=wants a person"}, "", "performed"},
		{"a flow that was not begun", "flow", none, 0, []error{errLost}, []string{"0s 900000001 notice flow FAILS", "2s 900000001 notice flow"}, "", "performed"},
		{"a flow", "flow", begun(1), 0, nil, []string{"0s 900000001 notice flow"}, "", "performed"},
		{"a flow whose answer is lost again", "flow", begun(1), 0, []error{errLost}, []string{"0s 900000001 notice flow FAILS"}, outbox.ReasonUnknown, "failed: outcome unknown"},
		{"a flow of two dead processes", "flow", begun(2), 0, nil, nil, outbox.ReasonUnknown, "failed: outcome unknown"},
		{"a stale tag", "tag", none, 2 * time.Hour, nil, nil, outbox.ReasonStale, "dead_lettered"},
		{"a stale flow that was not begun", "flow", none, 2 * time.Hour, nil, nil, outbox.ReasonStale, "dead_lettered"},
		{"a stale flow", "flow", begun(1), 2 * time.Hour, nil, nil, outbox.ReasonStale, "failed: outcome unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.account.faults = tt.faults
				id := r.settle("900000001", outbox.HandoffNotice, notice(tt.part)) + " " + tt.part
				r.dies(tt.wrote)
				time.Sleep(tt.late)
				r.run()
				r.want(r.after(time.Minute), tt.want...)
				status := outbox.Delivered
				if tt.reason != "" {
					status = outbox.Dead
				}
				r.wantEnd(id, status, tt.reason, tt.part+" "+tt.became)
			})
		})
	}
}

// Holds docs/spec/05-delivery.md, "Outbox": a flow is counted in the database before it is
// made, and no more once it has certainly failed.
func TestFlowOfANoticeIsCounted(t *testing.T) {
	inBubble(t, func(r *rig) {
		var id string
		var counted []int
		r.account.judges = func(string) error {
			counted = append(counted, r.row(id).Payload.Unknown)
			return []error{errServer, errLost, nil}[len(counted)-1]
		}
		id = r.settle("900000001", outbox.HandoffNotice, notice("flow")) + " flow"
		r.run()
		for i, want := range []int{0, 1} {
			r.after([]time.Duration{time.Second, 3 * time.Second}[i])
			if got := r.row(id).Payload.Unknown; got != want {
				t.Errorf("behind try %d the flow is counted %d times, want %d", i+1, got, want)
			}
		}
		r.after(time.Minute)
		if !slices.Equal(counted, []int{1, 1, 2}) {
			t.Errorf("while it is made the flow is counted %v times", counted)
		}
		r.wantEnd(id, outbox.Delivered, "", "flow performed")
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": a part that panics is tried again.
func TestNoticeThatPanics(t *testing.T) {
	inBubble(t, func(r *rig) {
		tries := 0
		r.account.judges = func(string) error {
			if tries++; tries == 1 {
				panic("no such part")
			}
			return nil
		}
		id := r.settle("900000001", outbox.HandoffNotice, notice("tag")) + " tag"
		r.run()
		r.want(r.after(time.Minute), "2s 900000001 notice tag")
		r.wantEnd(id, outbox.Delivered, "", "tag performed")
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": on stop, a worker finishes the part in hand and
// leaves the rest.
func TestStopFinishesANotice(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.account.takes = time.Second
		var ids []string
		for range 33 {
			ids = append(ids, r.settle("900000001", outbox.HandoffNotice, notice("tag"))+" tag")
		}
		r.run()
		r.after(500 * time.Millisecond)
		r.stop()
		<-r.stopped
		r.want(r.after(0), slices.Repeat([]string{"1s 900000001 notice tag"}, 32)...)
		for _, id := range ids[:32] {
			r.wantEnd(id, outbox.Delivered, "", "tag performed")
		}
		r.wantEnd(ids[32], outbox.Pending, "", "tag staged")
		if row := r.row(ids[32]); row.Attempts != 0 {
			t.Errorf("%d attempts are counted of what was left", row.Attempts)
		}
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": contacts wait for each other only at ManyChat's
// own limits. Notices that hang take no reply's room, and a notice holds no reply back. Of
// webhooks only a few are posted at once.
func TestNoticesTakeNoRoomOfReplies(t *testing.T) {
	t.Run("tags", func(t *testing.T) { checkRoomOf(t, "tag", 32) })
	t.Run("webhooks", func(t *testing.T) { checkRoomOf(t, "webhook", 8) })
}

// checkRoomOf has 40 parts of notices hang and checks how many of them are in hand.
func checkRoomOf(t *testing.T, part string, room int) {
	t.Helper()
	inBubble(t, func(r *rig) {
		var ids []string
		for range 40 {
			ids = append(ids, r.settle("900000001", outbox.HandoffNotice, notice(part))+" "+part)
		}
		r.account.takes = 20 * time.Second
		r.run()
		r.after(time.Second)
		r.account.mu.Lock()
		r.account.takes = 0
		r.account.mu.Unlock()
		r.queue("900000001", "hello")
		r.want(r.after(0), "1s 900000001 write ai_message=hello", "1s 900000001 flow content1 shows hello")
		hand := 0
		for _, id := range ids {
			if r.row(id).Status == outbox.Delivering {
				hand++
			}
		}
		if hand != room {
			t.Errorf("%d notices are in hand at once, want %d", hand, room)
		}
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": pacing is from text to text, and a notice is none.
func TestNoticeDelaysNoText(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.settle("900000001", outbox.HandoffNotice, notice())
		r.run()
		r.after(500 * time.Millisecond)
		r.queue("900000001", "hello")
		r.want(r.after(0)[3:], "500ms 900000001 write ai_message=hello", "500ms 900000001 flow content1 shows hello")
	})
}

package outbox_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// hooked is a webhook's error.
type hooked struct {
	status int
	after  time.Duration
}

func (h hooked) Error() string        { return "webhook: answered" }
func (h hooked) Brief() string        { return fmt.Sprintf("rejected (%d)", h.status) }
func (h hooked) Retryable() bool      { return h.status >= 500 }
func (h hooked) After() time.Duration { return h.after }

// notice is what a handoff notice carries.
func notice() outbox.Payload {
	return outbox.Payload{Actions: []action.Pending{
		{Place: 0, Tool: action.NotifyHandoff, ID: action.NoticeTag},
		{Place: 1, Tool: action.NotifyHandoff, ID: action.NoticeFlow},
		{Place: 2, Tool: action.NotifyHandoff, ID: action.NoticeWebhook, Text: "=wants a person"},
	}}
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": tag, flow and webhook of a handoff
// notice, one after the other, on the outbox's schedule.
func TestHandoffNotice(t *testing.T) {
	const tag, flow, hook = " 900000001 notice tag", " 900000001 notice flow", " 900000001 notice webhook=wants a person"
	server, rejected := failure(manychat.KindServer, 500), failure(manychat.KindRejected, 400)
	coded := &manychat.Error{Kind: manychat.KindRejected, Status: 400, Code: 3011, Endpoint: "sendFlow", Object: "content9", Message: "Ada"}
	lost := &manychat.Error{Kind: manychat.KindTimeout, Endpoint: "sendFlow", Written: true}
	unauthorized := failure(manychat.KindUnauthorized, 401)
	performed := func(replaced ...string) []string {
		all := []string{"tag performed", "flow performed", "webhook performed"}
		copy(all, replaced)
		return all
	}
	tests := []struct {
		name   string
		faults []error
		want   []string
		status outbox.Status
		reason outbox.Reason
		became []string
	}{
		{"all at once", nil, []string{"0s" + tag, "0s" + flow, "0s" + hook}, outbox.Delivered, "", performed()},
		{"the tag fails once", []error{server},
			[]string{"0s" + tag + " FAILS", "2s" + tag, "2s" + flow, "2s" + hook}, outbox.Delivered, "", performed()},
		{"a retry goes on where it stopped", []error{nil, nil, hooked{status: 503}},
			[]string{"0s" + tag, "0s" + flow, "0s" + hook + " FAILS", "2s" + hook}, outbox.Delivered, "", performed()},
		{"the tag is refused", []error{rejected},
			[]string{"0s" + tag + " FAILS", "0s" + flow, "0s" + hook}, outbox.Dead, outbox.ReasonRejected, performed("tag failed: rejected (400)")},
		{"the flow is refused, with a code", []error{nil, coded},
			[]string{"0s" + tag, "0s" + flow + " FAILS", "0s" + hook}, outbox.Dead, outbox.ReasonRejected, performed("tag performed", "flow failed: rejected (400, code 3011)")},
		{"the webhook is gone", []error{nil, nil, hooked{status: 410}},
			[]string{"0s" + tag, "0s" + flow, "0s" + hook + " FAILS"}, outbox.Dead, outbox.ReasonRejected,
			performed("tag performed", "flow performed", "webhook failed: rejected (410)")},
		{"refused in one hold, ended in the next", []error{rejected, nil, hooked{status: 503}},
			[]string{"0s" + tag + " FAILS", "0s" + flow, "0s" + hook + " FAILS", "2s" + hook}, outbox.Dead, outbox.ReasonRejected, performed("tag failed: rejected (400)")},
		{"the webhook asks to wait", []error{nil, nil, hooked{status: 503, after: 40 * time.Second}},
			[]string{"0s" + tag, "0s" + flow, "0s" + hook + " FAILS", "40s" + hook}, outbox.Delivered, "", performed()},
		{"ManyChat asks to wait", []error{&manychat.Error{Kind: manychat.KindRateLimited, Status: 429, RetryAfter: 40 * time.Second}},
			[]string{"0s" + tag + " FAILS", "40s" + tag, "40s" + flow, "40s" + hook}, outbox.Delivered, "", performed()},
		{"attempts are used up", []error{nil, server, server, server},
			[]string{"0s" + tag, "0s" + flow + " FAILS", "2s" + flow + " FAILS", "6s" + flow + " FAILS"}, outbox.Dead, outbox.ReasonExhausted,
			performed("tag performed", "flow dead_lettered", "webhook dead_lettered")},
		{"the flow's answer is lost once", []error{nil, lost},
			[]string{"0s" + tag, "0s" + flow + " FAILS", "2s" + flow, "2s" + hook}, outbox.Delivered, "", performed()},
		{"the flow's answer is lost twice", []error{nil, lost, lost},
			[]string{"0s" + tag, "0s" + flow + " FAILS", "2s" + flow + " FAILS", "2s" + hook}, outbox.Dead, outbox.ReasonUnknown,
			performed("tag performed", "flow failed: outcome unknown")},
		{"the tag's answer is lost twice", []error{lost, lost},
			[]string{"0s" + tag + " FAILS", "2s" + tag + " FAILS", "6s" + tag, "6s" + flow, "6s" + hook}, outbox.Delivered, "", performed()},
		{"a refused key keeps the row", []error{unauthorized, unauthorized, unauthorized, unauthorized},
			[]string{"0s" + tag + " FAILS", "1m0s" + tag + " FAILS", "2m0s" + tag + " FAILS", "3m0s" + tag + " FAILS", "4m0s" + tag, "4m0s" + flow, "4m0s" + hook},
			outbox.Delivered, "", performed()},
		{"an error of nobody's", []error{errDisk},
			[]string{"0s" + tag + " FAILS", "2s" + tag, "2s" + flow, "2s" + hook}, outbox.Delivered, "", performed()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.account.faults = tt.faults
				id := r.settle("900000001", outbox.HandoffNotice, notice())
				r.run()
				r.want(r.after(5*time.Minute), tt.want...)
				r.wantEnd(id, tt.status, tt.reason, tt.became...)
				if n := r.row(id).Payload.Unknown; n != 0 {
					t.Errorf("%d lost answers are counted against parts to come", n)
				}
			})
		})
	}
}

// Holds docs/spec/05-delivery.md, "Outbox": what a hold made is written when it ends, not
// only with the last part.
func TestNoticeBetweenHolds(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.account.faults = []error{nil, failure(manychat.KindRejected, 400), hooked{status: 503, after: time.Minute}}
		id := r.settle("900000001", outbox.HandoffNotice, notice())
		r.run()
		r.after(time.Second)
		r.wantEnd(id, outbox.Pending, "", "tag performed", "flow failed: rejected (400)", "webhook staged")
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": stale, of which what was made stays made; and
// what a dead process made and did not write down has an unknown outcome.
func TestNoticeOfADeadProcess(t *testing.T) {
	for name, late := range map[string]time.Duration{"at once": 0, "stale": 2 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				id := r.settle("900000001", outbox.HandoffNotice, notice())
				r.dies(func(p *outbox.Payload) { p.Sent = 2 })
				time.Sleep(late)
				r.run()
				calls := r.after(time.Minute)
				if late == 0 {
					r.want(calls, "0s 900000001 notice webhook=wants a person")
					r.wantEnd(id, outbox.Delivered, "", "tag failed: outcome unknown", "flow failed: outcome unknown", "webhook performed")
					return
				}
				r.want(calls)
				r.wantEnd(id, outbox.Dead, outbox.ReasonStale, "tag failed: outcome unknown", "flow failed: outcome unknown", "webhook dead_lettered")
			})
		})
	}
}

// Holds docs/spec/05-delivery.md, "Outbox": on stop, a worker finishes the part in hand and
// gives the rest back.
func TestStopGivesANoticeBack(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.account.takes = time.Second
		id := r.settle("900000001", outbox.HandoffNotice, notice())
		r.run()
		r.after(500 * time.Millisecond)
		r.stop()
		<-r.stopped
		r.want(r.after(0), "1s 900000001 notice tag")
		r.wantEnd(id, outbox.Pending, "", "tag performed", "flow staged", "webhook staged")
		if row := r.row(id); row.Attempts != 0 || row.Payload.Sent != 1 {
			t.Errorf("%d attempts and %d parts are counted", row.Attempts, row.Payload.Sent)
		}
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": contacts wait for each other only at ManyChat's
// own limits. Notices that hang take no reply's room, and a notice holds no reply back.
func TestNoticesTakeNoRoomOfReplies(t *testing.T) {
	inBubble(t, func(r *rig) {
		var ids []string
		for range 40 {
			ids = append(ids, r.settle("900000001", outbox.HandoffNotice, notice()))
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
		if hand != 4 {
			t.Errorf("%d notices are in hand at once, want 4", hand)
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

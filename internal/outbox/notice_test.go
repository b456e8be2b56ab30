package outbox_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
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

// notice is what a handoff notice carries, of all its parts or of those that are named.
func notice(parts ...string) (p outbox.Payload) {
	if len(parts) == 0 {
		parts = []string{action.NoticeTag, action.NoticeFlow, action.NoticeWebhook}
	}
	for i, id := range parts {
		a := action.Pending{Place: i, Tool: action.NotifyHandoff, ID: id}
		if id == action.NoticeWebhook {
			a.Text = "=wants a person"
		}
		p.Actions = append(p.Actions, a)
	}
	return p
}

// wantSorted compares calls of rows that are made side by side, in whatever order.
func (r *rig) wantSorted(got []string, want ...string) {
	r.t.Helper()
	slices.Sort(got)
	slices.Sort(want)
	r.want(got, want...)
}

var (
	errServer   = failure(manychat.KindServer, 500)
	errRejected = failure(manychat.KindRejected, 400)
	errKey      = failure(manychat.KindUnauthorized, 401)
	errLost     = &manychat.Error{Kind: manychat.KindTimeout, Endpoint: "sendFlow", Written: true}
)

// Holds docs/spec/06-contact.md, "Pause and opt-out": what becomes of each part of a handoff
// notice, on the outbox's schedule.
func TestHandoffNotice(t *testing.T) {
	coded := &manychat.Error{Kind: manychat.KindRejected, Status: 400, Code: 3011, Endpoint: "sendFlow", Object: "content9", Message: "Ada"}
	wait := &manychat.Error{Kind: manychat.KindRateLimited, Status: 429, RetryAfter: 40 * time.Second}
	const made, rejected, unknown, exhausted = "performed", outbox.ReasonRejected, outbox.ReasonUnknown, outbox.ReasonExhausted
	tests := []struct {
		name   string
		part   string
		faults []error
		at     string // of every request
		reason outbox.Reason
		became string
	}{
		{"a tag at once", "tag", nil, "0s", "", made},
		{"a flow at once", "flow", nil, "0s", "", made},
		{"a webhook at once", "webhook", nil, "0s", "", made},
		{"a tag fails", "tag", []error{errServer, errServer}, "0s 2s 6s", "", made},
		{"a flow fails", "flow", []error{errServer, errServer}, "0s 2s 6s", "", made},
		{"a webhook fails", "webhook", []error{hooked{status: 503}, hooked{status: 503}}, "0s 2s 6s", "", made},
		{"a tag is refused", "tag", []error{errRejected}, "0s", rejected, "failed: rejected (400)"},
		{"a flow is refused, with a code", "flow", []error{coded}, "0s", rejected, "failed: rejected (400, code 3011)"},
		{"a webhook is gone", "webhook", []error{hooked{status: 410}}, "0s", rejected, "failed: rejected (410)"},
		{"a webhook fails, and then is gone", "webhook", []error{hooked{status: 503}, hooked{status: 410}}, "0s 2s", rejected, "failed: rejected (410)"},
		{"a webhook asks to wait", "webhook", []error{hooked{status: 503, after: 40 * time.Second}}, "0s 40s", "", made},
		{"ManyChat asks to wait", "tag", []error{wait}, "0s 40s", "", made},
		{"a tag never works", "tag", []error{errServer, errServer, errServer}, "0s 2s 6s", exhausted, "dead_lettered"},
		{"a flow never works", "flow", []error{errServer, errServer, errServer}, "0s 2s 6s", exhausted, "dead_lettered"},
		{"a webhook never works", "webhook", []error{hooked{status: 503}, hooked{status: 503}, hooked{status: 503}}, "0s 2s 6s", exhausted, "dead_lettered"},
		{"a flow's answer is lost once", "flow", []error{errLost}, "0s 2s", "", made},
		{"a flow's answer is lost twice", "flow", []error{errLost, errLost}, "0s 2s", unknown, "failed: outcome unknown"},
		{"a flow's answer is lost twice, not in a row", "flow", []error{errLost, errServer, errLost}, "0s 2s 6s", unknown, "failed: outcome unknown"},
		{"a flow's answer is lost, and then it fails", "flow", []error{errLost, errServer, errServer}, "0s 2s 6s", exhausted, "failed: outcome unknown"},
		{"a flow's answer is lost, and then it is refused", "flow", []error{errLost, errRejected}, "0s 2s", rejected, "failed: rejected (400)"},
		{"a tag's answer is lost twice", "tag", []error{errLost, errLost}, "0s 2s 6s", "", made},
		{"a refused key keeps a tag", "tag", []error{errKey, errKey, errKey, errKey}, "0s 1m0s 2m0s 3m0s 4m0s", "", made},
		{"a refused key keeps a flow", "flow", []error{errKey, errKey, errKey, errKey}, "0s 1m0s 2m0s 3m0s 4m0s", "", made},
		{"an error of nobody's", "webhook", []error{errDisk}, "0s 2s", "", made},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.account.faults = tt.faults
				id := r.settle("900000001", outbox.HandoffNotice, notice(tt.part)) + " " + tt.part
				r.run()
				var want []string
				for i, at := range strings.Fields(tt.at) {
					line := at + " 900000001 notice " + tt.part
					if tt.part == action.NoticeWebhook {
						line += "=wants a person"
					}
					if i < len(tt.faults) {
						line += " FAILS"
					}
					want = append(want, line)
				}
				r.want(r.after(5*time.Minute), want...)
				status := outbox.Delivered
				if tt.reason != "" {
					status = outbox.Dead
				}
				r.wantEnd(id, status, tt.reason, tt.part+" "+tt.became)
			})
		})
	}
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": no part of a notice waits for another.
func TestNoticePartsDoNotWait(t *testing.T) {
	const tag, flow, hook = " 900000001 notice tag", " 900000001 notice flow", " 900000001 notice webhook=wants a person"
	tests := []struct {
		name   string
		part   string
		err    error
		want   []string
		became []string
	}{
		{"all work", "none", nil, []string{"0s" + tag, "0s" + flow, "0s" + hook}, []string{"tag performed", "flow performed", "webhook performed"}},
		{"the tag keeps failing", "tag", errServer, []string{"0s" + tag + " FAILS", "0s" + flow, "0s" + hook, "2s" + tag + " FAILS", "6s" + tag + " FAILS"},
			[]string{"tag dead_lettered", "flow performed", "webhook performed"}},
		{"the tag is refused", "tag", errRejected, []string{"0s" + tag + " FAILS", "0s" + flow, "0s" + hook},
			[]string{"tag failed: rejected (400)", "flow performed", "webhook performed"}},
		{"the webhook keeps failing", "webhook", hooked{status: 503}, []string{"0s" + tag, "0s" + flow, "0s" + hook + " FAILS", "2s" + hook + " FAILS", "6s" + hook + " FAILS"},
			[]string{"tag performed", "flow performed", "webhook dead_lettered"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.account.judges = func(line string) error {
					if strings.Contains(line, "notice "+tt.part) {
						return tt.err
					}
					return nil
				}
				id := r.settle("900000001", outbox.HandoffNotice, notice())
				r.run()
				r.wantSorted(r.after(time.Minute), tt.want...)
				for _, part := range []string{"tag", "flow", "webhook"} {
					if got := r.row(id + " " + part).Status; (got == outbox.Dead) != (part == tt.part) || got != outbox.Dead && got != outbox.Delivered {
						t.Errorf("the row of the %s is %s", part, got)
					}
				}
				if got := r.became(id + " tag"); !slices.Equal(got, tt.became) {
					t.Errorf("recorded is %q, want %q", got, tt.became)
				}
			})
		})
	}
}

// Holds docs/spec/05-delivery.md, "Outbox": a dead part is made when an operator has it tried
// again, as it would have been, and its record says so.
func TestRetryOfADeadNotice(t *testing.T) {
	tests := []struct {
		name   string
		part   string
		faults []error
		died   outbox.Reason
		again  string // the request
	}{
		{"a refused tag", "tag", []error{errRejected}, outbox.ReasonRejected, "1m0s 900000001 notice tag"},
		{"a refused flow", "flow", []error{errRejected}, outbox.ReasonRejected, "1m0s 900000001 notice flow"},
		{"a flow of unknown outcome", "flow", []error{errLost, errLost}, outbox.ReasonUnknown, "1m0s 900000001 notice flow"},
		{"a webhook that was gone", "webhook", []error{hooked{status: 410}}, outbox.ReasonRejected, "1m0s 900000001 notice webhook=wants a person"},
		{"a webhook that never worked", "webhook", []error{errServer, errServer, errServer}, outbox.ReasonExhausted, "1m0s 900000001 notice webhook=wants a person"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.account.faults = tt.faults
				id := r.settle("900000001", outbox.HandoffNotice, notice(tt.part)) + " " + tt.part
				r.run()
				r.after(time.Minute)
				if row := r.row(id); row.Status != outbox.Dead || row.Reason != tt.died {
					t.Fatalf("row is %s (%s)", row.Status, row.Reason)
				}
				if err := r.db.RetryOutbox(context.Background(), id); err != nil {
					t.Fatal(err)
				}
				r.worker.Wake()
				r.want(r.after(time.Minute)[len(tt.faults):], tt.again)
				r.wantEnd(id, outbox.Delivered, "", tt.part+" performed")
			})
		})
	}
}

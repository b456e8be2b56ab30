package outbox_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// Perform makes a call for each action.
func (a *account) Perform(ctx context.Context, row outbox.Row) (ended []action.Ended) {
	if a.acting != nil {
		a.acting(ctx)
	}
	if ctx.Err() != nil {
		return nil
	}
	for _, p := range row.Payload.Actions {
		e := action.Ended{Place: p.Place, Status: action.Performed, At: time.Now()}
		if err := a.call(fmt.Sprintf("%s %s %s", row.Key.SubscriberID, p.Tool, p.ID), func() {}); err != nil {
			e = action.Ended{Place: p.Place, Status: action.Failed, Error: "rejected (400)"}
		}
		ended = append(ended, e)
	}
	return ended
}

// Notify makes a call for each part.
func (a *account) Notify(_ context.Context, row outbox.Row, part action.Pending) error {
	return a.call(fmt.Sprintf("%s notice %s%s", row.Key.SubscriberID, part.ID, part.Text), func() {})
}

// acting is what a reply's row carries: texts and two actions.
func acting(texts ...string) outbox.Payload {
	return outbox.Payload{Texts: texts, Actions: []action.Pending{
		{Place: 0, Tool: action.AddTag, ID: "keen"}, {Place: 1, Tool: action.SendFlow, ID: "brochure"},
	}}
}

// became is what the record of a row's turn says of its actions.
func (r *rig) became(row string) (all []string) {
	r.t.Helper()
	t, err := r.db.Turn(context.Background(), r.row(row).TurnID)
	if err != nil {
		r.t.Fatal(err)
	}
	for _, a := range t.Actions {
		line := a.ID + " " + string(a.Status)
		if a.Error != "" {
			line += ": " + a.Error
		}
		all = append(all, line)
	}
	return all
}

func (r *rig) wantEnd(row string, status outbox.Status, reason outbox.Reason, became ...string) {
	r.t.Helper()
	if got := r.row(row); got.Status != status || got.Reason != reason {
		r.t.Errorf("row is %s (%s), want %s (%s); last error %q", got.Status, got.Reason, status, reason, got.LastError)
	}
	if diff := cmp.Diff(became, r.became(row)); diff != "" {
		r.t.Errorf("record (-want +got):\n%s", diff)
	}
}

// dies ends the process that claims the next row as progress says.
func (r *rig) dies(progress ...func(*outbox.Payload)) {
	r.t.Helper()
	ctx := context.Background()
	rows, err := r.db.Claim(ctx, outbox.Claim{Owner: "dead", Now: time.Now(), Gap: gap, Room: map[outbox.Kind]int{outbox.Reply: 1, outbox.HandoffNotice: 1}})
	if err != nil || len(rows) != 1 {
		r.t.Fatalf("claimed %d rows, %v", len(rows), err)
	}
	for _, p := range progress {
		p(&rows[0].Payload)
		if err := r.db.Progress(ctx, rows[0], time.Time{}); err != nil {
			r.t.Fatal(err)
		}
	}
	if _, _, err := r.db.TakeOver(ctx, sweep.TakeOver{Process: sweep.Process{ID: "p2", TenantID: "test"}, All: true}); err != nil {
		r.t.Fatal(err)
	}
}

// Holds docs/spec/07-tools.md, "Performing": the actions of a reply follow its last text.
func TestActionsFollowTheText(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.run()
		id := r.settle("900000001", outbox.Reply, acting("one", "two"))
		r.want(r.after(time.Minute),
			"0s 900000001 write ai_message=one",
			"0s 900000001 flow content1 shows one",
			"2s 900000001 write ai_message=two",
			"2s 900000001 flow content1 shows two",
			"2s 900000001 add_tag keen",
			"2s 900000001 send_flow brochure")
		r.wantEnd(id, outbox.Delivered, "", "keen performed", "brochure performed")
	})
}

// Holds docs/spec/07-tools.md, "Performing": a failure is recorded, and neither tried again
// nor a matter of the reply. A retry delivers the text again and the actions once.
func TestFailuresAroundActions(t *testing.T) {
	server, rejected := failure(manychat.KindServer, 500), failure(manychat.KindRejected, 400)
	tests := []struct {
		name   string
		faults []error
		status outbox.Status
		reason outbox.Reason
		acts   int // calls
		became []string
	}{
		{"the action fails", []error{nil, nil, server}, outbox.Delivered, "", 2, []string{"keen failed: rejected (400)", "brochure performed"}},
		{"the text fails once", []error{nil, server}, outbox.Delivered, "", 2, []string{"keen performed", "brochure performed"}},
		{"the text is refused", []error{nil, rejected}, outbox.Dead, outbox.ReasonRejected, 0, []string{"keen dead_lettered", "brochure dead_lettered"}},
		{"the text never gets through", []error{server, server, server}, outbox.Dead, outbox.ReasonExhausted, 0, []string{"keen dead_lettered", "brochure dead_lettered"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.account.faults = tt.faults
				id := r.settle("900000001", outbox.Reply, acting("hello"))
				r.run()
				acts := 0
				for _, c := range r.after(time.Minute) {
					var at, who, what, which string
					if n, _ := fmt.Sscan(c, &at, &who, &what, &which); n == 4 && (what == "add_tag" || what == "send_flow") {
						acts++
					}
				}
				if acts != tt.acts {
					t.Errorf("%d calls for actions, want %d", acts, tt.acts)
				}
				r.wantEnd(id, tt.status, tt.reason, tt.became...)
			})
		})
	}
}

// Holds docs/spec/05-delivery.md, "Outbox": a mark set before the first action keeps a row
// that is claimed again from making them twice; without it they are made yet, unless the text
// went out more than an hour ago.
func TestActionsAreMadeOnce(t *testing.T) {
	sent := func(p *outbox.Payload) { p.Sent, p.SaidAt = 1, time.Now() }
	marked := func(p *outbox.Payload) { p.Acting = true }
	performed := []string{"keen performed", "brochure performed"}
	lost := []string{"keen failed: outcome unknown", "brochure failed: outcome unknown"}
	late := []string{"keen failed: not started in time", "brochure failed: not started in time"}
	made := []string{" 900000001 add_tag keen", " 900000001 send_flow brochure"}
	tests := []struct {
		name   string
		before []func(*outbox.Payload)
		late   time.Duration
		want   []string
		became []string
	}{
		{"died before the mark", []func(*outbox.Payload){sent}, 0, made, performed},
		{"died before the mark, an hour ago", []func(*outbox.Payload){sent}, time.Hour, made, performed},
		{"died before the mark, hours ago", []func(*outbox.Payload){sent}, 3 * time.Hour, nil, late},
		{"died behind the mark, hours ago", []func(*outbox.Payload){sent, marked}, 3 * time.Hour, nil, lost},
		{"died behind the mark", []func(*outbox.Payload){sent, marked}, 0, nil, lost},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				id := r.settle("900000001", outbox.Reply, acting("hello"))
				r.dies(tt.before...)
				time.Sleep(tt.late)
				r.run()
				var want []string
				for _, w := range tt.want {
					want = append(want, tt.late.String()+w)
				}
				r.want(r.after(time.Minute), want...)
				r.wantEnd(id, outbox.Delivered, "", tt.became...)
			})
		})
	}
}

// Holds docs/spec/05-delivery.md, "Outbox": the mark is in the database before the first
// request, and a worker that cannot write it makes none.
func TestActionsWaitForTheMark(t *testing.T) {
	inBubble(t, func(r *rig) {
		var marked bool
		var id string
		r.account.acting = func(context.Context) { marked = r.row(id).Payload.Acting }
		id = r.settle("900000001", outbox.Reply, acting("hello"))
		r.run()
		r.after(time.Minute)
		if !marked {
			t.Error("the row was not marked when its actions were made")
		}
		r.wantEnd(id, outbox.Delivered, "", "keen performed", "brochure performed")
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": the row is delivering until its actions ended,
// so that the contact's next reply follows them, while other contacts go on; and on stop
// what is in hand is finished.
func TestWhileActionsAreMade(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.account.acting = func(context.Context) { time.Sleep(20 * time.Second) }
		first := r.settle("900000001", outbox.Reply, acting("hello"))
		r.run()
		r.after(time.Second)
		r.queue("900000001", "next")
		r.queue("900000002", "other")
		r.want(r.after(10 * time.Second)[2:], "1s 900000002 write ai_message=other", "1s 900000002 flow content1 shows other")
		if row := r.row(first); row.Status != outbox.Delivering {
			t.Errorf("row is %s while its actions are made", row.Status)
		}
		r.stop()
		<-r.stopped
		synctest.Wait()
		r.want(r.after(0)[4:], "20s 900000001 add_tag keen", "20s 900000001 send_flow brochure")
		r.wantEnd(first, outbox.Delivered, "", "keen performed", "brochure performed")
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": actions that hang hold up the contact's next
// reply for a minute at most.
func TestActionsThatHang(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.account.acting = func(ctx context.Context) { <-ctx.Done() }
		id := r.settle("900000001", outbox.Reply, acting("hello"))
		r.queue("900000001", "next")
		r.run()
		r.want(r.after(5 * time.Minute)[2:], "1m0s 900000001 write ai_message=next", "1m0s 900000001 flow content1 shows next")
		r.wantEnd(id, outbox.Delivered, "", "keen failed: outcome unknown", "brochure failed: outcome unknown")
	})
}

// Holds docs/spec/07-tools.md, "Performing": the text is the reply of record. What breaks
// while its actions are made does not bring it again.
func TestActionsThatPanic(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.account.acting = func(context.Context) { panic("no such tool") }
		id := r.settle("900000001", outbox.Reply, acting("hello"))
		r.run()
		r.want(r.after(time.Minute), "0s 900000001 write ai_message=hello", "0s 900000001 flow content1 shows hello")
		r.wantEnd(id, outbox.Delivered, "", "keen failed: outcome unknown", "brochure failed: outcome unknown")
	})
}

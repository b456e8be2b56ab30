package outbox_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
)

// actions are what a test has happen; texts and tokens are the rig's.
type actions struct {
	*account
	notify func(row outbox.Row, part action.Pending) error
}

func (a actions) Notify(ctx context.Context, row outbox.Row, part action.Pending) error {
	if err := a.notify(row, part); err != nil {
		return err
	}
	return a.account.Notify(ctx, row, part)
}

// receives has webhooks received by somebody else than ManyChat.
func (r *rig) receives(receive func() error) {
	r.t.Helper()
	r.work(actions{r.account, func(_ outbox.Row, part action.Pending) error {
		if part.ID == action.NoticeWebhook {
			return receive()
		}
		return nil
	}}, 12)
}

// of are the calls of one contact.
func of(calls []string, contact string) (all []string) {
	for _, c := range calls {
		if strings.Contains(c, " "+contact+" ") {
			all = append(all, c)
		}
	}
	return all
}

// Holds docs/spec/05-delivery.md, "Outbox": a receiver that hangs holds up nobody's tag, however
// many webhooks of whomever are queued for it.
func TestHangingWebhookHoldsUpNoTag(t *testing.T) {
	inBubble(t, func(r *rig) {
		var posts atomic.Int64
		r.receives(func() error {
			posts.Add(1)
			time.Sleep(10 * time.Second)
			return errDisk
		})
		for range 100 {
			r.settle("900000001", outbox.HandoffNotice, notice("webhook"))
		}
		r.run()
		r.after(25 * time.Second)
		if n := posts.Load(); n > 8*2 { // a post waits 10 s, and the receiver is left alone for 10 s behind it
			t.Errorf("%d posts within 25 s to a receiver that hangs", n)
		}
		for i := range 20 {
			who, queued := fmt.Sprintf("9000001%02d", i), time.Since(r.account.start)
			r.settle(who, outbox.HandoffNotice, notice("tag"))
			r.want(of(r.after(time.Second), who), fmt.Sprintf("%v %s notice tag", queued, who))
		}
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": a webhook that waits for a place has not been
// attempted, and all are posted once the receiver works again.
func TestWebhooksBehindAReceiverThatHung(t *testing.T) {
	inBubble(t, func(r *rig) {
		var works atomic.Bool
		r.receives(func() error {
			if !works.Load() {
				time.Sleep(10 * time.Second)
				return errDisk
			}
			return nil
		})
		var ids []string
		for i := range 40 {
			ids = append(ids, r.settle(fmt.Sprintf("9000001%02d", i), outbox.HandoffNotice, notice("webhook"))+" webhook")
		}
		r.run()
		r.after(10 * time.Minute)
		attempts := 0
		for _, id := range ids {
			if row := r.row(id); row.Status == outbox.Dead {
				t.Fatalf("row %s is dead: %s", id, row.LastError)
			} else {
				attempts += row.Attempts
			}
		}
		if attempts > 8*31 { // two in a minute for each of 8 places
			t.Errorf("%d attempts are counted within 10 minutes", attempts)
		}
		works.Store(true)
		r.after(6 * time.Minute)
		for _, id := range ids {
			if row := r.row(id); row.Status != outbox.Delivered {
				t.Errorf("row %s is %s, due %v", id, row.Status, time.Until(row.NextAttemptAt))
			}
		}
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": a receiver that is slow and works, or that refuses
// at once, is not left alone.
func TestReceiversThatDoNotHang(t *testing.T) {
	tests := []struct {
		name string
		took time.Duration
		err  error
		at   time.Duration // the second is posted within
	}{
		{"slow and works", 5 * time.Second, nil, 0},
		{"fails at once", 0, hooked{status: 503}, 0},
		{"fails late", 5 * time.Second, hooked{status: 503}, 10 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				var mu sync.Mutex
				var posts []time.Time
				r.receives(func() error {
					mu.Lock()
					posts = append(posts, time.Now())
					mu.Unlock()
					time.Sleep(tt.took)
					return tt.err
				})
				r.run()
				r.settle("900000001", outbox.HandoffNotice, notice("webhook"))
				r.after(tt.took + time.Second)
				queued := time.Now()
				r.settle("900000002", outbox.HandoffNotice, notice("webhook"))
				r.after(time.Minute)
				mu.Lock()
				defer mu.Unlock()
				if len(posts) < 2 || posts[1].Sub(queued) > tt.at || tt.at > 0 && posts[1].Sub(queued) < tt.at/2 {
					t.Errorf("queued at %v, posted %v", queued, posts)
				}
			})
		})
	}
}

// Holds docs/spec/05-delivery.md, "Outbox": a receiver that panics our side keeps no place.
func TestPostsThatPanic(t *testing.T) {
	inBubble(t, func(r *rig) {
		var panics atomic.Int64
		r.receives(func() error {
			if panics.Add(1) <= 20 {
				panic("no such host")
			}
			return nil
		})
		id := ""
		for range 20 {
			id = r.settle("900000001", outbox.HandoffNotice, notice("webhook")) + " webhook"
		}
		r.run()
		r.after(time.Minute)
		r.wantEnd(id, outbox.Delivered, "", "webhook performed")
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": contacts wait for each other only at ManyChat's own
// limits. Actions that hang, of however many contacts, hold up no other contact's reply.
func TestActionsTakeNoRoomOfReplies(t *testing.T) {
	for _, n := range []int{32, 64, 99} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.account.acting = func(ctx context.Context) { <-ctx.Done() }
				for i := range n {
					r.settle(fmt.Sprintf("9000001%02d", i), outbox.Reply, acting("hello"))
				}
				r.run()
				for i := range 30 {
					who, queued := fmt.Sprintf("9000002%02d", i), time.Since(r.account.start)
					r.queue(who, "hello")
					r.want(of(r.after(time.Second), who), fmt.Sprintf("%v %s write ai_message=hello", queued, who), fmt.Sprintf("%v %s flow content1 shows hello", queued, who))
				}
			})
		})
	}
}

// Holds docs/spec/07-tools.md, "Performing": actions for which there is no place are made when
// there is, once, behind the text and before the contact's next reply.
func TestActionsThatWaitForAPlace(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.account.acting = func(context.Context) { time.Sleep(20 * time.Second) }
		var rows []string
		for i := range 70 {
			rows = append(rows, r.settle(fmt.Sprintf("9000001%02d", i), outbox.Reply, acting("hello")))
		}
		last := rows[len(rows)-1]
		r.queue("900000169", "next")
		r.run()
		r.after(15 * time.Second)
		if row := r.row(last); row.Attempts > 1 || row.Payload.Sent != 1 || row.Payload.Acting || row.Status.Final() {
			t.Errorf("row is %+v", row)
		}
		got := of(r.after(2*time.Minute), "900000169")
		for i, want := range []string{"write ai_message=hello", "flow content1 shows hello", "add_tag keen", "send_flow brochure", "write ai_message=next", "flow content1 shows next"} {
			if len(got) != 6 || !strings.HasSuffix(got[i], want) {
				t.Fatalf("calls are %q, want %q in place %d", got, want, i)
			}
		}
		for _, id := range rows {
			r.wantEnd(id, outbox.Delivered, "", "keen performed", "brochure performed")
		}
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": on stop, a worker finishes the actions that have
// begun; those that wait for a place are made after the next start.
func TestStopFinishesActionsThatGavePlace(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.account.acting = func(context.Context) { time.Sleep(20 * time.Second) }
		var rows []string
		for i := range 33 {
			rows = append(rows, r.settle(fmt.Sprintf("9000001%02d", i), outbox.Reply, acting("hello")))
		}
		r.run()
		r.after(time.Second)
		r.stop()
		<-r.stopped
		if took := time.Since(r.account.start); took != 20*time.Second {
			t.Errorf("the worker stopped after %v", took)
		}
		ended := 0
		for _, id := range rows {
			if row := r.row(id); row.Status == outbox.Delivered {
				r.wantEnd(id, outbox.Delivered, "", "keen performed", "brochure performed")
				ended++
			} else {
				r.wantEnd(id, outbox.Pending, "", "keen staged", "brochure staged")
			}
		}
		if ended != 30 { // 60 actions
			t.Errorf("%d rows ended, want 30", ended)
		}
	})
}

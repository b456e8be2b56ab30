package outbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// refuses has the account refuse the API key while the switch is on.
func (r *rig) refuses() *atomic.Bool {
	var on atomic.Bool
	r.account.judges = func(string) error {
		if on.Load() {
			return failure(manychat.KindUnauthorized, 401)
		}
		return nil
	}
	return &on
}

// alarms has the rig note what operators are told of the key, and its log.
func (r *rig) alarms() (told *[]string, log *bytes.Buffer) {
	told, log = new([]string), new(bytes.Buffer)
	r.change = func(cfg *outbox.Config) {
		cfg.Log = slog.New(slog.NewTextHandler(log, nil))
		cfg.Refused = func(on bool) { *told = append(*told, fmt.Sprint(time.Since(r.account.start), " ", on)) }
	}
	r.work(r.account, 3)
	return told, log
}

// Holds docs/spec/05-delivery.md, "Outbox", Retry: a 401 stops the worker. Of all rows the head
// alone is tried every minute, none is attempted otherwise or dies, operators are told once, and
// the first success lets everything go at once.
func TestRefusedKeyStopsTheWorker(t *testing.T) {
	inBubble(t, func(r *rig) {
		told, log := r.alarms()
		refuses := r.refuses()
		refuses.Store(true)
		var ids []string
		for i := range 100 {
			ids = append(ids, r.queue(fmt.Sprintf("9000001%02d", i), "hello"))
			time.Sleep(time.Millisecond)
		}
		r.settle("900000300", outbox.ContactToken, outbox.Payload{Generation: 1})
		notice := r.settle("900000301", outbox.HandoffNotice, notice("tag"))
		r.run()
		first := len(r.after(30 * time.Second))
		if first > 32+2 {
			t.Errorf("%d calls until the worker stopped", first)
		}
		r.queue("900000302", "written meanwhile")
		got := r.after(50*time.Minute - 30*time.Second)[first:]
		if len(got) != 50 {
			t.Errorf("%d calls within 50 minutes, want one a minute", len(got))
		}
		for i, c := range got {
			if want := fmt.Sprintf("%v 900000100 write ai_message=hello FAILS", time.Duration(i+1)*time.Minute+100*time.Millisecond); c != want {
				t.Fatalf("call %d is %q, want %q", i, c, want)
			}
		}
		for _, id := range append(ids, notice+" tag") {
			if row := r.row(id); row.Status != outbox.Pending || row.Attempts != 0 {
				t.Fatalf("row %s is %s after %d attempts", id, row.Status, row.Attempts)
			}
		}
		refuses.Store(false)
		r.after(time.Minute)
		for _, id := range append(ids, notice+" tag") {
			if row := r.row(id); row.Status != outbox.Delivered {
				t.Fatalf("row %s is %s", id, row.Status)
			}
		}
		if d := cmp.Diff([]string{"100ms true", "51m0.1s false"}, *told); d != "" {
			t.Errorf("operators were told (-want +got):\n%s", d)
		}
		if n := strings.Count(log.String(), "refuses the API key"); n != 1 {
			t.Errorf("%d log lines say that the key is refused, want 1", n)
		}
	})
}

// Holds docs/spec/05-delivery.md, "Outbox", Retry: the head row may be one that tells nothing of
// the key, or that dies for another reason; the next is tried at once.
func TestHeadThatTellsNothing(t *testing.T) {
	inBubble(t, func(r *rig) {
		told, _ := r.alarms()
		refuses := r.refuses()
		refuses.Store(true)
		r.settle("900000001", outbox.HandoffNotice, notice("tag"))
		r.run()
		r.after(time.Second)
		r.settle("900000002", outbox.HandoffNotice, notice("webhook"))
		stale := r.queue("900000003", "hello")
		time.Sleep(2 * time.Hour)
		if row := r.row(stale); row.Reason != outbox.ReasonStale {
			t.Errorf("row is %s (%s)", row.Status, row.Reason)
		}
		refuses.Store(false)
		r.settle("900000004", outbox.HandoffNotice, notice("tag"))
		r.after(time.Minute)
		if len(*told) != 2 {
			t.Errorf("operators were told %q", *told)
		}
	})
}

// Holds docs/spec/05-delivery.md, "Outbox", Retry: actions of a reply that was said wait for the
// key as well.
func TestActionsWaitForTheKey(t *testing.T) {
	inBubble(t, func(r *rig) {
		refuses := r.refuses()
		r.account.takes = time.Second
		said := r.settle("900000001", outbox.Reply, acting("hello"))
		r.run()
		r.after(500 * time.Millisecond)
		r.queue("900000002", "meets the 401") // its write is asked at 0.5 s and answered at 1.5 s
		r.after(700 * time.Millisecond)
		refuses.Store(true)
		r.after(400 * time.Millisecond)
		refuses.Store(false)
		r.after(30 * time.Second)
		r.wantEnd(said, outbox.Pending, "", "keen staged", "brochure staged")
		r.after(2 * time.Minute)
		r.wantEnd(said, outbox.Delivered, "", "keen performed", "brochure performed")
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": a process that may have lost its rows to another
// begins no text, token, notice or action, and goes on when it holds them again.
func TestProcessThatIsNotAlive(t *testing.T) {
	inBubble(t, func(r *rig) {
		var dead atomic.Bool
		r.change = func(cfg *outbox.Config) { cfg.Alive = func() bool { return !dead.Load() } }
		r.work(r.account, 3)
		r.account.takes = time.Second
		said := r.settle("900000001", outbox.Reply, acting("one"))
		r.run()
		r.after(500 * time.Millisecond)
		dead.Store(true)
		r.queue("900000002", "hello")
		r.settle("900000003", outbox.HandoffNotice, notice("tag"))
		claims := r.store.claims.Load()
		got := r.after(10 * time.Minute)
		r.want(got, "1s 900000001 write ai_message=one", "2s 900000001 flow content1 shows one") // the text in hand
		if n := r.store.claims.Load() - claims; n != 0 {
			t.Errorf("%d claims", n)
		}
		if row := r.row(said); row.Status != outbox.Pending || row.Attempts != 0 || row.Owner != "" {
			t.Errorf("row is %s, %d attempts, owner %q", row.Status, row.Attempts, row.Owner)
		}
		dead.Store(false)
		if got := r.after(time.Minute); len(got) != 2+2+2+1 {
			t.Errorf("calls %q", got)
		}
		r.wantEnd(said, outbox.Delivered, "", "keen performed", "brochure performed")
	})
}

// unknownStore is a store whose claims are made and reported as failed, once.
type unknownStore struct {
	outbox.Store
	lose atomic.Int64
}

var errUnknown = errors.New("whether it was committed is unknown")

func (s *unknownStore) Claim(ctx context.Context, c outbox.Claim) ([]outbox.Row, error) {
	rows, err := s.Store.Claim(ctx, c)
	if err == nil && len(rows) > 0 && s.lose.Add(-1) >= 0 {
		return nil, errUnknown
	}
	return rows, err
}

// Holds docs/spec/05-delivery.md, "Outbox": rows that a claim took whose answer was lost are
// delivered all the same, by the same process, also at a stop.
func TestClaimOfUnknownOutcome(t *testing.T) {
	tests := []struct {
		name string
		lose int64
		stop time.Duration
	}{
		{"one claim", 1, 0}, {"several claims", 3, 0}, {"the last before a stop", 1, 100 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				lossy := &unknownStore{Store: r.db}
				r.change = func(cfg *outbox.Config) { cfg.Store = lossy }
				r.work(r.account, 3)
				lossy.lose.Store(tt.lose)
				r.run()
				id := r.queue("900000001", "hello")
				if tt.stop > 0 {
					r.after(tt.stop)
					r.stop()
					<-r.stopped
					if row := r.row(id); row.Status != outbox.Pending || row.Owner != "" || row.Attempts != 0 {
						t.Fatalf("after the stop row is %s of %q, %d attempts", row.Status, row.Owner, row.Attempts)
					}
					r.run()
				}
				if got := r.after(10 * time.Second); len(got) != 2 {
					t.Errorf("calls %q", got)
				}
				if row := r.row(id); row.Status != outbox.Delivered || row.Attempts != 1 {
					t.Errorf("row is %s after %d attempts", row.Status, row.Attempts)
				}
			})
		})
	}
}

// Holds docs/spec/05-delivery.md, "Outbox": what a process holds and nobody works on is given
// back within a minute or so, and what it works on is left alone, however long that takes.
func TestWhatNobodyWorksOn(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.account.acting = func(context.Context) { time.Sleep(50 * time.Second) }
		slow := r.settle("900000001", outbox.Reply, acting("one"))
		r.run()
		r.after(time.Second)
		held := r.queue("900000002", "claimed late")
		if _, err := r.db.Claim(context.Background(), outbox.Claim{
			Owner: "p1/7777", Now: time.Now(), Gap: gap, Room: map[outbox.Kind]int{outbox.Reply: 10},
		}); err != nil {
			t.Fatal(err)
		}
		r.after(2*time.Minute + 5*time.Second)
		r.wantEnd(slow, outbox.Delivered, "", "keen performed", "brochure performed")
		if row := r.row(held); row.Status != outbox.Delivered {
			t.Errorf("row is %s of %q", row.Status, row.Owner)
		}
	})
}

// Holds docs/spec/05-delivery.md, "ManyChat client": 100 flows per contact and hour. What goes
// over waits without being asked for, and nobody else waits for it.
func TestFlowLimitOfAContact(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.change = func(cfg *outbox.Config) { cfg.MaxAge = 6 * time.Hour }
		r.work(r.account, 3)
		id := r.queue("900000001", strings.Split(strings.Repeat("text ", 104), " ")[:104]...)
		r.run()
		r.after(50 * time.Minute)
		r.account.mu.Lock()
		sent := len(r.account.calls)
		r.account.mu.Unlock()
		if sent != 2*100 {
			t.Errorf("%d calls, want 200", sent)
		}
		claims := r.store.claims.Load()
		r.queue("900000002", "of another contact")
		r.after(5 * time.Minute)
		if n := r.store.claims.Load() - claims; n > 10 {
			t.Errorf("%d claims in 5 minutes", n)
		}
		if row := r.row(id); row.Status != outbox.Pending || row.Payload.Sent != 100 || !strings.Contains(row.LastError, "flows of the hour") {
			t.Errorf("row is %s with %d sent: %q", row.Status, row.Payload.Sent, row.LastError)
		}
		r.after(17*time.Minute + 10*time.Second) // 72 in all, and ten seconds for four texts
		if got := len(r.after(0)); got != 2*104+2 {
			t.Errorf("%d calls, want 210", got)
		}
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": what was certainly not sent is not counted for the
// contact's limit.
func TestUnsentFlowsAreNotCounted(t *testing.T) {
	unsent := &manychat.Error{Kind: manychat.KindTimeout, Endpoint: "sendFlow"}
	server := failure(manychat.KindServer, 500)
	tests := []struct {
		name   string
		faults []error
		want   string
	}{
		{"delivered", nil, "1"},
		{"its field was not written", []error{server, server}, "1"},
		{"the trigger found no slot", []error{nil, unsent}, "1"},
		{"the trigger failed at ManyChat", []error{nil, server}, "2"},
		{"the key was refused", []error{failure(manychat.KindUnauthorized, 401)}, "1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.account.faults = tt.faults
				id := r.queue("900000001", "hello")
				r.run()
				r.after(2 * time.Minute)
				var flows string
				if err := r.db.Read().QueryRow("SELECT sum(flows) FROM flow_slots").Scan(&flows); err != nil || flows != tt.want {
					t.Errorf("%s flows are counted, want %s; %v", flows, tt.want, err)
				}
				r.wantEnd(id, outbox.Delivered, "")
			})
		})
	}
}

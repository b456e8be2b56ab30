package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/token"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
	"github.com/manychat-agent/manychat-agent/manychat"
)

const gap = 2 * time.Second

// account is ManyChat as the worker sees it: it keeps a log of the calls, holds each
// contact's reply field, and fails as it is told.
type account struct {
	mu     sync.Mutex
	start  time.Time
	calls  []string
	fields map[string]string
	faults []error                 // of the calls to come, one each; nil: the call works
	takes  time.Duration           // every call
	acting func(context.Context)   // what else happens while actions are performed
	judges func(line string) error // of every call for which there is no fault; nil: all work
}

func (a *account) SetCustomFieldByName(_ context.Context, subscriber, field string, value any) error {
	return a.call(fmt.Sprintf("%s write %s=%v", subscriber, field, value), func() { a.fields[subscriber] = fmt.Sprint(value) })
}

// WriteToken shows which token was written only by its place.
func (a *account) WriteToken(_ context.Context, subscriber contact.SubscriberID, token string) error {
	return a.call(fmt.Sprintf("%s token", subscriber), func() { a.fields["token of "+string(subscriber)] = token })
}

func (a *account) SendFlow(_ context.Context, subscriber, flow string) error {
	var text string
	a.mu.Lock()
	text = a.fields[subscriber]
	a.mu.Unlock()
	return a.call(fmt.Sprintf("%s flow %s shows %s", subscriber, flow, text), func() {})
}

func (a *account) call(line string, do func()) error {
	a.mu.Lock()
	takes := a.takes
	a.mu.Unlock()
	time.Sleep(takes)
	a.mu.Lock()
	defer a.mu.Unlock()
	var err error
	if len(a.faults) > 0 {
		err, a.faults = a.faults[0], a.faults[1:]
	} else if a.judges != nil {
		err = a.judges(line)
	}
	if err != nil {
		line += " FAILS"
	} else {
		do()
	}
	a.calls = append(a.calls, fmt.Sprintf("%v %s", time.Since(a.start), line))
	return err
}

// faultyStore is the real store, whose writes fail while it is broken.
type faultyStore struct {
	outbox.Store
	broken atomic.Bool
	claims atomic.Int64
	late   atomic.Int64 // the next release is made, and reported as failed so much later
}

var errDisk = errors.New("the disk is full")

func (s *faultyStore) Claim(ctx context.Context, c outbox.Claim) ([]outbox.Row, error) {
	s.claims.Add(1)
	if s.broken.Load() {
		return nil, errDisk
	}
	return s.Store.Claim(ctx, c)
}

func (s *faultyStore) Progress(ctx context.Context, row outbox.Row, at time.Time) error {
	if s.broken.Load() {
		return errDisk
	}
	return s.Store.Progress(ctx, row, at)
}

func (s *faultyStore) Release(ctx context.Context, row outbox.Row, ended []action.Ended) error {
	if s.broken.Load() {
		return errDisk
	}
	if d := s.late.Swap(0); d > 0 {
		if err := s.Store.Release(ctx, row, ended); err != nil {
			return err
		}
		time.Sleep(time.Duration(d))
		return errDisk
	}
	return s.Store.Release(ctx, row, ended)
}

// rig is a worker over a real database in a synctest bubble.
type rig struct {
	t       *testing.T
	db      *store.DB
	store   *faultyStore
	account *account
	sender  outbox.Sender
	worker  *outbox.Worker
	stop    context.CancelFunc
	stopped chan struct{}
	change  func(*outbox.Config) // of what a test configures itself; nil: nothing
	turns   int
	held    func(outbox.Row) (outbox.Status, error) // nil: every row may go out
}

func (r *rig) heldBy(_ context.Context, row outbox.Row) (outbox.Status, error) {
	if r.held == nil {
		return "", nil
	}
	return r.held(row)
}

func inBubble(t *testing.T, test func(*rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db, err := store.Open(t.Context(), store.Options{
			URL: "sqlite:" + filepath.Join(t.TempDir(), "agent.db"), Now: time.Now,
		})
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{t: t, db: db, account: &account{start: time.Now(), fields: map[string]string{}}}
		r.store, r.sender = &faultyStore{Store: db}, r.account
		r.work(r.account, 3)
		test(r)
		if r.stop != nil {
			r.stop()
			<-r.stopped
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// work makes the worker.
func (r *rig) work(acts outbox.Actions, maxAttempts int) {
	r.t.Helper()
	cfg := outbox.Config{
		Store: r.store, Sender: r.sender, Tokens: r.tokens(), Actions: acts, Held: r.heldBy, Owner: func() string { return "p1" }, Field: "ai_message", Flow: "content1", Gap: gap,
		MaxAttempts: maxAttempts, MaxAge: time.Hour, Now: time.Now, Jitter: func(d time.Duration) time.Duration { return d },
		Log: slog.New(slog.DiscardHandler),
	}
	if r.change != nil {
		r.change(&cfg)
	}
	var err error
	if r.worker, err = outbox.NewWorker(cfg); err != nil {
		r.t.Fatal(err)
	}
}

// queue writes a settled turn of a contact whose reply waits in the outbox, due now.
func (r *rig) queue(subscriber string, texts ...string) string {
	return r.settle(subscriber, outbox.Reply, outbox.Payload{Texts: texts})
}

// settle writes a settled turn of a contact with a row that is due now; the row's actions
// are the turn's. Of a notice each action has a row, and its id behind the returned one.
func (r *rig) settle(subscriber string, kind outbox.Kind, carries outbox.Payload) string {
	r.t.Helper()
	r.turns++
	id, ctx := fmt.Sprintf("turn-%d", r.turns), context.Background()
	key := contact.Key{TenantID: "test", Channel: contact.WhatsApp, SubscriberID: contact.SubscriberID(subscriber)}
	rec, err := r.db.Record(ctx, turn.Arrival{TurnID: id, Key: key, Owner: "p1", Text: "hi", ReceivedAt: time.Now()})
	if err != nil {
		r.t.Fatal(err)
	}
	done := rec.Turn
	done.Outcome, done.Path, done.Replies, done.SettledAt = conversation.Answered, conversation.Outbox, carries.Texts, time.Now()
	for _, a := range carries.Actions {
		done.Actions = append(done.Actions, action.Record{Tool: a.Tool, ID: a.ID, Status: action.Staged})
	}
	row := outbox.Row{
		ID: "row-" + id, ConversationID: done.ConversationID, Key: key, TurnID: id, Kind: kind, Seq: done.Seq,
		Payload: carries, Status: outbox.Pending, NextAttemptAt: time.Now(), CreatedAt: time.Now(),
	}
	s := turn.Settlement{Turn: done, Row: &row}
	if kind == outbox.HandoffNotice {
		s.Turn.Outcome, s.Turn.Path, s.Turn.Reason = conversation.Escalated, conversation.Silent, conversation.OutOfScope
		s.Row = nil
		for i, part := range carries.Actions {
			n := row
			n.ID, n.Part, n.Payload = row.ID+" "+part.ID, i, outbox.Payload{Actions: []action.Pending{part}}
			s.Notices = append(s.Notices, n)
		}
	}
	if err := r.db.Settle(ctx, s); err != nil {
		r.t.Fatal(err)
	}
	r.worker.Wake()
	return row.ID
}

// tokens writes into the account's field for them.
func (r *rig) tokens() *token.Keeper {
	r.t.Helper()
	k, err := token.NewKeeper(token.Config{Store: r.db, Writer: r.account, Count: func(string) {}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		r.t.Fatal(err)
	}
	return k
}

// run starts the worker.
func (r *rig) run() {
	ctx, cancel := context.WithCancel(context.Background())
	r.stop, r.stopped = cancel, make(chan struct{})
	go func() {
		defer close(r.stopped)
		r.worker.Run(ctx)
	}()
}

// after lets time pass and then returns what the account saw.
func (r *rig) after(d time.Duration) []string {
	time.Sleep(d)
	synctest.Wait()
	r.account.mu.Lock()
	defer r.account.mu.Unlock()
	return append([]string(nil), r.account.calls...)
}

func (r *rig) row(id string) outbox.Row {
	r.t.Helper()
	row, err := r.db.OutboxRow(context.Background(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	return row
}

func (r *rig) want(got []string, want ...string) {
	r.t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		r.t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// Holds docs/spec/05-delivery.md, "A deferred reply is two calls per message".
func TestTwoCallsPerText(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.run()
		id := r.queue("900000001", "one", "two")
		r.want(r.after(10*time.Second),
			"0s 900000001 write ai_message=one",
			"0s 900000001 flow content1 shows one",
			"2s 900000001 write ai_message=two",
			"2s 900000001 flow content1 shows two")
		if row := r.row(id); row.Status != outbox.Delivered || row.Payload.Sent != 2 || row.Attempts != 1 {
			t.Errorf("row is %s with %d sent after %d attempts", row.Status, row.Payload.Sent, row.Attempts)
		}
	})
}

// Holds docs/spec/05-delivery.md, "A deferred reply is two calls per message": the
// contacts of one batch never see each other's text.
func TestOneBatchNeverCrosses(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.account.takes = 10 * time.Millisecond
		for i := range 20 {
			r.queue(fmt.Sprintf("9000000%02d", i), fmt.Sprintf("text for %02d", i))
		}
		r.run()
		shown := map[string]string{}
		for _, c := range r.after(10 * time.Second) {
			if who, text, ok := strings.Cut(c, " flow content1 shows "); ok {
				shown[who[strings.LastIndex(who, " ")+1:]] = text
			}
		}
		for i := range 20 {
			if got, want := shown[fmt.Sprintf("9000000%02d", i)], fmt.Sprintf("text for %02d", i); got != want {
				t.Errorf("contact %02d was shown %q", i, got)
			}
		}
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": order and pacing.
func TestOrderAndPacingOfOneContact(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.queue("900000001", "first")
		r.queue("900000001", "second")
		r.queue("900000002", "other")
		r.run()
		got := r.after(10 * time.Second)
		var flows []string
		for _, c := range got {
			if strings.Contains(c, "flow") && strings.Contains(c, "900000001") {
				flows = append(flows, c)
			}
		}
		r.want(flows, "0s 900000001 flow content1 shows first", "2s 900000001 flow content1 shows second")
		if len(got) != 6 {
			t.Errorf("%d calls, want 6: %q", len(got), got)
		}
	})
}

func failure(kind manychat.Kind, status int) error {
	return &manychat.Error{Kind: kind, Status: status, Endpoint: "sendFlow", Object: "content1", Message: "no"}
}

// Holds docs/spec/05-delivery.md, "Outbox": retry, dead letters, and "A deferred reply
// is two calls per message": the field is written again before every trigger.
func TestFailures(t *testing.T) {
	server := failure(manychat.KindServer, 500)
	rejected := failure(manychat.KindRejected, 400)
	lost := &manychat.Error{Kind: manychat.KindTimeout, Endpoint: "sendFlow", Written: true}
	limited := &manychat.Error{Kind: manychat.KindRateLimited, Status: 429, RetryAfter: 40 * time.Second}
	unauthorized := failure(manychat.KindUnauthorized, 401)
	const enough = 4*time.Minute + time.Second
	const write, flow = " 900000001 write ai_message=hello", " 900000001 flow content1 shows hello"
	tests := []struct {
		name   string
		faults []error
		want   []string
		status outbox.Status
		reason outbox.Reason
		tries  int
	}{
		{"field fails once", []error{server},
			[]string{"0s" + write + " FAILS", "2s" + write, "2s" + flow}, outbox.Delivered, "", 2},
		{"trigger fails once", []error{nil, server},
			[]string{"0s" + write, "0s" + flow + " FAILS", "2s" + write, "2s" + flow}, outbox.Delivered, "", 2},
		{"backs off until attempts are used up", []error{server, server, server},
			[]string{"0s" + write + " FAILS", "2s" + write + " FAILS", "6s" + write + " FAILS"}, outbox.Dead, outbox.ReasonExhausted, 3},
		{"rejected field", []error{rejected},
			[]string{"0s" + write + " FAILS"}, outbox.Dead, outbox.ReasonRejected, 1},
		{"rejected flow", []error{nil, rejected},
			[]string{"0s" + write, "0s" + flow + " FAILS"}, outbox.Dead, outbox.ReasonRejected, 1},
		{"trigger's answer lost once", []error{nil, lost},
			[]string{"0s" + write, "0s" + flow + " FAILS", "2s" + write, "2s" + flow}, outbox.Delivered, "", 2},
		{"trigger's answer lost twice", []error{nil, lost, nil, lost},
			[]string{"0s" + write, "0s" + flow + " FAILS", "2s" + write, "2s" + flow + " FAILS"}, outbox.Dead, outbox.ReasonUnknown, 2},
		{"retry-after is honoured", []error{limited},
			[]string{"0s" + write + " FAILS", "40s" + write, "40s" + flow}, outbox.Delivered, "", 2},
		{"a refused key keeps the row", []error{unauthorized, unauthorized, unauthorized, unauthorized},
			[]string{"0s" + write + " FAILS", "1m0s" + write + " FAILS", "2m0s" + write + " FAILS", "3m0s" + write + " FAILS", "4m0s" + write, "4m0s" + flow}, outbox.Delivered, "", 1},
		{"an error that is not ManyChat's", []error{errors.New("boom")},
			[]string{"0s" + write + " FAILS", "2s" + write, "2s" + flow}, outbox.Delivered, "", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				r.account.faults = tt.faults
				id := r.queue("900000001", "hello")
				r.run()
				r.want(r.after(enough), tt.want...)
				row := r.row(id)
				if row.Status != tt.status || row.Reason != tt.reason || row.Attempts != tt.tries {
					t.Errorf("row is %s (%s) after %d attempts, want %s (%s) after %d", row.Status, row.Reason, row.Attempts, tt.status, tt.reason, tt.tries)
				}
				if tt.status == outbox.Dead && row.LastError == "" {
					t.Error("the dead letter does not say why")
				}
			})
		})
	}
}

// Holds docs/spec/05-delivery.md, "A deferred reply is two calls per message": a reply
// of several texts goes on where it stopped.
func TestRetryGoesOnWhereItStopped(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.account.faults = []error{nil, nil, nil, failure(manychat.KindServer, 503)}
		id := r.queue("900000001", "one", "two")
		r.run()
		r.want(r.after(time.Minute),
			"0s 900000001 write ai_message=one",
			"0s 900000001 flow content1 shows one",
			"2s 900000001 write ai_message=two",
			"2s 900000001 flow content1 shows two FAILS",
			"4s 900000001 write ai_message=two",
			"4s 900000001 flow content1 shows two")
		if row := r.row(id); row.Status != outbox.Delivered {
			t.Errorf("row is %s", row.Status)
		}
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": stale.
func TestStaleReplyIsNotSent(t *testing.T) {
	inBubble(t, func(r *rig) {
		id := r.queue("900000001", "yesterday's answer")
		time.Sleep(time.Hour + time.Second)
		r.run()
		r.want(r.after(time.Minute))
		if row := r.row(id); row.Status != outbox.Dead || row.Reason != outbox.ReasonStale {
			t.Errorf("row is %s (%s), want dead (stale)", row.Status, row.Reason)
		}
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": on stop, a worker finishes the text in
// hand and gives the rest back.
func TestStopFinishesTheTextInHand(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.account.takes = time.Second
		id := r.queue("900000001", "one", "two")
		r.run()
		r.after(500 * time.Millisecond)
		r.stop()
		<-r.stopped
		r.want(r.after(0), "1s 900000001 write ai_message=one", "2s 900000001 flow content1 shows one")
		if row := r.row(id); row.Status != outbox.Pending || row.Payload.Sent != 1 || row.Attempts != 0 || row.Owner != "" {
			t.Errorf("row is %s with %d sent, %d attempts, owner %q", row.Status, row.Payload.Sent, row.Attempts, row.Owner)
		}
		r.account.calls, r.account.takes = nil, 0
		r.run()
		r.want(r.after(time.Minute)[1:], "4s 900000001 flow content1 shows two")
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": a row whose last text went out before its
// process ended is delivered, and nothing of it is sent again.
func TestEndedBetweenTheLastTextAndItsRelease(t *testing.T) {
	inBubble(t, func(r *rig) {
		id := r.queue("900000001", "one")
		rows, err := r.db.Claim(context.Background(), outbox.Claim{Owner: "dead", Now: time.Now(), Gap: gap, Room: map[outbox.Kind]int{outbox.Reply: 1}})
		if err != nil || len(rows) != 1 {
			t.Fatalf("claimed %d rows, %v", len(rows), err)
		}
		rows[0].Payload.Sent = 1
		if err := r.db.Progress(context.Background(), rows[0], time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, _, err := r.db.TakeOver(context.Background(), sweep.TakeOver{Process: sweep.Process{ID: "p2", TenantID: "test"}, All: true}); err != nil {
			t.Fatal(err)
		}
		r.run()
		r.want(r.after(time.Minute))
		if row := r.row(id); row.Status != outbox.Delivered {
			t.Errorf("row is %s: %s", row.Status, row.LastError)
		}
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": every later write names the owner. A release
// that was made, reported as failed and tried again does not end the row's next hold.
func TestRetriedReleaseDoesNotEndTheNextHold(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.account.faults = []error{failure(manychat.KindServer, 500)}
		r.store.late.Store(int64(3 * time.Second))
		r.run()
		r.queue("900000001", "hello")
		r.after(time.Second)
		r.account.mu.Lock()
		r.account.takes = 5 * time.Second
		r.account.mu.Unlock()
		r.want(r.after(time.Minute),
			"0s 900000001 write ai_message=hello FAILS",
			"7s 900000001 write ai_message=hello",
			"12s 900000001 flow content1 shows hello")
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": pick-up is immediate.
func TestPickUpIsImmediate(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.run()
		r.after(10*time.Second + 300*time.Millisecond)
		r.queue("900000001", "now")
		r.want(r.after(0), "10.3s 900000001 write ai_message=now", "10.3s 900000001 flow content1 shows now")
	})
}

// Holds docs/spec/15-storage.md: an outage of the database delays a contact's replies
// and mutes nobody.
func TestDatabaseOutage(t *testing.T) {
	inBubble(t, func(r *rig) {
		r.account.takes = time.Second
		r.run()
		first := r.queue("900000001", "first")
		r.after(1500 * time.Millisecond) // the text is in hand
		r.store.broken.Store(true)
		r.after(time.Hour)
		if n := r.store.claims.Load(); n > 3700 {
			t.Errorf("%d claims in an hour of outage, want one a second", n)
		}
		r.store.broken.Store(false)
		second := r.queue("900000001", "second")
		var flows []string
		for _, c := range r.after(time.Minute) {
			if strings.Contains(c, "flow") {
				_, text, _ := strings.Cut(c, " shows ")
				flows = append(flows, text)
			}
		}
		r.want(flows, "first", "second")
		for _, id := range []string{first, second} {
			if row := r.row(id); row.Status != outbox.Delivered {
				t.Errorf("row %s is %s", id, row.Status)
			}
		}
	})
}

package store_test

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// processes opens one PostgreSQL database several times.
func processes(t *testing.T, n int) (all []*store.DB) {
	t.Helper()
	url := postgrestest.Open(t)
	for range n {
		all = append(all, open(t, store.Options{URL: url}))
	}
	return all
}

// of is a message of a contact.
func of(subscriber contact.SubscriberID, id string) turn.Arrival {
	a := arrival(id, "hello from "+id) // the same words twice are one message
	a.Key.SubscriberID, a.Window.HistoryLimit, a.ReceivedAt = subscriber, 1000, time.Now()
	return a
}

// Holds docs/spec/15-storage.md: places are in commit order, whichever process records: the first
// runs, and each sees those before it once its time has come.
func TestSeveralProcessesRecord(t *testing.T) {
	const each = 40
	var mu sync.Mutex
	var recorded []turn.Recorded
	var wg sync.WaitGroup
	all := processes(t, 3)
	for p, db := range all {
		for i := range each {
			wg.Go(func() {
				r, err := db.Record(t.Context(), of("700001", fmt.Sprintf("turn-%d-%03d", p, i)))
				if err != nil {
					t.Errorf("Record: %v", err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				recorded = append(recorded, r)
			})
		}
	}
	wg.Wait()
	slices.SortFunc(recorded, func(a, b turn.Recorded) int { return cmp.Compare(a.Turn.Seq, b.Turn.Seq) })
	for i, r := range recorded {
		if r.Turn.Seq != int64(2*i+2) || r.Turn.State == conversation.Running != (i == 0) {
			t.Errorf("turn %d has place %d and is %s", i, r.Turn.Seq, r.Turn.State)
		}
		if i > 0 {
			r = started(t, all[i%3], r)
		}
		if len(r.History) != i {
			t.Errorf("turn at %d sees %d earlier messages, want %d", r.Turn.Seq, len(r.History), i)
		}
		passOver(t, all[i%3], r)
	}
}

// Holds docs/spec/03-turn.md, "Crash recovery": of several processes that settle a turn at once one
// does, and the next reply goes out a gap later, whichever process has it.
func TestSeveralProcessesSettle(t *testing.T) {
	all := processes(t, 3)
	settle := func(r turn.Recorded) (inline int, refused []error) {
		var mu sync.Mutex
		var wg sync.WaitGroup
		r.Turn.Outcome, r.Turn.Path, r.Turn.Replies = conversation.Answered, conversation.Inline, []string{"hi"}
		for i := range 30 {
			wg.Go(func() {
				err := all[i%3].Settle(t.Context(), turn.Settlement{Turn: r.Turn, Gap: time.Hour})
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					inline++
					return
				}
				refused = append(refused, err)
			})
		}
		wg.Wait()
		return inline, refused
	}
	r := recorded(t, all[0], 1, 1)
	inline, refused := settle(r)
	for _, err := range refused {
		if !errors.Is(err, turn.ErrNotOwner) {
			t.Errorf("Settle: %v, want ErrNotOwner", err)
		}
	}
	if inline != 1 {
		t.Errorf("a turn was settled %d times, want 1", inline)
	}
	if err := all[1].Stamp(t.Context(), turn.Stamp{TurnID: r.Turn.ID, ConversationID: r.Turn.ConversationID, At: time.Now()}); err != nil {
		t.Fatal(err)
	}
	inline, refused = settle(recorded(t, all[2], 1, 2))
	for _, err := range refused {
		var soon *turn.TooSoonError
		if !errors.As(err, &soon) {
			t.Errorf("Settle: %v, want a TooSoonError", err)
		}
	}
	if inline != 0 {
		t.Errorf("%d replies went out inside the gap", inline)
	}
}

// crowd is what several workers have in hand.
type crowd struct {
	t         *testing.T
	mu        sync.Mutex
	inHand    map[contact.SubscriberID]string
	last      map[contact.SubscriberID]int64
	delivered map[string]int
}

func (c *crowd) take(r outbox.Row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	who := r.Key.SubscriberID
	if other := c.inHand[who]; other != "" {
		c.t.Errorf("rows %s and %s of contact %s are in hand at once", other, r.ID, who)
	}
	if r.Seq <= c.last[who] {
		c.t.Errorf("row %s of contact %s comes after a later one", r.ID, who)
	}
	c.inHand[who], c.last[who] = r.ID, r.Seq
	c.delivered[r.ID]++
}

func (c *crowd) give(r outbox.Row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.inHand, r.Key.SubscriberID)
}

func (c *crowd) done() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.delivered)
}

// Holds docs/spec/05-delivery.md, "Outbox": no row is two workers', and a contact's are delivered in
// order, while more are queued.
func TestSeveralProcessesClaim(t *testing.T) {
	const contacts, each = 12, 12
	all := processes(t, 3)
	c := newCrowd(t)
	c.work(all, contacts*each, func(contestants *sync.WaitGroup) {
		for i := range contacts {
			contestants.Go(func() { // a contact's turns settle in order, here and there
				for n := range each {
					queueReply(t, all[(i+n)%len(all)], recorded(t, all[0], i, n))
				}
			})
		}
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": a contact has one reply in hand, also when an earlier one
// that is dead is sent again while another process claims a later one.
func TestSeveralProcessesOneInHand(t *testing.T) {
	url := postgrestest.Open(t)
	a, b := open(t, store.Options{URL: url}), open(t, store.Options{URL: url})
	raw := postgrestest.Raw(t, url)
	queueReply(t, a, recorded(t, a, 1, 1))
	first := dead(t, a)
	queueReply(t, a, recorded(t, a, 1, 2))
	resume := holdClaims(t, raw)

	var mu sync.Mutex
	var inHand []string
	var wg sync.WaitGroup
	claim := func(db *store.DB, owner string) {
		rows, err := db.Claim(t.Context(), outbox.Claim{Owner: owner, Now: time.Now(), Room: map[outbox.Kind]int{outbox.Reply: 5}})
		if err != nil {
			t.Errorf("Claim: %v", err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, r := range rows {
			inHand = append(inHand, r.ID)
		}
	}
	wg.Go(func() { claim(a, "worker-a") })
	untilWaiting(t, raw, 1, nil)
	retried := make(chan struct{})
	wg.Go(func() {
		defer close(retried)
		if err := a.RetryOutbox(t.Context(), first); err != nil {
			t.Errorf("RetryOutbox: %v", err)
		}
	})
	untilWaiting(t, raw, 2, retried)
	claimed := make(chan struct{})
	wg.Go(func() { defer close(claimed); claim(b, "worker-b") })
	untilWaiting(t, raw, 3, claimed)
	resume()
	wg.Wait()
	claim(b, "worker-b")
	if len(inHand) != 1 {
		t.Errorf("%d replies of a contact are in hand, want 1", len(inHand))
	}
}

// holdClaims makes claims wait, before they are committed, until they may resume.
func holdClaims(t *testing.T, raw *sql.DB) (resume func()) {
	t.Helper()
	conn, err := raw.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	run := func(statement string) {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Errorf("%s: %v", statement, err)
		}
	}
	run("SELECT pg_advisory_lock(42)")
	run("CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_advisory_xact_lock_shared(42); RETURN NEW; END $$")
	run("CREATE TRIGGER held BEFORE UPDATE ON outbox FOR EACH ROW WHEN (NEW.status = 'delivering') EXECUTE FUNCTION hold()")
	return func() {
		run("SELECT pg_advisory_unlock(42)")
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

// untilWaiting returns when n transactions wait for a lock, or when done is closed.
func untilWaiting(t *testing.T, raw *sql.DB, n int, done <-chan struct{}) {
	t.Helper()
	const query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
	for waiting := 0; waiting < n && !t.Failed(); {
		select {
		case <-done:
			return
		default:
		}
		if err := raw.QueryRowContext(t.Context(), query).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
}

func newCrowd(t *testing.T) *crowd {
	return &crowd{t: t, inHand: map[contact.SubscriberID]string{}, last: map[contact.SubscriberID]int64{}, delivered: map[string]int{}}
}

// work has two workers of every process deliver until so many rows are delivered, while settle starts
// what queues them.
func (c *crowd) work(all []*store.DB, rows int, settle func(contestants *sync.WaitGroup)) {
	c.t.Helper()
	var wg sync.WaitGroup
	settle(&wg)
	for p, db := range all {
		for w := range 2 {
			owner := fmt.Sprintf("worker-%d-%d", p, w)
			wg.Go(func() {
				for c.done() < rows && !c.t.Failed() && c.t.Context().Err() == nil {
					deliver(c.t, db, owner, c)
				}
			})
		}
	}
	wg.Wait()
	for id, n := range c.delivered {
		if n != 1 {
			c.t.Errorf("row %s was in hand %d times", id, n)
		}
	}
}

// recorded is a contact's nth message.
func recorded(t *testing.T, db *store.DB, i, n int) turn.Recorded {
	r, err := db.Record(t.Context(), of(contact.SubscriberID(fmt.Sprint(700_000+i)), fmt.Sprintf("turn-%03d-%03d", i, n)))
	if err != nil {
		t.Errorf("Record: %v", err)
	}
	return r
}

// started starts a turn that waits.
func started(t *testing.T, db *store.DB, r turn.Recorded) turn.Recorded {
	r, err := db.Start(t.Context(), turn.Start{
		TurnID: r.Turn.ID, ConversationID: r.Turn.ConversationID, Owner: r.Turn.Owner, Window: turn.Window{HistoryLimit: 1000},
	})
	if err != nil {
		t.Errorf("Start: %v", err)
	}
	return r
}

// passOver settles a turn in silence.
func passOver(t *testing.T, db *store.DB, r turn.Recorded) {
	r.Turn.Outcome, r.Turn.Path = conversation.Answered, conversation.Silent
	if err := db.Settle(t.Context(), turn.Settlement{Turn: r.Turn}); err != nil {
		t.Errorf("Settle: %v", err)
	}
}

// dead claims the one reply that is due and lets it die.
func dead(t *testing.T, db *store.DB) (id string) {
	t.Helper()
	rows, err := db.Claim(t.Context(), outbox.Claim{Owner: "worker-a", Now: time.Now(), Room: map[outbox.Kind]int{outbox.Reply: 5}})
	if err != nil || len(rows) != 1 {
		t.Fatalf("Claim returned %d rows, %v", len(rows), err)
	}
	rows[0].Status, rows[0].Reason = outbox.Dead, outbox.ReasonRejected
	if err := db.Release(t.Context(), rows[0], nil); err != nil {
		t.Fatal(err)
	}
	return rows[0].ID
}

// queueReply settles a turn with a reply that goes out later.
func queueReply(t *testing.T, db *store.DB, r turn.Recorded) {
	r.Turn.Outcome, r.Turn.Path, r.Turn.Replies = conversation.Answered, conversation.Outbox, []string{"hi"}
	row := outbox.Row{Payload: outbox.Payload{Texts: r.Turn.Replies}}
	if err := db.Settle(t.Context(), turn.Settlement{Turn: r.Turn, Row: &row}); err != nil {
		t.Errorf("Settle: %v", err)
	}
}

// deliver claims and delivers what is due.
func deliver(t *testing.T, db *store.DB, owner string, c *crowd) {
	rows, err := db.Claim(t.Context(), outbox.Claim{Owner: owner, Now: time.Now(), Room: map[outbox.Kind]int{outbox.Reply: 5}})
	if err != nil {
		t.Errorf("Claim: %v", err)
	}
	for _, r := range rows {
		c.take(r)
	}
	for _, r := range rows {
		c.give(r) // before the database knows, which lets others have the next one
		r.Status, r.DeliveredAt = outbox.Delivered, time.Now()
		if err := db.Release(t.Context(), r, nil); err != nil {
			t.Errorf("Release: %v", err)
		}
	}
}

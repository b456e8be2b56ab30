package store_test

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
	a := arrival(id, "hello")
	a.Key.SubscriberID, a.Window.HistoryLimit, a.ReceivedAt = subscriber, 1000, time.Now()
	return a
}

// Holds docs/spec/15-storage.md: places are in commit order, whichever process records.
func TestSeveralProcessesRecord(t *testing.T) {
	const each = 40
	var mu sync.Mutex
	var seqs []int64
	var wg sync.WaitGroup
	for p, db := range processes(t, 3) {
		for i := range each {
			wg.Go(func() {
				r, err := db.Record(t.Context(), of("700001", fmt.Sprintf("turn-%d-%03d", p, i)))
				if err != nil {
					t.Errorf("Record: %v", err)
					return
				}
				if want := int(r.Turn.Seq/2) - 1; len(r.History) != want {
					t.Errorf("turn at %d sees %d earlier messages, want %d", r.Turn.Seq, len(r.History), want)
				}
				mu.Lock()
				defer mu.Unlock()
				seqs = append(seqs, r.Turn.Seq)
			})
		}
	}
	wg.Wait()
	slices.Sort(seqs)
	var want []int64
	for i := range 3 * each {
		want = append(want, int64(2*i+2))
	}
	if d := cmp.Diff(want, seqs); d != "" {
		t.Errorf("places (-want +got):\n%s", d)
	}
}

// Holds docs/spec/05-delivery.md, "Outbox": of replies that settle at once in several processes one
// goes out now, and the others a gap apart.
func TestSeveralProcessesSettle(t *testing.T) {
	var mu sync.Mutex
	inline := 0
	var wg sync.WaitGroup
	for p, db := range processes(t, 3) {
		for i := range 10 {
			r, err := db.Record(t.Context(), of("700001", fmt.Sprintf("turn-%d-%03d", p, i)))
			if err != nil {
				t.Fatal(err)
			}
			r.Turn.Outcome, r.Turn.Path, r.Turn.Replies = conversation.Answered, conversation.Inline, []string{"hi"}
			wg.Go(func() {
				err := db.Settle(t.Context(), turn.Settlement{Turn: r.Turn, Gap: time.Hour})
				var soon *turn.TooSoonError
				if err != nil && !errors.As(err, &soon) {
					t.Errorf("Settle: %v", err)
				}
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					inline++
				}
			})
		}
	}
	wg.Wait()
	if inline != 1 {
		t.Errorf("%d replies went out at once, want 1", inline)
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

// Holds docs/spec/05-delivery.md, "Outbox": a contact has one reply in hand, also when a turn settles
// behind its successor while another process claims that one's reply.
func TestSeveralProcessesOneInHand(t *testing.T) {
	url := postgrestest.Open(t)
	a, b := open(t, store.Options{URL: url}), open(t, store.Options{URL: url})
	raw := postgrestest.Raw(t, url)
	resume := holdClaims(t, raw)
	first, second := recorded(t, a, 1, 1), recorded(t, a, 1, 2)
	queueReply(t, a, second)

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
	settled := make(chan struct{})
	wg.Go(func() { defer close(settled); queueReply(t, a, first) })
	untilWaiting(t, raw, 2, settled)
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

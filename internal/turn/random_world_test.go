package turn_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// dice are the chances of a seed. Each stream of them is drawn from by one kind of
// event, so that a replay meets the same chances whatever order goroutines run in.
type dice struct {
	seed    uint64
	mu      sync.Mutex
	streams map[string]*rand.Rand
	stopped bool // nothing goes wrong any more
}

func (d *dice) draw(stream string, f func(*rand.Rand)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, ok := d.streams[stream]
	if !ok {
		h := fnv.New64a()
		h.Write([]byte(stream)) // never fails
		r = rand.New(rand.NewPCG(d.seed, h.Sum64()))
		d.streams[stream] = r
	}
	f(r)
}

// chance says whether something goes wrong, which it does with probability p.
func (d *dice) chance(stream string, p float64) (hit bool) {
	d.draw(stream, func(r *rand.Rand) { hit = r.Float64() < p && !d.stopped })
	return hit
}

// upTo is a number below n.
func (d *dice) upTo(stream string, n int64) (drawn int64) {
	d.draw(stream, func(r *rand.Rand) { drawn = r.Int64N(n) })
	return drawn
}

func (d *dice) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stopped = true
}

// world is one seed: a database that outlives its processes, the contacts' phones, and
// what was seen of both.
type world struct {
	t        *testing.T
	dice     *dice
	db       *store.DB
	phone    *phones
	start    time.Time
	business *tenant.Tenant
	ripe     chan struct{}  // a moment for a crash
	going    sync.WaitGroup // contacts and the messages that they do not wait for

	mu       sync.Mutex
	current  *process
	started  int                     // processes
	said     map[string]*exchanged   // by message
	recorded map[string]string       // turn id to message, of committed records
	repeats  map[string]bool         // texts and parts of notices that may arrive again
	copies   map[string]string       // message by the handoff's copy of its turn, see tenant
	copied   int                     // copies given to turns
	lost     map[string]bool         // messages, and parts of notices, whose process died before it wrote what became of their actions
	told     []told                  // what models were told
	pending  int                     // turns that still hold actions at the end
	lastSent map[string]time.Time    // by conversation, as committed
	turns    []store.RecentTurn      // at the end
	rows     map[string][]outbox.Row // at the end, by turn
	lines    []string                // the trace
	broken   []string                // invariants
}

// exchanged is what a contact's message met with.
type exchanged struct {
	subscriber string
	began      time.Time
	took       time.Duration // until the response was there to be written
	process    string        // that answered
	answered   time.Time     // when the response was written; zero: it was not
	texts      []string      // of the written response
	shed       bool          // it was handed off before it was recorded
}

func newWorld(t *testing.T, seed uint64) *world {
	db, err := store.Open(t.Context(), store.Options{
		URL: "sqlite:" + filepath.Join(t.TempDir(), "agent.db"), Now: time.Now,
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		t: t, db: db, start: time.Now(), business: busy(), ripe: make(chan struct{}),
		dice:     &dice{seed: seed, streams: map[string]*rand.Rand{}},
		said:     map[string]*exchanged{},
		recorded: map[string]string{},
		repeats:  map[string]bool{},
		copies:   map[string]string{},
		lost:     map[string]bool{},
		lastSent: map[string]time.Time{},
		rows:     map[string][]outbox.Row{},
	}
	w.phone = &phones{w: w, fields: map[string]string{}}
	if w.dice.chance("quiet", 0.3) {
		w.business.Rules.EscalationQuietMinutes = 1
	}
	w.boot()
	return w
}

// duration is a time below d, to the nanosecond, so that no two events coincide.
func (w *world) duration(stream string, d time.Duration) time.Duration {
	return time.Duration(w.dice.upTo(stream, int64(d)))
}

// lag is how long a call to the outside takes: a moment, and now and then seconds.
func (w *world) lag(stream string) time.Duration {
	if w.dice.chance(stream, 0.03) {
		return w.duration(stream, 5*time.Second)
	}
	return w.duration(stream, 8*ms)
}

func (w *world) trace(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, fmt.Sprintf("%14s ", time.Since(w.start))+fmt.Sprintf(format, args...))
}

// violate notes that an invariant is broken.
func (w *world) violate(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	w.trace("BROKEN %s", line)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = append(w.broken, line)
}

func (w *world) process() *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.current
}

// talk is a contact who writes, reads the response and writes again; an impatient one
// does not always wait for the response.
func (w *world) talk(subscriber string, impatient bool) {
	for n := range messages {
		time.Sleep(w.duration(subscriber, 12*time.Second))
		text := fmt.Sprintf("%s-%d", subscriber, n)
		if w.dice.chance(subscriber, 0.2) {
			text += longMark
		}
		if impatient && w.dice.chance(subscriber, 0.4) {
			w.going.Go(func() { w.write(subscriber, text) })
		} else {
			w.write(subscriber, text)
		}
	}
}

// write plays ManyChat and the handler for one message.
func (w *world) write(subscriber, text string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if w.dice.chance(text, 0.15) {
		defer time.AfterFunc(w.duration(text, 9*time.Second), cancel).Stop()
	}
	p, began := w.process(), time.Now()
	w.trace("%s writes %q to %s", subscriber, text, p.name)
	x := p.runner.Begin(turn.Message{
		Key:  contact.Key{TenantID: key.TenantID, Channel: key.Channel, SubscriberID: contact.SubscriberID(subscriber)},
		Text: text, ReceivedAt: began,
	})
	a := x.Wait(ctx)
	e := &exchanged{subscriber: subscriber, began: began, took: time.Since(began), process: p.name, shed: a.Shed}
	if a.Shed {
		w.owns(a.Texts[0], text)
	}
	w.ripens("response to " + text)
	if left := bound - e.took; !a.Gone && left > 0 { // the write may take what is left
		time.Sleep(w.duration(text, min(left, w.lag(text+" response")*10+ms)))
	}
	written := !a.Gone && !p.isDead() && !w.dice.chance(text, 0.05)
	if written {
		e.answered, e.texts = time.Now(), a.Texts
		w.phone.response(subscriber, text, a.Texts)
	} else {
		w.trace("%s: response to %q not written, gone %t: %q", p.name, text, a.Gone, short(a.Texts...))
	}
	w.mu.Lock()
	w.said[text] = e
	w.mu.Unlock()
	x.Written(written)
}

// list reads the outbox.
func (w *world) list(statuses ...outbox.Status) []outbox.Row {
	rows, err := w.db.ListOutbox(context.Background(), store.OutboxFilter{Statuses: statuses, Limit: 10000})
	if err != nil {
		w.t.Error(err)
	}
	return rows
}

// recent reads every turn.
func (w *world) recent() (all []store.RecentTurn) {
	for c := range contacts {
		turns, err := w.db.RecentTurns(context.Background(), key.TenantID, contact.SubscriberID(fmt.Sprint(900+c)), 1000)
		if err != nil {
			w.t.Error(err)
		}
		all = append(all, turns...)
	}
	return all
}

// idle reports whether nothing is left to do.
func (w *world) idle() bool {
	for _, t := range w.recent() {
		if t.State != conversation.Settled {
			return false
		}
	}
	return len(w.list(outbox.Pending, outbox.Delivering)) == 0
}

// read keeps what the database holds at the end.
func (w *world) read() {
	w.turns = w.recent()
	w.countPending()
	for _, r := range w.list() {
		w.rows[r.TurnID] = append(w.rows[r.TurnID], r)
	}
}

// short is what a trace shows of texts.
func short(texts ...string) string {
	var cut []string
	for _, t := range texts {
		cut = append(cut, t[:min(len(t), 20)])
	}
	return strings.Join(cut, " | ")
}

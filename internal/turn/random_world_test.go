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
	strayed  map[string]bool         // processes that were away
	merges   bool                    // MERGE_WAITING
	pair     bool                    // two processes share the database
	living   []*process              // the newest last
	started  int                     // processes
	said     map[string]*exchanged   // by message
	recorded map[string]string       // turn id to message, of committed records
	unowned  map[string]bool         // messages that were left to the next process
	bound    map[string]bool         // by message, of committed records
	owners   map[string]string       // the name of a process, by what it calls itself in rows
	taken    map[string]string       // turn id to who took it over last
	into     map[string]string       // turn id to the turn that answers its message too, at the end
	tokens   map[string]string       // the contacts' token fields
	thinking map[string][]*thinking  // by contact
	repeats  map[string]bool         // texts and parts of notices that may arrive again
	copies   map[string]string       // message by the handoff's copy of its turn, see tenant
	copied   int                     // copies given to turns
	lost     map[string]bool         // messages, and parts of notices, whose process died before it wrote what became of their actions
	told     []told                  // what models were told
	pending  int                     // turns that still hold actions at the end
	lastSent map[string]time.Time    // by conversation, as committed
	turns    []store.RecentTurn      // at the end
	rows     map[string][]outbox.Row // at the end, by turn
	lines    []line                  // the trace
	broken   []string                // invariants
}

// exchanged is what a contact's message met with.
type exchanged struct {
	subscriber string
	text       string // what the contact wrote
	began      time.Time
	took       time.Duration // until the response was there to be written
	process    string        // that answered
	answered   time.Time     // when the response was written; zero: it was not
	texts      []string      // of the written response, each by itself
	unsure     bool          // the process was away before the response was written
	shed       bool          // it was handed off before it was recorded
}

func newWorld(t *testing.T, seed uint64, pair bool) *world {
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
		bound:    map[string]bool{},
		unowned:  map[string]bool{},
		owners:   map[string]string{},
		taken:    map[string]string{},
		into:     map[string]string{},
		tokens:   map[string]string{},
		thinking: map[string][]*thinking{},
		pair:     pair,
		strayed:  map[string]bool{},
		repeats:  map[string]bool{},
		copies:   map[string]string{},
		lost:     map[string]bool{},
		lastSent: map[string]time.Time{},
		rows:     map[string][]outbox.Row{},
	}
	w.phone = &phones{w: w, fields: map[string]string{}, first: map[string]time.Time{}}
	if w.dice.chance("quiet", 0.3) {
		w.business.Rules.EscalationQuietMinutes = 1
	}
	w.merges = !w.dice.chance("merges", 0.2)
	w.boot()
	if pair {
		w.boot()
	}
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
	w.lines = append(w.lines, line{time.Since(w.start), fmt.Sprintf(format, args...)})
}

// violate notes that an invariant is broken.
func (w *world) violate(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	w.trace("BROKEN %s", line)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = append(w.broken, line)
}

// process is the one that a message arrives at.
func (w *world) process(stream string) *process {
	w.mu.Lock()
	living := w.living
	w.mu.Unlock()
	return living[w.dice.upTo(stream, int64(len(living)))]
}

// talk is a contact who writes, reads the response and writes again; an impatient one
// writes in bursts and does not always wait for the response. Now and then they write the
// same once more.
func (w *world) talk(subscriber string, impatient bool) {
	last := ""
	for n := range messages {
		pause := 12 * time.Second
		if impatient && w.dice.chance(subscriber, 0.5) {
			pause = 2 * time.Second
		}
		time.Sleep(w.duration(subscriber, pause))
		id := fmt.Sprintf("%s-%d", subscriber, n)
		text := id
		if w.dice.chance(subscriber, 0.2) {
			text += longMark
		}
		if last != "" && w.dice.chance(subscriber, 0.2) {
			text = last
		}
		last = text
		if impatient && w.dice.chance(subscriber, 0.6) {
			w.going.Go(func() { w.write(subscriber, id, text) })
		} else {
			w.write(subscriber, id, text)
		}
	}
}

// proof is the token that a message brings: what the contact's field holds, or now and then
// one that proves nothing.
func (w *world) proof(subscriber, id string) string {
	if w.dice.chance(id+" token", 0.08) {
		return "not a token that anybody was issued, and long enough"
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.tokens[subscriber]
}

// write plays ManyChat and the handler for one message. The contact's first name tells it
// from others with the same text.
func (w *world) write(subscriber, id, text string) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if w.dice.chance(id, 0.15) {
		defer time.AfterFunc(w.duration(id, 9*time.Second), cancel).Stop()
	}
	p, began := w.process(id), time.Now()
	away := p.wasAway()
	w.trace("%s writes %s %q to %s", subscriber, id, text, p.name)
	x := p.runner.Begin(turn.Message{
		Key:   contact.Key{TenantID: key.TenantID, Channel: key.Channel, SubscriberID: contact.SubscriberID(subscriber)},
		Token: w.proof(subscriber, id), FirstName: id, Text: text, ReceivedAt: began,
	})
	a := x.Wait(ctx)
	e := &exchanged{subscriber: subscriber, text: text, began: began, took: time.Since(began), process: p.name, shed: a.Shed}
	if a.Shed {
		w.owns(a.Texts[0], id)
	}
	w.answers(p, id, a)
	w.ripens("response to " + id)
	if left := bound - e.took; !a.Gone && left > 0 { // the write may take what is left
		time.Sleep(w.duration(id, min(left, w.lag(id+" response")*10+ms)))
	}
	written := !a.Gone && !p.isDead() && !p.isAway() && !w.dice.chance(id, 0.05)
	e.unsure = p.wasAway() != away || p.isAway()
	if written {
		e.answered, e.texts = time.Now(), apart(a.Texts)
		w.phone.response(subscriber, id, e.texts)
	} else {
		w.trace("%s: response to %q not written, gone %t: %q", p.name, id, a.Gone, short(a.Texts...))
	}
	w.mu.Lock()
	w.said[id] = e
	w.mu.Unlock()
	x.Written(written)
}

// apart takes the texts of several replies apart that one response carries.
func apart(texts []string) (each []string) {
	for _, text := range texts {
		each = append(each, strings.Split(text, "\n\n")...)
	}
	return each
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
		all = append(all, w.recentOf(fmt.Sprint(900+c))...)
	}
	return all
}

func (w *world) recentOf(subscriber string) []store.RecentTurn {
	turns, err := w.db.RecentTurns(context.Background(), key.TenantID, contact.SubscriberID(subscriber), 1000)
	if err != nil {
		w.t.Error(err)
	}
	return turns
}

// idle reports whether nothing is left to do.
func (w *world) idle() bool {
	for _, t := range w.recent() {
		if t.State != conversation.Settled && t.State != conversation.Merged {
			return false
		}
	}
	return len(w.list(outbox.Pending, outbox.Delivering)) == 0
}

// read keeps what the database holds at the end.
func (w *world) read() {
	w.turns = w.recent()
	w.countPending()
	w.readMerged()
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

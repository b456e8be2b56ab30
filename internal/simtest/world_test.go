package simtest

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
)

// World is one play of a seed.
type World struct {
	t        *testing.T
	dice     *dice
	trace    *trace
	folder   string
	db       *database.DB
	config   config.Config
	business *tenant.Tenant
	wishes   wishes
	account  *manychattest.Server
	clock    wall           // of all machines, which follow the database's
	talking  sync.WaitGroup // contacts, and what happens to the processes
	ending   sync.WaitGroup // what goes on behind those

	mu       sync.Mutex
	all      []*process
	slots    []*process // those in their places; nil: none
	journal  []*asked
	requests []*request
	thoughts []*thought
	tries    map[string]int // at a message, by its name
	outages  []outage
	louder   float64     // how often a write meets trouble
	calm     bool        // nothing goes wrong any more
	sets     []time.Time // when the clock was set

	broken []string
}

// outage is a time in which the database cannot be reached.
type outage struct {
	span
	slot int // by whom; -1: by nobody
}

// template is a folder that holds an empty database of the newest version; a play copies it.
type template string

// newTemplate makes one in a folder.
func newTemplate(folder string) (template, error) {
	path := filepath.Join(folder, "template.db")
	db, err := database.Open(context.Background(), database.Options{URL: "sqlite:" + path, Now: time.Now})
	if err != nil {
		return "", err
	}
	return template(path), db.Close()
}

// open makes the world of a seed and starts its processes.
func open(t *testing.T, seed uint64, folder string) *World {
	t.Helper()
	w := &World{
		t: t, dice: newDice(seed), trace: &trace{start: time.Now()}, folder: folder,
		slots: make([]*process, 2), tries: map[string]int{},
	}
	var err error
	if w.config, err = configure(w); err == nil {
		w.business, err = furnish(w)
	}
	if err == nil {
		w.wish()
	}
	if err == nil {
		w.db, err = database.Open(t.Context(), database.Options{URL: w.config.Tenant.Database.Reveal(), Now: time.Now})
	}
	if err == nil {
		w.account, err = openAccount(w)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.account.Subscribe(w.seen)
	for slot := range w.slots {
		time.Sleep(w.dice.span("boot", time.Millisecond, 3*time.Second))
		w.boot(slot)
	}
	return w
}

func newClient(w *World) *http.Client { return &http.Client{Transport: door{w}} }

// seen notes what a contact's phone shows.
func (w *World) seen(e manychattest.Event) {
	if e.Item != nil && e.Item.From == "business" {
		w.trace.note("c%d reads %s, %s", numberOf(e.Item.Contact), shortly(e.Item.Text), e.Item.Via)
	}
}

// live lets the contacts write while everything happens to the processes.
func (w *World) live() {
	for i := range contacts {
		w.talking.Go(func() { w.talk(i) })
	}
	w.fate()
	w.talking.Wait()
}

// settle ends all faults and waits until nothing is left to do.
func (w *World) settle() {
	time.Sleep(w.dice.span("settle", time.Second, 20*time.Second))
	w.trace.note("nothing goes wrong any more")
	w.mu.Lock()
	w.calm = true
	w.mu.Unlock()
	if err := w.account.SetFaults(manychattest.Faults{}); err != nil {
		w.t.Error(err)
	}
	for slot := range w.slots {
		if p := w.at(slot); p == nil || !p.serves() {
			w.boot(slot)
		}
	}
	for range 240 {
		time.Sleep(2*time.Second + 1)
		if w.dry() {
			time.Sleep(time.Minute) // of a slow success, the answer
			return
		}
	}
	w.violate("after 8 minutes without faults something is still unfinished")
}

// dry reports whether nothing is left to do.
func (w *World) dry() bool {
	var left int
	err := w.db.Read().QueryRowContext(w.t.Context(), `SELECT (SELECT count(*) FROM turns WHERE state IN ('waiting', 'running', 'answering'))
        + (SELECT count(*) FROM nudges WHERE state IN ('pending', 'running'))
        + (SELECT count(*) FROM outbox WHERE status IN ('pending', 'delivering'))`).Scan(&left)
	if err != nil {
		w.t.Error(err)
	}
	return left == 0
}

// end stops everything.
func (w *World) end() {
	for slot := range w.slots {
		if p := w.at(slot); p != nil {
			p.stop()
		}
	}
	w.ending.Wait()
	time.Sleep(time.Minute) // what nobody waits for ends
	for _, p := range w.all {
		p.die()
		if err := p.service.Close(); err != nil {
			w.t.Error(err)
		}
	}
	w.account.Close()
	synctest.Wait()
}

// at is the process in a place; nil: there is none.
func (w *World) at(slot int) *process {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.slots[slot]
}

// serving is a process that takes a message: the one in a place, or else another; nil: none.
func (w *World) serving(slot int) *process {
	for i := range w.slots {
		if p := w.at((slot + i) % len(w.slots)); p != nil && p.serves() {
			return p
		}
	}
	return nil
}

// faulty reports whether things go wrong now.
func (w *World) faulty() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !w.calm
}

// noise is how often a write meets trouble now.
func (w *World) noise() float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.calm {
		return 0
	}
	return w.louder
}

// outage is for how long yet the database is away for a process; 0: it is there.
func (w *World) outage(p *process) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for _, o := range w.outages {
		if (o.slot < 0 || w.slots[o.slot] == p) && !now.Before(o.from) && now.Before(o.to) {
			return o.to.Sub(now)
		}
	}
	return 0
}

// violate notes an invariant that did not hold.
func (w *World) violate(format string, values ...any) {
	w.trace.note("BROKEN: "+format, values...)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = append(w.broken, strings.TrimPrefix(w.trace.last(), "BROKEN: "))
}

// shows reports whether the trace shows a write; the others say nothing of a contact.
func (w *World) shows(what string) bool {
	switch what {
	case "Beat", "Claim", "State", "TakeOver", "HandBack":
		return false
	}
	return true
}

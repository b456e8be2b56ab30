package simtest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/telemetry"
)

// process is one process of the service: it shares its database with others, and dies,
// freezes and stops as a process of its own does.
type process struct {
	w       *World
	name    string
	service *app.Service
	handler http.Handler
	log     logged

	life context.Context // ends when it dies
	die  context.CancelFunc

	mu      sync.Mutex
	state   state
	thawed  chan struct{} // of a frozen one: closed when it goes on
	frozen  []span        // when it was, the last one perhaps still open
	died    time.Time     // zero: it did not
	open    map[*request]bool
	trouble []span // when its way to the database was bad
	cutOff  []span // when there was none, for so long that others may take it for dead
	ambush  string // at which step something happens to it next; empty: at none
	happens func()
}

type state int

const (
	up state = iota
	draining
	down // stopped or dead
)

// span is from one instant to another; a zero end is open.
type span struct{ from, to time.Time }

// meets reports whether two spans have an instant in common.
func (s span) meets(o span) bool {
	return (o.to.IsZero() || !s.from.After(o.to)) && (s.to.IsZero() || !o.from.After(s.to))
}

// logged is everything that a process logged.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// boot starts a process in a place. Its start may fail, as the way to the database may; then
// it is tried again.
func (w *World) boot(slot int) {
	for {
		p := w.process()
		w.trace.note("%s starts", p.name)
		err := p.service.Start(context.Background())
		if err == nil {
			w.mu.Lock()
			w.slots[slot] = p
			w.mu.Unlock()
			return
		}
		w.trace.note("%s does not start", p.name)
		p.kill()
		time.Sleep(w.dice.span("boot", time.Second, 2*time.Second))
	}
}

// process builds a process. It does nothing yet.
func (w *World) process() *process {
	w.mu.Lock()
	p := &process{w: w, name: fmt.Sprint("p", len(w.all)+1), open: map[*request]bool{}}
	p.life, p.die = context.WithCancel(context.Background())
	w.all = append(w.all, p)
	w.mu.Unlock()
	var err error
	p.service, err = app.New(context.Background(), app.Options{
		Config: w.config, Tenant: w.business, Now: w.clock.Now, ToWebhook: wire{p, nil}, Transport: wire{p, w.account},
		Models: []attempt.Model{{Name: w.config.Agent.Model.String(), Model: mind{p}}},
		Log:    telemetry.NewLogger(&p.log, slog.LevelInfo, telemetry.JSON),
		Shared: w.db.Share(w.clock.Now, p.reach),
		Jitter: func(d time.Duration) time.Duration {
			return d/2 + time.Duration(w.dice.at(p.name+" jitter", time.Now())*float64(d/2))
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	mux := http.NewServeMux()
	p.service.Register(mux)
	p.handler = mux
	return p
}

// kill ends a process at once: its requests are cut, and nothing that it still tries gets
// anywhere.
func (p *process) kill() {
	p.mu.Lock()
	p.state, p.died = down, time.Now()
	p.mu.Unlock()
	p.die()
	p.thaw()
	for _, r := range p.requests() {
		r.cut()
	}
	p.w.ending.Go(func() {
		given, cancel := context.WithCancel(context.Background())
		cancel()
		p.service.Drain(given)
	})
}

// stop stops a process as a signal does: it finishes what it can and hands the rest back.
func (p *process) stop() {
	p.mu.Lock()
	p.state = draining
	p.mu.Unlock()
	p.w.trace.note("%s drains", p.name)
	grace, cancel := context.WithTimeout(context.Background(), p.w.config.Turn.ShutdownGrace)
	p.service.Drain(grace)
	cancel()
	p.mu.Lock()
	p.state = down
	p.mu.Unlock()
	last := time.Now()
	for len(p.requests()) > 0 && time.Since(last) < 2*time.Second {
		time.Sleep(50 * time.Millisecond)
	}
	for _, r := range p.requests() {
		r.cut()
	}
	p.service.HandBack(context.Background())
	p.w.trace.note("%s stopped", p.name)
	p.mu.Lock()
	p.died = time.Now()
	p.mu.Unlock()
	p.die()
}

// lieInWait lets something happen to the process as soon as it reaches a step, or else after a
// while. It returns when that has happened.
func (p *process) lieInWait(step string, atMost time.Duration, happens func()) {
	done := make(chan struct{})
	once := sync.OnceFunc(func() {
		happens()
		close(done)
	})
	p.mu.Lock()
	p.ambush, p.happens = step, once
	p.mu.Unlock()
	select {
	case <-done:
	case <-time.After(atMost):
		p.reaches(step)
	}
	<-done
}

// reaches says that the process is at a step: the name of a write that has just been made, or
// the kind of a request that has just arrived.
func (p *process) reaches(step string) {
	p.mu.Lock()
	happens := p.happens
	if p.ambush != step {
		happens = nil
	} else {
		p.ambush, p.happens = "", nil
	}
	p.mu.Unlock()
	if happens != nil {
		happens()
	}
}

// freeze stops a process where it is, until it is thawed.
func (p *process) freeze() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.thawed == nil {
		p.thawed = make(chan struct{})
		p.frozen = append(p.frozen, span{from: time.Now()})
	}
}

func (p *process) thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.thawed != nil {
		close(p.thawed)
		p.thawed = nil
		p.frozen[len(p.frozen)-1].to = time.Now()
	}
}

// wait returns when the process runs: at once, or when it is thawed. It reports whether it
// had to wait.
func (p *process) wait() (waited bool) {
	p.mu.Lock()
	thawed := p.thawed
	p.mu.Unlock()
	if thawed != nil {
		<-thawed
	}
	return thawed != nil
}

// dead reports whether the process is gone.
func (p *process) dead() bool { return p.life.Err() != nil }

// serves reports whether the process takes requests.
func (p *process) serves() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state != down
}

// wasFrozen reports whether the process stood still at any time of a span.
func (p *process) wasFrozen(s span) bool { return p.met(s, func() []span { return p.frozen }) }

// wasTroubled reports whether its way to the database was bad at any time of a span.
func (p *process) wasTroubled(s span) bool { return p.met(s, func() []span { return p.trouble }) }

// wasCutOff reports whether it could not reach the database, for long, at any time of a span.
func (p *process) wasCutOff(s span) bool { return p.met(s, func() []span { return p.cutOff }) }

func (p *process) met(s span, spans func() []span) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range spans() {
		if s.meets(o) {
			return true
		}
	}
	return false
}

func (p *process) requests() (all []*request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for r := range p.open {
		all = append(all, r)
	}
	return all
}

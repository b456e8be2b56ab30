// Package player plays flows: step by step, each step reading fields and tags at
// the moment it runs.
package player

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Config is what a [Player] works with; all fields are required.
type Config struct {
	Account *account.Account
	PlayFlow
	Notify func(phone.Event) // flow_started, flow_finished and warning
	Now    func() time.Time
}

// PlayFlow are the rules of playing.
type PlayFlow struct {
	ByName      bool // custom fields are variables by their name as well
	AnyTextSize bool // a text over the limit is shown all the same
}

// Player plays any number of flows at once. A goroutine lives only while a flow
// waits for a delay.
type Player struct {
	cfg  Config
	done chan struct{}
	all  sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	playing int
	idle    chan struct{} // closed when playing falls to zero; nil when nobody waits
}

// New makes a player.
func New(cfg Config) *Player { return &Player{cfg: cfg, done: make(chan struct{})} }

// Play starts a flow and returns. Steps before the first delay have run by then,
// so that flows without delays keep their order.
func (p *Player) Play(contact string, flow phone.Flow) {
	if !p.begin() {
		return
	}
	p.tell(phone.Event{Type: phone.EventFlowStarted, Contact: contact, Flow: flow.NS})
	rest := flow.Steps
	for len(rest) > 0 && rest[0].Delay <= 0 {
		p.step(contact, flow.NS, rest[0])
		rest = rest[1:]
	}
	if len(rest) == 0 {
		p.finish(contact, flow.NS)
		return
	}
	go p.playOn(contact, flow.NS, rest)
}

func (p *Player) playOn(contact, ns string, steps []phone.Step) {
	defer p.finish(contact, ns)
	for _, step := range steps {
		if !p.wait(step.Delay) {
			return
		}
		p.step(contact, ns, step)
	}
}

func (p *Player) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.playing++
	p.all.Add(1)
	return true
}

func (p *Player) finish(contact, ns string) {
	defer p.all.Done()
	p.tell(phone.Event{Type: phone.EventFlowFinished, Contact: contact, Flow: ns})
	p.mu.Lock()
	defer p.mu.Unlock()
	p.playing--
	if p.playing == 0 && p.idle != nil {
		close(p.idle)
		p.idle = nil
	}
}

func (p *Player) wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.done:
		return false
	}
}

// WaitIdle returns when no flow is playing.
func (p *Player) WaitIdle(ctx context.Context) error {
	p.mu.Lock()
	if p.playing == 0 {
		p.mu.Unlock()
		return nil
	}
	if p.idle == nil {
		p.idle = make(chan struct{})
	}
	idle := p.idle
	p.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting for the flows to end: %w", ctx.Err())
	}
}

// Close stops every flow where it is and waits until all have stopped.
func (p *Player) Close() {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.done)
	}
	p.mu.Unlock()
	p.all.Wait()
}

func (p *Player) tell(e phone.Event) {
	e.At = p.cfg.Now()
	p.cfg.Notify(e)
}

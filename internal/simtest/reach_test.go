package simtest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// What a process is told of the database. A dead one hears that nothing is its any more, so that
// what a real process would take with it comes to an end here too.
var (
	errDead     = fmt.Errorf("this process is dead: %w; %w", turn.ErrNotOwner, outbox.ErrNotOwner)
	errDatabase = errors.New("the connection to the database broke")
)

// quick is how long the way to the database takes when nothing is wrong.
const quick = 4 * time.Millisecond

// trip is what happens to one write on its way.
type trip struct {
	there, back time.Duration
	fails       bool // it does not get there
	lost        bool // its answer does not get back
	lingers     bool // it gets there even when its caller has given up, or died
}

// reach makes a write of a process, on the way that the seed gives it: see
// [database.Around].
func (p *process) reach(ctx context.Context, write func(context.Context) error) error {
	p.wait()
	if p.dead() {
		return errDead
	}
	what := operation()
	t, start := p.trip(what), time.Now()
	if t.fails || t.lost || t.there+t.back > 100*time.Millisecond {
		defer func() { p.note(&p.trouble, span{start, time.Now()}) }()
	}
	err := p.travel(ctx, t, what, write)
	p.wait()
	if p.dead() {
		return errDead
	}
	return err
}

// travel makes the way there and back.
func (p *process) travel(ctx context.Context, t trip, what string, write func(context.Context) error) error {
	done := make(chan error, 1)
	go func() {
		time.Sleep(t.there)
		gaveUp := ctx.Err() != nil || p.dead()
		switch {
		case gaveUp && !t.lingers:
			done <- context.Cause(ctx)
			return
		case t.fails:
			p.w.trace.note("%s: %s fails", p.name, what)
			done <- errDatabase
			return
		}
		err := write(context.Background())
		if gaveUp {
			p.w.trace.note("%s: %s is made although nobody waits for it: %v", p.name, what, brief(err))
		} else if p.w.shows(what) {
			p.w.trace.note("%s: %s: %v", p.name, what, brief(err))
		}
		p.reaches(what)
		time.Sleep(t.back)
		if t.lost {
			p.w.trace.note("%s: the answer to %s is lost", p.name, what)
			err = errDatabase
		}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-p.life.Done():
		return errDead
	}
}

// trip draws what happens to a write.
func (p *process) trip(what string) trip {
	w := p.w
	stream := p.name + " " + what
	t := trip{there: w.dice.span(stream, time.Microsecond, quick), back: w.dice.span(stream, time.Microsecond, quick)}
	t.lingers = w.dice.chance(stream, 0.5)
	luck := w.dice.at(stream, time.Now())
	if out := w.outage(p); out > 0 {
		t.fails = true
		if out >= buries {
			p.note(&p.cutOff, span{time.Now(), time.Now().Add(out)})
		}
		if w.dice.chance(stream, 0.5) { // it hangs
			t.there += min(out, w.dice.span(stream, 0, 20*time.Second))
		}
		return t
	}
	noise := w.noise()
	switch {
	case luck < noise*0.25:
		t.fails = true
	case luck < noise*0.5:
		t.lost = true
	case luck < noise*0.8:
		t.there += w.dice.span(stream, 0, 3*time.Second)
	case luck < noise*0.9:
		t.there += w.dice.span(stream, 3*time.Second, 16*time.Second)
	case luck < noise:
		t.back += w.dice.span(stream, 0, 6*time.Second)
	}
	return t
}

// buries is the shortest time without the database, behind something that a process did, in which
// it may be taken for dead: it does nothing 48 s after its last beat, and is taken over at 60 s.
const buries = 12 * time.Second

func (p *process) note(spans *[]span, s span) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*spans = append(*spans, s)
}

// operation names the write that is being made, by the method of the store that makes it.
func operation() string {
	var callers [24]uintptr
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers[:])])
	name := "a write"
	for {
		frame, more := frames.Next()
		_, inStore, found := strings.Cut(frame.Function, "internal/store")
		if found && !strings.HasPrefix(inStore, "/database") {
			method := inStore[strings.LastIndexByte(inStore, '.')+1:]
			if len(method) > 0 && method[0] >= 'A' && method[0] <= 'Z' {
				name = method
			}
		} else if name != "a write" || !more {
			return name
		}
	}
}

// brief is an error without what it was wrapped in, which names ids.
func brief(err error) error {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err
}

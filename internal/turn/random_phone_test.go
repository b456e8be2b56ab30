package turn_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat"
)

// bubble is a text on a contact's phone.
type bubble struct {
	subscriber, text string
	at               time.Time
}

// request is one of the two calls of a delivery, as ManyChat saw it.
type request struct {
	process, subscriber, text string
	arrived                   time.Time
	answered                  time.Time // of a trigger that may have been taken; zero: it was not one
	taken                     bool      // the trigger was
}

// phones play ManyChat and the contacts' phones. A flow reads the field when its step
// runs, which is a while after it was triggered.
type phones struct {
	w      *world
	mu     sync.Mutex
	fields map[string]string // by subscriber
	seen   []bubble
	first  map[string]time.Time // by text, when a response showed it or a trigger for it was taken first
	writes []request            // of the field
	starts []request            // of the flow

	asked []*asked // for actions, by the time that the process began
}

// response shows what a response carries.
func (p *phones) response(subscriber, message string, texts []string) {
	p.w.trace("response to %q: %q", message, short(texts...))
	for _, text := range texts {
		p.leaves(text)
		p.show(subscriber, text)
	}
}

// leaves notes that a text goes out.
func (p *phones) leaves(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, found := p.first[text]; !found {
		p.first[text] = time.Now()
	}
}

func (p *phones) show(subscriber, text string) {
	p.w.trace("%s sees %q", subscriber, short(text))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, bubble{subscriber, text, time.Now()})
}

func (p *phones) field(subscriber string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fields[subscriber]
}

func (p *phones) setField(r request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fields[r.subscriber] = r.text
	p.writes = append(p.writes, r)
}

// play runs a flow's step after a while.
func (p *phones) play(subscriber string, after time.Duration) {
	time.Sleep(after)
	p.show(subscriber, p.field(subscriber))
}

// started notes that a trigger was answered, or given up, now.
func (p *phones) started(r request) {
	r.answered = time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.starts = append(p.starts, r)
}

// flowTakes is the longest that a flow takes to its step; less than the gap.
const flowTakes = 1500 * ms

var (
	errServer   = &manychat.Error{Kind: manychat.KindServer, Status: 500}
	errRejected = &manychat.Error{Kind: manychat.KindRejected, Status: 400}
	errNoAnswer = &manychat.Error{Kind: manychat.KindTimeout, Written: true}
	errCallDead = errors.New("the process died in the call")
)

// The reply field and flow, which deliver texts; all others are actions'.
const (
	replyField = "reply"
	replyFlow  = "content1"
)

// sender is ManyChat as a process reaches it.
type sender struct{ *process }

func (s sender) SetCustomFieldByName(ctx context.Context, subscriber, field string, value any) error {
	if field != replyField {
		return s.ask(ctx, subscriber, whatField(field, fmt.Sprint(value)))
	}
	w, stream := s.w, "field "+subscriber
	s.here(stream)
	time.Sleep(w.lag(stream))
	switch {
	case s.isDead():
		return errCallDead
	case w.dice.chance(stream, 0.05):
		w.trace("%s: field of %s not written", s.name, subscriber)
		return errServer
	}
	text := fmt.Sprint(value)
	w.trace("%s: field of %s is %q", s.name, subscriber, short(text))
	w.phone.setField(request{process: s.name, subscriber: subscriber, text: text, arrived: time.Now()})
	if w.dice.chance(stream, 0.05) {
		return errNoAnswer
	}
	time.Sleep(w.lag(stream))
	return nil
}

func (s sender) SendFlow(ctx context.Context, subscriber, flow string) error {
	if flow != replyFlow {
		return s.ask(ctx, subscriber, "flow "+flow)
	}
	w, stream := s.w, "flow "+subscriber
	s.here(stream)
	time.Sleep(w.lag(stream))
	r := request{process: s.name, subscriber: subscriber, text: w.phone.field(subscriber), arrived: time.Now()}
	takes := w.duration(stream, flowTakes)
	switch {
	case s.isDead():
		return errCallDead
	case w.dice.chance(stream, 0.05):
		w.trace("%s: flow for %s not started", s.name, subscriber)
		return errServer
	case w.dice.chance(stream, 0.005):
		w.trace("%s: flow for %s rejected", s.name, subscriber)
		return errRejected
	case w.dice.chance(stream, 0.03):
		w.trace("%s: flow for %s not started, and no answer", s.name, subscriber)
		w.phone.started(r)
		return errNoAnswer
	case w.dice.chance(stream, 0.03):
		w.trace("%s: flow for %s started, and no answer", s.name, subscriber)
		w.mayRepeat(r.text)
		r.taken = true
		w.phone.leaves(r.text)
		go w.phone.play(subscriber, takes)
		time.Sleep(takes + w.lag(stream))
		w.phone.started(r)
		return errNoAnswer
	}
	w.trace("%s: flow for %s started", s.name, subscriber)
	r.taken = true
	w.phone.leaves(r.text)
	go w.phone.play(subscriber, takes)
	time.Sleep(w.lag(stream))
	w.phone.started(r)
	return nil
}

func (w *world) mayRepeat(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.repeats[text] = true
}

// Enabled lets warnings and errors of the processes into the trace.
func (w *world) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelWarn }

// Handle fills [slog.Handler].
func (w *world) Handle(_ context.Context, r slog.Record) error {
	line := r.Message
	r.Attrs(func(a slog.Attr) bool {
		if err, ok := a.Value.Any().(error); ok {
			line += ": " + innermost(err).Error()
		} else if a.Key == "stack" {
			line += "\n" + a.Value.String()
		}
		return true
	})
	w.trace("%s %s", r.Level, line)
	return nil
}

// WithAttrs fills [slog.Handler].
func (w *world) WithAttrs([]slog.Attr) slog.Handler { return w }

// WithGroup fills [slog.Handler].
func (w *world) WithGroup(string) slog.Handler { return w }

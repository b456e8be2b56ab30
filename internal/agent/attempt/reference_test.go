package attempt_test

import (
	"slices"
	"time"
)

// happening is what becomes of one attempt.
type happening struct {
	Kind  string        // one of the kinds
	After time.Duration // from when the model is asked; of kinds that hang: nothing
	Asks  time.Duration // busy, server: Retry-After
}

var kinds = []string{"answers", "busy", "server", "rejected", "no schema", "unreadable", "panics", "hangs", "deaf", "no room"}

// story is what becomes of one turn.
type story struct {
	Start, Abort time.Duration // of the turn, and how long it has
	Quits        time.Duration // it is given up then, from its start; 0: it is not
	Calls        int
	Happenings   []happening // of its attempts in their order, again and again
}

func (s story) happening(n int) happening { return s.Happenings[n%len(s.Happenings)] }

// asked is one attempt, ended the end of one call.
type asked struct {
	Model    string
	At, Took time.Duration
}

type ended struct {
	At  time.Duration
	Why string // empty: answered
}

// account is what is seen of one turn.
type account struct {
	Asked []asked
	Ended []ended
}

// guard is the breaker of a provider, by the words of the rules.
type guard struct {
	failures     int
	since, until time.Duration // until 0: closed
	pause        time.Duration
	probe        *simulated
}

// simulated is a turn in the reference. Its next step is to be made at a time.
type simulated struct {
	story
	account
	end    time.Duration // it is aborted or given up
	at     time.Duration
	step   func()
	model  int
	tried  int // attempts of the turn
	failed int // of the call's last model
}

// reference plays stories by the rules of the spec, one event after another. No two turns
// do anything at the same time.
type reference struct {
	models  []string
	guards  []*guard // of the models
	dropped []bool   // the schema, by model
	turns   []*simulated
}

func newReference(models []string, stories []story) *reference {
	r := &reference{models: models, dropped: make([]bool, len(models))}
	for i := range models {
		g := &guard{}
		if i > 0 && models[i][:3] == models[0][:3] {
			g = r.guards[0]
		}
		r.guards = append(r.guards, g)
	}
	for _, s := range stories {
		t := &simulated{story: s, at: s.Start, end: s.Start + s.Abort}
		if s.Quits > 0 {
			t.end = s.Start + s.Quits
		}
		t.step = func() { r.try(t) }
		r.turns = append(r.turns, t)
	}
	return r
}

func (r *reference) play() (accounts []account) {
	for {
		t := slices.MinFunc(r.turns, func(a, b *simulated) int { return int(a.at - b.at) })
		if t.step == nil {
			break
		}
		t.step()
	}
	for _, t := range r.turns {
		accounts = append(accounts, t.account)
	}
	return accounts
}

const nevermore = time.Duration(1<<62 - 1)

func (r *reference) ends(t *simulated, why string) {
	t.Ended = append(t.Ended, ended{t.at, why})
	t.failed = 0
	if t.Calls--; t.Calls > 0 && why == "" {
		t.step = func() { r.try(t) }
		return
	}
	t.at, t.step = nevermore, nil
}

func (r *reference) next(t *simulated) bool {
	if t.model == len(r.models)-1 {
		return false
	}
	t.model++
	t.step = func() { r.try(t) }
	return true
}

func (r *reference) try(t *simulated) {
	g := r.guards[t.model]
	if g.until > 0 {
		if g.probe != nil || t.at < g.until {
			if !r.next(t) {
				r.ends(t, "open")
			}
			return
		}
		g.probe = t
	}
	h := t.happening(t.tried)
	t.tried++
	if h.Kind == "no room" {
		r.free(g, t)
		r.ends(t, "budget")
		return
	}
	limit, natural := t.end, t.at+h.After
	if t.model < len(r.models)-1 {
		limit = min(limit, t.at+(t.Start+t.Abort-t.at)/2)
	}
	if h.Kind == "hangs" || h.Kind == "deaf" {
		natural = nevermore
	}
	began, schema := t.at, !r.dropped[t.model]
	t.at = min(natural, limit)
	t.Asked = append(t.Asked, asked{r.models[t.model], began, t.at - began})
	if natural > limit {
		h.Kind = "cut off"
	}
	t.step = func() { r.came(t, g, began, h, schema) }
}

func (r *reference) free(g *guard, t *simulated) (probe bool) {
	if probe = g.probe == t; probe {
		g.probe = nil
	}
	return probe
}

func (r *reference) came(t *simulated, g *guard, began time.Duration, h happening, schema bool) {
	over := h.Kind == "cut off" && t.at == t.end
	probe := r.free(g, t)
	switch {
	case h.Kind == "answers":
		*g = guard{}
		r.ends(t, "")
		return
	case h.Kind == "rejected", h.Kind == "no schema", over && t.Quits > 0:
	default:
		g.fail(began, t.at, probe)
	}
	switch {
	case over:
		r.ends(t, "over")
	case h.Kind == "no schema" && schema:
		r.dropped[t.model] = true
		t.step = func() { r.try(t) }
	case r.next(t):
	default:
		r.wait(t, g, h)
	}
}

func (g *guard) fail(began, at time.Duration, probe bool) {
	if g.failures == 0 || began < g.since {
		g.since = began
	}
	g.failures++
	enough := g.until == 0 && g.failures >= 5 && at-g.since >= 10*time.Second
	if enough || probe && g.until > 0 {
		g.pause = min(max(g.pause*2, 15*time.Second), 2*time.Minute)
		g.until = at + g.pause
	}
}

func (r *reference) wait(t *simulated, g *guard, h happening) {
	wait := 300 * time.Millisecond
	for range t.failed {
		wait = min(2*wait, 5*time.Second)
	}
	t.failed++
	wait = max(wait, h.Asks)
	switch {
	case h.Kind != "busy" && h.Kind != "server", t.at+wait >= t.Start+t.Abort:
		r.ends(t, "failed")
	case t.at+wait < g.until:
		r.ends(t, "open")
	case t.at+wait >= t.end:
		t.at = t.end
		t.step = func() { r.ends(t, "over") }
	default:
		t.at += wait
		t.step = func() { r.try(t) }
	}
}

package simtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
)

// turnsAt are the settled turns that answer a message: what the model calls for it is theirs.
func (r *records) turnsAt(place int) (all []*turnRow) {
	for name, turns := range r.byName {
		if name == "" || placeOf(name) != place {
			continue
		}
		for _, t := range turns {
			if end := r.end(t); end != nil && !slices.Contains(all, end) {
				all = append(all, end)
			}
		}
	}
	return all
}

// actionsHappenOnce: an action, and a flow, is asked of ManyChat at most once a turn.
func actionsHappenOnce(r *records) {
	asked := map[string]int{}
	for _, a := range r.w.journal {
		if a.kind == acts || a.kind == sendsFlow {
			asked[a.what]++
		}
	}
	for _, a := range r.w.journal {
		place, ok := placeIn(a.name)
		if !ok || asked[a.what] == 0 {
			continue
		}
		if n := asked[a.what]; n > max(1, len(r.turnsAt(place))) {
			r.w.violate("ManyChat was asked %d times to %s", n, a.what)
		}
		asked[a.what] = 0
	}
}

// actionsFollowTheirText: what a turn does happens behind its text.
func actionsFollowTheirText(r *records) {
	for _, a := range r.w.journal {
		place, ok := placeIn(a.name)
		if a.kind != acts || !ok || strings.HasPrefix(a.name, "handoff=") {
			continue
		}
		early := true
		for _, t := range r.turnsAt(place) {
			marks := t.marks()
			if len(marks) == 0 {
				continue
			}
			for _, o := range r.outs[marks[len(marks)-1]] {
				early = early && o.at.After(a.arrived)
			}
		}
		if early {
			r.w.violate("ManyChat was asked to %s before the text of its turn was out", a.what)
		}
	}
}

// handoffsDoNothing: an escalated turn performs nothing but the note for whoever takes over,
// and what tells them.
func handoffsDoNothing(r *records) {
	for _, a := range r.w.journal {
		place, ok := placeIn(a.name)
		if a.kind != acts || !ok {
			continue
		}
		allowed := slices.ContainsFunc(r.turnsAt(place), func(t *turnRow) bool {
			return t.outcome == "answered" || t.outcome == "escalated" && strings.HasPrefix(a.name, "handoff=")
		})
		if !allowed {
			r.w.violate("ManyChat was asked to %s, of a turn that was handed off", a.what)
		}
	}
}

// oneTurnRuns: one turn of a contact runs at a time, but for what a process does that others
// may have taken for dead.
func oneTurnRuns(r *records) {
	bound := func(th *thought) bool {
		turns := r.byName[th.names[len(th.names)-1]]
		return len(turns) > 0 && !slices.ContainsFunc(turns, func(t *turnRow) bool { return !t.bound })
	}
	well := func(th *thought) bool {
		s := span{th.span.from.Add(-time.Minute), th.span.to}
		return !th.process.wasFrozen(s) && !th.process.wasTroubled(s)
	}
	for i, a := range r.w.thoughts {
		for _, b := range r.w.thoughts[:i] {
			if b.nudges() { // a message that comes behind it ended it, wherever its model still thinks
				continue
			}
			x, y := a.names[len(a.names)-1], b.names[len(b.names)-1]
			if contactOf(x) == contactOf(y) && (x != y || a.try != b.try) && a.span.from.Before(b.span.to) && b.span.from.Before(a.span.to) &&
				bound(a) && bound(b) && well(a) && well(b) {
				r.w.violate("the model is asked about %s, try %d, while it is asked about %s, try %d", x, a.try, y, b.try)
				return
			}
		}
	}
}

// responsesKeepTheBound: no response leaves later than the deadline and half a second.
func responsesKeepTheBound(r *records) {
	bound := r.w.config.Turn.RaceDeadline + 500*time.Millisecond + time.Millisecond
	for _, q := range r.w.requests {
		if took := q.wrote.Sub(q.began); !q.wrote.IsZero() && took > bound && !q.process.wasFrozen(span{q.began, q.wrote}) {
			r.w.violate("the response to %s left after %s", q.name, took)
		}
	}
}

// budgetHolds: the budget is overspent by no more than a call of each process.
func budgetHolds(r *records) {
	var spent, largest int64
	for _, th := range r.w.thoughts {
		spent += th.spent
		largest = max(largest, th.spent)
	}
	if most := r.w.business.Rules.Budget.DailyTokenCap + int64(len(r.w.all))*largest; spent > most {
		r.w.violate("models used %d tokens of %d", spent, r.w.business.Rules.Budget.DailyTokenCap)
	}
}

// logsAreClean: no personal data in any captured log.
func logsAreClean(r *records) {
	private := []string{secret, apiToken, "Zerbinetta", "Quillfeather", "about the courses", "keeps a wheel for you", "Wants to know of", "in vain", "made-up-token"}
	for i := range contacts {
		s := somebody(i)
		private = append(private, s.ID, s.Phone, s.WhatsAppPhone, s.Email)
		if c, err := r.w.account.Contact(s.ID); err == nil && c.Fields[tokenField] != nil {
			private = append(private, fmt.Sprint(c.Fields[tokenField]))
		}
	}
	for _, p := range r.w.all {
		log := p.log.String()
		for _, secret := range private {
			if at := strings.Index(log, secret); secret != "" && at >= 0 {
				line := log[strings.LastIndexByte(log[:at], '\n')+1:]
				line, _, _ = strings.Cut(line, "\n")
				r.w.violate("%s logged %q: %s", p.name, secret, line)
			}
		}
	}
}

// counts is what happened, by what it is.
func (w *World) counts() map[string]int {
	r, n := w.read(), map[string]int{}
	for _, t := range r.turns {
		n["turns"]++
		n["outcome "+t.outcome]++
		n["path "+t.path]++
		for _, row := range t.rows {
			n[row.kind+" "+row.status+" "+row.reason]++
		}
	}
	for _, a := range w.journal {
		n["asked "+string(a.kind)]++
	}
	for _, th := range w.thoughts {
		if th.try > 1 {
			n["tries again"]++
		}
	}
	for _, one := range r.nudges() {
		n["nudge "+one.state+" "+one.reason]++
	}
	for _, s := range r.sales() {
		for _, e := range s.record {
			if e.Mark != "" || e.Origin != "" || e.Tool == action.SendEvent || e.ID == "pay" {
				n[fmt.Sprint("sale ", e.Tool, " ", e.ID, " ", e.Value, " ", e.Origin, " ", e.Status)]++
			}
		}
	}
	n["processes"] = len(w.all)
	return n
}

// theDeadStartNothing: a process that stood still for so long that others may have taken it for
// dead asks nothing of ManyChat before it has said that it lives.
func theDeadStartNothing(r *records) {
	for _, a := range r.w.journal {
		for _, f := range a.process.frozen {
			long := f.to.Sub(f.from) > r.w.config.Turn.ProcessLease
			if woke := a.began.Sub(f.to); long && woke >= 0 && woke < 100*time.Microsecond && a.kind != reads && a.kind != writesToken && a.kind != notifies {
				r.w.violate("%s began to %s when it had stood still for %s", a.process.name, a.what, f.to.Sub(f.from))
			}
		}
	}
}

// writesAreTheOwners: a turn is settled once, by the start that is its last.
func writesAreTheOwners(r *records) {
	settled := map[string]int{}
	for _, p := range r.w.all {
		for line := range strings.Lines(p.log.String()) {
			var said struct {
				Msg, Turn, Outcome string
				Attempt            int
			}
			if json.Unmarshal([]byte(line), &said) != nil || said.Msg != "turn" || said.Outcome == "duplicate" {
				continue
			}
			settled[said.Turn]++
			for _, t := range r.turns {
				if t.id == said.Turn && t.attempt != said.Attempt {
					r.w.violate("%s settled start %d of %s, whose last is %d", p.name, said.Attempt, t.name(), t.attempt)
				}
			}
		}
	}
	for _, t := range r.turns {
		if settled[t.id] > 1 {
			r.w.violate("%s was settled %d times", t.name(), settled[t.id])
		}
	}
}

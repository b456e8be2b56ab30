package simtest

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// firstNudge is the first try of a model at a nudge: its sentences have the name of the message
// before it, which its contact has not followed by another, and tries of their own.
const firstNudge = 90

// followUpNotice is how the model is told that there is no message to answer.
const followUpNotice = "FOLLOW-UP: "

// quiet says whether contacts of the play are followed up. The seeds that once broke an invariant
// are played as they were then.
func (w *World) quiet() bool { return !slices.Contains(found(), int(w.dice.seed)) }

// delays are those that a model may choose from: the shortest that there are.
func (w *World) delays() *tenant.Nudge {
	if !w.quiet() {
		return nil
	}
	return &tenant.Nudge{Delays: []tenant.Delay{{ID: "soon", Minutes: 1}, {ID: "later", Minutes: 2}}}
}

// comesBack lets a contact be quiet for about as long as a nudge takes, before their last message.
func (w *World) comesBack(contact, n int) {
	stream := fmt.Sprint("comes back ", contact)
	if n != perContact-1 || !w.quiet() || !w.dice.chance(stream, 0.5) {
		return
	}
	pause := w.dice.span(stream, 50*time.Second, 90*time.Second)
	if w.dice.chance(stream, 0.3) {
		pause += time.Minute
	}
	time.Sleep(pause)
}

// withNudge adds to a plan, by chance, that a nudge is planned in its last step.
func (w *World) withNudge(p plan, own string, try int) plan {
	w.dice.fresh("nudge of "+own, func(r *rand.Rand) {
		if last := len(p.calls) - 1; last >= 0 && w.quiet() && r.IntN(3) > 0 {
			delay := []string{"soon", "soon", "later"}[r.IntN(3)]
			p.calls[last] = append(p.calls[last], llm.ToolCall{
				ID: fmt.Sprintf("call_t%d_%d_nudge", try, last), Name: "schedule_nudge", Arguments: fmt.Appendf(nil, `{"delay":%q}`, delay),
			})
		}
	})
	return p
}

// nudgePlan draws what a model does with a nudge.
func (w *World) nudgePlan(own string, try int) (p plan) {
	w.dice.fresh(fmt.Sprint("nudge plan ", own, try), func(r *rand.Rand) {
		p.pauses = []time.Duration{pauseOf(r)}
		if r.IntN(3) == 0 {
			p.pauses[0] = between(r, time.Second, 20*time.Second)
		}
		ends := []ending{answers, answers, answers, answers, answers, answers, answers, escalates, doubts, babbles, panics, hangs}
		p.end, p.long = ends[r.IntN(len(ends))], 1+r.IntN(3)
	})
	return p
}

// askedToFollowUp is which message a nudge follows, and the try at it; it is no nudge when there
// is none.
func (w *World) askedToFollowUp(req llm.Request) (names []string, try int) {
	last := req.Messages[len(req.Messages)-1]
	if last.Role != llm.User || !strings.Contains(last.Text, "\n"+followUpNotice) {
		return nil, 0
	}
	for _, m := range req.Messages {
		if m.Role == llm.User {
			names = append(names, messagesIn(m.Text)...)
		}
	}
	if len(names) == 0 {
		return nil, 0
	}
	names = names[len(names)-1:]
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tries["nudge "+names[0]]++
	return names, firstNudge - 1 + w.tries["nudge "+names[0]]
}

// isNudge reports whether a turn follows up.
func (t *turnRow) isNudge() bool { return strings.HasPrefix(t.outcome, "nudge_") }

// nudges reports whether a thought is of a nudge.
func (th *thought) nudges() bool { return th.try >= firstNudge }

// nudgeRow is a nudge of the database.
type nudgeRow struct {
	contact                        int
	turn, became, state, reason    string
	messageAt, dueAt, begun, ended int64 // microseconds of the wall; begun 0: no turn of it began
	wrote                          int   // messages of the contact behind the turn that planned it, and before it ended
}

const selectNudges = `
SELECT c.subscriber_id, n.turn_id, coalesce(n.nudge_id, ''), n.state, coalesce(n.reason, ''), n.message_at, n.due_at, coalesce(b.received_at, 0), coalesce(n.ended_at, 0),
    (SELECT count(*) FROM turns m JOIN turns s ON s.id = n.turn_id WHERE m.conversation_id = n.conversation_id AND m.role = 'contact' AND m.seq > s.seq AND (b.seq IS NULL OR m.seq < b.seq))
FROM nudges n JOIN conversations c ON c.id = n.conversation_id LEFT JOIN turns b ON b.id = n.nudge_id ORDER BY n.id`

func (r *records) nudges() (all []nudgeRow) {
	err := each(context.Background(), r.w.db.Read(), selectNudges, func(rows *sql.Rows) error {
		var n nudgeRow
		var id string
		err := rows.Scan(&id, &n.turn, &n.became, &n.state, &n.reason, &n.messageAt, &n.dueAt, &n.begun, &n.ended, &n.wrote)
		n.contact = numberOf(id)
		all = append(all, n)
		return err
	})
	if err != nil {
		r.w.t.Fatal(err)
	}
	return all
}

// nudgesKeepTheirRules: no nudge begins behind a message of its contact, before it is due or behind
// its window, and each has one turn, which ended as it did.
func nudgesKeepTheirRules(r *records) {
	became := map[string]int{}
	for _, n := range r.nudges() {
		at := slices.IndexFunc(r.turns, func(t *turnRow) bool { return t.id == n.became })
		switch {
		case n.state == "pending" || n.state == "running":
			r.w.violate("a nudge of c%d is %s for ever", n.contact, n.state)
		case (n.state == "cancelled") != (n.reason != ""):
			r.w.violate("a nudge of c%d is %s for the reason %q", n.contact, n.state, n.reason)
		case n.state == "sent" && n.became == "":
			r.w.violate("a nudge of c%d was sent by no turn", n.contact)
		}
		if n.became == "" {
			continue
		}
		if became[n.became]++; at < 0 || became[n.became] > 1 {
			r.w.violate("%d nudges of c%d have one turn, which is there: %t", became[n.became], n.contact, at >= 0)
			continue
		}
		t := r.turns[at]
		if n.wrote > 0 {
			r.w.violate("a nudge of c%d began when they had written", n.contact)
		}
		if n.begun < n.dueAt || n.begun > n.messageAt+(1425*time.Minute).Microseconds() {
			r.w.violate("a nudge of c%d began %s behind their message", n.contact, time.Duration(n.begun-n.messageAt)*time.Microsecond)
		}
		if want := map[bool]string{true: "nudge_sent", false: "nudge_skipped"}[n.state == "sent" || len(t.rows) > 0]; t.outcome != want {
			r.w.violate("a nudge of c%d is %s, and its turn %s", n.contact, n.state, t.outcome)
		}
		if n.state == "cancelled" && slices.ContainsFunc(t.rows, func(row outboxRow) bool { return row.status != "discarded" }) {
			r.w.violate("a nudge of c%d was called off, and its row is there", n.contact)
		}
	}
	for _, t := range r.turns {
		if t.isNudge() && became[t.id] == 0 {
			r.w.violate("a turn of c%d follows up for no nudge", t.contact)
		}
	}
}

// nudgesComeOnce: behind one message there is one follow-up at most.
func nudgesComeOnce(r *records) {
	sent := map[string]int{}
	for _, t := range r.turns {
		if t.outcome != "nudge_sent" {
			continue
		}
		if marks := t.marks(); len(marks) > 0 {
			name := messageName.FindString(marks[0])
			if sent[name]++; sent[name] > 1 {
				r.w.violate("%s is followed up %d times", name, sent[name])
			}
		}
	}
}

// orderOf is the place of a message in its contact's order, where it came last; 0: it was not recorded.
func (r *records) orderOf(name string) (seq int64) {
	for _, t := range r.byName[name] {
		seq = max(seq, t.seq)
	}
	return seq
}

// nudgesAreWithdrawn: nothing of a nudge is begun to be sent when a message of its contact had been
// answered before.
func nudgesAreWithdrawn(r *records) {
	for _, a := range r.w.journal {
		marks := marksIn(a.name)
		if a.kind != writesReply || len(marks) == 0 || tryIn(marks[0]) < firstNudge {
			continue
		}
		for _, q := range r.w.requests {
			texts := q.texts()
			recorded := q.status == 200 && !q.wrote.IsZero() && !(len(texts) == 1 && texts[0] == r.w.business.Rules.Messages.Escalation)
			behind := r.orderOf(q.name) > r.orderOf(messageName.FindString(marks[0]))
			stood := a.process.wasFrozen(span{q.wrote.Add(-time.Minute), a.began}) || a.process.wasTroubled(span{q.wrote.Add(-time.Minute), a.began})
			if recorded && behind && contactOf(q.name) == a.contact && a.began.Sub(q.wrote) > 100*time.Millisecond && !stood {
				r.w.violate("%s of a nudge was begun to be sent %s behind the answer to %s", marks[0], a.began.Sub(q.wrote), q.name)
				return
			}
		}
	}
}

func tryIn(mark string) (try int) {
	if m := markName.FindStringSubmatch(mark); m != nil {
		_, _ = fmt.Sscan(m[2], &try) // the pattern holds digits only
	}
	return try
}

package simtest

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// turnRow is an agent row of the database.
type turnRow struct {
	id, mergedInto       string
	contact              int
	seq                  int64
	attempt              int
	state, outcome, path string
	reason, text         string
	bound                bool
	received, settled    time.Time
	replies              []string
	rows                 []outboxRow
}

// name is the message that the turn was recorded for.
func (t *turnRow) name() string { return messageName.FindString(t.text) }

// escalated reports whether the turn went to a person.
func (t *turnRow) escalated() bool { return t.reason != "" }

// marks are those of all its replies.
func (t *turnRow) marks() (all []string) {
	for _, text := range t.replies {
		all = append(all, marksIn(text)...)
	}
	return all
}

// outboxRow is a row of the outbox.
type outboxRow struct {
	kind, status, reason string
	part, sent           int
	texts                []string
}

// unsent are the texts of a row that is final and did not arrive whole.
func (r outboxRow) unsent() []string {
	if r.status == "delivered" {
		return nil
	}
	return r.texts[min(r.sent, len(r.texts)):]
}

// bubble is what a contact's phone shows.
type bubble struct {
	at   time.Time
	text string
	via  phone.Via
	flow string
}

// records are what is looked at when all is over.
type records struct {
	w       *World
	turns   []*turnRow
	byName  map[string][]*turnRow // of turns that are no duplicates, by the message that they were recorded for
	bubbles [contacts][]bubble
	outs    map[string][]out // by mark
	lies    [contacts]bool   // ManyChat said of a write or a trigger that it was done when it was not, or the other way round
}

// out is one time that a mark went out.
type out struct {
	process *process
	at      time.Time
	inline  bool
	told    bool // the process heard that it was taken
	got     bool // inline: the caller has it
	forged  bool // who is not ManyChat
}

const selectTurns = `
SELECT a.id, coalesce(a.merged_into, ''), c.subscriber_id, a.seq, a.state, coalesce(a.outcome, ''), coalesce(a.path, ''),
    coalesce(a.escalation_reason, ''), coalesce(m.text, ''), a.bound, a.attempt, coalesce(a.replies, '[]'),
    a.received_at, coalesce(a.settled_at, 0)
FROM turns a JOIN conversations c ON c.id = a.conversation_id LEFT JOIN turns m ON m.turn_id = a.id AND m.role = 'contact'
WHERE a.role = 'agent' ORDER BY a.conversation_id, a.seq`

const selectRows = `
SELECT turn_id, kind, status, coalesce(reason, ''), part, sent, payload FROM outbox ORDER BY kind, part`

// read reads the database, the phones and the journal.
func (w *World) read() *records {
	r := &records{w: w, byName: map[string][]*turnRow{}, outs: map[string][]out{}}
	if err := r.readTurns(); err != nil {
		w.t.Fatal(err)
	}
	for i := range contacts {
		for _, item := range w.account.Chat(subscriber(i)) {
			if item.From == phone.FromBusiness {
				r.bubbles[i] = append(r.bubbles[i], bubble{item.At, item.Text, item.Via, item.Flow})
			}
		}
	}
	r.readOuts()
	return r
}

func (r *records) readTurns() error {
	db, ctx := r.w.db.Read(), context.Background()
	byID := map[string]*turnRow{}
	err := each(ctx, db, selectTurns, func(rows *sql.Rows) error {
		t, id, replies, received, settled := &turnRow{}, "", "", int64(0), int64(0)
		err := rows.Scan(&t.id, &t.mergedInto, &id, &t.seq, &t.state, &t.outcome, &t.path, &t.reason, &t.text, &t.bound, &t.attempt, &replies,
			&received, &settled)
		if err != nil {
			return err
		}
		t.contact, t.received, t.settled = numberOf(id), time.UnixMicro(received), time.UnixMicro(settled)
		byID[t.id], r.turns = t, append(r.turns, t)
		if t.outcome != "duplicate" {
			r.byName[t.name()] = append(r.byName[t.name()], t)
		}
		return json.Unmarshal([]byte(replies), &t.replies)
	})
	if err != nil {
		return err
	}
	return each(ctx, db, selectRows, func(rows *sql.Rows) error {
		var turn, payload string
		var row outboxRow
		if err := rows.Scan(&turn, &row.kind, &row.status, &row.reason, &row.part, &row.sent, &payload); err != nil {
			return err
		}
		var held struct{ Texts []string }
		if err := json.Unmarshal([]byte(payload), &held); err != nil {
			return err
		}
		row.texts = held.Texts
		byID[turn].rows = append(byID[turn].rows, row)
		return nil
	})
}

func each(ctx context.Context, db *sql.DB, query string, read func(*sql.Rows) error) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := read(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// readOuts finds every time that a mark went out: in responses, and by triggers behind a write
// of the reply field.
func (r *records) readOuts() {
	for _, q := range r.w.requests {
		for _, text := range q.texts() {
			for _, mark := range marksIn(text) {
				r.outs[mark] = append(r.outs[mark], out{q.process, q.wrote, true, true, q.got, q.forged})
			}
		}
	}
	field := map[*process]map[int]string{}
	for _, a := range r.w.journal {
		switch a.kind {
		case writesReply:
			if field[a.process] == nil {
				field[a.process] = map[int]string{}
			}
			field[a.process][a.contact] = a.name
		case startsReply:
			for _, mark := range marksIn(field[a.process][a.contact]) {
				r.outs[mark] = append(r.outs[mark], out{a.process, a.arrived, false, a.told, true, false})
			}
		}
	}
	for _, c := range r.w.account.Calls() {
		if i := numberOf(c.Contact); i >= 0 && (c.Fault == "silent_success" || c.Fault == "false_missing") {
			r.lies[i] = true
		}
	}
	for _, all := range r.outs {
		slices.SortFunc(all, func(a, b out) int { return a.at.Compare(b.at) })
	}
}

// end is the settled turn that answers a turn's message; nil: there is none.
func (r *records) end(t *turnRow) *turnRow {
	for range len(r.turns) {
		if t.state != "merged" {
			break
		}
		next := slices.IndexFunc(r.turns, func(o *turnRow) bool { return o.id == t.mergedInto })
		if next < 0 {
			return nil
		}
		t = r.turns[next]
	}
	if t.state != "settled" {
		return nil
	}
	return t
}

// whileSet reports whether the clock was set about an instant: the gap between two texts is
// kept by the time of day, and is not kept then.
func (r *records) whileSet(at time.Time) bool {
	return slices.ContainsFunc(r.w.sets, func(set time.Time) bool { return set.Sub(at).Abs() < 5*time.Second })
}

package acts

import (
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
)

// lockRecord locks and reads a turn's record in one statement, since what is written
// depends on it.
const lockRecord = `
UPDATE turns SET actions = actions WHERE id = $1 AND role = 'agent' RETURNING actions`

const updateRecord = `
UPDATE turns SET actions = $2 WHERE id = $1 AND role = 'agent'`

const updatePayload = `
UPDATE outbox SET payload = $2 WHERE id = $1`

// Payload is a row's payload as its column keeps it; how far the row got has columns.
func Payload(p outbox.Payload) string {
	p.Sent, p.Unknown, p.Acting = 0, 0, false
	return column.Object(p)
}

// Release brings a turn's record up to date with a row that was released or given up: what
// ended names, and of a row in a final state the actions that it did not perform. What notes
// say is not kept beyond that, unless a retry by hand would need it. Where anything ended was
// performed the caller has locked the conversation.
func Release(tx *groupcommit.Tx, r outbox.Row, ended []action.Ended) error {
	ended = append(slices.Clone(ended), left(r)...)
	if len(ended) > 0 {
		record, err := read(tx, r.TurnID)
		if err != nil {
			return err
		}
		if err := end(tx, r.TurnID, record, ended); err != nil {
			return err
		}
	}
	if !r.Status.Final() || mayGoOn(r) || !slices.ContainsFunc(r.Payload.Actions, func(p action.Pending) bool { return p.Text != "" }) {
		return nil
	}
	r.Payload.Actions = slices.Clone(r.Payload.Actions)
	for i := range r.Payload.Actions {
		r.Payload.Actions[i].Text = ""
	}
	return rewrite(tx, r)
}

// mayGoOn reports whether a row in a final state still performs its actions when an operator
// has it tried again.
func mayGoOn(r outbox.Row) bool {
	return r.Kind == outbox.HandoffNotice && (r.Status == outbox.Dead || r.Status == outbox.Withheld)
}

// Retry makes a dead or withheld row ready to go on. A reply goes on without its actions,
// which have come too late; a notice is nothing but its action, which may end once more,
// also when it was refused.
func Retry(tx *groupcommit.Tx, r outbox.Row) error {
	if len(r.Payload.Actions) == 0 {
		return nil
	}
	if r.Kind == outbox.Reply {
		r.Payload.Actions = nil
		return rewrite(tx, r)
	}
	record, err := read(tx, r.TurnID)
	if err != nil {
		return err
	}
	for _, p := range r.Payload.Actions {
		if p.Place < 0 || p.Place >= len(record) || record[p.Place].Status == action.Performed {
			continue
		}
		e := &record[p.Place]
		e.Status, e.Error, e.At = action.Staged, "", time.Time{}
	}
	return end(tx, r.TurnID, record, nil)
}

// left is what becomes of those actions of a row in a final state that have not ended yet.
func left(r outbox.Row) (ended []action.Ended) {
	became := map[outbox.Status]action.Status{
		outbox.Dead: action.DeadLettered, outbox.Withheld: action.Discarded, outbox.Discarded: action.Discarded,
	}
	if became[r.Status] == "" {
		return nil
	}
	e := action.Ended{Status: became[r.Status]}
	if r.Payload.Acting || r.Kind == outbox.HandoffNotice && r.Payload.Unknown > 0 { // begun, and of no known end
		e.Status, e.Error = action.Failed, action.OutcomeUnknown
	}
	for _, p := range r.Payload.Actions {
		e.Place = p.Place
		ended = append(ended, e)
	}
	return ended
}

func read(tx *groupcommit.Tx, turnID string) (record []action.Record, err error) {
	err = tx.QueryRow(lockRecord, turnID).Scan(column.JSON(&record))
	return record, err
}

// end writes the record of a locked turn with what became of its actions, and moves the sale by
// what was performed.
func end(tx *groupcommit.Tx, turnID string, record []action.Record, ended []action.Ended) error {
	over := action.Apply(record, ended)
	if _, err := tx.Exec(updateRecord, turnID, column.List(record)); err != nil {
		return err
	}
	return advance(tx, turnID, over)
}

func rewrite(tx *groupcommit.Tx, r outbox.Row) error {
	_, err := tx.Exec(updatePayload, r.ID, Payload(r.Payload))
	return err
}

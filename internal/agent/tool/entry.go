package tool

import (
	"github.com/manychat-agent/manychat-agent/internal/action"
)

// maxActions are staged or sent in a turn (docs/spec/07-tools.md, "Bounds").
const maxActions = 8

// Why an action was not staged or sent, as the model is told.
const (
	overCap          = "over_cap"
	alreadySent      = "already_sent"
	alreadyScheduled = "already_scheduled"
	nothingLeft      = "empty"
	outcomeUnknown   = "unknown"
	didFail          = "failed"
	readOften        = "limit"
)

// entry is an action of the turn: what stands in its record, and what a call of it is told.
type entry struct {
	record  action.Record
	text    string // of a note, cleaned
	answer  answer
	gone    bool // it leaves no record: the contact had the flow already
	asked   bool // the contact asked for the link to pay
	outside bool // of the cap: a rule of the server made it
	follows bool // it is made only behind the entry before it, once that is performed
	beside  beside

	earlier bool          // of an earlier try of the turn
	begun   bool          // a flow's request may be under way
	done    chan struct{} // of a flow to be sent: closed when it is known what became of it; nil of all else
}

// key is what makes two actions the same.
type key struct {
	tool      action.Kind
	id, value string
	text      string
}

// answer is what a call came to.
type answer struct {
	kind   action.Answer
	reason string
}

type (
	stagedTold struct {
		Staged bool   `json:"staged"`
		Reason string `json:"reason,omitempty"`
	}
	sentTold struct {
		Sent   bool   `json:"sent"`
		Reason string `json:"reason,omitempty"`
	}
	unreadTold struct {
		Available bool   `json:"available"`
		Reason    string `json:"reason,omitempty"`
	}
)

// told is the answer in the words of docs/spec/07-tools.md, "The tools".
func (a answer) told() any {
	switch a.kind {
	case action.AnsweredStaged, action.AnsweredNotStaged:
		return stagedTold{a.kind == action.AnsweredStaged, a.reason}
	case action.AnsweredSent, action.AnsweredNotSent:
		return sentTold{a.kind == action.AnsweredSent, a.reason}
	}
	return unreadTold{Reason: a.reason}
}

// answerOf is what a call of a flow is told, by what became of the flow.
func answerOf(r action.Record) answer {
	switch {
	case r.Status == action.Performed:
		return answer{action.AnsweredSent, ""}
	case r.Status == action.Staged:
		return answer{action.AnsweredStaged, ""}
	case r.Status == action.DroppedOverCap:
		return answer{action.AnsweredNotSent, overCap}
	case r.Error == action.OutcomeUnknown:
		return answer{action.AnsweredNotSent, outcomeUnknown}
	}
	return answer{action.AnsweredNotSent, didFail}
}

// resume takes up what an earlier try of the turn did: its flows take their slots, and are
// not sent again.
func (d *Desk) resume(r action.Record) {
	r = r.Interrupted()
	e := &entry{record: r, answer: answerOf(r), asked: r.ContactAsked, earlier: true}
	d.entries = append(d.entries, e)
	if r.Tool != action.SendFlow {
		return
	}
	if k := (key{tool: r.Tool, id: r.ID}); d.known[k] == nil {
		d.known[k] = e
	}
	if r.Origin != action.FromOpening { // docs/spec/08-sales.md, "Opening": outside the cap
		d.slots++
	}
	if f, found := d.turn.Tools.Flow(r.ID); found {
		e.record.ContactAsked = d.sale.Opens(f, e.asked)
	}
	d.went(e)
}

// stage takes an action, once: what is the same is answered like the first.
func (d *Desk) stage(c action.Call, r action.Record, text string) Outcome {
	if why := d.sale.Refuses(r.Tool, r.ID, r.Value); why != "" {
		return d.refuse(c, answer{action.AnsweredNotStaged, string(why)})
	}
	k := key{r.Tool, r.ID, r.Value, text}
	if e := d.known[k]; e != nil {
		return d.again(c, e)
	}
	e := &entry{record: r, text: text, answer: answer{action.AnsweredStaged, ""}}
	e.record.Status = action.Staged
	if !d.place(k, e) {
		e.answer = answer{action.AnsweredNotStaged, overCap}
	}
	return d.told(c, e)
}

// place puts an action into the record and gives it a slot, or notes that it was dropped for
// want of one.
func (d *Desk) place(k key, e *entry) bool {
	d.entries, d.known[k] = append(d.entries, e), e
	switch {
	case e.outside:
		return true
	case d.slots >= maxActions:
		e.record.Status, e.text = action.DroppedOverCap, ""
		return false
	}
	d.slots++
	return true
}

// told traces a call and answers it with what its action came to.
func (d *Desk) told(c action.Call, e *entry) Outcome {
	d.trace = append(d.trace, &traced{c, e})
	return Outcome{Told: e.told()}
}

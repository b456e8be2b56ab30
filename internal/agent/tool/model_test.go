package tool_test

import (
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
)

// model plays a program by the rules of docs/spec/07-tools.md, one call after the other on a
// clock of its own. It shares nothing with the desk.
type model struct {
	p     program
	now   time.Duration
	slots int
	reads int
	nudge string
	made  []*made
	saw   []action.Record
	calls []*heard
}

// made is an action that has been called for.
type made struct {
	request
	record action.Record
	told   string
	answer action.Answer
	reason string
	ghost  bool // the contact had the flow
}

// heard is a call and what the model is told of it; told is empty when the turn ended first.
type heard struct {
	call action.Call
	told string
	by   *made
}

func newModel(p program) *model {
	m := &model{p: p}
	for _, r := range p.Earlier {
		if r.Status == action.Sending {
			r.Status, r.Error = action.Failed, action.OutcomeUnknown
		}
		e := &made{request: request{Tool: r.Tool, ID: r.ID}, record: r}
		e.tell()
		m.made, m.slots = append(m.made, e), m.slots+1
	}
	return m
}

// tell puts into words what became of a flow.
func (e *made) tell() {
	switch r := e.record; {
	case e.ghost:
		e.told, e.answer, e.reason = sentBefore, action.AnsweredNotSent, "already_sent"
	case r.Status == action.Performed:
		e.told, e.answer, e.reason = sent, action.AnsweredSent, ""
	case r.Status == action.Staged:
		e.told, e.answer, e.reason = staged, action.AnsweredStaged, ""
	case r.Error == action.OutcomeUnknown:
		e.told, e.answer, e.reason = unknown, action.AnsweredNotSent, "unknown"
	default:
		e.told, e.answer, e.reason = failure, action.AnsweredNotSent, "failed"
	}
}

// play plays all steps; after a cut there is no other.
func (m *model) play() {
	for i, step := range m.p.Steps {
		end := time.Duration(-1)
		if m.p.Cut == i+1 {
			end = m.now + m.p.After
		}
		m.step(i+1, step, end)
		if end >= 0 {
			break
		}
	}
}

// step plays one step, which is cut off at end unless that is negative.
func (m *model) step(n int, calls []request, end time.Duration) {
	until, flying := m.now, []*made{}
	for _, r := range calls {
		h := &heard{call: action.Call{Step: n, Tool: r.Tool}}
		m.calls = append(m.calls, h)
		if r.Wrong != "" {
			h.call.Answer, h.call.Reason, h.told = action.AnsweredBad, r.Wrong, "bad"
			continue
		}
		h.call.ID, h.call.Value, h.call.Length = r.ID, r.Value, len(r.Text)
		if r.Tool == action.GetContact {
			until = max(until, m.read(h, end))
			continue
		}
		if e := m.act(h, r); e != nil {
			h.by = e
			if e.told == "" && !slices.Contains(flying, e) {
				flying = append(flying, e)
			}
		}
	}
	free := m.now
	for _, e := range flying {
		free = m.fly(e, free, end)
		until = max(until, free)
	}
	m.now = until
}

// read is when a read ends.
func (m *model) read(h *heard, end time.Duration) time.Duration {
	if m.reads == 2 {
		h.call.Answer, h.call.Reason, h.told = action.AnsweredUnread, "limit", limit
		return m.now
	}
	m.reads++
	ends, told, answer := m.now+m.p.Reads.Takes, profileTold, action.AnsweredRead
	if m.p.Reads.Takes >= 1500*time.Millisecond {
		ends, told, answer = m.now+1500*time.Millisecond, unread, action.AnsweredUnread
	}
	if end >= 0 && end < ends {
		told, answer = unread, action.AnsweredUnread
		if m.p.Closed {
			told = "" // it is told what nobody hears
		} else {
			ends = end
		}
	}
	h.told, h.call.Answer = told, answer
	return ends
}

// act takes a call of an action; nil: it was refused.
func (m *model) act(h *heard, r request) *made {
	asked := r.Wish == "true" && r.ID == "pay"
	h.call.ContactAsked = asked
	for i := len(m.made) - 1; i >= 0; i-- {
		e := m.made[i]
		if e.Tool != r.Tool || e.ID != r.ID || e.Value != r.Value || e.Text != r.Text {
			continue
		}
		if e.ghost && asked && !e.record.ContactAsked {
			break
		}
		return e
	}
	no, word := action.AnsweredNotStaged, "staged"
	if r.Tool == action.SendFlow && !m.p.Staged {
		no, word = action.AnsweredNotSent, "sent"
	}
	refused := ""
	switch {
	case r.Tool == action.SendFlow && r.ID != "map" && slices.Contains(m.p.Sent, r.ID) && !asked:
		refused = "already_sent"
	case r.Tool == action.WriteNote && r.Text == "":
		refused = "empty"
	case r.Tool == action.ScheduleNudge && m.nudge != "":
		refused = "already_scheduled"
	}
	if refused != "" {
		h.call.Answer, h.call.Reason, h.told = no, refused, `{"`+word+`":false,"reason":"`+refused+`"}`
		return nil
	}
	e := &made{request: r, record: action.Record{Tool: r.Tool, ID: r.ID, Value: r.Value, Length: len(r.Text), ContactAsked: asked}}
	m.made = append(m.made, e)
	switch {
	case m.slots == 8:
		e.record.Status, e.answer, e.reason, e.told = action.DroppedOverCap, no, "over_cap", `{"`+word+`":false,"reason":"over_cap"}`
		return e
	case word == "sent":
		e.record.Status = action.Sending
	default:
		e.record.Status, e.answer, e.told = action.Staged, action.AnsweredStaged, staged
		if r.Tool == action.ScheduleNudge {
			m.nudge = r.ID
		}
	}
	m.slots++
	return e
}

// fly sends a flow when the one before has ended, and returns when it ends itself.
func (m *model) fly(e *made, begins, end time.Duration) (ends time.Duration) {
	defer e.tell()
	if end >= 0 && end <= begins {
		e.record.Status, e.record.Error = action.Failed, "not started in time"
		return end
	}
	as := e.record
	m.saw = append(m.saw, as)
	b := m.p.Flows[e.ID]
	if b.How == "hangs" {
		b.Takes, b.How = 10*time.Second, "unknown"
	}
	if ends = begins + b.Takes; end >= 0 && end < ends {
		b.How = "unknown"
		ends = end
	}
	switch {
	case b.How == "had" && !as.ContactAsked:
		e.ghost = true
		m.slots--
	case b.How == "performed", b.How == "had":
		e.record.Status, e.record.At = action.Performed, at
	case b.How == "staged":
		e.record.Status = action.Staged
	case b.How == "refused":
		e.record.Status, e.record.Error = action.Failed, "refused"
	default:
		e.record.Status, e.record.Error = action.Failed, action.OutcomeUnknown
	}
	return ends
}

// result is what the desk has to hand over.
func (m *model) result() tool.Result {
	r := tool.Result{Record: []action.Record{}}
	for _, e := range m.made {
		if e.ghost {
			continue
		}
		if e.record.Status == action.Staged {
			r.Pending = append(r.Pending, action.Pending{Place: len(r.Record), Tool: e.Tool, ID: e.ID, Value: e.Value, ContactAsked: e.record.ContactAsked, Text: e.Text})
		}
		r.Record = append(r.Record, e.record)
	}
	for _, h := range m.calls {
		if h.by != nil {
			h.told, h.call.Answer, h.call.Reason = h.by.told, h.by.answer, h.by.reason
		}
		r.Calls = append(r.Calls, h.call)
	}
	return r
}

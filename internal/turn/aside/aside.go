// Package aside is what a turn does beside its reply: which of the staged actions it keeps, and
// how the business is told of a handoff. It is pure.
package aside

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// noticeEvery is how often the business is told of what a contact may do for ever: write
// over a limit, or with a secret that proves nothing of who they are.
const noticeEvery = time.Hour

// Settled is what a turn may do beside its reply: all that was staged when the reply goes
// out, and otherwise what follows a flow that went out before, and of a model's handoff the
// notes that are meant for one.
func Settled(acts tool.Result, outcome conversation.Outcome, tools *tenant.Tools) tool.Result {
	if outcome == conversation.Answered {
		return acts
	}
	acts.Record = slices.Clone(acts.Record)
	acts.Pending = slices.DeleteFunc(slices.Clone(acts.Pending), func(p action.Pending) bool {
		note, found := tools.Note(p.ID)
		switch {
		case outcome == conversation.Escalated && p.Tool == action.WriteNote && found && note.OnEscalation:
			return false
		case p.FollowOn && mayFollow(outcome) && stands(acts.Record, p.Place-1):
			return false
		}
		acts.Record[p.Place].Status = action.Discarded
		return true
	})
	return acts
}

// mayFollow reports whether a turn that ends so does what follows its flows. Nothing is done for
// a contact whom a person has, or who wants nothing (docs/spec/06-contact.md, "Pause and opt-out").
func mayFollow(outcome conversation.Outcome) bool {
	return outcome != conversation.Paused && outcome != conversation.OptedOut
}

// stands reports whether an entry of a record was performed, or is kept to be. Those before it have
// been decided about.
func stands(record []action.Record, place int) bool {
	return place >= 0 && (record[place].Status == action.Performed || record[place].Status == action.Staged)
}

// Silenced is the end of a turn whose conversation a person has, or whose contact opted out: it
// says nothing, and does nothing more.
func Silenced(t conversation.Turn, optedOut bool) conversation.Turn {
	t.Outcome, t.Reason = conversation.Paused, ""
	if optedOut {
		t.Outcome = conversation.OptedOut
	}
	t.Actions = slices.Clone(t.Actions)
	for i := range t.Actions {
		if t.Actions[i].Status == action.Staged {
			t.Actions[i].Status = action.Discarded
		}
	}
	return t
}

// Noted adds to a turn's record what its messages say about writing to the contact.
func Noted(t *conversation.Turn, w conversation.Wish) conversation.Wish {
	switch {
	case w.Out:
		t.Interventions = append(slices.Clip(t.Interventions), "opt_out")
	case !w.Back.IsZero():
		t.Interventions = append(slices.Clip(t.Interventions), "opt_in")
	}
	return w
}

// Discarded counts the actions that a turn staged and does not do.
func Discarded(record []action.Record) (n int) {
	for _, r := range record {
		if r.Status == action.Discarded {
			n++
		}
	}
	return n
}

// Handoff are the terms of [Notices].
type Handoff struct {
	Rules      *tenant.Handoff // nil: the business is not told
	Quiet      bool            // the contact is not told of the handoff again
	NotifiedAt time.Time       // when the business was last told of one of this contact; zero: never
	Notes      []action.Pending
	Now, Due   time.Time
}

// Notices tell the business of a turn's handoff, as far as its rules ask for it: a row for
// each way, so that none waits for another, and an entry in the turn's record. A handoff that
// the contact is not told of again starts no flow: a flow may speak to them. Nor does one of
// an unbound turn, which would use up what ManyChat allows the contact.
func Notices(t *conversation.Turn, h Handoff) (rows []outbox.Row) {
	if t.Reason == "" || h.Rules == nil || !h.worthTelling(*t) {
		return nil
	}
	add := func(number int, id, text string) {
		part := action.Pending{Place: len(t.Actions), Tool: action.NotifyHandoff, ID: id, Text: text}
		t.Actions = append(slices.Clip(t.Actions), action.Record{Tool: part.Tool, ID: id, Status: action.Staged})
		rows = append(rows, outbox.Row{
			ID: uuid.Must(uuid.NewV7()).String(), ConversationID: t.ConversationID, Key: t.Key, TurnID: t.ID,
			Kind: outbox.HandoffNotice, Seq: t.Seq, Part: number, Status: outbox.Pending,
			Payload: outbox.Payload{Actions: []action.Pending{part}}, NextAttemptAt: h.Due, CreatedAt: h.Now,
		})
	}
	if h.Rules.Tag != "" {
		add(outbox.TagPart, action.NoticeTag, "")
	}
	if h.Rules.FlowNs != "" && !h.Quiet && t.Bound {
		add(outbox.FlowPart, action.NoticeFlow, "")
	}
	if h.Rules.Webhook != "" {
		add(outbox.WebhookPart, action.NoticeWebhook, notes(h.Notes))
	}
	return rows
}

// worthTelling reports whether the business is to be told of a handoff. Of those that one
// contact, or whoever speaks in their name, may cause without end, one an hour is.
func (h Handoff) worthTelling(t conversation.Turn) bool {
	endless := !t.Bound || t.Reason == conversation.ByRateLimit || t.Reason == conversation.ByTurnCap
	since := t.ReceivedAt.Sub(h.NotifiedAt)
	return !endless || since < 0 || since >= noticeEvery
}

// notes are what the model wrote down for the colleague who takes over.
func notes(pending []action.Pending) (text string) {
	for _, p := range pending {
		if p.Tool == action.WriteNote {
			if text != "" {
				text += "\n"
			}
			text += p.Text
		}
	}
	return text
}

package turn

import (
	"context"
	"runtime/debug"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/prompt"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/redact"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn/race"
)

// actWithin bounds the actions behind a response (docs/spec/03-turn.md, "Steps").
const actWithin = 10 * time.Second

// actLatest is how long behind its response an action may still begin.
const actLatest = time.Minute

// noticeEvery is how often the business is told of what a contact may do for ever: write
// over a limit, or with a secret that proves nothing of who they are.
const noticeEvery = time.Hour

// desk takes the calls of a turn's model. Where the request does not prove who its contact
// is, nothing is offered: whoever holds the secret alone neither reads a contact nor
// writes to them.
func (x *Exchange) desk(rec Recorded) *tool.Desk {
	if !rec.Turn.Bound {
		return tool.NewDesk(tool.Turn{Earlier: x.flows.Record()})
	}
	return tool.NewDesk(tool.Turn{
		Tools: x.tenant.Tools, Flows: &flows{x, rec}, Contact: &reader{x, rec},
		Sent: rec.Sent, Earlier: x.flows.Record(), Fence: prompt.Fence, Menu: &x.r.menu,
	})
}

// settledActs is what a turn may do beside its reply: all that was staged when the reply goes
// out, of a model's handoff the notes that are meant for one, and nothing otherwise.
func settledActs(acts tool.Result, outcome conversation.Outcome, tools *tenant.Tools) tool.Result {
	if outcome == conversation.Answered {
		return acts
	}
	acts.Record = slices.Clone(acts.Record)
	acts.Pending = slices.DeleteFunc(slices.Clone(acts.Pending), func(p action.Pending) bool {
		note, found := tools.Note(p.ID)
		if outcome == conversation.Escalated && p.Tool == action.WriteNote && found && note.OnEscalation {
			return false
		}
		acts.Record[p.Place].Status = action.Discarded
		return true
	})
	return acts
}

// act performs what follows a response that was written. The turn is not over before.
func (r *Runner) act(x *Exchange, rec Recorded, pending []action.Pending) {
	done := r.perform(x, rec, pending)
	r.persist("what became of actions not written", rec.Turn.ID, func(ctx context.Context) error {
		return r.cfg.Acts.Acted(ctx, rec.Turn.ID, done)
	})
	r.cfg.Wake()
}

// perform makes the requests, unless the response left so long ago that the conversation has
// moved on: the database may have been away. A defect behind them costs the turn its
// actions and no other turn anything.
func (r *Runner) perform(x *Exchange, rec Recorded, pending []action.Pending) (done []action.Ended) {
	failed := func(why string) {
		done = done[:0]
		for _, p := range pending {
			done = append(done, action.Ended{Place: p.Place, Status: action.Failed, Error: why})
		}
	}
	if r.cfg.Now().Sub(x.WrittenAt()) > actLatest || !r.cfg.Alive() {
		failed(action.NotStarted)
		return done
	}
	defer func() {
		if p := recover(); p != nil {
			r.cfg.Log.Error("actions panicked", "turn", rec.Turn.ID, "panic", redact.Panic(p), "stack", string(debug.Stack()))
			failed(action.OutcomeUnknown)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), actWithin)
	defer cancel()
	return r.cfg.Account.Perform(ctx, delivery.Batch{
		Who: rec.Turn.Key, Tools: x.tenant.Tools, Actions: pending,
		Claim: action.Claim{ConversationID: rec.Turn.ConversationID, TurnID: rec.Turn.ID, Since: HistorySince(x.tenant, r.cfg.Now())},
		Held: func(ctx context.Context) (bool, error) {
			return r.people.Has(ctx, x.tenant, rec.Turn.ConversationID, rec.Turn.Seq)
		},
	})
}

// notify adds to a settlement what tells the business of a handoff, as far as its rules ask
// for it: a row for each way, so that none waits for another. A handoff that the contact is
// not told of again starts no flow: a flow may speak to them. Nor does one of an unbound
// turn, which would use up what ManyChat allows the contact.
func (r *Runner) notify(x *Exchange, s *Settlement, quiet bool) {
	h := x.tenant.Rules.Handoff
	if s.Turn.Reason == "" || h == nil || !x.worthTelling(s.Turn) {
		return
	}
	due := r.cfg.Now() // behind the reply, which tells the contact first
	if s.Row != nil {
		due = race.Later(due, s.Row.NextAttemptAt)
	}
	add := func(number int, id, text string) {
		part := action.Pending{Place: len(s.Turn.Actions), Tool: action.NotifyHandoff, ID: id, Text: text}
		s.Turn.Actions = append(s.Turn.Actions[:len(s.Turn.Actions):len(s.Turn.Actions)], action.Record{Tool: part.Tool, ID: id, Status: action.Staged})
		s.Notices = append(s.Notices, outbox.Row{
			ID: uuid.Must(uuid.NewV7()).String(), ConversationID: s.Turn.ConversationID, Key: s.Turn.Key, TurnID: s.Turn.ID,
			Kind: outbox.HandoffNotice, Seq: s.Turn.Seq, Part: number, Status: outbox.Pending,
			Payload: outbox.Payload{Actions: []action.Pending{part}}, NextAttemptAt: due.Add(r.cfg.Gap), CreatedAt: r.cfg.Now(),
		})
	}
	if h.Tag != "" {
		add(outbox.TagPart, action.NoticeTag, "")
	}
	if h.FlowNs != "" && !quiet && s.Turn.Bound {
		add(outbox.FlowPart, action.NoticeFlow, "")
	}
	if h.Webhook != "" {
		add(outbox.WebhookPart, action.NoticeWebhook, notes(s))
	}
}

// worthTelling reports whether the business is to be told of a handoff. Of those that one
// contact, or whoever speaks in their name, may cause without end, one an hour is.
func (x *Exchange) worthTelling(t conversation.Turn) bool {
	endless := !t.Bound || t.Reason == conversation.ByRateLimit || t.Reason == conversation.ByTurnCap
	since := t.ReceivedAt.Sub(x.recorded().Conversation.NotifiedAt)
	return !endless || since < 0 || since >= noticeEvery
}

// notes are what the model wrote down for the colleague who takes over.
func notes(s *Settlement) (text string) {
	pending := s.Pending
	if s.Row != nil {
		pending = append(pending[:len(pending):len(pending)], s.Row.Payload.Actions...)
	}
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

// discarded counts the actions that a turn staged and does not do.
func discarded(record []action.Record) (n int) {
	for _, r := range record {
		if r.Status == action.Discarded {
			n++
		}
	}
	return n
}

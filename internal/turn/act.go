package turn

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/prompt"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// actWithin bounds the actions behind a response (docs/spec/03-turn.md, "Steps").
const actWithin = 10 * time.Second

// desk takes the calls of a turn's model. A contact whose request does not prove who they
// are is not read.
func (x *Exchange) desk(rec Recorded) *tool.Desk {
	t := tool.Turn{
		Tools: x.tenant.Tools, Flows: &flows{x, rec}, Sent: rec.Sent, Earlier: x.flowRecord(), Fence: prompt.Fence, Menu: &x.r.menu,
	}
	if rec.Turn.Bound {
		t.Contact = &reader{x, rec}
	}
	return tool.NewDesk(t)
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
	ctx, cancel := context.WithTimeout(context.Background(), actWithin)
	defer cancel()
	done := r.cfg.Account.Perform(ctx, delivery.Batch{
		Who: rec.Turn.Key, Tools: x.tenant.Tools, Actions: pending,
		Claim: action.Claim{ConversationID: rec.Turn.ConversationID, TurnID: rec.Turn.ID, Since: HistorySince(x.tenant, r.cfg.Now())},
	})
	r.persist("what became of actions not written", rec.Turn.ID, func(ctx context.Context) error {
		return r.cfg.Acts.Acted(ctx, rec.Turn.ID, done)
	})
	r.cfg.Wake()
}

// notify adds to a settlement what tells the business of a handoff, as far as its rules ask
// for it: a row for each way, so that none waits for another. A handoff that the contact is
// not told of again starts no flow: a flow may speak to them.
func (r *Runner) notify(x *Exchange, s *Settlement, quiet bool) {
	h := x.tenant.Rules.Handoff
	if s.Turn.Reason == "" || h == nil {
		return
	}
	due := r.cfg.Now() // behind the reply, which tells the contact first
	if s.Row != nil {
		due = later(due, s.Row.NextAttemptAt)
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
	if h.FlowNs != "" && !quiet {
		add(outbox.FlowPart, action.NoticeFlow, "")
	}
	if h.Webhook != "" {
		add(outbox.WebhookPart, action.NoticeWebhook, notes(s))
	}
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

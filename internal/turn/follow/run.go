package follow

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/agent/prompt"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/aside"
	"github.com/manychat-agent/manychat-agent/internal/turn/guard"
	"github.com/manychat-agent/manychat-agent/internal/turn/lane"
	"github.com/manychat-agent/manychat-agent/internal/turn/person"
)

// repeats is the guardrail that notes a reply which the contact has already.
const repeats = "repetition"

// run is one turn that has been claimed.
type run struct {
	f      *Follower
	tenant *tenant.Tenant
	facts  nudge.Facts
	rec    turn.Recorded
	began  time.Time
}

// verdict is how a turn ends.
type verdict struct {
	texts     []string // none: nothing is sent
	calledOff nudge.Reason
	notes     []string
	result    agent.Result // zero when no model ran
	replied   bool         // the result holds a reply of the model
	acts      tool.Result
}

// decide asks what has to be asked for, and then the model.
func (r *run) decide(ctx context.Context) verdict {
	r.facts.OverCap = capped(r.tenant, r.rec)
	if _, off := r.facts.CalledOff(); !off {
		r.facts.Tag = r.tag(ctx)
	}
	r.facts.Now = r.f.cfg.Now()
	if reason, off := r.facts.CalledOff(); off {
		return verdict{calledOff: reason, notes: []string{string(reason)}}
	}
	return r.ask(ctx)
}

// tag asks ManyChat whether a person has the contact. What was known before is put right.
func (r *run) tag(ctx context.Context) nudge.Tag {
	name := person.Tag(r.tenant)
	if name == "" {
		return nudge.TagUnasked
	}
	read, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	active, err := r.f.cfg.Tags.HasTag(read, r.rec.Turn.Key, name)
	switch {
	case ctx.Err() != nil:
		return nudge.TagUnread
	case err != nil:
		r.f.cfg.Log.Warn("a contact's tags were not read, so that they are not followed up", "turn", r.rec.Turn.ID, "error", err)
		return nudge.TagUnread
	case active:
		return nudge.TagCarried
	case r.rec.Conversation.TagActive:
		note, cancel := context.WithTimeout(ctx, writeWithin)
		defer cancel()
		if err := r.f.cfg.Store.NoteTag(note, r.rec.Turn.Key, false); err != nil {
			r.f.cfg.Log.Error("whether a person has a contact was not kept; it is read again", "turn", r.rec.Turn.ID, "error", err)
		}
	}
	return nudge.TagAbsent
}

// ask has the model write. A reply that would hand off, that fails or that the contact has
// already is no follow-up: nothing is sent, and nobody is told.
func (r *run) ask(turning context.Context) verdict {
	ctx, cancel := context.WithTimeoutCause(turning, r.f.cfg.Abort, errAborted)
	defer cancel()
	history := guard.Plain(r.rec.History)
	desk := tool.NewDesk(tool.Turn{Tools: r.tenant.Tools, Sent: r.rec.Sent, Sale: r.rec.Sale, Fence: prompt.Fence})
	offered := desk.Tools()
	result, err := agent.Ask(ctx, r.f.cfg.Agent, r.f.cfg.Log, agent.Input{
		Tools: offered, SoFar: desk.SoFar, Tenant: r.tenant, History: history, FirstName: r.rec.Turn.FirstName,
		Offering: r.rec.Sale.Offering, Sale: r.rec.Sale, Quiet: r.f.cfg.Now().Sub(r.facts.MessageAt), ReserveBy: r.began.Add(r.f.cfg.Room),
	})
	if err != nil && turning.Err() == nil {
		r.f.cfg.Log.Warn("model gave no follow-up, nothing is sent", "turn", r.rec.Turn.ID, "error", err)
	}
	checked := r.f.cfg.Guard.Apply(guardrail.Input{
		Tenant: r.tenant, Reply: result.Reply, Style: r.f.cfg.Shapes.For(r.rec.Turn.Key.Channel).Styled,
		Failure: string(agent.ClassOf(err)), At: r.f.cfg.Now(), LastReply: guard.LastReply(r.rec.History),
	})
	v := verdict{result: result, replied: err == nil, notes: checked.Interventions}
	if checked.Reason != "" {
		v.notes = append(v.notes, string(checked.Reason))
	}
	if checked.Outcome == conversation.Answered && !slices.Contains(checked.Interventions, repeats) {
		desk.Open(ctx)
		v.texts = checked.Messages
	}
	if agent.ClassOf(err) == agent.OverBudget {
		v.calledOff = nudge.CapReached
	}
	v.acts = desk.Close()
	v.acts.Calls = result.Trace(v.acts.Calls, offered)
	return v
}

// settle writes the end of the turn, unless it has ended: then whatever called the nudge off has
// written it. A process that stops leaves it for another, which sends nothing.
func (r *run) settle(ctx context.Context, v verdict) {
	if context.Cause(ctx) != nil {
		r.f.cfg.Log.Info("nudge cut short", "turn", r.rec.Turn.ID, "conversation", r.rec.Turn.ConversationID, "reason", context.Cause(ctx).Error())
		return
	}
	s := r.settlement(v)
	writes := lane.Writes{
		Within: writeWithin, First: firstRetry, Last: lastRetry, GivenUp: ctx.Done(), Log: r.f.cfg.Log,
		Final: []error{turn.ErrNotOwner, turn.ErrPaused}, Refused: turn.ErrRefused,
	}
	write := func(ctx context.Context) error {
		s.Turn.SettledAt = r.f.cfg.Now()
		s.Turn.Timings.Total = conversation.Since(r.began, s.Turn.SettledAt)
		return r.f.cfg.Store.Settle(ctx, s)
	}
	err := writes.Persist("nudge not settled", s.Turn.ID, write)
	switch {
	case errors.Is(err, turn.ErrPaused):
		s = r.settlement(verdict{calledOff: nudge.Paused, notes: v.notes, result: v.result, replied: v.replied, acts: v.acts})
		err = writes.Persist("nudge not settled", s.Turn.ID, write)
	case errors.Is(err, turn.ErrRefused):
		s = r.settlement(verdict{})
		err = writes.Persist("nudge not settled", s.Turn.ID, write)
	}
	if err != nil {
		r.f.cfg.Log.Info("nudge ended meanwhile", "turn", s.Turn.ID, "conversation", s.Turn.ConversationID, "error", err)
		return
	}
	r.log(s)
	r.f.cfg.Count(ended(s))
	r.f.cfg.Observe(s.Turn)
	r.f.cfg.Wake()
}

// ended is what became of a nudge, for whoever counts.
func ended(s turn.Settlement) string {
	switch {
	case s.CalledOff != "":
		return string(s.CalledOff)
	case s.Turn.Outcome == conversation.NudgeSent:
		return "sent"
	}
	return "skipped"
}

// settlement is the end of the turn as it is written.
func (r *run) settlement(v verdict) turn.Settlement {
	t := r.rec.Turn
	t.Outcome, t.Path = conversation.NudgeSkipped, conversation.Silent
	t.Interventions = v.notes
	t.Model, t.PromptVersion, t.Spend = v.result.Model, v.result.PromptVersion, v.result.Spend
	if v.replied {
		confidence := v.result.Reply.Confidence
		t.Confidence = &confidence
	}
	for _, s := range v.result.Steps {
		t.Timings.Steps = append(t.Timings.Steps, conversation.Micros(s.Took.Microseconds()))
	}
	s := turn.Settlement{CalledOff: v.calledOff, Tagged: person.Tag(r.tenant) != ""}
	texts := r.f.cfg.Shapes.For(t.Key.Channel).Texts(v.texts)
	if len(texts) > 0 && v.calledOff == "" {
		t.Outcome, t.Path, t.Replies = conversation.NudgeSent, conversation.Outbox, texts
		s.Row = r.row(texts, v.acts)
	} else {
		v.acts = aside.Settled(v.acts, t.Outcome, r.tenant.Tools)
	}
	t.Actions, t.Calls = v.acts.Record, v.acts.Calls
	s.Turn = t
	return s
}

// row is what delivers the follow-up, for as long as it may go out.
func (r *run) row(texts []string, acts tool.Result) *outbox.Row {
	t := r.rec.Turn
	return &outbox.Row{
		ID: uuid.Must(uuid.NewV7()).String(), ConversationID: t.ConversationID, Key: t.Key, TurnID: t.ID, Kind: outbox.Reply, Seq: t.Seq,
		Payload: outbox.Payload{Texts: texts, Actions: acts.Pending, NudgeUntil: r.facts.Until()},
		Status:  outbox.Pending, NextAttemptAt: r.f.cfg.Now(), CreatedAt: t.ReceivedAt,
	}
}

func (r *run) log(s turn.Settlement) {
	t := s.Turn
	r.f.cfg.Log.Info("turn", "turn", t.ID, "conversation", t.ConversationID, "outcome", t.Outcome, "path", t.Path,
		"called_off", string(s.CalledOff), "bound", t.Bound, "attempt", t.Attempt, "interventions", t.Interventions, "model", t.Model, "total_us", t.Timings.Total,
		"tokens_in", t.Spend.TokensIn, "tokens_out", t.Spend.TokensOut, slog.Int("actions", len(t.Actions)), slog.Int("discarded", aside.Discarded(t.Actions)))
}

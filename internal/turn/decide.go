package turn

import (
	"context"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/sales"
	"github.com/manychat-agent/manychat-agent/internal/turn/guard"
)

// errAborted is why an agent gave no reply, beside what it reports itself.
var errAborted = &agent.Error{Class: agent.Abort}

// verdict is what a turn says and why, before anything of it goes out.
type verdict struct {
	messages      []string
	outcome       conversation.Outcome
	reason        conversation.EscalationReason
	interventions []string
	result        agent.Result // zero when no model ran
	replied       bool         // the result holds a reply of the model
}

// decide takes a recorded turn through the guards, the model and the guardrails.
func (r *Runner) decide(x *Exchange, rec Recorded) verdict {
	if rec.Turn.Attempt > r.cfg.MaxAttempts {
		r.cfg.Log.Error("turn started too often, handing off", "turn", rec.Turn.ID, "attempt", rec.Turn.Attempt)
		return x.handoff(conversation.EscalatedError, conversation.ByError)
	}
	if v, ok := x.guarded(rec); ok {
		return v
	}
	text, history := guard.Readable(rec.Texts()), guard.Plain(rec.History)
	ctx, cancel := context.WithTimeoutCause(context.Background(), r.cfg.Abort, errAborted)
	defer cancel()
	desk := x.opened(rec)
	result, err := agent.Ask(ctx, r.cfg.Agent, r.cfg.Log, agent.Input{
		Tools:     desk.Tools(),
		SoFar:     desk.SoFar,
		Earlier:   x.flows.Record(),
		Tenant:    x.tenant,
		History:   history,
		Text:      text,
		FirstName: rec.Turn.FirstName,
		ReserveBy: x.End(),
		Offering:  rec.Sale.Offering,
		Sale:      rec.Sale,
	})
	x.asked = result
	if err != nil {
		r.cfg.Log.Warn("model gave no reply, handing off", "turn", rec.Turn.ID, "error", err)
	}
	if agent.ClassOf(err) == agent.OverBudget {
		v := x.handoff(conversation.EscalatedPrecheck, conversation.ByBudget)
		v.result = result
		return v
	}
	checked := r.cfg.Guard.Apply(guardrail.Input{
		Tenant:    x.tenant,
		Reply:     result.Reply,
		Style:     x.shape.Styled,
		Failure:   string(agent.ClassOf(err)),
		At:        r.cfg.Now(),
		LastReply: guard.LastReply(rec.History),
		Message:   text,
		Again:     conversation.Repeats(history, text),
		Token:     x.token,
	})
	if checked.Outcome == conversation.Answered {
		desk.Open(ctx)
	}
	return verdict{
		replied:       err == nil,
		messages:      checked.Messages,
		outcome:       checked.Outcome,
		reason:        checked.Reason,
		interventions: checked.Interventions,
		result:        result,
	}
}

// guarded is how a turn ends that no model sees.
func (x *Exchange) guarded(rec Recorded) (verdict, bool) {
	g, ok := guard.Check(x.tenant, guard.Messages{
		Turn: rec.Turn, Texts: rec.Texts(), Recent: rec.Recent, Talk: rec.Conversation,
		Taken: func() bool { return x.r.people.HasTurn(context.Background(), x.tenant, rec.Conversation, rec.Turn) },
	})
	if g.Reason != "" {
		return x.handoff(g.Outcome, g.Reason), ok
	}
	return verdict{outcome: g.Outcome, messages: g.Messages, interventions: g.Interventions}, ok
}

// handoff says what the tenant tells a contact when a person takes over, and nothing else.
func (x *Exchange) handoff(outcome conversation.Outcome, reason conversation.EscalationReason) verdict {
	return verdict{messages: []string{x.handover()}, outcome: outcome, reason: reason}
}

// handover is what a contact reads now when a person takes over.
func (x *Exchange) handover() string { return x.tenant.Rules.Handover(x.r.cfg.Now()) }

// ended is the turn's row as it will be settled, and what it does besides.
func (x *Exchange) ended(rec Recorded, v verdict) (conversation.Turn, []action.Pending) {
	t, acts := rec.Turn, x.acted(rec, v.outcome)
	x.over = sales.OpeningOver(rec.Sale, acts.Sale, v.reason != "") && !rec.Sale.OpeningOver
	t.Actions, t.Calls = acts.Record, acts.Calls
	t.Outcome, t.Reason = v.outcome, v.reason
	t.Interventions = append(t.Interventions, v.interventions...)
	t.Model, t.PromptVersion, t.Spend = v.result.Model, v.result.PromptVersion, v.result.Spend
	if v.replied {
		confidence := v.result.Reply.Confidence
		t.Confidence = &confidence
	}
	for _, s := range v.result.Steps {
		t.Timings.Steps = append(t.Timings.Steps, conversation.Micros(s.Took.Microseconds()))
	}
	return t, acts.Pending
}

package turn

import (
	"context"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/redact"
	"github.com/manychat-agent/manychat-agent/internal/turn/limit"
)

// Why an agent gave no reply, beside what it reports itself.
var (
	errAborted  = &agent.Error{Class: agent.Abort}
	errPanicked = &agent.Error{Class: agent.Panic}
)

// verdict is what a turn says and why, before anything of it goes out.
type verdict struct {
	messages      []string
	outcome       conversation.Outcome
	reason        conversation.EscalationReason
	interventions []string
	result        agent.Result // zero when no model ran
	replied       bool         // the result holds a reply of the model
	acts          tool.Result  // what the model's calls came to
}

// decide takes a recorded turn through the guards, the model and the guardrails.
func (r *Runner) decide(x *Exchange, rec Recorded) verdict {
	if rec.Turn.Attempt > r.cfg.MaxAttempts {
		r.cfg.Log.Error("turn started too often, handing off", "turn", rec.Turn.ID, "attempt", rec.Turn.Attempt)
		return x.handoff(conversation.EscalatedError, conversation.ByError)
	}
	if v, ok := guard(x, rec); ok {
		return v
	}
	text, history := readable(rec), plain(rec.History)
	ctx, cancel := context.WithDeadlineCause(context.Background(), r.cfg.Now().Add(r.cfg.Abort), errAborted)
	defer cancel()
	desk := x.desk(rec)
	offered := desk.Tools()
	result, err := r.ask(ctx, agent.Input{
		Tools:     offered,
		SoFar:     desk.SoFar,
		Earlier:   x.flows.Record(),
		Tenant:    x.tenant,
		History:   history,
		Text:      text,
		FirstName: rec.Turn.FirstName,
		ReserveBy: x.End(),
		Offering:  rec.Conversation.Offering,
	})
	acts := x.flows.Closed(desk.Close())
	acts.Calls = result.Trace(acts.Calls, offered)
	x.acts = acts
	if err != nil {
		r.cfg.Log.Warn("model gave no reply, handing off", "turn", rec.Turn.ID, "error", err)
	}
	if agent.ClassOf(err) == agent.OverBudget {
		v := x.handoff(conversation.EscalatedPrecheck, conversation.ByBudget)
		v.result, v.acts = result, settledActs(acts, v.outcome, x.tenant.Tools)
		return v
	}
	checked := r.cfg.Guard.Apply(guardrail.Input{
		Tenant:    x.tenant,
		Reply:     result.Reply,
		Style:     x.shape.Styled,
		Failure:   string(agent.ClassOf(err)),
		At:        r.cfg.Now(),
		LastReply: lastReply(rec.History),
		Message:   text,
		Again:     conversation.Repeats(history, text),
		Token:     x.token,
	})
	return verdict{
		replied:       err == nil,
		messages:      checked.Messages,
		outcome:       checked.Outcome,
		reason:        checked.Reason,
		interventions: checked.Interventions,
		result:        result,
		acts:          settledActs(acts, checked.Outcome, x.tenant.Tools),
	}
}

// ask runs the agent until it answers or ctx ends, whichever comes first: an agent
// that does not return costs the turn its reply and nothing else, and so does one
// that panics.
func (r *Runner) ask(ctx context.Context, in agent.Input) (agent.Result, error) {
	type answer struct {
		result agent.Result
		err    error
	}
	answers := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				r.cfg.Log.Error("agent panicked", "panic", redact.Panic(p), "stack", string(debug.Stack()))
				a.err = errPanicked
			}
			answers <- a
		}()
		a.result, a.err = r.cfg.Agent.Run(ctx, in)
	}()
	select {
	case a := <-answers:
		return a.result, a.err
	case <-ctx.Done():
		return agent.Result{}, context.Cause(ctx)
	}
}

// plain is a history whose contact's words are as a model reads them.
func plain(history []conversation.Entry) []conversation.Entry {
	history = slices.Clone(history)
	for i := range history {
		if history[i].Role == conversation.ByContact {
			history[i].Text = conversation.Plain(history[i].Text)
		}
	}
	return history
}

// guard answers without a model where the tenant's rules say so. The order is that
// of docs/spec/03-turn.md, "Steps".
func guard(x *Exchange, rec Recorded) (verdict, bool) {
	t := x.tenant
	texts := rec.Texts()
	for i := range texts {
		texts[i] = conversation.Plain(texts[i])
	}
	if !t.Rules.Audience.Includes(rec.Turn.Key.SubscriberID) {
		return verdict{outcome: conversation.Paused, interventions: []string{"audience"}}, true
	}
	if all(texts, t.Keywords.Opening.Equals) {
		return verdict{messages: []string{t.Rules.OpeningTrigger.Message}, outcome: conversation.AnsweredScripted}, true
	}
	if reason, over := limit.Over(t.Rules, rec.Turn, rec.Recent); over {
		return x.handoff(conversation.EscalatedPrecheck, reason), true
	}
	if all(texts, unreadable) {
		if m := t.Rules.Messages.MediaFallback; m != "" {
			return verdict{messages: []string{m}, outcome: conversation.MediaFallback}, true
		}
		return x.handoff(conversation.EscalatedPrecheck, conversation.ByMedia), true
	}
	asksForPerson := func(text string) bool {
		_, found := t.Keywords.Escalation.Find(text)
		return found
	}
	if slices.ContainsFunc(texts, asksForPerson) {
		return x.handoff(conversation.EscalatedPrecheck, conversation.ByKeyword), true
	}
	return verdict{}, false
}

// all reports whether every text is so. What covers a set of messages only in part answers
// none of it.
func all(texts []string, is func(string) bool) bool {
	return !slices.ContainsFunc(texts, func(text string) bool { return !is(text) })
}

// readable is what a model reads of the messages that a turn answers, oldest first. What says
// nothing is left out.
func readable(rec Recorded) string {
	var said []string
	for _, text := range rec.Texts() {
		if text = conversation.Plain(text); !unreadable(text) {
			said = append(said, text)
		}
	}
	return strings.Join(said, "\n")
}

// unreadable reports whether a message says nothing an agent can read: no text at
// all, or a ManyChat variable that was not filled in.
func unreadable(text string) bool {
	text = strings.TrimSpace(text)
	return text == "" || (strings.HasPrefix(text, "{{") && strings.HasSuffix(text, "}}"))
}

// handoff says what the tenant tells a contact when a person takes over, and nothing else.
func (x *Exchange) handoff(outcome conversation.Outcome, reason conversation.EscalationReason) verdict {
	return verdict{messages: []string{x.handover()}, outcome: outcome, reason: reason}
}

// handover is what a contact reads now when a person takes over.
func (x *Exchange) handover() string { return x.tenant.Rules.Handover(x.r.cfg.Now()) }

// lastReply is what the agent said last; nil: nothing.
func lastReply(history []conversation.Entry) []string {
	for _, e := range slices.Backward(history) {
		if e.Role != conversation.ByContact {
			return []string{e.Text}
		}
	}
	return nil
}

// ended is the turn's row as it will be settled.
func (x *Exchange) ended(rec Recorded, v verdict) conversation.Turn {
	t := rec.Turn
	if v.acts.Record == nil { // a handoff in place of what was decided
		v.acts = settledActs(x.acts, v.outcome, x.tenant.Tools)
	}
	t.Actions, t.Calls = v.acts.Record, v.acts.Calls
	if flowed := x.flows.Record(); t.Actions == nil && len(flowed) > 0 {
		t.Actions = flowed
	}
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
	return t
}

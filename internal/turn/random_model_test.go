package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// busy is the tenant of the random test: enough to do for more than a turn may, flows that
// play for 0, 3 and 20 seconds, and handoffs that are made known.
func busy() *tenant.Tenant {
	t := acting()
	t.Tools.Flows = append(t.Tools.Flows,
		tenant.Flow{ID: "tour", FlowNs: "content-tour", Description: "The tour."},
		tenant.Flow{ID: "prices", FlowNs: "content-prices", Description: "The prices."},
		tenant.Flow{ID: "song", FlowNs: "content-song", Description: "The song.", SettleSeconds: 3, Repeatable: true},
	)
	t.Rules.UseFirstName = true // it tells messages apart
	t.Rules.Handoff = &tenant.Handoff{Tag: "needs-a-person", FlowNs: "content-handoff"}
	return t
}

// tenant is the tenant as a turn asks for it. No two turns have the same copy for a
// handoff, so that a text tells which turn said it.
func (w *world) tenant() *tenant.Tenant {
	t := *w.business
	w.mu.Lock()
	defer w.mu.Unlock()
	w.copied++
	t.Rules.Messages.Escalation = fmt.Sprintf("%s #%d", escalationCopy, w.copied)
	return &t
}

// owns notes which message a handoff's copy answers.
func (w *world) owns(handoff, message string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.copies[handoff] = message
}

// longMark ends a message whose answer needs several texts.
const longMark = " long"

// slowAgent answers at any time around the deadline, and now and then not before the
// abort. Its reply names the message. Meanwhile it calls tools.
type slowAgent struct{ *process }

// told is what a model was told of a call.
type told struct {
	process, message string
	tool, what       string // what: as [asked] has it; empty: nothing that the tenant has
	answer           string
}

func (a slowAgent) Run(ctx context.Context, in agent.Input) (agent.Result, error) {
	a.w.owns(in.Tenant.Rules.Messages.Escalation, in.FirstName)
	stream := "agent " + a.name + " " + in.FirstName
	defer a.w.thinks(ctx, a.process, in.FirstName)()
	began, takes := time.Now(), a.takes(stream)
	a.work(ctx, in, stream, takes)
	result, err := answersAfter(takes-time.Since(began), a.reply(in))(ctx)
	switch { // not the same chance: each of these is about one in ten
	case err != nil:
	case a.w.dice.chance(stream, 0.1):
		result.Reply.Escalate, result.Reply.EscalationReason = true, conversation.Complaint
	case a.w.dice.chance(stream, 0.1):
		result.Reply.Confidence = 0.1
	case a.w.dice.chance(stream, 0.07):
		return agent.Result{}, errBroken
	}
	return result, err
}

func (a slowAgent) takes(stream string) time.Duration {
	takes := a.w.duration(stream, 14*time.Second)
	switch {
	case a.w.dice.chance(stream, 0.3):
		return takes / 10
	case a.w.dice.chance(stream, 0.1): // a hair's breadth
		return deadline - 20*ms + a.w.duration(stream, 40*ms)
	case a.w.dice.chance(stream, 0.03):
		return abort - 2*time.Second + a.w.duration(stream, 4*time.Second)
	}
	return takes
}

func (a slowAgent) reply(in agent.Input) string {
	text := "re " + in.FirstName + ": " + in.Text
	if strings.HasSuffix(in.Text, longMark) {
		for n := range 450 { // no two of its texts are alike
			text += fmt.Sprintf(" %s#%d", in.FirstName, n)
		}
	}
	return text
}

// work is up to three steps that call tools, at random moments of the time that the turn
// takes. The calls of a step are taken one after the other and run side by side.
func (a slowAgent) work(ctx context.Context, in agent.Input, stream string, takes time.Duration) {
	steps := int(a.w.dice.upTo(stream, 4))
	for step := range steps {
		if !within(ctx, a.w.duration(stream, takes/time.Duration(steps)+ms)) {
			return
		}
		calls := 1 + a.w.dice.upTo(stream, 4)
		if a.w.dice.chance(stream, 0.1) {
			calls = 14
		}
		var runs sync.WaitGroup
		for range calls {
			a.call(ctx, in, a.choose(stream, in.FirstName), step+1, &runs)
		}
		runs.Wait()
	}
}

// wish is a call that a model makes.
type wish struct{ tool, args, what string }

// choose picks a call: of what the tenant has, or of what it has not.
func (a slowAgent) choose(stream, message string) wish {
	tools := a.w.business.Tools
	pick := func(n int) int { return int(a.w.dice.upTo(stream, int64(n))) }
	switch pick(12) {
	case 0, 1, 2, 3:
		f := tools.Flows[pick(len(tools.Flows))]
		return wish{"send_flow", fmt.Sprintf(`{"flow":%q,"subscriber_id":"901"}`, f.ID), "flow " + f.FlowNs}
	case 4:
		t := tools.Tags[pick(len(tools.Tags))]
		return wish{"add_tag", fmt.Sprintf(`{"tag":%q,"subscriber_id":"901"}`, t.ID), "tag " + t.Tag}
	case 5:
		t := tools.Tags[pick(len(tools.Tags))]
		return wish{"remove_tag", fmt.Sprintf(`{"tag":%q}`, t.ID), "untag " + t.Tag}
	case 6, 7:
		f := tools.Fields[pick(len(tools.Fields))]
		v := f.Values[pick(len(f.Values))]
		return wish{"set_field", fmt.Sprintf(`{"field":%q,"value":%q}`, f.ID, v), whatField(f.Field, v)}
	case 8, 9:
		n := tools.Notes[pick(len(tools.Notes))]
		text := "note of " + message + strings.Repeat(" x", 1+pick(4))
		return wish{"write_note", fmt.Sprintf(`{"note":%q,"text":%q}`, n.ID, text), whatField(n.Field, text)}
	case 10:
		return wish{"get_contact", `{}`, ""}
	}
	return wish{"send_flow", `{"flow":"made-up"}`, ""}
}

// call makes one call and notes what it is told.
func (a slowAgent) call(ctx context.Context, in agent.Input, c wish, step int, runs *sync.WaitGroup) {
	for _, t := range in.Tools {
		if t.Spec().Name != c.tool {
			continue
		}
		o := t.Call(step, []byte(c.args))
		if o.Run == nil {
			a.hears(in.FirstName, c, o.Told, o.Bad)
			return
		}
		runs.Go(func() { a.hears(in.FirstName, c, o.Run(ctx), "") })
	}
}

func (a slowAgent) hears(message string, c wish, answer any, bad string) {
	said, err := json.Marshal(answer)
	if err != nil {
		a.w.t.Error(err)
	}
	line := string(said)
	if bad != "" {
		line = "bad: " + bad
	}
	a.w.trace("%s: for %q the model calls %s %s: %s", a.name, message, c.tool, c.what, line)
	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	a.w.told = append(a.w.told, told{a.name, message, c.tool, c.what, line})
}

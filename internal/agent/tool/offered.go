package tool

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool/form"
	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// offered is one of the seven at a desk. It fills [Tool].
type offered struct {
	desk *Desk
	kind action.Kind
	spec llm.Tool
	as   string       // the variant of spec
	now  func() sheet // what the spec is made from, under the desk's lock; nil: it never changes
	// take decides on a call, under the desk's lock.
	take func(c action.Call, a form.Arguments) Outcome
}

// What a model is told of a call that could not be made, beside the ids that are allowed.
const (
	toldOver     = "no tool can be called any more"
	toldNoObject = "the arguments must be one JSON object that names nothing twice"
)

// What the trace says of a call that could not be made: the argument at fault, or this.
const badArguments = "arguments"

// offer puts a tool on the desk.
func (d *Desk) offer(s sheet, take func(action.Call, form.Arguments) Outcome) *offered {
	return &offered{desk: d, kind: s.kind, spec: d.turn.Menu.spec(d.turn.Tools, s), as: s.variant, take: take}
}

// Spec fills [Tool].
func (o *offered) Spec() llm.Tool {
	if o.now == nil {
		return o.spec
	}
	o.desk.mu.Lock()
	defer o.desk.mu.Unlock()
	if s := o.now(); s.variant != o.as {
		o.spec, o.as = o.desk.turn.Menu.spec(o.desk.turn.Tools, s), s.variant
	}
	return o.spec
}

// Offered fills [Tool].
func (o *offered) Offered() bool {
	if o.now == nil {
		return true
	}
	o.desk.mu.Lock()
	defer o.desk.mu.Unlock()
	return o.now().variant != "" // what changes are the ids that it takes
}

// Call fills [Tool].
func (o *offered) Call(step int, written []byte) Outcome {
	args, ok := form.Parse(written)
	o.desk.mu.Lock()
	defer o.desk.mu.Unlock()
	c := action.Call{Step: step, Tool: o.kind}
	switch {
	case o.desk.result != nil:
		return Outcome{Bad: toldOver}
	case !ok:
		return o.desk.bad(c, badArguments, toldNoObject)
	}
	return o.take(c, args)
}

// bad answers a call that could not be made. Only what is configured is told.
func (d *Desk) bad(c action.Call, argument, told string) Outcome {
	c.Answer, c.Reason = action.AnsweredBad, argument
	d.trace = append(d.trace, &traced{call: c})
	return Outcome{Bad: told}
}

// notOneOf is told of an argument that is none of the allowed ids.
func notOneOf(argument string, allowed []string) string {
	return argument + " must be one of: " + strings.Join(allowed, ", ")
}

// refuse answers a call that takes no slot and leaves no record.
func (d *Desk) refuse(c action.Call, a answer) Outcome {
	c.Answer, c.Reason = a.kind, a.reason
	d.trace = append(d.trace, &traced{call: c})
	return Outcome{Told: a.told()}
}

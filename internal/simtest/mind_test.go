package simtest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/agent/prompt"
	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// mind is the model of one process. What it answers follows from the seed, the messages that
// it answers and how often it was asked before.
type mind struct{ p *process }

// thought is one call of a model.
type thought struct {
	process *process
	names   []string // of the messages, the newest last
	try     int
	span    span
	spent   int64 // tokens
}

// plan is what a model does in one try at a turn.
type plan struct {
	pauses []time.Duration // before each step
	calls  [][]llm.ToolCall
	end    ending
	long   int // sentences of the answer
}

type ending int

const (
	answers ending = iota
	escalates
	doubts
	babbles
	panics
	fails
	hangs
)

// Generate fills [llm.Model].
func (m mind) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	p, w := m.p, m.p.w
	if p.wait(); p.dead() {
		return llm.Response{}, broken("the process is dead", nil)
	}
	names, step, try := w.asked(req)
	if len(names) == 0 {
		return llm.Response{}, broken("no message is named", nil)
	}
	th := &thought{process: p, names: names, try: try, span: span{from: time.Now()}}
	plan := w.planOf(names, try)
	w.trace.note("%s: the model is asked about %s, try %d, step %d", p.name, strings.Join(names, "+"), try, step)
	w.mu.Lock()
	w.thoughts = append(w.thoughts, th)
	w.mu.Unlock()
	resp, err := m.think(ctx, req, plan, th, step)
	p.wait()
	if p.dead() {
		resp, err = llm.Response{}, broken("the process is dead", nil)
	}
	w.mu.Lock()
	th.span.to, th.spent = time.Now(), resp.Usage.Input+resp.Usage.Output
	w.mu.Unlock()
	return resp, err
}

func (m mind) think(ctx context.Context, req llm.Request, plan plan, th *thought, step int) (llm.Response, error) {
	last := req.ToolChoice == llm.ToolsNone || step >= len(plan.calls)
	pause := plan.pauses[min(step, len(plan.pauses)-1)]
	if plan.end == hangs && last {
		pause = time.Hour
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return llm.Response{}, broken("aborted", ctx.Err())
	case <-m.p.life.Done():
		return llm.Response{}, broken("the process is dead", nil)
	}
	used := llm.Usage{Input: 900, Output: 40}
	if !last && len(req.Tools) > 0 {
		return llm.Response{Calls: plan.calls[step], Stop: llm.StopTools, Usage: used}, nil
	}
	answer := map[string]any{
		"messages": []string{sentences(th.names, th.try, plan.long)}, "escalate": false, "escalation_reason": nil, "confidence": 0.9, "closing_question": nil,
	}
	switch plan.end {
	case escalates:
		answer["escalate"], answer["escalation_reason"] = true, "complaint"
	case doubts:
		answer["confidence"] = 0.1
	case babbles:
		return llm.Response{Text: "I am not sure what to say.", Stop: llm.StopEnd, Usage: used}, nil
	case panics:
		panic("a defect of the model's adapter")
	case fails:
		return llm.Response{}, &llm.Error{Provider: "seeded", Kind: llm.KindServer, Status: 500, Message: "down"}
	}
	text, err := json.Marshal(answer)
	return llm.Response{Text: string(text), Stop: llm.StopEnd, Usage: used}, err
}

func broken(why string, cause error) error {
	return &llm.Error{Provider: "seeded", Kind: llm.KindNetwork, Message: why, Err: cause}
}

// asked is what a request asks about: the messages, the step of the loop from 0, and the try
// at them, from 1. A try begins with the first step, and its calls name it.
func (w *World) asked(req llm.Request) (names []string, step, try int) {
	if names, try = w.askedToFollowUp(req); try > 0 {
		return names, 0, try
	}
	for i := len(req.Messages) - 1; i >= 0; i-- {
		m := req.Messages[i]
		if m.Role == llm.ToolResult {
			step++
		}
		if m.Role == llm.Assistant && len(m.Calls) > 0 && try == 0 {
			try = tryOf(m.Calls[0].ID)
		}
		if m.Role == llm.User && strings.Contains(m.Text, prompt.FenceOpen) {
			// What was written before and not answered may stand in the same message.
			names = messagesIn(m.Text[strings.LastIndex(m.Text, prompt.FenceOpen):])
			break
		}
	}
	if try > 0 || len(names) == 0 {
		return names, step, try
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tries[names[len(names)-1]]++
	return names, step, w.tries[names[len(names)-1]]
}

func tryOf(call string) int {
	_, after, _ := strings.Cut(call, "_t")
	number, _, _ := strings.Cut(after, "_")
	try, _ := strconv.Atoi(number) // of this model's own making
	return try
}

// planOf draws a plan. What a first try calls, a second one calls too.
func (w *World) planOf(names []string, try int) (p plan) {
	own := names[len(names)-1]
	if try >= firstNudge {
		return w.nudgePlan(own, try)
	}
	w.dice.fresh(fmt.Sprint("plan ", own, len(names)), func(r *rand.Rand) {
		steps := r.IntN(3)
		for i := range steps {
			var calls []llm.ToolCall
			for j := range 1 + r.IntN(3) {
				call := w.call(r, own, try)
				call.ID = fmt.Sprintf("call_t%d_%d_%d", try, i, j)
				calls = append(calls, call)
			}
			p.calls = append(p.calls, calls)
		}
	})
	switch first := w.selling(own, try); {
	case len(first) == 0:
	case len(p.calls) < 2:
		p.calls = append([][]llm.ToolCall{first}, p.calls...)
	default: // three steps with calls would end in one that repeats what was read, fences and all
		p.calls[0] = append(first, p.calls[0]...)
	}
	w.dice.fresh(fmt.Sprint("plan ", own, len(names), " try ", try), func(r *rand.Rand) {
		for range len(p.calls) + 1 {
			p.pauses = append(p.pauses, pauseOf(r))
		}
		ends := []ending{answers, answers, answers, answers, answers, answers, answers, answers, answers, answers,
			answers, answers, escalates, escalates, doubts, babbles, panics, fails, hangs}
		p.end = ends[r.IntN(len(ends))]
		if p.long = 1 + r.IntN(3); r.IntN(5) == 0 {
			p.long = 12 + r.IntN(80)
		}
	})
	return w.withNudge(p, own, try)
}

// pauseOf is how long a step takes: mostly a moment, and now and then about as long as the
// race, or the abort.
func pauseOf(r *rand.Rand) time.Duration {
	switch r.IntN(10) {
	case 0:
		return between(r, 7*time.Second, 9*time.Second)
	case 1:
		return between(r, 2*time.Second, 16*time.Second)
	case 2:
		if r.IntN(2) == 0 {
			return between(r, 15*time.Second, 34*time.Second)
		}
	}
	return between(r, time.Millisecond, 1500*time.Millisecond)
}

// call draws a call of a tool. All but a few are for the message alone.
func (w *World) call(r *rand.Rand, own string, try int) llm.ToolCall {
	place := placeOf(own)
	name, arguments := "", ""
	switch r.IntN(10) {
	case 0, 1, 2:
		name, arguments = "send_flow", fmt.Sprintf(`{"flow":"flow%02d"}`, place)
	case 3, 4, 5:
		name, arguments = "add_tag", fmt.Sprintf(`{"tag":"tag%02d"}`, place)
	case 6:
		name, arguments = "set_field", fmt.Sprintf(`{"field":"choice","value":"value%02d"}`, place)
	case 7:
		name, arguments = "write_note", fmt.Sprintf(`{"note":"summary","text":"Wants to know of %s."}`, own)
	case 8:
		name, arguments = "write_note", fmt.Sprintf(`{"note":"handoff","text":"Asked for %s in vain."}`, own)
	default:
		name, arguments = "get_contact", `{}`
	}
	return llm.ToolCall{Name: name, Arguments: []byte(arguments)}
}

package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/sandbox"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

const (
	randomSeeds = 96
	randomWave  = 12 // contacts who write at once
)

// plan is what a model does in one turn, and what ManyChat does to its contact.
type plan struct {
	id    string
	steps []llmtest.Step // the calls, and then the end
	fault *manychattest.Fault

	mu       sync.Mutex
	requests []llm.Request
	made     []llmtest.Step // what answered each of them
}

// Generate plays the plan. A model that may call nothing more gives its reply.
func (p *plan) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	p.mu.Lock()
	step := p.steps[min(len(p.requests), len(p.steps)-1)]
	if req.ToolChoice == llm.ToolsNone {
		after := step.After
		step = p.steps[len(p.steps)-1]
		step.After = after
	}
	p.requests, p.made = append(p.requests, req), append(p.made, step)
	p.mu.Unlock()
	return (&llmtest.Scripted{Steps: []llmtest.Step{step}}).Generate(ctx, req)
}

// randomCall is a call of any tool: a good one, one of many that may come again, or a bad one.
func randomCall(r *rand.Rand) llm.ToolCall {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	var name, arguments string
	switch r.IntN(10) {
	case 0, 1:
		name, arguments = "send_flow", fmt.Sprintf(`{"flow":%q}`, pick("studio_map", "student_gallery", "wheel_course_brochure", "welcome_video", "nothing"))
	case 2, 3:
		name, arguments = pick("add_tag", "remove_tag"), fmt.Sprintf(`{"tag":%q}`, pick("gift", "group_booking", "gift", "former_student"))
	case 4, 5, 6:
		name, arguments = "set_field", fmt.Sprintf(`{"field":%q,"value":%q}`, pick("preferred_shift", "course", "course"), pick("morning", "evening", "weekend", "glaze_weekend", "hand_building", "family_morning"))
	case 7:
		name, arguments = "write_note", fmt.Sprintf(`{"note":%q,"text":%q}`, pick("summary", "handoff_note"), pick("Wants a bowl.", "Wants a vase.", " ", "Asks for glaze."))
	case 8:
		name, arguments = "get_contact", pick("{}", "", `{"subscriber_id":"900000999"}`)
	default:
		name, arguments = pick("add_tag", "open_the_till", "set_field"), pick(`{"tag":`, `[]`, `{"tag":"gift","tag":"gift"}`, `{"tag":null}`)
	}
	return asked(name, arguments)
}

// randomPlan is the plan of a seed. Its steps race the deadline, and some the abort.
func randomPlan(seed uint64, id string) *plan {
	r := rand.New(rand.NewPCG(seed, 7))
	p := &plan{id: id}
	pause := func() time.Duration {
		switch r.IntN(8) {
		case 0:
			return 7*time.Second + time.Duration(r.IntN(1500))*time.Millisecond
		case 1:
			return time.Duration(r.IntN(14_000)) * time.Millisecond
		}
		return time.Duration(r.IntN(800)) * time.Millisecond
	}
	for range r.IntN(4) {
		var calls []llm.ToolCall
		for range 1 + r.IntN(8) {
			calls = append(calls, randomCall(r))
		}
		p.steps = append(p.steps, slow(pause(), calling(calls...)))
	}
	ends := []llmtest.Step{
		wrote(p.reply()), wrote(p.reply()), wrote(p.reply()), wrote(p.reply()),
		with(draft{"messages": []string{p.reply()}, "escalate": true, "escalation_reason": "complaint"}), with(draft{"confidence": 0.1}),
		{Text: "no reply"}, {Hang: llmtest.UntilAbort}, {Panic: "a bug"},
	}
	p.steps = append(p.steps, slow(pause(), ends[r.IntN(len(ends))]))
	if r.IntN(10) == 0 { // nothing is delivered through the outbox, and the reply has to go there
		p.steps = append([]llmtest.Step{calling(addGift)}, slow(9*time.Second, wrote(p.reply())))
		p.fault = &manychattest.Fault{Kind: fault.MissingFlow, Name: studioFlow, Contact: id}
	} else if woes := woes(); r.IntN(3) > 0 {
		paths := []string{"sendFlow", "/fb/subscriber/addTagByName", "/fb/subscriber/setCustomFieldByName", "/fb/*"}
		f := woes[r.IntN(len(woes))].on(paths[r.IntN(len(paths))])
		f.Contact, f.Times = id, 1+r.IntN(4)
		p.fault = &f
	}
	return p
}

func (p *plan) reply() string { return "The answer for " + p.id[len(p.id)-3:] + "." }

// planned are the plans by what their contacts write.
func planned(plans []*plan) byContact {
	all := byContact{"": scripted()}
	for _, p := range plans {
		all[p.word()] = p
	}
	return all
}

func (p *plan) word() string { return "question number " + p.id[len(p.id)-3:] }

// Holds docs/spec/07-tools.md, "Bounds", "Performing" and "The action record": whatever a model
// calls in whatever order, at whatever time and whatever ManyChat does, the record, the calls
// that ManyChat got and what the model was told agree, and keep the rules.
func TestToolsRandom(t *testing.T) {
	var plans []*plan
	for seed := range uint64(randomSeeds) {
		plans = append(plans, randomPlan(seed, fmt.Sprint(900000100+seed)))
	}
	tally := map[string]int{}
	inStudio(t, setup{model: planned(plans), env: []string{"OUTBOX_MAX_ATTEMPTS=5"}}, func(s *studio) {
		for wave := range slices.Chunk(plans, randomWave) {
			s.ride(wave)
			for _, p := range wave {
				s.checkPlan(p, tally)
			}
		}
	})
	for _, want := range []string{"performed", "failed", "discarded", "dropped_over_cap", "dead_lettered", "inline", "outbox"} {
		if tally[want] == 0 {
			t.Errorf("no plan came to %s: %v", want, tally)
		}
	}
}

// ride has the contacts of a wave write at once, under their faults, until all is over.
func (s *studio) ride(wave []*plan) {
	var faults []manychattest.Fault
	for _, p := range wave {
		s.contact(p.id)
		if p.fault != nil {
			faults = append(faults, *p.fault)
		}
	}
	s.faults(faults...)
	for _, p := range wave {
		go s.write(p.id, p.word())
	}
	s.rest(3 * time.Minute)
	s.faults()
	s.rest(2 * time.Minute)
}

// checkPlan compares what is known of a plan's turn with the rules.
func (s *studio) checkPlan(p *plan, tally map[string]int) {
	s.t.Helper()
	turn := s.recorded(p.id, 1)[0]
	answered := turn.Outcome == "answered"
	tally[turn.Path]++
	var problems []string
	wrong := func(format string, values ...any) { problems = append(problems, fmt.Sprintf(format, values...)) }
	if turn.State != "settled" || slices.Contains(turn.Deliveries, "pending") {
		wrong("the turn is %s with %v", turn.State, turn.Deliveries)
	}
	slots, seen := 0, map[string]bool{}
	for _, a := range turn.Actions {
		tally[a.Status]++
		if a.Tool == "notify_handoff" {
			continue
		}
		key := fmt.Sprint(a.Tool, a.ID, a.Value)
		if seen[key] && a.Tool != "write_note" {
			wrong("%s is on record twice", key)
		}
		seen[key] = true
		if a.Status != "dropped_over_cap" {
			slots++
		} else if slots < 8 {
			wrong("%s was dropped over a cap of %d", key, slots)
		}
		if problem := actionProblem(a, answered, turn.Deliveries); problem != "" {
			wrong("%s %s (%s): %s", key, a.Status, a.Error, problem)
		}
	}
	if slots > 8 {
		wrong("%d actions", slots)
	}
	problems = append(problems, callProblems(turn, s.did(p.id))...)
	problems = append(problems, toldProblems(turn, p)...)
	problems = append(problems, s.replyProblems(p, turn)...)
	if len(problems) > 0 {
		s.t.Errorf("seed %s, fault %+v: %s\nrecord %q\nasked %q", p.id[6:], p.fault, strings.Join(problems, "\n  "), actedIn(turn), s.did(p.id))
	}
}

// actionProblem is what is wrong with an entry's status; empty: nothing.
func actionProblem(a sandbox.Action, answered bool, deliveries []string) string {
	flow, dead := a.Tool == "send_flow", slices.Contains(deliveries, "dead")
	switch a.Status {
	case "performed", "failed":
		if !answered && !flow && a.ID != "handoff_note" {
			return "of a handoff"
		}
	case "discarded":
		if answered || flow {
			return "of an answer, or a flow"
		}
	case "dropped_over_cap":
	case "dead_lettered":
		if !dead {
			return "of a delivered reply"
		}
	default:
		return "it never ended"
	}
	return ""
}

// callProblems compares the record with what ManyChat was asked, in its order.
func callProblems(turn sandbox.Turn, did []string) (problems []string) {
	var asked []string
	for _, is := range acts(did) {
		if is != "get_contact" && !strings.HasPrefix(is, "notice") {
			is, _, _ = strings.Cut(is, "=")
			asked = append(asked, is)
		}
	}
	var flows, staged []string
	for _, a := range turn.Actions {
		is := a.Tool + " " + a.ID
		switch {
		case a.Tool == "notify_handoff", a.Error == "not started in time", a.Status != "performed" && a.Status != "failed":
		case a.Tool == "send_flow":
			flows = append(flows, is)
		default:
			staged = append(staged, is)
		}
	}
	if want := append(flows, staged...); !cmp.Equal(want, asked) {
		problems = append(problems, fmt.Sprintf("the record says that ManyChat was asked %q, and it was asked %q", want, asked))
	}
	if n := count(did, "get_contact"); n > 2 {
		problems = append(problems, fmt.Sprintf("%d reads", n))
	}
	return problems
}

// toldProblems compares what the model was told of its calls with the trace and the record.
func toldProblems(turn sandbox.Turn, p *plan) (problems []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := 1; i < len(p.requests); i++ {
		var trace []sandbox.Call
		for _, c := range turn.Calls {
			if c.Step == i {
				trace = append(trace, c)
			}
		}
		answers := told(p.requests[i])
		if len(answers) != len(p.made[i-1].Response.Calls) {
			problems = append(problems, fmt.Sprintf("step %d: %d answers", i, len(answers)))
		}
		if len(trace) != len(answers) {
			if turn.Outcome == "escalated_error" { // an abort loses the calls that no tool took
				continue
			}
			problems = append(problems, fmt.Sprintf("step %d: %d answers, %d calls in the trace", i, len(answers), len(trace)))
			continue
		}
		for j, c := range trace {
			name, content, _ := strings.Cut(answers[j], " ")
			if got := toldAs(content); got != c.Answer+" "+c.Reason && (c.Answer != "bad call" || got != "bad call ") || c.Tool != "" && c.Tool != name {
				problems = append(problems, fmt.Sprintf("step %d: the model is told %s, the trace says %s %s: %s (%s)", i, answers[j], c.Tool, c.ID, c.Answer, c.Reason))
			}
			if strings.Contains(content, "uccess") || strings.Contains(content, "done") {
				problems = append(problems, "the model is told of a success: "+content)
			}
			if problem := recordProblem(turn, c); problem != "" {
				problems = append(problems, problem)
			}
		}
	}
	return problems
}

// toldAs is what the model was told, in the words of the trace.
func toldAs(content string) string {
	var a struct {
		Staged, Sent, Available *bool
		Reason, Error           string
	}
	if err := json.Unmarshal([]byte(content), &a); err != nil {
		return "unreadable"
	}
	say := func(yes *bool, is, not string) string {
		if *yes {
			return is + " " + a.Reason
		}
		return not + " " + a.Reason
	}
	switch {
	case a.Error != "":
		return "bad call "
	case a.Staged != nil:
		return say(a.Staged, "staged", "not staged")
	case a.Sent != nil:
		return say(a.Sent, "sent", "not sent")
	case a.Available != nil:
		return say(a.Available, "read", "not read")
	}
	return "nothing"
}

// recordProblem is what is wrong with an answered call and its entry; empty: nothing.
func recordProblem(turn sandbox.Turn, c sandbox.Call) string {
	var statuses []string
	for _, a := range turn.Actions {
		if a.Tool == c.Tool && a.ID == c.ID && a.Value == c.Value && a.Length == c.Length {
			statuses = append(statuses, a.Status)
		}
	}
	var allowed []string
	switch c.Answer + " " + c.Reason {
	case "staged ":
		allowed = []string{"performed", "failed", "discarded", "dead_lettered"}
	case "not staged over_cap", "not sent over_cap":
		allowed = []string{"dropped_over_cap"}
	case "sent ":
		allowed = []string{"performed"}
	case "not sent failed", "not sent unknown":
		allowed = []string{"failed"}
	default: // it takes no slot
		return ""
	}
	for _, status := range statuses {
		if slices.Contains(allowed, status) {
			return ""
		}
	}
	return fmt.Sprintf("%s %s was answered %s %s, and the record says %q", c.Tool, c.ID, c.Answer, c.Reason, statuses)
}

// replyProblems asserts that the contact reads one reply or why there is none, with nothing of
// the turn's staged actions asked before.
func (s *studio) replyProblems(p *plan, turn sandbox.Turn) (problems []string) {
	want := escalation
	if turn.Outcome == "answered" {
		want = p.reply()
	}
	read := 0
	for _, item := range s.account.Chat(p.id) {
		if item.From == phone.FromBusiness && item.Text == want {
			read++
		}
	}
	lie := p.fault != nil && slices.Contains([]fault.Kind{fault.SilentSuccess, fault.LostAnswer, fault.SlowSuccess, fault.Timeout, fault.FalseMissing, fault.Dropped}, p.fault.Kind)
	if dead := slices.Contains(turn.Deliveries, "dead"); read != 1 && !dead && !lie {
		problems = append(problems, fmt.Sprintf("the contact reads %q %d times: %v", want, read, turn.Deliveries))
	}
	_, early := s.early(p.id, want)
	for _, is := range early {
		if !strings.HasPrefix(is, "notice") { // it does not wait for a text that is tried again
			problems = append(problems, is+" was asked before the reply was out")
		}
	}
	return problems
}

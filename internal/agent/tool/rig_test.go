package tool_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// files are a tenant's tools. Whatever must stay on this side has HIDDEN in its name.
func files() *tenant.Tools {
	return &tenant.Tools{
		Flows: []tenant.Flow{
			{ID: "hello", FlowNs: "HIDDEN_ns_1", Description: "A welcome.", Role: tenant.RoleOpening},
			{ID: "map", FlowNs: "HIDDEN_ns_2", Description: "The way here.\n  Send when asked for it.", Repeatable: true},
			{ID: "folder", FlowNs: "HIDDEN_ns_3", Description: "All there is to read."},
			{ID: "film", FlowNs: "HIDDEN_ns_4", Description: "A film.", OnStage: contact.Qualifying},
			{ID: "pay", FlowNs: "HIDDEN_ns_5", Description: "The link to pay.", Role: tenant.RolePaymentLink},
		},
		Tags: []tenant.Tag{
			{ID: "gift", Tag: "HIDDEN-tag-1", Description: "Buys for somebody else."},
			{ID: "group", Tag: "HIDDEN-tag-2", Description: "Comes with others."},
		},
		Fields: []tenant.Field{
			{ID: "shift", Field: "HIDDEN_field_1", Values: []string{"morning", "evening"}, Description: "When it suits them."},
			{ID: "stage", Field: "HIDDEN_field_2", Values: []string{"new", "offered", "link_sent"}, Description: "How far it has come.", Funnel: true},
			{ID: "mood", Field: "HIDDEN_field_3", Values: []string{"good", "new"}, Description: "How they are."},
		},
		Readable: tenant.Readable{
			Tags:   []tenant.ReadableTag{{ID: "regular", Tag: "HIDDEN-tag-3"}},
			Fields: []tenant.ReadableField{{ID: "voucher", Field: "HIDDEN_field_4", Values: []string{"valid", "used"}, Description: "Of a voucher."}},
		},
		Notes: []tenant.Note{
			{ID: "summary", Field: "HIDDEN_field_5", MaxLength: 40, Description: "What they want."},
			{ID: "handover", Field: "HIDDEN_field_6", MaxLength: 12, Description: "Why a colleague is needed.", OnEscalation: true},
		},
		Nudge: &tenant.Nudge{
			Delays:         []tenant.Delay{{ID: "soon", Minutes: 60, Description: "They think about it."}, {ID: "later", Minutes: 1200}},
			HumanActiveTag: "HIDDEN-tag-4",
		},
		Events: []tenant.Event{{ID: "bought", Stage: contact.LinkSent, FlowNs: "HIDDEN_ns_6"}},
	}
}

// account is a business's account as a desk sees it: it notes what is asked of it.
type account struct {
	send func(ctx context.Context, r action.Record) (action.Record, error)
	read func(ctx context.Context) (contact.Profile, error)

	mu      sync.Mutex
	saw     []action.Record
	reads   int
	sending int
	crossed bool // two flows were sent at a time
}

func (a *account) Send(ctx context.Context, r action.Record) (action.Record, error) {
	a.note(func() {
		a.saw = append(a.saw, r)
		a.sending++
		a.crossed = a.crossed || a.sending > 1
	})
	defer a.note(func() { a.sending-- })
	if a.send == nil {
		return performed(ctx, r)
	}
	return a.send(ctx, r)
}

func (a *account) Read(ctx context.Context) (contact.Profile, error) {
	a.note(func() { a.reads++ })
	if a.read == nil {
		return contact.Profile{}, errors.New("nothing is to be read")
	}
	return a.read(ctx)
}

func (a *account) note(f func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f()
}

var at = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func performed(_ context.Context, r action.Record) (action.Record, error) {
	r.Status, r.At = action.Performed, at
	return r, nil
}

func failed(why string) func(context.Context, action.Record) (action.Record, error) {
	return func(_ context.Context, r action.Record) (action.Record, error) {
		r.Status, r.Error = action.Failed, why
		return r, nil
	}
}

func fence(text string) string { return "<<" + text + ">>" }

// inbound is a turn in which everything is offered.
func inbound(a *account) tool.Turn {
	return tool.Turn{Tools: files(), Flows: a, Contact: a, Nudges: true, Fence: fence}
}

// desk opens a desk with everything on it.
func desk(a *account) *tool.Desk { return tool.NewDesk(inbound(a)) }

func find(d *tool.Desk, name string) tool.Tool {
	i := slices.IndexFunc(d.Tools(), func(t tool.Tool) bool { return t.Spec().Name == name })
	if i < 0 {
		return nil
	}
	return d.Tools()[i]
}

// offered names the tools of a desk.
func offered(d *tool.Desk) (names []string) {
	for _, t := range d.Tools() {
		names = append(names, t.Spec().Name)
	}
	return names
}

// begin calls a tool in a step: "add_tag {...}".
func begin(t *testing.T, d *tool.Desk, step int, call string) tool.Outcome {
	t.Helper()
	name, arguments, _ := strings.Cut(call, " ")
	called := find(d, name)
	if called == nil {
		t.Fatalf("%s is not offered", name)
	}
	o := called.Call(step, []byte(arguments))
	set := 0
	for _, is := range []bool{o.Told != nil, o.Bad != "", o.Run != nil} {
		if is {
			set++
		}
	}
	if set != 1 {
		t.Errorf("%s has %d outcomes: %+v", call, set, o)
	}
	return o
}

// call calls a tool, runs what it has to run, and returns what the model is told.
func call(t *testing.T, d *tool.Desk, c string) string {
	t.Helper()
	return finish(t, begin(t, d, 1, c))
}

func finish(t *testing.T, o tool.Outcome) string {
	t.Helper()
	switch {
	case o.Bad != "":
		return "bad: " + o.Bad
	case o.Run != nil:
		return written(o.Run(t.Context()))
	}
	return written(o.Told)
}

// each calls tools one after the other and returns the answers, one a line.
func each(t *testing.T, d *tool.Desk, calls ...string) string {
	t.Helper()
	var told []string
	for _, c := range calls {
		told = append(told, call(t, d, c))
	}
	return strings.Join(told, "\n")
}

// written is what a model is told, as JSON.
func written(told any) string {
	b, err := json.Marshal(told, json.Deterministic(true))
	if err != nil {
		return fmt.Sprint(err)
	}
	return string(b)
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

const (
	staged     = `{"staged":true}`
	sent       = `{"sent":true}`
	overCap    = `{"staged":false,"reason":"over_cap"}`
	unsentCap  = `{"sent":false,"reason":"over_cap"}`
	sentBefore = `{"sent":false,"reason":"already_sent"}`
	unknown    = `{"sent":false,"reason":"unknown"}`
	failure    = `{"sent":false,"reason":"failed"}`
	limit      = `{"available":false,"reason":"limit"}`
	unread     = `{"available":false}`
)

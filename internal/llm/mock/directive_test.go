package mock_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/agent/prompt"
	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/internal/reply"
)

func told(t *testing.T, d mock.Directive) *mock.Model {
	t.Helper()
	m := mock.New()
	if err := m.Control(d); err != nil {
		t.Fatal(err)
	}
	return m
}

// Holds docs/spec/04-agent.md, "The mock": it can be told to misbehave, and each
// misbehaviour ends where the real one would.
func TestModes(t *testing.T) {
	wanted := map[mock.Mode]struct {
		class        agent.Class
		intervention string
		cleaned      bool // the reply goes out without what was wrong
	}{
		mock.OK:          {},
		"":               {},
		mock.Fail:        {class: agent.Provider},
		mock.RateLimit:   {class: agent.Provider},
		mock.Refuse:      {class: agent.Refusal},
		mock.Empty:       {class: agent.Empty},
		mock.Garbage:     {class: agent.Schema},
		mock.Length:      {class: agent.Length},
		mock.Leak:        {intervention: "leak"},
		mock.InventPrice: {intervention: "price_guard"},
		mock.Unsure:      {intervention: "confidence"},
		mock.InventLink:  {intervention: "links", cleaned: true},
		mock.Echo:        {intervention: "field_echo", cleaned: true},
		mock.TooLong:     {},
		mock.ToolCall:    {class: agent.ToolCall},
		mock.UnknownID:   {}, // no tools are offered here; see TestToolsMisused
		mock.EveryTool:   {},
		mock.Hang:        {class: agent.Abort},
		mock.Panic:       {class: agent.Panic},
	}
	if len(wanted) != len(mock.Modes())+1 {
		t.Fatalf("the table has %d modes, the model %d", len(wanted)-1, len(mock.Modes()))
	}
	tn, g := academy(t), guardrail.New(guardrail.Config{Markers: prompt.Markers()})
	for mode, want := range wanted {
		t.Run(string(mode), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, err := agent.New(agent.Config{Models: []attempt.Model{{Name: "mock:demo", Model: told(t, mock.Directive{Mode: mode})}}, Jitter: attempt.Jitter, Log: slog.New(slog.DiscardHandler), Budget: budget.Unlimited{}, MaxOutputTokens: 800, Now: time.Now})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
				defer cancel()
				result, err := a.Run(ctx, agent.Input{Tenant: tn, Text: "how much is the wheel course?"})
				if got := agent.ClassOf(err); got != want.class {
					t.Fatalf("class = %q, want %q (%v)", got, want.class, err)
				}
				v := g.Apply(guardrail.Input{Tenant: tn, Reply: result.Reply, Failure: string(agent.ClassOf(err))})
				clean := want.class == "" && want.intervention == "" || want.cleaned
				if said := strings.Join(v.Messages, "\n"); clean && !strings.Contains(said, "240 EUR") || strings.Contains(said, "invented") || strings.Contains(said, "confidence") {
					t.Errorf("the contact reads %q", said)
				}
				if clean != (v.Outcome == conversation.Answered) {
					t.Errorf("verdict = %+v", v)
				}
				if want.intervention != "" && !slices.Contains(v.Interventions, want.intervention) {
					t.Errorf("interventions = %v, want %s", v.Interventions, want.intervention)
				}
			})
		})
	}
}

// Holds docs/spec/04-agent.md, "Reply contract": more than three messages join the
// third, and longer ones are kept whole, to be split later.
func TestTooLongReplyIsKeptWhole(t *testing.T) {
	p, err := prompt.New(academy(t))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := told(t, mock.Directive{Mode: mock.TooLong}).Generate(t.Context(), llm.Request{System: p.System, Messages: request.Messages})
	if err != nil {
		t.Fatal(err)
	}
	r, err := reply.Decode(resp.Text)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Messages) != reply.MaxMessages {
		t.Fatalf("%d messages, want %d", len(r.Messages), reply.MaxMessages)
	}
	for i, m := range r.Messages {
		if least := 1000 * (1 + 2*(i/2)); len(m) <= least {
			t.Errorf("message %d has %d bytes, want more than %d", i+1, len(m), least)
		}
	}
}

var request = llm.Request{System: "## RULES\nBe kind.", Messages: []llm.Message{{Role: llm.User, Text: "hi"}}}

// Holds docs/spec/13-sandbox.md: directives are switched at run time.
func TestLatencyAndFailTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := told(t, mock.Directive{Latency: 2 * time.Second, Mode: mock.Fail, FailTimes: 2})
		for i, wantErr := range []bool{true, true, false, false} {
			start := time.Now()
			_, err := m.Generate(t.Context(), request)
			if (err != nil) != wantErr {
				t.Errorf("call %d: error %v, want one: %t", i+1, err, wantErr)
			}
			if took := time.Since(start); took != 2*time.Second {
				t.Errorf("call %d took %v, want 2s", i+1, took)
			}
		}
		if err := m.Control(mock.Directive{Latency: time.Minute}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := m.Generate(ctx, request); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("aborted call = %v", err)
		}
	})
}

func TestControlRefuses(t *testing.T) {
	m := told(t, mock.Directive{Mode: mock.Empty})
	for _, d := range []mock.Directive{{Mode: "sulk"}, {Latency: -1}, {Latency: time.Hour}, {FailTimes: -1}} {
		if err := m.Control(d); err == nil {
			t.Errorf("%+v was accepted", d)
		}
	}
	if got := m.Directive(); got != (mock.Directive{Mode: mock.Empty}) {
		t.Errorf("directive = %+v after refused ones", got)
	}
}

func TestDirectiveJSON(t *testing.T) {
	want := mock.Directive{Latency: 1500 * time.Millisecond, Mode: mock.Fail, FailTimes: 2}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(b) != `{"latencyMs":1500,"mode":"fail","failTimes":2}` {
		t.Errorf("JSON = %s", b)
	}
	var got mock.Directive
	if err := json.Unmarshal(b, &got); err != nil || got != want {
		t.Errorf("read back %+v, %v", got, err)
	}
	for _, bad := range []string{`{"mode":"sulk"}`, `{"latencyMs":-1}`, `{"latencyMs":99999999}`, `{"latencyMs":9223372036854775807}`, `[]`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}

// A token is four bytes; the system text counts as cached, and the schema as read.
func TestUsageIsCounted(t *testing.T) {
	greek := llm.Request{System: request.System, Messages: []llm.Message{{Role: llm.User, Text: "καλημέρα"}}}
	asked := llm.Request{System: request.System, Messages: request.Messages, Schema: []byte(`{"type":"object"}`)}
	for name, tt := range map[string]struct {
		request llm.Request
		mode    mock.Mode
		want    llm.Usage
	}{
		"English":     {request, mock.Unsure, llm.Usage{Input: 6, Cached: 5}},
		"Greek":       {greek, mock.Unsure, llm.Usage{Input: 9, Cached: 5}},
		"a schema":    {asked, mock.Unsure, llm.Usage{Input: 11, Cached: 5}},
		"a tool call": {request, mock.ToolCall, llm.Usage{Input: 6, Cached: 5, Output: 4}},
		"no text":     {request, mock.Empty, llm.Usage{Input: 6, Cached: 5}},
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := told(t, mock.Directive{Mode: tt.mode}).Generate(t.Context(), tt.request)
			if err != nil {
				t.Fatal(err)
			}
			if tt.mode == mock.Unsure {
				tt.want.Output = int64(len(resp.Text)+3) / 4
			}
			if d := cmp.Diff(tt.want, resp.Usage); d != "" {
				t.Errorf("usage differs (-want +got):\n%s", d)
			}
		})
	}
}

func TestConcurrentUse(t *testing.T) {
	m := mock.New()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := m.Control(mock.Directive{Mode: mock.Empty, FailTimes: 1}); err != nil {
				t.Error(err)
			}
			if _, err := m.Generate(t.Context(), request); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

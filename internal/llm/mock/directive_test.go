package mock_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/agent/prompt"
	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
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
	}{
		mock.OK:          {},
		"":               {},
		mock.Fail:        {class: agent.Provider},
		mock.Refuse:      {class: agent.Refusal},
		mock.Empty:       {class: agent.Empty},
		mock.Garbage:     {class: agent.Schema},
		mock.Length:      {class: agent.Length},
		mock.Leak:        {intervention: "leak"},
		mock.InventPrice: {intervention: "price_guard"},
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
				a, err := agent.New(agent.Config{Model: told(t, mock.Directive{Mode: mode}), Budget: budget.Unlimited{}, ModelName: "mock:demo", MaxOutputTokens: 800, Now: time.Now})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				result, err := a.Run(ctx, agent.Input{Tenant: tn, Text: "how much is the wheel course?"})
				if got := agent.ClassOf(err); got != want.class {
					t.Fatalf("class = %q, want %q (%v)", got, want.class, err)
				}
				v := g.Apply(guardrail.Input{Tenant: tn, Reply: result.Reply, Failure: string(agent.ClassOf(err))})
				clean := want.class == "" && want.intervention == ""
				if clean != (v.Outcome == conversation.Answered) {
					t.Errorf("verdict = %+v", v)
				}
				if want.intervention != "" && v.Interventions[0] != want.intervention {
					t.Errorf("interventions = %v, want %s", v.Interventions, want.intervention)
				}
			})
		})
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

func TestUsageIsCounted(t *testing.T) {
	m := mock.New()
	first, err := m.Generate(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	again, err := m.Generate(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	want := llm.Usage{Input: 6, Cached: 5, Output: first.Usage.Output}
	if first.Usage != want || again.Usage != want || want.Output == 0 {
		t.Errorf("usage = %+v, then %+v; want %+v", first.Usage, again.Usage, want)
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

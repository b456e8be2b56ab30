package telemetry_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/telemetry"
)

// exposition is what Prometheus reads.
func exposition(t *testing.T, m *telemetry.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
		t.Fatalf("status %d, %s", w.Code, w.Header().Get("Content-Type"))
	}
	return w.Body.String()
}

// wantLines fails for each line that the exposition does not hold.
func wantLines(t *testing.T, got string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains("\n"+got, "\nmanychat_agent_"+line+"\n") {
			t.Errorf("no line %s in\n%s", line, got)
		}
	}
}

// Holds docs/spec/16-operations.md, "Logs, metrics, traces".
func TestTurnMetrics(t *testing.T) {
	m := telemetry.NewMetrics()
	m.Turn(telemetry.TurnFact{
		Outcome: "answered", Path: "inline", Bound: true, Enforced: true, Total: 1200 * time.Millisecond,
		TokensIn: 1000, TokensCached: 800, TokensOut: 50, CostMicros: 2500, Interventions: []string{"text_truncated", "links_removed"},
	})
	m.Turn(telemetry.TurnFact{Outcome: "answered", Path: "outbox", Total: 8200 * time.Millisecond, TokensIn: 10, Interventions: []string{"text_truncated"}})
	m.Turn(telemetry.TurnFact{Outcome: "escalated", Path: "inline", Enforced: true, Total: 40 * time.Second, CostMicros: 1_000_000})
	wantLines(t, exposition(t, m),
		`turns_total{outcome="answered",path="inline"} 1`,
		`turns_total{outcome="answered",path="outbox"} 1`,
		`turns_total{outcome="escalated",path="inline"} 1`,
		`turn_bindings_total{bound="true",enforced="true"} 1`,
		`turn_bindings_total{bound="true",enforced="false"} 0`,
		`turn_bindings_total{bound="false",enforced="true"} 1`,
		`turn_bindings_total{bound="false",enforced="false"} 1`,
		`turn_duration_seconds_bucket{le="1"} 0`,
		`turn_duration_seconds_bucket{le="2"} 1`,
		`turn_duration_seconds_bucket{le="8"} 1`,
		`turn_duration_seconds_bucket{le="8.5"} 2`,
		`turn_duration_seconds_bucket{le="+Inf"} 3`,
		`turn_duration_seconds_sum 49.4`,
		`model_tokens_total{kind="input"} 210`,
		`model_tokens_total{kind="cached_input"} 800`,
		`model_tokens_total{kind="output"} 50`,
		`model_cost_dollars_total 1.0025`,
		`interventions_total{intervention="text_truncated"} 2`,
		`interventions_total{intervention="links_removed"} 1`,
	)
}

// Holds docs/spec/16-operations.md, "Logs, metrics, traces": whether ManyChat refuses the key.
func TestKeyRefused(t *testing.T) {
	m := telemetry.NewMetrics()
	wantLines(t, exposition(t, m), "manychat_key_refused 0")
	m.KeyRefused(true)
	wantLines(t, exposition(t, m), "manychat_key_refused 1")
	m.KeyRefused(false)
	wantLines(t, exposition(t, m), "manychat_key_refused 0")
}

// Holds docs/spec/16-operations.md, "Logs, metrics, traces".
func TestEventMetrics(t *testing.T) {
	kinds := []struct {
		metric string
		count  func(*telemetry.Metrics, string)
		events []string
	}{
		{"inbound_events_total", (*telemetry.Metrics).Inbound, []string{
			"refused_unauthorized", "refused_rate", "refused_body", "body_repaired", "subscriber_id_unrendered",
			"subscriber_id_invalid", "plain_request", "load_shed", "render_failed", "panic"}},
		{"budget_events_total", (*telemetry.Metrics).Budget, []string{"warned_tokens", "warned_cost", "refused", "waited"}},
		{"contact_token_events_total", (*telemetry.Metrics).Token, []string{"issued", "confirmed", "failed", "unknown", "stuck"}},
	}
	for _, kind := range kinds {
		t.Run(kind.metric, func(t *testing.T) {
			m := telemetry.NewMetrics()
			before := exposition(t, m)
			for i, event := range kind.events {
				wantLines(t, before, fmt.Sprintf("%s{event=%q} 0", kind.metric, event))
				for range i + 1 {
					kind.count(m, event)
				}
			}
			kind.count(m, "+49 170 1234567")
			kind.count(m, "")
			after := exposition(t, m)
			for i, event := range kind.events {
				wantLines(t, after, fmt.Sprintf("%s{event=%q} %d", kind.metric, event, i+1))
			}
			wantLines(t, after, kind.metric+`{event="other"} 2`)
		})
	}
}

// Holds docs/spec/01-principles.md, "Rules nothing may break": C5. Nothing that comes
// from outside becomes a label, and no label grows without end.
func TestLabelsAreClosed(t *testing.T) {
	m := telemetry.NewMetrics()
	strange := []string{"", "Ada", "+49 170 1234567", "ada@example.com", "a b", "a\"} 1\nx{y=\"", strings.Repeat("a", 41), "turn7", "ä"}
	for _, s := range strange {
		m.Turn(telemetry.TurnFact{Outcome: s, Path: s, Interventions: []string{s}})
	}
	for first := 'a'; first <= 'z'; first++ {
		for second := 'a'; second <= 'z'; second++ {
			name := "made_up_" + string(first) + string(second)
			m.Turn(telemetry.TurnFact{Outcome: name, Path: name, Interventions: []string{name}})
		}
	}
	got := exposition(t, m)
	if series := strings.Count(got, "\nmanychat_agent_interventions_total{"); series != 64+1 {
		t.Errorf("%d interventions, want 64 and other", series)
	}
	if series := strings.Count(got, "\nmanychat_agent_turns_total{"); series > 32+1 {
		t.Errorf("%d outcomes and paths", series)
	}
	wantLines(t, got, fmt.Sprintf(`interventions_total{intervention="other"} %d`, len(strange)+26*26-64))
	for _, leak := range []string{"Ada", "1234567", "example"} {
		if strings.Contains(got, leak) {
			t.Errorf("the metrics hold %q", leak)
		}
	}
}

// Holds docs/spec/16-operations.md, "Logs, metrics, traces": a value that makes no sense
// takes down no turn.
func TestNegativeFacts(t *testing.T) {
	m := telemetry.NewMetrics()
	m.Turn(telemetry.TurnFact{Outcome: "answered", Path: "inline", Total: -time.Second, TokensIn: -1, TokensCached: -5, TokensOut: -1, CostMicros: -1})
	m.Turn(telemetry.TurnFact{Outcome: "answered", Path: "inline", TokensIn: 10, TokensCached: 20})
	wantLines(t, exposition(t, m),
		`turn_duration_seconds_sum 0`, `model_tokens_total{kind="input"} 0`, `model_tokens_total{kind="cached_input"} 10`,
		`model_tokens_total{kind="output"} 0`, `model_cost_dollars_total 0`)
}

// Holds docs/spec/16-operations.md, "Logs, metrics, traces": every metric is explained,
// carries the product's name, and a counter says that it is one.
func TestMetricNames(t *testing.T) {
	m := telemetry.NewMetrics()
	m.Turn(telemetry.TurnFact{Outcome: "answered", Path: "inline", Interventions: []string{"text_truncated"}})
	helped := map[string]bool{}
	for line := range strings.Lines(exposition(t, m)) {
		fields := strings.Fields(line)
		switch {
		case strings.Contains(line, "manychat_agent_process_"): // named and explained by the library
		case fields[1] == "HELP" && len(fields) > 5:
			helped[fields[2]] = true
		case fields[1] == "TYPE" && fields[3] == "counter" && !strings.HasSuffix(fields[2], "_total"):
			t.Errorf("the counter %s does not end in _total", fields[2])
		case !strings.HasPrefix(line, "# ") && !strings.HasPrefix(line, "manychat_agent_"):
			t.Errorf("the metric %s lacks the product's name", fields[0])
		case fields[1] == "TYPE" && !helped[fields[2]]:
			t.Errorf("%s is not explained", fields[2])
		}
	}
	if len(helped) != 13 {
		t.Errorf("%d metrics are explained: %v", len(helped), helped)
	}
}

// Holds docs/spec/16-operations.md, "Logs, metrics, traces": what the process itself takes.
func TestProcessMetrics(t *testing.T) {
	runtime.GC()
	names := []string{"goroutines", "heap_live_bytes"}
	if runtime.GOOS == "linux" {
		names = append(names, "process_open_fds", "process_resident_memory_bytes", "process_cpu_seconds_total")
	}
	got := exposition(t, telemetry.NewMetrics())
	for _, name := range names {
		found := regexp.MustCompile(`(?m)^manychat_agent_` + name + ` (\S+)$`).FindStringSubmatch(got)
		if found == nil {
			t.Errorf("no %s in\n%s", name, got)
		} else if value, err := strconv.ParseFloat(found[1], 64); err != nil || value <= 0 {
			t.Errorf("%s is %s", name, found[1])
		}
	}
}

// Holds docs/spec/16-operations.md, "Logs, metrics, traces": turns count side by side.
func TestMetricsTogether(t *testing.T) {
	m := telemetry.NewMetrics()
	var turns sync.WaitGroup
	for range 8 {
		turns.Go(func() {
			for range 100 {
				m.Turn(telemetry.TurnFact{Outcome: "answered", Path: "inline", Interventions: []string{"text_truncated"}})
				m.Inbound("panic")
			}
		})
	}
	turns.Wait()
	wantLines(t, exposition(t, m), `turns_total{outcome="answered",path="inline"} 800`,
		`interventions_total{intervention="text_truncated"} 800`, `inbound_events_total{event="panic"} 800`)
}

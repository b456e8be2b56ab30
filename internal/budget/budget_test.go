package budget_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Holds docs/spec/06-contact.md, "Caps": what caps and prices a tenant's rules set, and
// what counts without them.
func TestTermsOf(t *testing.T) {
	cached := 0.1
	rules := tenant.Budget{
		DailyTokenCap: 1_000_000, DailyCostCapUSD: 5.01, WarnAt: 0.8,
		Prices: map[string]tenant.ModelPrice{
			"openai:gpt-4o":      {Input: 1.5, Output: 2},
			"mock:demo":          {Input: 1, Output: 1, Cached: &cached},
			"openai:gpt-4o-mini": {},
		},
	}
	tests := []struct {
		model string
		price llm.Price
		known bool
	}{
		{"openai:gpt-4o", llm.Price{Input: 1_500_000, Cached: 1_500_000, Output: 2_000_000}, true},
		{"openai:gpt-4o-2024-08-06", llm.Price{Input: 2_500_000, Cached: 1_250_000, Output: 10_000_000}, true},
		{"mock:demo", llm.Price{Input: 1_000_000, Cached: 100_000, Output: 1_000_000}, true},
		{"openai:gpt-4o-mini", llm.Price{}, true},
		{"mock:other", llm.Price{}, true},
		{"openai:unheard-of", llm.Price{Input: 15_000_000, Cached: 15_000_000, Output: 75_000_000}, false},
	}
	for _, tt := range tests {
		t.Run(tt.model, func(t *testing.T) {
			want := budget.Terms{
				Cap: budget.Amount{Tokens: 1_000_000, Micros: 5_010_000}, WarnAt: 0.8,
				Model: tt.model, Price: tt.price, PriceKnown: tt.known,
			}
			if d := cmp.Diff(want, budget.TermsOf(rules, tt.model)); d != "" {
				t.Errorf("terms (-want +got):\n%s", d)
			}
		})
	}
}

// Caps and prices beyond all reason count as very much, not as something negative.
func TestTermsOfHugeNumbers(t *testing.T) {
	got := budget.TermsOf(tenant.Budget{
		DailyTokenCap: math.MaxInt64, DailyCostCapUSD: math.MaxFloat64,
		Prices: map[string]tenant.ModelPrice{"a:b": {Input: 1e300, Output: 1e300}},
	}, "a:b")
	if got.Cap.Tokens < 1e15 || got.Cap.Micros < 1e15 || got.Price.Input < 1e15 || got.Price.Output < 1e15 {
		t.Errorf("terms = %+v", got)
	}
	worst := budget.Worst(llm.Request{System: strings.Repeat("x", 10_000_000)}, got.Price)
	if worst.Micros != 1e15 {
		t.Errorf("worst case = %+v, want as much money as there can be", worst)
	}
}

// Holds docs/spec/06-contact.md, "Caps": each model call reserves its worst case. Every
// part of a request counts, and is never less than the bytes that are sent.
func TestWorst(t *testing.T) {
	price := llm.Price{Input: 2_000_000, Cached: 1, Output: 10_000_000}
	text := strings.Repeat("Grüße, 你好 👋🏽 ", 10)
	bytes := int64(len(text))
	empty := budget.Worst(llm.Request{MaxOutputTokens: 100}, price)
	if empty.Tokens < 100 || empty.Micros != (empty.Tokens-100)*2+100*10 {
		t.Errorf("an empty request costs %+v", empty)
	}
	tests := []struct {
		name  string
		req   llm.Request
		parts int64 // places that hold the text
	}{
		{"system", llm.Request{System: text}, 1},
		{"schema", llm.Request{Schema: []byte(text)}, 1},
		{"message", llm.Request{Messages: []llm.Message{{Text: text}}}, 1},
		{"messages", llm.Request{Messages: []llm.Message{{Text: text}, {Text: text}}}, 2},
		{"call", llm.Request{Messages: []llm.Message{{Calls: []llm.ToolCall{{ID: text, Name: text, Arguments: []byte(text)}}}}}, 3},
		{"result", llm.Request{Messages: []llm.Message{{Results: []llm.Result{{CallID: text, Name: text, Content: []byte(text)}}}}}, 3},
		{"tool", llm.Request{Tools: []llm.Tool{{Name: text, Description: text, Parameters: []byte(text)}}}, 3},
		{"state", llm.Request{Messages: []llm.Message{{State: []byte(text)}}}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.req.MaxOutputTokens = 100
			got := budget.Worst(tt.req, price)
			more := got.Tokens - empty.Tokens
			if more < tt.parts*bytes || more > tt.parts*bytes+64 {
				t.Errorf("%d tokens more than an empty request, want at least %d", more, tt.parts*bytes)
			}
			if got.Micros != empty.Micros+more*2 {
				t.Errorf("costs %d, want %d: at the price of what no cache holds", got.Micros, empty.Micros+more*2)
			}
		})
	}
	if got := budget.Worst(llm.Request{}, price); got.Tokens < 60_000 {
		t.Errorf("a reply without a bound counts %+v", got)
	}
	reasoning := budget.Worst(llm.Request{MaxOutputTokens: 100, ReasoningTokens: 1000}, price)
	if reasoning.Tokens != empty.Tokens+1000 || reasoning.Micros != empty.Micros+1000*10 {
		t.Errorf("a reply with reasoning costs %+v, one without %+v", reasoning, empty)
	}
	if got := budget.Worst(llm.Request{MaxOutputTokens: 100, Messages: []llm.Message{{Images: []llm.Image{{Data: []byte("x")}}}}}, price); got.Tokens < empty.Tokens+4784 {
		t.Errorf("a picture counts %d tokens", got.Tokens-empty.Tokens)
	}
}

// Holds docs/spec/06-contact.md, "Caps": the worst case is that all of a prompt is
// written into a cache, where that costs more.
func TestWorstWritesTheCache(t *testing.T) {
	plain, writing := llm.Price{Input: 1_000_000}, llm.Price{Input: 1_000_000, Write: 1_250_000}
	req := llm.Request{System: strings.Repeat("x", 100_000), MaxOutputTokens: 1}
	without, with := budget.Worst(req, plain).Micros, budget.Worst(req, writing).Micros
	if with < without*5/4 || with > without*5/4+1 {
		t.Errorf("worst case %d where writing a cache costs a quarter more, %d where not", with, without)
	}
}

// Holds docs/spec/06-contact.md, "Caps": what a call settles for, as it came back.
func TestSpent(t *testing.T) {
	price := llm.Price{Input: 1_000_000, Cached: 500_000, Output: 2_000_000}
	worst := budget.Amount{Tokens: 10_000, Micros: 12_000}
	used := llm.Usage{Input: 1_000, Cached: 400, Output: 100}
	reported := budget.Amount{Tokens: 1_100, Micros: 1_000}
	failure := func(kind llm.ErrorKind, status int, cause error) error {
		return fmt.Errorf("generate: %w", &llm.Error{Provider: "scripted", Kind: kind, Status: status, Err: cause})
	}
	dial := &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
	read := &net.OpError{Op: "read", Net: "tcp", Err: errors.New("connection reset")}
	tests := []struct {
		name  string
		usage llm.Usage
		err   error
		want  budget.Amount
	}{
		{"answered", used, nil, reported},
		{"more than the worst case", llm.Usage{Output: 20_000}, nil, budget.Amount{Tokens: 20_000, Micros: 40_000}},
		{"answered without a report", llm.Usage{}, nil, worst},
		{"failed with a report", used, failure(llm.KindProtocol, 200, nil), reported},
		{"refused with a report", used, failure(llm.KindRateLimited, 429, nil), reported},
		{"rate limited", llm.Usage{}, failure(llm.KindRateLimited, 429, nil), budget.Amount{}},
		{"overloaded", llm.Usage{}, failure(llm.KindOverloaded, 529, nil), budget.Amount{}},
		{"bad key", llm.Usage{}, failure(llm.KindUnauthorized, 401, nil), budget.Amount{}},
		{"bad request", llm.Usage{}, failure(llm.KindRejected, 400, nil), budget.Amount{}},
		{"server error", llm.Usage{}, failure(llm.KindServer, 500, nil), budget.Amount{}},
		{"gateway timed out", llm.Usage{}, failure(llm.KindServer, 504, nil), worst},
		{"never reached", llm.Usage{}, failure(llm.KindNetwork, 0, dial), budget.Amount{}},
		{"connection lost", llm.Usage{}, failure(llm.KindNetwork, 0, read), worst},
		{"aborted", llm.Usage{}, failure(llm.KindNetwork, 0, context.DeadlineExceeded), worst},
		{"unreadable", llm.Usage{}, failure(llm.KindProtocol, 200, nil), worst},
		{"panicked", llm.Usage{}, errors.New("a value of type string"), worst},
		{"nonsense", llm.Usage{Input: -5, Output: math.MinInt64}, nil, budget.Amount{}},
		{"nonsense without end", llm.Usage{Input: math.MaxInt64, Output: math.MaxInt64}, nil, budget.Amount{Tokens: 1e15, Micros: 1e15}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, budget.Spent(worst, price, tt.usage, tt.err)); d != "" {
				t.Errorf("spent (-want +got):\n%s", d)
			}
		})
	}
}

// Holds docs/spec/06-contact.md, "Caps": a UTC day.
func TestDayOf(t *testing.T) {
	for _, tt := range []struct{ at, want string }{
		{"1970-01-01T00:00:00Z", "1970-01-01"},
		{"1969-12-31T23:59:59Z", "1969-12-31"},
		{"2026-03-01T23:59:59.999999999Z", "2026-03-01"},
		{"2026-03-02T00:00:00Z", "2026-03-02"},
		{"2026-03-01T22:30:00-03:00", "2026-03-02"},
		{"2026-03-02T01:30:00+03:00", "2026-03-01"},
	} {
		at, err := time.Parse(time.RFC3339Nano, tt.at)
		if err != nil {
			t.Fatal(err)
		}
		if got := budget.DayOf(at).String(); got != tt.want {
			t.Errorf("%s is on %s, want %s", tt.at, got, tt.want)
		}
	}
}

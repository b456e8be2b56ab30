package attempt_test

import (
	"context"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/llm"
)

type instant struct{}

func (instant) Generate(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{Text: "yes", Stop: llm.StopEnd}, nil
}

// Holds docs/spec/17-quality.md, "Performance": what a call costs beside the model.
func BenchmarkCall(b *testing.B) {
	caller, err := attempt.New(attempt.Config{
		Models: []attempt.Model{one(instant{}), two(instant{})}, Budget: budget.Unlimited{},
		Now: time.Now, Jitter: attempt.Jitter, Log: discard(),
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(b.Context(), time.Hour)
	defer cancel()
	terms, req := rules(), question()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := caller.Turn(terms, time.Time{}).Call(ctx, req); err != nil {
			b.Fatal(err)
		}
	}
}

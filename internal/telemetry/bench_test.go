package telemetry_test

import (
	"errors"
	"io"
	"log/slog"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/telemetry"
)

// BenchmarkTurnLine compares a turn's line, as internal/turn writes it, with what the
// plain handler costs.
func BenchmarkTurnLine(b *testing.B) {
	loggers := []struct {
		name string
		log  *slog.Logger
	}{
		{"plain", slog.New(slog.NewJSONHandler(io.Discard, nil))},
		{"redacted", telemetry.NewLogger(io.Discard, slog.LevelInfo, telemetry.JSON)},
	}
	for _, l := range loggers {
		b.Run(l.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				l.log.Info("turn", "turn", "0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", "conversation", "0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5c",
					"outcome", word("answered"), "path", word("inline"), "reason", "", "bound", true, "attempt", 1,
					"interventions", []string{"text_truncated"}, "model", "anthropic:claude-haiku-4-5",
					"record_us", micros(1234), "hold_us", micros(0), "total_us", micros(1_834_567),
					"tokens_in", int64(1834), "tokens_out", int64(212))
			}
		})
	}
}

func BenchmarkErrorLine(b *testing.B) {
	err := errors.New("settle turn: constraint failed: UNIQUE constraint failed: turns.id (1555)")
	log := telemetry.NewLogger(io.Discard, slog.LevelInfo, telemetry.JSON)
	b.ReportAllocs()
	for b.Loop() {
		log.Error("turn not settled", "turn", "0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", "error", err)
	}
}

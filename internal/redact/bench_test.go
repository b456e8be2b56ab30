package redact_test

import (
	"runtime/debug"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/redact"
)

func BenchmarkText(b *testing.B) {
	inputs := []struct{ name, text string }{
		{"word", "answered"},
		{"sentence", "stopping before every turn has ended; they run again at the next start"},
		{"uuid", "0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"},
		{"model", "anthropic:claude-haiku-4-5-20251001"},
		{"error", "settle turn: constraint failed: UNIQUE constraint failed: turns.id (1555)"},
		{"phone", "a contact wrote: call me at +49 170 1234567 tomorrow"},
		{"foreign", "Обычное предложение: 12 мест, 1 500 рублей"},
		{"stack", string(debug.Stack())},
		{"64KiB", strings.Repeat("ada@example.com 0170/1234567, a/b/c.d ", 1<<16/38)},
	}
	for _, in := range inputs {
		b.Run(in.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(in.text)))
			for b.Loop() {
				redact.Text(in.text)
			}
		})
	}
}

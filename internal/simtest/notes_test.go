package simtest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// trace is what happened, in order. No line holds what another play of the seed draws anew,
// such as an id.
type trace struct {
	start time.Time
	mu    sync.Mutex
	lines []line
}

type line struct {
	at   time.Duration
	text string
}

// note adds what happened now.
func (t *trace) note(format string, values ...any) {
	text := fmt.Sprintf(format, values...)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, line{time.Since(t.start), text})
}

// sorted are the lines by time; those of one instant by their text, whichever goroutine ran
// first.
func (t *trace) sorted() (all []string) {
	t.mu.Lock()
	lines := slices.Clone(t.lines)
	t.mu.Unlock()
	slices.SortStableFunc(lines, func(a, b line) int {
		if a.at != b.at {
			return int(max(-1, min(1, a.at-b.at)))
		}
		return strings.Compare(a.text, b.text)
	})
	for _, l := range lines {
		all = append(all, fmt.Sprintf("%16s %s", l.at, l.text))
	}
	return all
}

// hashOf is a short name of a trace.
func hashOf(lines []string) string {
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:6])
}

// Diverge says where two traces of one seed begin to differ; empty: nowhere.
func Diverge(a, b []string) string {
	for i := range max(len(a), len(b)) {
		if x, y := lineOf(a, i), lineOf(b, i); x != y {
			return fmt.Sprintf("line %d of the trace is\n  %s\nand then\n  %s", i+1, x, y)
		}
	}
	return ""
}

func lineOf(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(the end)"
}

// last is what was noted last.
func (t *trace) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.lines[len(t.lines)-1].text
}

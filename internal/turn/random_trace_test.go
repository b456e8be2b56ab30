package turn_test

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"
)

// line is one of a trace.
type line struct {
	at   time.Duration // since the seed began
	text string
}

// ordered is the trace, what happened at the same instant in the order of its words:
// goroutines that wake together run in any order.
func (w *world) ordered() (lines []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sorted := slices.Clone(w.lines)
	slices.SortStableFunc(sorted, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.text, b.text))
	})
	for _, l := range sorted {
		lines = append(lines, fmt.Sprintf("%14s %s", l.at, l.text))
	}
	return lines
}

// digest tells traces apart.
func digest(lines []string) string {
	h := fnv.New64a()
	for _, l := range lines {
		h.Write([]byte(l + "\n")) // never fails
	}
	return fmt.Sprintf("%016x, %d lines", h.Sum64(), len(lines))
}

// diverge says where two traces of one seed part; empty: nowhere.
func diverge(one, other []string) string {
	for i := range max(len(one), len(other)) {
		if i < len(one) && i < len(other) && one[i] == other[i] {
			continue
		}
		around := func(lines []string) string {
			return strings.Join(lines[min(len(lines), max(0, i-3)):min(len(lines), i+4)], "\n")
		}
		return fmt.Sprintf("line %d of %d and %d:\n%s\n--- and:\n%s", i+1, len(one), len(other), around(one), around(other))
	}
	return ""
}

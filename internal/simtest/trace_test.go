package simtest

import (
	"strings"
	"testing"
)

// Holds docs/spec/17-quality.md, "Reliability": a replay says where it diverged.
func TestDiverge(t *testing.T) {
	if d := Diverge([]string{"a", "b"}, []string{"a", "b"}); d != "" {
		t.Errorf("the same traces differ: %s", d)
	}
	if d := Diverge([]string{"a", "b"}, []string{"a", "c"}); !strings.Contains(d, "line 2") {
		t.Errorf("it does not say where: %q", d)
	}
	if d := Diverge([]string{"a"}, []string{"a", "c"}); !strings.Contains(d, "(the end)") {
		t.Errorf("it does not say that one ended: %q", d)
	}
}

package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/tenant/tenanttest"
)

// Holds docs/spec/04-agent.md, "The mock", and docs/spec/01-principles.md, C9: whole
// conversations of both fixture tenants on the sandbox's phone. The transcripts are those
// that internal/llm/mock holds in detail.
func TestConversationsOnThePhone(t *testing.T) {
	paths, err := filepath.Glob("../llm/mock/testdata/conversations/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	played := map[string]int{}
	for _, path := range paths {
		script, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, business, _ := strings.Cut(string(script), "tenant: ")
		business, _, _ = strings.Cut(business, "\n")
		if business != "academy" && business != "repairs" {
			continue
		}
		played[business]++
		s := setup{rules: func(rules *tenant.Rules) { rules.EscalationQuietMinutes = 0 }}
		if business == "repairs" {
			s.business = tenanttest.Repairs
		}
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			inBubble(t, func(r *rig) { r.converse(string(script), s) }, s)
		})
	}
	if played["academy"] < 4 || played["repairs"] < 4 {
		t.Errorf("played %v, want four conversations of each", played)
	}
}

// converse writes what a transcript's contact writes and holds what the phone then shows
// against it: "> text", "= outcome", "+ must hold", "- must not hold".
func (r *rig) converse(script string, s setup) {
	r.t.Helper()
	handedOff := escalation
	if s.business != nil {
		handedOff = s.business().Rules.Messages.Escalation
	}
	id := r.contact("900000001")
	seen, turns := 0, 0
	var said, answer string
	for line := range strings.Lines(script) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case ">":
			turns++
			r.write(id, value)
			bubbles := r.phone(id, 3*time.Second)
			if said, answer = value, ""; len(bubbles) == seen {
				r.t.Fatalf("%q is not answered", value)
			}
			for _, b := range bubbles[seen:] {
				answer += b.Text + "\n"
			}
			seen = len(bubbles)
		case "=":
			if escalated := answer == handedOff+"\n"; value != "any" && escalated == (value == "answered" || value == "closer") {
				r.t.Errorf("%q is answered %q, want %s", said, answer, value)
			}
		case "+":
			if !strings.Contains(answer, value) {
				r.t.Errorf("%q is answered %q, which lacks %q", said, answer, value)
			}
		case "-":
			if strings.Contains(answer, value) {
				r.t.Errorf("%q is answered %q, which holds %q", said, answer, value)
			}
		}
	}
	if turns < 10 {
		r.t.Errorf("the conversation has %d turns, want ten", turns)
	}
}

// Package write writes what the mock model answers.
package write

import (
	"encoding/json"
	"strings"
	"unicode"
)

// Reply is a reply as the contract's JSON (docs/spec/04-agent.md, "Reply contract"). A reason
// escalates.
func Reply(messages []string, reason, closing string, confidence float64) (string, error) {
	b, err := json.Marshal(struct {
		Messages         []string `json:"messages"`
		Escalate         bool     `json:"escalate"`
		EscalationReason *string  `json:"escalation_reason"`
		Confidence       float64  `json:"confidence"`
		ClosingQuestion  *string  `json:"closing_question"`
	}{messages, reason != "", orNull(reason), confidence, orNull(closing)})
	return string(b), err
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// Legible reports whether a text shows a contact anything that is no programmer's word.
func Legible(text string) bool {
	shown := func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) }
	return strings.ContainsFunc(text, shown) && strings.TrimSpace(text) != "null"
}

package limit_test

import (
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn/limit"
)

// Holds docs/spec/06-contact.md, "Caps, all before the model runs, all escalating": the turns of
// a conversation count from when a person marked it as answered.
func TestCapCountsFromAnAnswer(t *testing.T) {
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	recent := []time.Time{at.Add(-1 * time.Minute), at.Add(-2 * time.Minute), at.Add(-3 * time.Minute)}
	rules := tenant.Rules{MaxTurnsPerConversation: 3, IdleResetHours: 24, RateLimit: tenant.RateLimit{TurnsPerSubscriberPerHour: 60}}
	for _, tt := range []struct {
		name     string
		answered time.Time
		over     bool
	}{
		{"never", time.Time{}, true},
		{"before them all", at.Add(-time.Hour), true},
		{"behind the first", at.Add(-150 * time.Second), false},
		{"just now", at, false},
	} {
		reason, over := limit.Over(rules, conversation.Turn{Bound: true, ReceivedAt: at}, recent, tt.answered)
		if over != tt.over || over && reason != conversation.ByTurnCap {
			t.Errorf("%s: over is %t for %q", tt.name, over, reason)
		}
	}
}

package app_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Holds docs/spec/15-storage.md, "Storage and scale": a service deletes turns past
// RETENTION_DAYS, never inside the business's historyDays, and none by default.
func TestRetention(t *testing.T) {
	for name, c := range map[string]struct {
		env     []string
		history float64
		left    string // rows of turns: a message and its answer each
	}{
		"kept by default":      {nil, 30, "4"},
		"past the retention":   {[]string{"RETENTION_DAYS=60"}, 30, "2"},
		"kept for the history": {[]string{"RETENTION_DAYS=60"}, 200, "4"},
		"a longer one":         {[]string{"RETENTION_DAYS=101"}, 30, "4"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				id := r.contact("900000001")
				r.write(id, "how much is the wheel course?")
				time.Sleep(5 * time.Second) // the turn is over, and what it noted behind its response
				age := (100 * 24 * time.Hour).Microseconds()
				r.query(fmt.Sprintf(`UPDATE turns SET received_at = received_at - %[1]d, settled_at = settled_at - %[1]d, responded_at = responded_at - %[1]d`, age))
				r.write(id, "and the other one?")
				time.Sleep(2 * time.Minute)
				if left := r.query("SELECT count(*) FROM turns"); left != c.left {
					r.t.Errorf("%s rows are left, want %s", left, c.left)
				}
			}, setup{env: c.env, rules: func(rules *tenant.Rules) { rules.HistoryDays = c.history }})
		})
	}
}

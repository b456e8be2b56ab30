package app_test

import (
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Holds docs/spec/06-contact.md, "Caps, all before the model runs, all escalating": the daily
// budget, through the whole program: what is left decides, a day is a UTC day, and a restart
// forgets nothing.
func TestDailyBudget(t *testing.T) {
	ear := &listener{} // 110 tokens a call
	spend := func(r *tenant.Rules) {
		r.Budget.DailyTokenCap, r.EscalationQuietMinutes = 31_000, 0
		r.MaxTurnsPerConversation, r.RateLimit.TurnsPerSubscriberPerHour = 1000, 1000
	}
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		// A call reserves its worst case, at most 25 000 of the 31 000 tokens, and uses 110.
		untilRefused := func(d *deployment, id string) {
			t.Helper()
			for d.contact(id); ; time.Sleep(10 * time.Second) {
				got := d.write(id, "hello").Response
				switch used := 110 * ear.calls(); {
				case used > 31_000:
					t.Fatalf("%d tokens were used of 31000", used)
				case strings.Contains(got, "Noted."):
				case !strings.Contains(got, escalation) || used < 6_000:
					t.Fatalf("after %d tokens the contact is answered %s", used, got)
				default:
					return
				}
			}
		}
		d := deploy(t, folder, setup{model: ear, rules: spend}, nil)
		untilRefused(d, "900000001")
		before := ear.calls()
		d.stop()

		again := deploy(t, folder, setup{model: ear, rules: spend}, nil)
		untilRefused(again, "900000002")
		if more := ear.calls() - before; more > 40 { // a new contact's call is smaller by its history
			t.Errorf("behind a restart %d calls more found room", more)
		}
		if !strings.Contains(again.log.String(), `"reason":"budget"`) {
			t.Error("the turn does not say that the budget was the reason")
		}
		again.stop()

		time.Sleep(time.Until(time.Now().Truncate(24 * time.Hour).Add(24 * time.Hour)))
		tomorrow := deploy(t, folder, setup{model: ear, rules: spend}, nil)
		if got := tomorrow.write(tomorrow.contact("900000003"), "good morning").Response; !strings.Contains(got, "Noted.") {
			t.Errorf("on the next day the contact is answered %s", got)
		}
		tomorrow.stop()
	})
}

// Holds docs/spec/06-contact.md, "Caps, all before the model runs, all escalating", and
// docs/spec/17-quality.md, "Reliability": with 50 turns at once near the cap the budget is
// overspent by at most one call, and those without room are handed off in time.
func TestFiftyTurnsNearTheCap(t *testing.T) {
	ear := &listener{}
	deployed(t, setup{model: ear, rules: func(r *tenant.Rules) { r.Budget.DailyTokenCap = 30_000 }}, nil, func(d *deployment) {
		var all sync.WaitGroup
		var mu sync.Mutex
		var late time.Duration
		for i := range 50 {
			id := d.contact(string(rune('1'+i/10)) + string(rune('0'+i%10)) + "0000000")
			all.Go(func() {
				start := time.Now()
				got := d.write(id, "hello")
				mu.Lock()
				defer mu.Unlock()
				if late = max(late, time.Since(start)); got.Status != 200 || len(got.Shown) != 1 {
					t.Errorf("answered %d, shown %d messages", got.Status, len(got.Shown))
				}
			})
		}
		all.Wait()
		if late > 8500*time.Millisecond {
			t.Errorf("a turn without room was answered after %s", late)
		}
		if used := 110 * ear.calls(); used > 30_000+7_000 {
			t.Errorf("%d tokens were used of 30000", used)
		}
	})
}

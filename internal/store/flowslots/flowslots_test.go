package flowslots_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/flowslots"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest"
)

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

func open(t *testing.T) *database.DB {
	t.Helper()
	db, err := database.Open(t.Context(), database.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "agent.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// count counts a flow and reports whether it may be sent, and from when it may if not.
func count(t *testing.T, db *database.DB, limit flowslots.Limit, who contact.Key, at time.Time) (ok bool, until time.Time) {
	t.Helper()
	_, err := database.Write(t.Context(), db, func(tx *groupcommit.Tx) (int64, error) { return limit.Count(tx, who, at) })
	if full, is := errors.AsType[*flowslots.FullError](err); is {
		return false, full.Until
	}
	if err != nil {
		t.Fatal(err)
	}
	return true, until
}

// Holds docs/spec/05-delivery.md, "ManyChat client": whenever a contact's flows are decided
// about, and however long their requests then take, no hour holds more than the limit; one that
// is refused may be sent when it says, and few slots are kept.
func TestNoHourHoldsMore(t *testing.T) {
	db := open(t)
	contacts := 0
	rapid.Check(t, func(rt *rapid.T) {
		contacts++
		who := contact.Key{TenantID: "academy", SubscriberID: contact.SubscriberID(fmt.Sprint(contacts))}
		limit := flowslots.Limit(rapid.IntRange(1, 5).Draw(rt, "limit"))
		at := start.Add(time.Duration(rapid.IntRange(0, 3600).Draw(rt, "start")) * time.Second)
		var sent []time.Time
		for range rapid.IntRange(1, 40).Draw(rt, "flows") {
			at = at.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 30, 299, 600, 601, 1800, 4000}).Draw(rt, "seconds later")) * time.Second)
			ok, until := count(t, db, limit, who, at)
			if !ok {
				if left := until.Sub(at); left <= 0 || left > 72*time.Minute {
					rt.Fatalf("refused at %v until %v", at, until)
				}
				if again, _ := count(t, db, limit, who, until.Add(-time.Microsecond)); again {
					rt.Fatalf("was told to wait until %v, and could have been sent before", until)
				}
				if again, _ := count(t, db, limit, who, until); !again {
					rt.Fatalf("was told to wait until %v, and is refused then", until)
				}
				at = until
			}
			sent = append(sent, at.Add(time.Duration(rapid.IntRange(0, 119).Draw(rt, "seconds until the request"))*time.Second))
		}
		slices.SortFunc(sent, time.Time.Compare)
		for i := range sent {
			if j := i + int(limit); j < len(sent) && sent[j].Sub(sent[i]) < time.Hour {
				rt.Fatalf("%d flows within %v", int(limit)+1, sent[j].Sub(sent[i]))
			}
		}
		var slots int
		if err := db.Read().QueryRow("SELECT count(*) FROM flow_slots WHERE subscriber_id = $1", string(who.SubscriberID)).Scan(&slots); err != nil || slots > 8 {
			rt.Errorf("%d slots are kept, %v", slots, err)
		}
	})
}

// Holds docs/spec/05-delivery.md, "ManyChat client": contacts are counted apart, and a clock that
// was set back mutes nobody.
func TestContactsAreCountedApart(t *testing.T) {
	db := open(t)
	one := contact.Key{TenantID: "academy", SubscriberID: "900000001"}
	other, elsewhere := one, one
	other.SubscriberID, elsewhere.TenantID = "900000002", "repair"
	for i, tt := range []struct {
		who contact.Key
		at  time.Time
		ok  bool
	}{{one, start, true}, {one, start, false}, {other, start, true}, {elsewhere, start, true}, {one, start.Add(-3 * time.Hour), true}} {
		if ok, _ := count(t, db, 1, tt.who, tt.at); ok != tt.ok {
			t.Errorf("flow %d: may be sent: %v", i, ok)
		}
	}
}

// Holds docs/spec/05-delivery.md, "ManyChat client": MANYCHAT_RPS_SCALE scales all limits.
func TestScaled(t *testing.T) {
	for scale, want := range map[float64]flowslots.Limit{1: 100, 0.5: 50, 0.01: 1, 0.001: 1, 2: 200} {
		if got := flowslots.Scaled(scale); got != want {
			t.Errorf("scaled by %v: %d, want %d", scale, got, want)
		}
	}
}

// Holds docs/spec/15-storage.md: every query on the turn path is served by an index.
func TestQueryPlans(t *testing.T) {
	storetest.CheckPlans(t, open(t).Read(), flowslots.Queries, nil)
}

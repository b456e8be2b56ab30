package app_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
)

// Holds docs/spec/15-storage.md: the service runs on PostgreSQL as it does on SQLite, and a restart
// keeps its conversations.
func TestServiceOnPostgreSQL(t *testing.T) {
	url := postgrestest.Open(t)
	const contact = "900000001"
	for range 2 {
		d := deploy(t, t.TempDir(), setup{env: []string{"DATABASE_URL=" + url}}, nil)
		if status, body := d.get("/ready"); status != http.StatusOK || !strings.Contains(body, `"ready"`) {
			t.Errorf("/ready says %d %s", status, body)
		}
		d.contact(contact)
		if got := d.write(contact, question); got.Status != http.StatusOK {
			t.Errorf("a message is answered %d", got.Status)
		}
		d.stop()
	}
	db, err := store.Open(t.Context(), store.Options{URL: url, Now: time.Now, NoMigration: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	turns, err := db.RecentTurns(t.Context(), "demo", contact, 10)
	if err != nil || len(turns) != 2 {
		t.Fatalf("%d turns are recorded, %v", len(turns), err)
	}
	for _, turn := range turns {
		if turn.State != conversation.Settled || turn.Outcome != conversation.Answered {
			t.Errorf("a turn is %s with outcome %s", turn.State, turn.Outcome)
		}
	}
}

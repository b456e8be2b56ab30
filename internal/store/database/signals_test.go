package database_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
)

// Holds docs/spec/15-storage.md: who waits hears of what happened, on either database, until
// it listens no more.
func TestSignals(t *testing.T) {
	for name, address := range map[string]func(t *testing.T) string{
		"SQLite":     func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "agent.db") },
		"PostgreSQL": func(t *testing.T) string { return postgrestest.Open(t) },
	} {
		t.Run(name, func(t *testing.T) {
			db, err := database.Open(t.Context(), database.Options{URL: address(t), Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			heard := make(chan string, 10)
			ctx, stop := context.WithCancel(t.Context())
			var listening sync.WaitGroup
			for range 2 {
				listening.Go(func() {
					db.Listen(ctx, func(topic, payload string) { heard <- topic + "/" + payload })
				})
			}
			expect(t, heard, "/", "/")
			if err := db.Notify(t.Context(), "settled", "c-1"); err != nil {
				t.Fatal(err)
			}
			expect(t, heard, "settled/c-1", "settled/c-1")
			stop()
			listening.Wait()
			if err := db.Notify(t.Context(), "settled", "c-2"); err != nil {
				t.Fatal(err)
			}
			if len(heard) > 0 {
				t.Errorf("heard %q after the end", <-heard)
			}
		})
	}
}

func expect(t *testing.T, heard <-chan string, want ...string) {
	t.Helper()
	for _, w := range want {
		select {
		case got := <-heard:
			if got != w {
				t.Fatalf("heard %q, want %q", got, w)
			}
		case <-t.Context().Done():
			t.Fatal("heard nothing")
		}
	}
}

package budget_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/ledger"
)

// Holds docs/spec/15-storage.md, "Storage and scale": what a call of a model costs in
// budget keeping while a block lasts. The target is a microsecond.
func BenchmarkReserveAndSettle(b *testing.B) {
	k := benchKeeper(b)
	c := call(1e14, 12_000, time.Hour)
	b.ReportAllocs()
	for b.Loop() {
		r, err := k.Reserve(b.Context(), c)
		if err != nil {
			b.Fatal(err)
		}
		r.Settle(budget.Amount{})
	}
}

func benchKeeper(b *testing.B) *budget.Keeper {
	db, err := database.Open(b.Context(), database.Options{URL: "sqlite:" + filepath.Join(b.TempDir(), "agent.db"), Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	k, err := budget.New(budget.Config{
		Ledger: ledger.New(db), TenantID: "demo", Owner: "a", Now: time.Now, Log: slog.New(slog.DiscardHandler), Count: func(string) {},
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		k.Run(ctx)
	}()
	b.Cleanup(func() {
		cancel()
		<-ended
		_ = db.Close()
	})
	return k
}

package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/acts"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/queue"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// Shows docs/spec/17-quality.md, "Performance": turns per second of the store, to be
// compared with those of its bare statements.

// callers is how many turns are in flight per processor.
const callers = 64

func benchDB(b *testing.B) *DB { return benchOn(b, "sqlite:"+filepath.Join(b.TempDir(), "agent.db")) }

func benchOn(b *testing.B, url string) *DB {
	b.Helper()
	db, err := Open(b.Context(), Options{URL: url, Now: time.Now})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	return db
}

// inParallel runs one turn after the other for many contacts at once.
func inParallel(b *testing.B, one func(ctx context.Context, id string, key contact.Key) error) {
	b.Helper()
	var n atomic.Int64
	b.SetParallelism(callers)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := n.Add(1)
			key := contact.Key{TenantID: "demo", Channel: contact.WhatsApp, SubscriberID: contact.SubscriberID(fmt.Sprint(i % 1000))}
			if err := one(b.Context(), fmt.Sprintf("turn-%09d", i), key); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// rate reports what was done per second.
func rate(b *testing.B, unit string) { b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), unit) }

func BenchmarkTurn(b *testing.B) { benchmarkTurn(b, benchDB(b)) }

func BenchmarkTurnOnPostgreSQL(b *testing.B) { benchmarkTurn(b, benchOn(b, postgrestest.Open(b))) }

func benchmarkTurn(b *testing.B, db *DB) {
	defer rate(b, "turns/s")
	inParallel(b, func(ctx context.Context, id string, key contact.Key) error {
		now := time.Now()
		r, err := db.Record(ctx, turn.Arrival{
			TurnID: id, Key: key, Owner: "process-a", Text: "hello", ReceivedAt: now,
			Window: turn.Window{HistorySince: now.AddDate(0, 0, -30), HistoryLimit: 10, RecentLimit: 60},
		})
		if err != nil {
			return err
		}
		r.Turn.Outcome, r.Turn.Path, r.Turn.Replies = conversation.Answered, conversation.Inline, []string{"hello to you"}
		if err := db.Settle(ctx, turn.Settlement{Turn: r.Turn}); err != nil {
			return err
		}
		return db.Stamp(ctx, turn.Stamp{TurnID: id, ConversationID: r.Conversation.ID, At: now})
	})
}

// BenchmarkStatements runs what BenchmarkTurn sends to the database and nothing else.
func BenchmarkStatements(b *testing.B) {
	db := benchDB(b)
	defer rate(b, "turns/s")
	run := func(ctx context.Context, fn func(tx *groupcommit.Tx) error) error { return exec(ctx, db, fn) }
	inParallel(b, func(ctx context.Context, id string, key contact.Key) error {
		now := time.Now().UnixMicro()
		var conversationID string
		err := run(ctx, func(tx *groupcommit.Tx) error {
			e, err := enter(tx, key, time.Now())
			if err != nil {
				return err
			}
			conversationID = e.ID
			if err := drain(tx, selectOpen, e.ID, 1, openLimit); err != nil {
				return err
			}
			if _, err := tx.Exec(insertAgentRow, id, "demo", e.ID, e.seq, 1, now, "running", "process-a", 1, "", "", nil, nil, nil); err != nil {
				return err
			}
			if _, err := tx.Exec(insertContactRow, id+"c", id, "demo", e.ID, e.seq-1, 1, 1, "hello", now, 1, 0); err != nil {
				return err
			}
			if err := drain(tx, selectMerged, id); err != nil {
				return err
			}
			if err := drain(tx, selectHistory, e.ID, e.seq-1, 0, 10); err != nil {
				return err
			}
			if err := drain(tx, selectRecent, e.ID, 1, e.seq-1, 60); err != nil {
				return err
			}
			if _, err := acts.Sent(tx, e.ID, turn.Window{}); err != nil {
				return err
			}
			_, err = queue.Queued(tx, e.ID)
			return err
		})
		if err != nil {
			return err
		}
		err = run(ctx, func(tx *groupcommit.Tx) error {
			if _, err := lock(tx, conversationID); err != nil {
				return err
			}
			err := drain(tx, settleTurn, id, "process-a", 1, "answering", "answered", "inline", nil, now, `["hello to you"]`,
				"", "", 0, 0, 0, 0, "{}", nil, nil, nil, "hello to you", 1, nil, nil)
			if err != nil {
				return err
			}
			_, err = queue.Queued(tx, conversationID)
			return err
		})
		if err != nil {
			return err
		}
		return run(ctx, func(tx *groupcommit.Tx) error {
			if _, err := lock(tx, conversationID); err != nil {
				return err
			}
			if err := drain(tx, stampTurn, id, now, 0); err != nil {
				return err
			}
			return queue.MoveLastSent(tx, conversationID, time.UnixMicro(now), time.UnixMicro(now))
		})
	})
}

func drain(tx *groupcommit.Tx, query string, args ...any) error {
	rows, err := tx.Query(query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}

// BenchmarkDelivery claims, records progress of and releases rows of a backlog as a
// worker does, without the calls to ManyChat.
func BenchmarkDelivery(b *testing.B) { benchmarkDelivery(b, benchDB(b)) }

func BenchmarkDeliveryOnPostgreSQL(b *testing.B) {
	benchmarkDelivery(b, benchOn(b, postgrestest.Open(b)))
}

func benchmarkDelivery(b *testing.B, db *DB) {
	inParallel(b, func(ctx context.Context, id string, _ contact.Key) error {
		key := contact.Key{TenantID: "demo", Channel: contact.WhatsApp, SubscriberID: contact.SubscriberID(id[len("turn-"):])}
		r, err := db.Record(ctx, turn.Arrival{TurnID: id, Key: key, Owner: "process-a", Text: "hello", ReceivedAt: time.Now()})
		if err != nil {
			return err
		}
		r.Turn.Outcome, r.Turn.Path, r.Turn.Replies = conversation.Answered, conversation.Outbox, []string{"hello to you"}
		return db.Settle(ctx, turn.Settlement{Turn: r.Turn, Row: &outbox.Row{Payload: outbox.Payload{Texts: r.Turn.Replies}}})
	})
	b.ResetTimer()
	for delivered := 0; delivered < b.N; {
		rows, err := db.Claim(b.Context(), outbox.Claim{Owner: "process-a", Now: time.Now(), Gap: time.Second, Room: map[outbox.Kind]int{outbox.Reply: callers}})
		if err != nil || len(rows) == 0 {
			b.Fatalf("Claim returned %d rows, %v, after %d of %d", len(rows), err, delivered, b.N)
		}
		var wg sync.WaitGroup
		for _, r := range rows {
			wg.Go(func() {
				r.Payload.Sent = 1
				err := db.Progress(b.Context(), r, time.Now())
				r.Status, r.DeliveredAt = outbox.Delivered, time.Now()
				if err = errors.Join(err, db.Release(b.Context(), r, nil)); err != nil {
					b.Error(err)
				}
			})
		}
		wg.Wait()
		delivered += len(rows)
	}
	rate(b, "texts/s")
}

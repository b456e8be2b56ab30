package nudge_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/manychat-agent/manychat-agent/internal/nudge"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// book is a store whose nudges stay due until they are taken, and that takes them.
type book struct {
	mu    sync.Mutex
	due   []string
	err   error         // of a look
	taken error         // of a claim
	takes time.Duration // a turn
	looks []time.Duration
	done  []string
	most  int // turns at once
	now   int
	start time.Time
}

func (b *book) Schedule(context.Context, nudge.Plan) error { return nil }

func (b *book) Due(_ context.Context, _ string, limit int) (all []nudge.Due, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looks = append(b.looks, time.Since(b.start))
	for _, id := range b.due[:min(limit, len(b.due))] {
		all = append(all, nudge.Due{ID: id})
	}
	return all, b.err
}

func (b *book) Follow(ctx context.Context, d nudge.Due) error {
	b.mu.Lock()
	if !slices.Contains(b.due, d.ID) { // it was read before it was taken
		b.mu.Unlock()
		return nil
	}
	b.now++
	b.most = max(b.most, b.now)
	err := b.taken
	if err == nil {
		b.due = slices.DeleteFunc(slices.Clone(b.due), func(id string) bool { return id == d.ID })
	}
	b.mu.Unlock()
	if d.ID == "bad" {
		defer b.leave(d.ID)
		panic("a defect")
	}
	select {
	case <-time.After(b.takes):
	case <-ctx.Done():
	}
	b.leave(d.ID)
	return err
}

func (b *book) leave(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now--
	b.done = append(b.done, id)
}

func (b *book) ended() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.done)
}

func (b *book) looked() []time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.looks)
}

// polling runs a test beside a poller that runs, and stops it.
func polling(t *testing.T, b *book, test func(p *nudge.Poller, cancel func())) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b.start = time.Now()
		p, err := nudge.New(nudge.Config{
			Store: b, Turns: b, TenantID: "demo", Alive: func() bool { return true },
			Jitter: func(d time.Duration) time.Duration { return d }, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		ran := make(chan struct{})
		go func() { defer close(ran); p.Run(ctx) }()
		test(p, cancel)
		cancel()
		<-ran
	})
}

func rest(d time.Duration) { time.Sleep(d); synctest.Wait() }

func names(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf("nudge-%03d", i))
	}
	return all
}

// Holds docs/spec/09-nudge.md: due nudges are looked for every 15 s, and at once when one was
// planned.
func TestPolls(t *testing.T) {
	b := &book{}
	polling(t, b, func(p *nudge.Poller, _ func()) {
		rest(31 * time.Second)
		p.Wake()
		rest(16 * time.Second)
		want := []time.Duration{0, 15 * time.Second, 30 * time.Second, 31 * time.Second, 46 * time.Second}
		if diff := cmp.Diff(want, b.looked()); diff != "" {
			t.Errorf("looks (-want +got):\n%s", diff)
		}
	})
}

// A burst of due nudges is worked through page by page, so many at a time that the messages of
// contacts who wait have the models to themselves.
func TestBurst(t *testing.T) {
	b := &book{due: names(200), takes: time.Second}
	polling(t, b, func(*nudge.Poller, func()) {
		rest(14 * time.Second)
		if n := len(b.ended()); n != 200 || b.most != 16 {
			t.Errorf("%d of 200 ended, %d at once", n, b.most)
		}
	})
}

// A nudge whose turn panics, or that the database does not give, holds up no other and is not
// asked for without a pause.
func TestNudgesThatFail(t *testing.T) {
	b := &book{due: append([]string{"bad"}, names(70)...), taken: errors.New("the database is away")}
	polling(t, b, func(*nudge.Poller, func()) {
		rest(14 * time.Second)
		if n := len(b.looked()); n != 1 {
			t.Errorf("looked %d times within 14 s", n)
		}
		b.mu.Lock()
		b.taken = nil
		b.mu.Unlock()
		rest(16 * time.Second)
		b.mu.Lock()
		defer b.mu.Unlock()
		if len(b.due) != 0 {
			t.Errorf("%d are due still", len(b.due))
		}
	})
}

// A stop takes no further nudge, and waits for those under way; the end of the process cuts them
// short.
func TestStop(t *testing.T) {
	for _, tt := range []struct {
		name  string
		grace time.Duration
		want  []string
		late  bool
	}{
		{"within the grace", 25 * time.Second, []string{"nudge-000"}, false},
		{"beyond it", time.Second, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &book{due: names(1), takes: 10 * time.Second}
			polling(t, b, func(p *nudge.Poller, cancel func()) {
				rest(time.Second)
				p.Stop()
				b.mu.Lock()
				b.due = names(3)
				b.mu.Unlock()
				p.Wake()
				ctx, end := context.WithTimeout(context.Background(), tt.grace)
				defer end()
				if err := p.Drain(ctx); (err != nil) != tt.late {
					t.Errorf("Drain: %v", err)
				}
				if diff := cmp.Diff(tt.want, b.ended()); diff != "" {
					t.Errorf("ended (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// The config is checked.
func TestNew(t *testing.T) {
	good := nudge.Config{
		Store: &book{}, Turns: &book{}, TenantID: "demo", Alive: func() bool { return true }, Jitter: nudge.Jitter, Log: slog.New(slog.DiscardHandler),
	}
	if _, err := nudge.New(good); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*nudge.Config){
		"store": func(c *nudge.Config) { c.Store = nil }, "turns": func(c *nudge.Config) { c.Turns = nil }, "tenant": func(c *nudge.Config) { c.TenantID = "" },
		"alive": func(c *nudge.Config) { c.Alive = nil }, "jitter": func(c *nudge.Config) { c.Jitter = nil }, "log": func(c *nudge.Config) { c.Log = nil },
	} {
		bad := good
		if change(&bad); !errs(nudge.New(bad)) {
			t.Errorf("a config without %s is taken", name)
		}
	}
	for range 100 {
		if d := nudge.Jitter(15 * time.Second); d < 7500*time.Millisecond || d >= 15*time.Second {
			t.Errorf("a look comes after %s", d)
		}
	}
}

func errs(_ *nudge.Poller, err error) bool { return err != nil }

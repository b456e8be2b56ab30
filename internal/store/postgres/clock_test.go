package postgres_test

import (
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store/postgres"
)

// Holds docs/spec/15-storage.md: times that processes compare are the server's.
func TestClock(t *testing.T) {
	p, url := pool(t, "")
	write(t, p, "CREATE SCHEMA ahead")
	write(t, p, `CREATE FUNCTION ahead.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS
        $$ SELECT pg_catalog.clock_timestamp() + interval '90 seconds' $$`)
	shifted := func() time.Time { return time.Now().Add(time.Hour) }
	for name, c := range map[string]struct {
		parameters string
		own        func() time.Time
		want       time.Duration
	}{
		"the same clock":         {"", time.Now, 0},
		"ahead":                  {"?search_path=ahead,pg_catalog", time.Now, 90 * time.Second},
		"set to another time":    {"", shifted, time.Hour},
		"ahead of a shifted one": {"?search_path=ahead,pg_catalog", shifted, time.Hour + 90*time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			clock, err := postgres.NewClock(t.Context(), connect(t, url+c.parameters), c.own)
			if err != nil {
				t.Fatal(err)
			}
			defer clock.Close()
			got := time.Until(clock.Now())
			if (got - c.want).Abs() > time.Second {
				t.Errorf("it is ahead by %v, want %v", got, c.want)
			}
		})
	}
}

// Holds docs/spec/15-storage.md: clocks that agree are not told apart, so that times do not jitter.
func TestClockIsStill(t *testing.T) {
	p, _ := pool(t, "")
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	clock, err := postgres.NewClock(t.Context(), p, func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	defer clock.Close()
	if got := clock.Now(); !got.Equal(at) {
		t.Errorf("it says %v, want %v", got, at)
	}
}

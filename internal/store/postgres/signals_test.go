package postgres_test

import (
	"context"
	"sync"
	"testing"
)

// Holds docs/spec/15-storage.md: processes hear of each other's work, and look at everything
// when they may have missed something.
func TestSignals(t *testing.T) {
	p, url := pool(t, "")
	heard := make(chan [2]string, 10)
	ctx, stop := context.WithCancel(t.Context())
	var listening sync.WaitGroup
	listening.Go(func() {
		connect(t, url).Listen(ctx, func(topic, payload string) { heard <- [2]string{topic, payload} })
	})
	expect := func(topic, payload string) {
		t.Helper()
		select {
		case got := <-heard:
			if got != [2]string{topic, payload} {
				t.Fatalf("heard %q, want %q %q", got, topic, payload)
			}
		case <-t.Context().Done():
			t.Fatal("heard nothing")
		}
	}
	tell := func(topic, payload string) {
		t.Helper()
		if err := p.Notify(t.Context(), topic, payload); err != nil {
			t.Fatal(err)
		}
	}
	expect("", "")
	tell("settled", "c-1 with a space")
	expect("settled", "c-1 with a space")
	hangUp(t, url)
	expect("", "")
	tell("queued", "")
	expect("queued", "")
	stop()
	listening.Wait()
}

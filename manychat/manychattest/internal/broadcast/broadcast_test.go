package broadcast_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/broadcast"
)

// A subscriber that causes events gets them after the one it is looking at.
func TestOrderHoldsWhenSubscribersCallBack(t *testing.T) {
	var hub broadcast.Hub[int]
	var first, second []int
	hub.Subscribe(func(e int) {
		first = append(first, e)
		if e < 3 {
			hub.Queue(e + 1)
			hub.Flush()
		}
	})
	cancel := hub.Subscribe(func(e int) { second = append(second, e) })
	hub.Queue(1, 10)
	hub.Flush()
	cancel()
	hub.Queue(20)
	hub.Flush()
	if diff := cmp.Diff([]int{1, 10, 2, 3, 20}, first); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{1, 10, 2, 3}, second); diff != "" {
		t.Error(diff)
	}
}

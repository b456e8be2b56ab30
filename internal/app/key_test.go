package app_test

import (
	"strings"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
)

// Holds docs/spec/05-delivery.md, "Outbox", Retry: while ManyChat refuses the API key no late
// reply is lost and few requests are made; each arrives once the key is taken again, within a
// minute, and once.
func TestRefusedKey(t *testing.T) {
	inBubble(t, func(r *rig) {
		ids := []string{r.contact("900000001"), r.contact("900000002"), r.contact("900000003")}
		for _, id := range ids {
			r.write(id, "hello") // brings the contact's token
		}
		r.phone(ids[0], 5*time.Second)
		r.model(9*time.Second, mock.OK)
		r.faults(fault.Fault{Kind: fault.RefusedKey})
		for _, id := range ids {
			r.write(id, question)
		}
		before := len(r.calls(ids[0])) + len(r.calls(ids[1])) + len(r.calls(ids[2]))
		r.phone(ids[0], 20*time.Minute)
		refused := len(r.calls(ids[0])) + len(r.calls(ids[1])) + len(r.calls(ids[2])) - before
		if refused < 20 || refused > 25 {
			t.Errorf("%d requests in 20 minutes, want one a minute and a few", refused)
		}
		r.faults()
		for _, id := range ids {
			arrived := 0
			for _, b := range r.phone(id, time.Minute) {
				if b.Text == price {
					arrived++
				}
			}
			if arrived != 1 {
				t.Errorf("contact %s was shown the late reply %d times", id, arrived)
			}
		}
		if n := strings.Count(r.log.String(), "ManyChat refuses the API key"); n != 1 {
			t.Errorf("%d lines of the log raise the alarm, want 1", n)
		}
		if n := strings.Count(r.log.String(), "takes the API key again"); n != 1 {
			t.Errorf("%d lines of the log say that deliveries go on, want 1", n)
		}
	})
}

package joint_test

import (
	"net/http"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/app/joint"
	"github.com/manychat-agent/manychat-agent/manychat"
)

type counted struct{ n int }

func (c *counted) RoundTrip(req *http.Request) (*http.Response, error) {
	c.n++
	return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: req}, nil
}

// Holds docs/spec/03-turn.md, "Crash recovery": a process that others may take for dead starts no
// request to ManyChat, and what it did not start is known not to have been done.
func TestWhileAlive(t *testing.T) {
	account, alive := &counted{}, false
	client, err := manychat.NewClient(manychat.ClientConfig{Token: "1:key", Transport: joint.WhileAlive{Alive: func() bool { return alive }, To: account}})
	if err != nil {
		t.Fatal(err)
	}
	err = client.SendFlow(t.Context(), "7", "content20260101000000_000001")
	failed, ok := err.(*manychat.Error)
	if !ok || failed.OutcomeUnknown() || !failed.Retryable() || account.n != 0 {
		t.Errorf("a process that may be dead made %d requests: %v", account.n, err)
	}
	alive = true
	_ = client.SendFlow(t.Context(), "7", "content20260101000000_000001") // what it answers is none of this test's business
	if account.n != 1 {
		t.Errorf("a process that is alive made %d requests", account.n)
	}
}

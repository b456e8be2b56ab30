package sandbox_test

import (
	"bufio"
	"net/http"
	"net/url"
	"testing"
)

// An open page is told of every change, and of the end.
func TestEvents(t *testing.T) {
	r := newRig(t)
	r.get("/sandbox")
	resp, err := http.DefaultClient.Do(r.request(http.MethodGet, "/sandbox/events", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("the events come as %s", got)
	}
	lines := bufio.NewScanner(resp.Body)
	next := func(of string) {
		t.Helper()
		for lines.Scan() {
			if lines.Text() == "event: change" {
				return
			}
		}
		t.Fatalf("%s is not told: %v", of, lines.Err())
	}
	next("the beginning")
	r.post("/sandbox/model", url.Values{"contact": {first}, "latency": {"1"}, "mode": {"ok"}})
	next("a switch of the model")
	r.post("/sandbox/faults", url.Values{"contact": {first}, "kind": {"timeout"}, "times": {"1"}})
	next("a switch of ManyChat")
	r.post("/sandbox/send", url.Values{"contact": {first}, "text": {"hello"}})
	next("a message")
	r.page.Close()
	for lines.Scan() { // to the end
	}
	if err := lines.Err(); err != nil {
		t.Errorf("the stream ends with %v", err)
	}
}

// A page that is closed takes no more messages, and says so.
func TestSendToClosedPage(t *testing.T) {
	r := newRig(t)
	r.get("/sandbox")
	r.page.Close()
	got := r.post("/sandbox/send", url.Values{"contact": {first}, "text": {"hello"}})
	if got.status != http.StatusServiceUnavailable || got.body != "The sandbox is stopping. Start it again, and send once more." {
		t.Errorf("answers %d: %s", got.status, got.body)
	}
	if len(r.account.Chat(first)) != 0 {
		t.Error("the message shows on the phone")
	}
}

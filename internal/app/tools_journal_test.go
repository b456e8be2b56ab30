package app_test

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/inbound"
)

// event is something that the service wrote to a caller, or asked of ManyChat.
type event struct {
	kind    string // wire, asks or answered
	what    string // on the wire: what was written
	contact string
	at      time.Time
}

// journal is what happened, in its order.
type journal struct {
	mu     sync.Mutex
	events []event
}

func (j *journal) add(e event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.at = time.Now()
	j.events = append(j.events, e)
}

func (j *journal) all() []event {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.events)
}

// transport notes when a request to ManyChat begins, and when it is answered.
func (j *journal) transport(to http.RoundTripper, what func(string, []byte) (string, string)) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		var body []byte
		if req.Body != nil {
			var err error
			if body, err = io.ReadAll(req.Body); err != nil {
				return nil, err
			}
			req.Body = io.NopCloser(bytes.NewReader(body))
		}
		is, contact := what(req.URL.Path, body)
		j.add(event{kind: "asks", what: is, contact: contact})
		resp, err := to.RoundTrip(req)
		j.add(event{kind: "answered", what: is, contact: contact})
		return resp, err
	})
}

// wire notes what the service has written to those who called it.
type wire struct {
	*pipes
	journal *journal
}

func (w wire) Accept() (net.Conn, error) {
	c, err := w.pipes.Accept()
	if err != nil {
		return nil, err
	}
	return &wiredConn{Conn: c, journal: w.journal}, nil
}

type wiredConn struct {
	net.Conn
	journal *journal

	mu      sync.Mutex
	contact string // whose message was read last
}

// writtenBy finds the contact in either body of a message.
var writtenBy = regexp.MustCompile(`"(?:id|subscriber_id)": ?"?([0-9]{6,})`)

func (c *wiredConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if found := writtenBy.FindSubmatch(p[:n]); found != nil {
		c.mu.Lock()
		c.contact = string(found[1])
		c.mu.Unlock()
	}
	return n, err
}

// Write returns when the caller has read it all: only then is it out.
func (c *wiredConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.journal.add(event{kind: "wire", what: string(p), contact: c.contact})
	}
	return n, err
}

// checkJournal asserts that the journal misses nothing of the emulator's log of calls.
func (s *studio) checkJournal() {
	s.t.Helper()
	asks := 0
	for _, e := range s.journal.all() {
		if e.kind == "asks" {
			asks++
		}
	}
	if calls := len(s.account.Calls()); calls > asks {
		s.t.Errorf("the emulator was called %d times, of which %d are in the journal", calls, asks)
	}
}

// checkBehind asserts that nothing that a contact's turn staged, nor the notice of it, was asked
// of ManyChat before its reply was out, by the response or by the last of the outbox's texts.
func (s *studio) checkBehind(id, reply string) {
	s.t.Helper()
	if out, early := s.early(id, reply); !out || len(early) > 0 {
		s.t.Errorf("the reply %q is out: %v; before it ManyChat was asked to %q", reply, out, early)
	}
}

// early is what was asked of ManyChat before a reply was out, if it ever was.
func (s *studio) early(id, reply string) (out bool, early []string) {
	said := false
	for _, e := range s.journal.all() {
		switch {
		case e.contact != id:
		case e.kind == "wire" && strings.Contains(e.what, reply):
			out = true
		case e.kind == "asks" && strings.HasPrefix(e.what, "say ") && strings.Contains(e.what, reply):
			said = true
		case e.kind == "answered" && e.what == "show" && said:
			out = true
		case e.kind == "asks" && staging(e.what) && !out:
			early = append(early, e.what)
		}
	}
	return out, early
}

// post is a request to the service with its secret.
func (s *studio) post(ctx context.Context, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.turns.Service+inbound.MessagePath, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+newSecret)
	req.Header.Set("Content-Type", "application/json")
	return s.client.Do(req)
}

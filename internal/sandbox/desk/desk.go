// Package desk is the stand-in for the desk of a business's people: it takes the handoff
// notices that the service posts, wherever they are addressed to, and keeps the newest
// for a person to see. Nothing of them leaves this machine.
package desk

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

const (
	// maxKept is how many notices are kept.
	maxKept = 20
	// maxBody bounds what is read of a post, in bytes.
	maxBody = 64 << 10
)

// Notice is a handoff notice as the desk got it.
type Notice struct {
	At     time.Time // when it came
	Turn   string    // it tells of
	Reason string
	Note   string // empty: there is none
	Header http.Header
	Body   string // as it came
}

// Signed reports whether it carries a signature. Nobody has checked it.
func (n Notice) Signed() bool { return n.Header.Get("Webhook-Signature") != "" }

// Desk is a receiver of handoff notices. It is safe for concurrent use.
type Desk struct {
	now func() time.Time

	mu    sync.Mutex
	kept  []Notice // the newest last
	hears []func()
}

// New makes a desk that tells the time by now.
func New(now func() time.Time) *Desk { return &Desk{now: now} }

// RoundTrip takes a post and accepts it, whatever it is. It fills [http.RoundTripper].
func (d *Desk) RoundTrip(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		defer r.Body.Close()
		var err error
		if body, err = io.ReadAll(io.LimitReader(r.Body, maxBody)); err != nil {
			return nil, err
		}
	}
	d.keep(r.Header, body)
	return &http.Response{
		Status: "204 No Content", StatusCode: http.StatusNoContent, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: r,
	}, nil
}

func (d *Desk) keep(header http.Header, body []byte) {
	var told struct{ Turn, Reason, Note string }
	_ = json.Unmarshal(body, &told) // what is no notice is shown as it came
	n := Notice{
		At: d.now(), Turn: told.Turn, Reason: told.Reason, Note: told.Note,
		Header: header.Clone(), Body: string(body),
	}
	d.mu.Lock()
	d.kept = append(d.kept, n)
	d.kept = d.kept[max(0, len(d.kept)-maxKept):]
	hears := slices.Clone(d.hears)
	d.mu.Unlock()
	for _, hear := range hears {
		hear()
	}
}

// Of are the notices that tell of one of the turns, newest first.
func (d *Desk) Of(turns []string) (all []Notice) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, n := range slices.Backward(d.kept) {
		if slices.Contains(turns, n.Turn) {
			all = append(all, n)
		}
	}
	return all
}

// Subscribe calls hear after every notice that comes from now on.
func (d *Desk) Subscribe(hear func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.hears = append(d.hears, hear)
}

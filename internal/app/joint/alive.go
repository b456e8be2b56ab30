package joint

import (
	"errors"
	"net/http"
	"net/http/httptrace"
)

// errMayBeDead keeps a request from being made that another process may be making.
var errMayBeDead = errors.New("this process could not say in time that it is alive, so it asks nothing of ManyChat")

// WhileAlive is the way to ManyChat of a process that others have not taken for dead. What it
// refuses was certainly not sent. A process that stood still finds out here, between any two
// requests (docs/spec/03-turn.md, "Crash recovery").
type WhileAlive struct {
	Alive func() bool
	To    http.RoundTripper // nil: the network
}

// RoundTrip fills [http.RoundTripper].
func (w WhileAlive) RoundTrip(req *http.Request) (*http.Response, error) {
	if !w.Alive() {
		if trace := httptrace.ContextClientTrace(req.Context()); trace != nil && trace.GetConn != nil {
			trace.GetConn(req.URL.Host) // tells the client that nothing was written
		}
		return nil, errMayBeDead
	}
	if w.To == nil {
		return http.DefaultTransport.RoundTrip(req)
	}
	return w.To.RoundTrip(req)
}

package simtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// door is the way from ManyChat to the processes: a load balancer that sends each message to
// one of them.
type door struct{ w *World }

// request is one message on its way to a process and its answer on the way back.
type request struct {
	process *process
	name    string // of the message
	forged  bool

	began    time.Time // when its handler did
	leave    context.CancelFunc
	ctx      context.Context // of the connection, on the process's side
	answered chan struct{}

	mu     sync.Mutex
	header http.Header
	status int
	body   bytes.Buffer
	wrote  time.Time // when its answer was written, whether or not anybody reads it; zero: never
	got    bool      // ManyChat has the answer
	cutoff bool      // its process died
}

// RoundTrip takes a message to a process.
func (d door) RoundTrip(req *http.Request) (*http.Response, error) {
	w := d.w
	body, _ := io.ReadAll(req.Body) // of the emulator's own making
	_ = req.Body.Close()
	name := writtenIn(body)
	stream := "door " + name
	slot := w.dice.below(stream, len(w.slots))
	there, back := w.dice.span(stream, time.Microsecond, 60*time.Millisecond), w.dice.span(stream, time.Microsecond, 60*time.Millisecond)
	swallowed := w.dice.chance(stream, 0.02) && w.faulty()
	if !sleep(req.Context(), there) {
		return nil, req.Context().Err()
	}
	p := w.serving(slot)
	if p == nil {
		w.trace.note("nobody takes %s", name)
		return nil, errCut
	}
	r := &request{process: p, name: name, forged: req.Header.Get("X-Forged") != "", answered: make(chan struct{}), header: http.Header{}}
	r.ctx, r.leave = context.WithCancel(context.Background())
	defer context.AfterFunc(req.Context(), r.leave)()
	r.serve(req, body)
	select {
	case <-r.answered:
	case <-req.Context().Done():
		w.trace.note("%s: the caller of %s leaves", p.name, name)
		return nil, req.Context().Err()
	case <-p.life.Done():
		return nil, errCut
	}
	if !sleep(req.Context(), back) || swallowed {
		w.trace.note("%s: the answer to %s is swallowed", p.name, name)
		return nil, errCut
	}
	return r.response(req)
}

// diedBehind reports whether the process died so soon behind the answer that its stamp may be lost:
// the reply is the outbox's then, and goes out once more.
func (r *request) diedBehind() bool {
	return !r.process.died.IsZero() && r.process.died.Sub(r.wrote) < time.Second
}

// writtenIn is the name of the message that a request's body brings.
func writtenIn(body []byte) string {
	var b struct {
		Last string `json:"last_input_text"`
		Text string `json:"text"`
	}
	_ = json.Unmarshal(body, &b) // of the emulator's own making
	return messageName.FindString(b.Last + b.Text)
}

// serve has the process answer.
func (r *request) serve(req *http.Request, body []byte) {
	p := r.process
	p.mu.Lock()
	p.open[r] = true
	p.mu.Unlock()
	p.w.mu.Lock()
	p.w.requests = append(p.w.requests, r)
	p.w.mu.Unlock()
	served := req.Clone(r.ctx)
	served.RequestURI, served.RemoteAddr = req.URL.RequestURI(), "192.0.2.1:1"
	served.Body, served.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	p.w.ending.Go(func() {
		defer func() {
			p.mu.Lock()
			delete(p.open, r)
			p.mu.Unlock()
			close(r.answered)
		}()
		p.wait()
		if p.dead() {
			return
		}
		r.began = time.Now()
		p.w.trace.note("%s takes %s", p.name, r.name)
		p.handler.ServeHTTP(r, served)
	})
}

// cut ends the connection from the process's side.
func (r *request) cut() {
	r.mu.Lock()
	r.cutoff = true
	r.mu.Unlock()
	r.leave()
}

func (r *request) response(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.wrote.IsZero() || r.cutoff && r.status == 0 {
		return nil, errCut
	}
	r.got = true
	return &http.Response{
		StatusCode: r.status, Status: http.StatusText(r.status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: r.header, Body: io.NopCloser(bytes.NewReader(r.body.Bytes())), ContentLength: int64(r.body.Len()), Request: req,
	}, nil
}

// Header fills [http.ResponseWriter].
func (r *request) Header() http.Header { return r.header }

// WriteHeader fills [http.ResponseWriter].
func (r *request) WriteHeader(status int) { r.status = status }

// errGone is what a process is told that writes to a connection which is closed.
var errGone = errors.New("the connection was closed by the caller")

// Write fills [http.ResponseWriter].
func (r *request) Write(p []byte) (int, error) {
	r.process.wait()
	if r.ctx.Err() != nil || r.process.dead() {
		return 0, errGone
	}
	if r.process.w.faulty() && r.process.w.dice.chance("write "+r.name, 0.03) {
		r.process.w.trace.note("%s: the answer to %s is not written", r.process.name, r.name)
		r.cut()
		return 0, errGone
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.body.Write(p)
	r.wrote = time.Now()
	r.process.w.trace.note("%s answers %s: %s", r.process.name, r.name, saidIn(r.body.Bytes()))
	return len(p), nil
}

// Flush fills [http.Flusher].
func (r *request) Flush() {}

// texts are those of the answer.
func (r *request) texts() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return textsIn(r.body.Bytes())
}

func textsIn(block []byte) (texts []string) {
	var b struct {
		Content struct {
			Messages []struct{ Text string }
		}
	}
	_ = json.Unmarshal(block, &b) // no block holds no texts
	for _, m := range b.Content.Messages {
		texts = append(texts, m.Text)
	}
	return texts
}

// saidIn is what a trace shows of an answer.
func saidIn(block []byte) string {
	said := "nothing"
	for i, text := range textsIn(block) {
		if i == 0 {
			said = ""
		}
		said += shortly(text) + " "
	}
	return said
}

// sleep sleeps; it reports whether ctx did not end before.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

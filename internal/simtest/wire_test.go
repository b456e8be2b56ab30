package simtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
)

// asked is one request to ManyChat, or to the business's own address.
type asked struct {
	process *process
	contact int    // -1: of nobody in the play
	what    string // as the trace calls it
	kind    kind
	name    string // of the tag, flow or field; of a reply's field the text
	began   time.Time
	arrived time.Time // zero: it did not
	ended   time.Time
	told    bool // the process heard that it was done
}

// kind is what a request is for.
type kind string

const (
	writesReply kind = "say"
	startsReply kind = "show"
	writesToken kind = "token"
	sendsFlow   kind = "flow"
	acts        kind = "act"
	notifies    kind = "notice"
	reads       kind = "read"
)

// wire is the way from a process to ManyChat; account nil: to the business's own address,
// where everything is taken.
type wire struct {
	p       *process
	account *manychattest.Server
}

var errCut = errors.New("the connection broke")

// RoundTrip makes a request on the way that the seed gives it.
func (v wire) RoundTrip(req *http.Request) (*http.Response, error) {
	p, w := v.p, v.p.w
	trace := httptrace.ContextClientTrace(req.Context())
	if trace != nil && trace.GetConn != nil {
		trace.GetConn(req.URL.Host)
	}
	if p.wait() || p.dead() {
		return nil, errCut // a process that stands still starts nothing
	}
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body) // of the client's own making
		_ = req.Body.Close()
	}
	a := w.describe(p, req, body)
	stream := p.name + " " + a.what
	there, back := w.dice.span(stream, time.Microsecond, 40*time.Millisecond), w.dice.span(stream, time.Microsecond, 40*time.Millisecond)
	if a.kind != startsReply && w.dice.chance(stream, 0.1) {
		back += w.dice.span(stream, 0, 6*time.Second)
	}
	sent := w.dice.chance(stream, 0.5) // of a process that dies meanwhile
	select {
	case <-time.After(there):
	case <-req.Context().Done():
		return nil, req.Context().Err()
	case <-p.life.Done():
		if !sent {
			return nil, errCut
		}
		time.Sleep(there)
	}
	w.arrives(a)
	if trace != nil && trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
	p.reaches(string(a.kind))
	resp, err := v.ask(req, body)
	if err == nil {
		select {
		case <-time.After(back):
		case <-req.Context().Done():
			resp, err = nil, req.Context().Err()
		}
	}
	p.wait()
	if p.dead() {
		resp, err = nil, errCut
	}
	w.answered(a, resp, err)
	return resp, err
}

func (v wire) ask(req *http.Request, body []byte) (*http.Response, error) {
	if v.account == nil {
		return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: req}, nil
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(req.Context()))
	stop := context.AfterFunc(req.Context(), cancel)
	dies := context.AfterFunc(v.p.life, cancel)
	defer func() {
		stop()
		dies()
		cancel()
	}()
	again := req.Clone(ctx)
	again.Body = io.NopCloser(bytes.NewReader(body))
	resp, err := manychattest.Transport(v.account).RoundTrip(again)
	if err != nil && req.Context().Err() != nil {
		err = req.Context().Err()
	}
	return resp, err
}

// describe is what a request is for.
func (w *World) describe(p *process, req *http.Request, body []byte) *asked {
	a := &asked{process: p, contact: -1, began: time.Now()}
	var b struct {
		Subscriber json.RawMessage `json:"subscriber_id"`
		Flow       string          `json:"flow_ns"`
		Tag        string          `json:"tag_name"`
		Field      string          `json:"field_name"`
		Value      any             `json:"field_value"`
	}
	_ = json.Unmarshal(body, &b) // of a read there is none
	id := strings.Trim(string(b.Subscriber), `"`)
	if id == "" {
		id = req.URL.Query().Get("subscriber_id")
	}
	a.contact = numberOf(id)
	switch {
	case req.URL.Path == "/fb/subscriber/getInfo":
		a.kind, a.what = reads, "read"
	case b.Flow == replyFlow:
		a.kind, a.what = startsReply, "show"
	case b.Flow != "":
		a.kind, a.name = sendsFlow, b.Flow
		a.what = "flow " + b.Flow
	case b.Tag == noticeTag:
		a.kind, a.what = notifies, "notice"
	case b.Tag != "":
		a.kind, a.name = acts, b.Tag
		a.what = "tag " + b.Tag
	case b.Field == replyField:
		a.kind, a.name, _ = writesReply, "", 0
		a.name, _ = b.Value.(string)
		a.what = "say " + shortly(a.name)
	case b.Field == tokenField:
		a.kind, a.what = writesToken, "token"
	case b.Field != "":
		value, _ := b.Value.(string)
		a.kind, a.name = acts, b.Field+"="+value
		a.what = "set " + a.name
	default:
		a.kind, a.what = notifies, "webhook"
	}
	if a.contact >= 0 {
		a.what += " for c" + string(rune('0'+a.contact))
	}
	return a
}

func (w *World) arrives(a *asked) {
	a.arrived = time.Now()
	w.trace.note("%s: ManyChat is asked to %s", a.process.name, a.what)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.journal = append(w.journal, a)
}

func (w *World) answered(a *asked, resp *http.Response, err error) {
	a.ended = time.Now()
	outcome := "no answer"
	if err == nil {
		outcome = resp.Status
		var said struct{ Status string }
		text, _ := io.ReadAll(resp.Body) // of the emulator's own making
		_ = resp.Body.Close()
		resp.Body = io.NopCloser(bytes.NewReader(text))
		_ = json.Unmarshal(text, &said) // what is no JSON is no success
		if a.told = resp.StatusCode == http.StatusOK && said.Status == "success"; a.told {
			outcome = "done"
		} else if resp.StatusCode == http.StatusOK {
			outcome = "200 and an error"
		}
	}
	w.trace.note("%s: to %s: %s", a.process.name, a.what, outcome)
}

// shortly is what a trace shows of a text.
func shortly(text string) string {
	if marks := marksIn(text); len(marks) > 0 {
		return marks[0] + "…" + marks[len(marks)-1]
	}
	return "“" + text[:min(len(text), 24)] + "”"
}

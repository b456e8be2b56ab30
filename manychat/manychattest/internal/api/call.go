package api

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/operation"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/wire"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

const maxBody = 1 << 20

// call is one request on its way through the handler.
type call struct {
	*Handler
	op      *operation.Call
	w       http.ResponseWriter
	clients <-chan struct{} // closed when the client has gone
	log     phone.Call
}

func newCall(h *Handler, w http.ResponseWriter, r *http.Request) *call {
	return &call{Handler: h, w: w, clients: r.Context().Done(),
		op:  &operation.Call{Config: &h.cfg.Config, Path: r.URL.Path},
		log: phone.Call{At: h.cfg.Now(), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery}}
}

// authorized compares the key and answers when it is wrong (2.1).
func (c *call) authorized(header string) bool {
	key, bearer := strings.CutPrefix(header, "Bearer ")
	id, secret, colon := strings.Cut(key, ":")
	switch {
	case !bearer || !colon || id == "" || secret == "":
		c.answer(wire.Fail(http.StatusUnauthorized, "Wrong format token"))
	case key != c.cfg.Token:
		c.answer(wire.Fail(http.StatusUnauthorized, "Wrong token"))
	default:
		return true
	}
	return false
}

// read takes the parameters from the query or the body.
func (c *call) read(r *http.Request) bool {
	c.op.Values = map[string]json.RawMessage{}
	if r.Method == http.MethodGet {
		for key, v := range r.URL.Query() {
			quoted, err := json.Marshal(v[0])
			if err == nil {
				c.op.Values[key] = quoted
			}
		}
	} else {
		body, err := io.ReadAll(http.MaxBytesReader(c.w, r.Body, maxBody))
		c.log.Body = string(body)
		if err != nil || json.Unmarshal(body, &c.op.Values) != nil || c.op.Values == nil {
			c.answer(wire.Invalid("The request body must be a JSON object"))
			return false
		}
	}
	c.op.Contact = wire.IDText(c.op.Values["subscriber_id"])
	return true
}

// run does what the endpoint does, bent by a fault.
func (c *call) run(ep endpoint, f fault.Fault) {
	if res, instead := c.undone(f); instead {
		c.answer(res)
		return
	}
	res := ep.do(c.op)
	if c.op.Problem != nil {
		res = *c.op.Problem
	}
	c.log.Done = res.OK()
	switch f.Kind {
	case fault.FalseMissing:
		res = wire.NoSubscriber()
	case fault.LostAnswer:
		c.abort()
	case fault.SlowSuccess:
		c.record(res)
		c.waitForClient(f.Delay())
		c.write(res)
		return
	}
	c.answer(res)
}

// undone is the answer of a fault that keeps the work from being done.
func (c *call) undone(f fault.Fault) (res wire.Result, instead bool) {
	switch f.Kind {
	case fault.Timeout:
		c.record(wire.Result{})
		c.waitForClient(1 << 62)
		panic(http.ErrAbortHandler)
	case fault.Dropped:
		c.abort()
	case fault.RateLimited:
		return wire.Fail(http.StatusTooManyRequests, "Too many requests"), true
	case fault.RefusedKey:
		return wire.Fail(http.StatusUnauthorized, "Wrong token"), true
	case fault.ServerError:
		return wire.Fail(status(f, http.StatusInternalServerError), "Something went wrong"), true
	case fault.ServerErrorHTML:
		return wire.Result{Status: status(f, http.StatusBadGateway), HTML: "<html><body><h1>Something went wrong</h1></body></html>"}, true
	case fault.OKWithError:
		return wire.Fail(http.StatusOK, "Something went wrong"), true
	case fault.SilentSuccess:
		return wire.Success(nil), true
	case fault.MissingField:
		return wire.Invalid("field with same name not found"), true
	case fault.MissingFlow:
		return wire.Invalid("Wrong content provided."), true
	}
	return wire.Result{}, false
}

func status(f fault.Fault, otherwise int) int {
	if f.Status != 0 {
		return f.Status
	}
	return otherwise
}

// wait lets latency pass. The work behind it is done even if the client leaves.
func (c *call) wait(d time.Duration) { c.sleep(d, nil) }

// waitForClient waits as long as somebody is there to be answered.
func (c *call) waitForClient(d time.Duration) { c.sleep(d, c.clients) }

func (c *call) sleep(d time.Duration, gone <-chan struct{}) {
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-gone:
	case <-c.cfg.Done:
	}
}

// abort breaks the connection.
func (c *call) abort() {
	c.record(wire.Result{})
	panic(http.ErrAbortHandler)
}

func (c *call) answer(res wire.Result) {
	c.record(res)
	c.write(res)
}

func (c *call) record(res wire.Result) {
	c.log.Contact, c.log.Warnings = c.op.Contact, c.op.Warnings
	c.log.Status, c.log.Response = res.Status, res.Body()
	c.cfg.Record(c.log)
}

func (c *call) write(res wire.Result) {
	contentType := "application/json"
	if res.HTML != "" {
		contentType = "text/html"
	}
	c.w.Header().Set("Content-Type", contentType)
	c.w.WriteHeader(res.Status)
	_, _ = io.WriteString(c.w, res.Body()) // a client that left needs no answer
}

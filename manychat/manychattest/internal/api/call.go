package api

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

const maxBody = 1 << 20

// call is one request on its way through the handler.
type call struct {
	*Handler
	in
	w       http.ResponseWriter
	clients <-chan struct{} // closed when the client has gone
	log     phone.Call
}

func newCall(h *Handler, w http.ResponseWriter, r *http.Request) *call {
	return &call{Handler: h, w: w, clients: r.Context().Done(),
		log: phone.Call{At: h.cfg.Now(), Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery}}
}

// authorized compares the key and answers when it is wrong (2.1).
func (c *call) authorized(header string) bool {
	key, bearer := strings.CutPrefix(header, "Bearer ")
	id, secret, colon := strings.Cut(key, ":")
	switch {
	case !bearer || !colon || id == "" || secret == "":
		c.answer(fail(http.StatusUnauthorized, "Wrong format token"))
	case key != c.cfg.Token:
		c.answer(fail(http.StatusUnauthorized, "Wrong token"))
	default:
		return true
	}
	return false
}

// read takes the parameters from the query or the body.
func (c *call) read(r *http.Request) bool {
	c.in.values = map[string]json.RawMessage{}
	if r.Method == http.MethodGet {
		for key, v := range r.URL.Query() {
			quoted, err := json.Marshal(v[0])
			if err == nil {
				c.in.values[key] = quoted
			}
		}
	} else {
		body, err := io.ReadAll(http.MaxBytesReader(c.w, r.Body, maxBody))
		c.log.Body = string(body)
		if err != nil || json.Unmarshal(body, &c.in.values) != nil {
			c.answer(invalid("The request body must be a JSON object"))
			return false
		}
	}
	c.log.Contact = idText(c.in.values["subscriber_id"])
	return true
}

// run does what the endpoint does, bent by a fault.
func (c *call) run(ep endpoint, f fault.Fault) {
	if res, instead := c.undone(f); instead {
		c.answer(res)
		return
	}
	res := ep.do(c)
	if c.in.problem != nil {
		res = *c.in.problem
	}
	c.log.Done = res.ok()
	switch f.Kind {
	case fault.FalseMissing:
		res = noSubscriber()
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
func (c *call) undone(f fault.Fault) (res result, instead bool) {
	switch f.Kind {
	case fault.Timeout:
		c.record(result{})
		c.waitForClient(1 << 62)
		panic(http.ErrAbortHandler)
	case fault.Dropped:
		c.abort()
	case fault.RateLimited:
		return fail(http.StatusTooManyRequests, "Too many requests"), true
	case fault.ServerError:
		return fail(status(f, http.StatusInternalServerError), "Something went wrong"), true
	case fault.ServerErrorHTML:
		return result{status: status(f, http.StatusBadGateway), html: "<html><body><h1>Something went wrong</h1></body></html>"}, true
	case fault.OKWithError:
		return fail(http.StatusOK, "Something went wrong"), true
	case fault.SilentSuccess:
		return success(nil), true
	case fault.MissingField:
		return invalid("field with same name not found"), true
	case fault.MissingFlow:
		return invalid("Wrong content provided."), true
	}
	return result{}, false
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
	c.record(result{})
	panic(http.ErrAbortHandler)
}

func (c *call) answer(res result) {
	c.record(res)
	c.write(res)
}

func (c *call) record(res result) {
	c.log.Status, c.log.Response = res.status, res.body()
	c.cfg.Record(c.log)
}

func (c *call) write(res result) {
	contentType := "application/json"
	if res.html != "" {
		contentType = "text/html"
	}
	c.w.Header().Set("Content-Type", contentType)
	c.w.WriteHeader(res.status)
	_, _ = io.WriteString(c.w, res.body()) // a client that left needs no answer
}

package gate_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/inbound/gate"
)

const bearer = "Authorization: Bearer " + secret + "\r\n"

// door is a server that reads the bodies of those whom the gate admits, and closes the
// connection on everybody else, as the endpoint does.
type door struct {
	*httptest.Server
	gate *gate.Gate
	mu   sync.Mutex
	read []string // the bodies
}

func newDoor(t *testing.T, change func(*gate.Config)) *door {
	t.Helper()
	d := &door{gate: newGate(t, change)}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Server.Close)
	return d
}

func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v := d.gate.Admit(r)
	if !v.Admitted {
		w.Header().Set("Connection", "close")
		if v.RetryAfter > 0 {
			w.Header().Set("Retry-After", strconv.Itoa(v.RetryAfter))
		}
		w.WriteHeader(v.Status)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	d.mu.Lock()
	d.read = append(d.read, string(body))
	d.mu.Unlock()
}

// bodies are those that were read.
func (d *door) bodies() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.read
}

// caller is one connection to a door.
type caller struct {
	net.Conn
	answers *bufio.Reader
}

func (d *door) call(t *testing.T) caller {
	t.Helper()
	conn, err := net.Dial("tcp", d.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	// A door that waits for the body fails the test rather than hang it.
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return caller{conn, bufio.NewReader(conn)}
}

// send writes requests as they are.
func (c caller) send(t *testing.T, requests ...string) {
	t.Helper()
	if _, err := io.WriteString(c, strings.Join(requests, "")); err != nil {
		t.Fatal(err)
	}
}

// head is a request's header, with lines of its own.
func head(headers string) string {
	return "POST /v1/channels/manychat/message HTTP/1.1\r\nHost: agent.example\r\n" + headers + "\r\n"
}

func withBody(headers, body string) string {
	return head(headers+fmt.Sprintf("Content-Length: %d\r\n", len(body))) + body
}

// answer reads one response, its body included.
func (c caller) answer(t *testing.T) *http.Response {
	t.Helper()
	resp, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Fatal(err)
	}
	return resp
}

// ended holds that the server says nothing more and closes.
func (c caller) ended(t *testing.T) {
	t.Helper()
	if rest, err := io.ReadAll(c.answers); err != nil || len(rest) > 0 {
		t.Errorf("the connection goes on with %q, %v", rest, err)
	}
}

// Holds docs/spec/02-inbound.md, "Order of checks": who has no secret, or no budget, is
// answered before the body is read or asked for.
func TestRefusedBeforeTheBody(t *testing.T) {
	d := newDoor(t, nil)
	spent := newDoor(t, once)
	spent.gate.Admit(from("127.0.0.1:1"))
	tests := []struct {
		name, headers string
		door          *door
		want          int // status of the first answer
	}{
		{"body announced", "Content-Length: 100\r\n", d, 401},
		{"body in chunks", "Transfer-Encoding: chunked\r\n", d, 401},
		{"asks whether to send it", "Expect: 100-continue\r\nContent-Length: 100\r\n", d, 401},
		{"asks with a wrong secret", "Authorization: Bearer wrong\r\nExpect: 100-continue\r\nContent-Length: 100\r\n", d, 401},
		{"asks with the secret twice", bearer + bearer + "Expect: 100-continue\r\nContent-Length: 100\r\n", d, 401},
		{"asks without a budget", "Expect: 100-continue\r\nContent-Length: 100\r\n", spent, 429},
		{"body announced without a budget", "Content-Length: 100\r\n", spent, 429},
		{"a caller with the secret is asked to send", bearer + "Expect: 100-continue\r\nContent-Length: 100\r\n", d, 100},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := tt.door.call(t)
			c.send(t, head(tt.headers))
			if resp := c.answer(t); resp.StatusCode != tt.want {
				t.Errorf("answer is %s, want %d", resp.Status, tt.want)
			}
		})
	}
	if got := append(d.bodies(), spent.bodies()...); len(got) > 0 {
		t.Errorf("bodies were read: %q", got)
	}
}

// Holds docs/spec/02-inbound.md, "Order of checks": 429 says when to come again.
func TestTooManyOverHTTP(t *testing.T) {
	d := newDoor(t, func(c *gate.Config) { c.PerMinute = 3 })
	var got []string
	for range 5 {
		c := d.call(t)
		c.send(t, withBody("", "{}"))
		resp := c.answer(t)
		got = append(got, strings.TrimSpace(fmt.Sprint(resp.StatusCode, " ", resp.Header.Get("Retry-After"))))
	}
	if diff := cmp.Diff([]string{"401", "401", "401", "429 20", "429 20"}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	c := d.call(t)
	c.send(t, withBody(bearer, "{}"))
	if resp := c.answer(t); resp.StatusCode != 200 {
		t.Errorf("with the secret the answer is %s", resp.Status)
	}
}

// Holds docs/spec/02-inbound.md, "Order of checks": a request is judged by its own
// headers, not by those of the request before it on its connection.
func TestPipelined(t *testing.T) {
	d := newDoor(t, nil)
	c := d.call(t)
	c.send(t, withBody(bearer, "first"), withBody(bearer, "second"), withBody("", "third"), withBody(bearer, "fourth"))
	var got []int
	for range 3 {
		got = append(got, c.answer(t).StatusCode)
	}
	c.ended(t)
	if diff := cmp.Diff([]int{200, 200, 401}, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"first", "second"}, d.bodies()); diff != "" {
		t.Errorf("bodies (-want +got):\n%s", diff)
	}
}

// Holds docs/spec/02-inbound.md, "Order of checks": a body that was not read is never
// taken for the next request.
func TestRequestInARefusedBody(t *testing.T) {
	d := newDoor(t, nil)
	c := d.call(t)
	c.send(t, withBody("", withBody(bearer, "smuggled")))
	if resp := c.answer(t); resp.StatusCode != 401 {
		t.Errorf("answer is %s", resp.Status)
	}
	c.ended(t)
	if got := d.bodies(); len(got) > 0 {
		t.Errorf("bodies were read: %q", got)
	}
}

// Holds docs/spec/02-inbound.md, "Order of checks" and "Errors": the peer of a real
// connection is its address, whatever the headers say, and TLS is not plain.
func TestRealPeers(t *testing.T) {
	for name, tls := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			g := newGate(t, func(c *gate.Config) { c.PerMinute = 2 })
			var verdicts []gate.Verdict
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				verdicts = append(verdicts, g.Admit(r))
			}))
			if tls {
				server.StartTLS()
			} else {
				server.Start()
			}
			defer server.Close()
			for i := range 3 {
				req, err := http.NewRequest(http.MethodPost, server.URL, nil)
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i))
				req.Header.Set("X-Forwarded-Proto", "https")
				resp, err := server.Client().Do(req)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
			}
			want := []gate.Verdict{{Status: 401, Plain: !tls}, {Status: 401, Plain: !tls}, {Status: 429, RetryAfter: 30, Plain: !tls}}
			if diff := cmp.Diff(want, verdicts); diff != "" {
				t.Errorf("verdicts (-want +got):\n%s", diff)
			}
		})
	}
}

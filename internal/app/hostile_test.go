package app_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/inbound"
)

// dial opens a connection to the program as anybody on the internet could.
func (r *rig) dial() net.Conn {
	r.t.Helper()
	conn, err := r.network.dial(context.Background(), "", "")
	if err != nil {
		r.t.Fatal(err)
	}
	return conn
}

// head is the start of a request with a body of n bytes and more headers.
func head(n int, headers ...string) string {
	return headTo(inbound.MessagePath, n, headers...)
}

func headTo(path string, n int, headers ...string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n",
		path, n, strings.Join(append(headers, ""), "\r\n"))
}

const withSecret = "Authorization: Bearer " + devSecret

// outcome of a connection: the status line of its answer, or how it ended, and when.
type ending struct {
	status int // 0: no answer
	after  time.Duration
}

// sends writes a request piece by piece with a pause before each and reads the answer, and
// then until the server closes.
func (r *rig) sends(pause time.Duration, pieces ...string) ending {
	conn, start := r.dial(), time.Now()
	var writer sync.WaitGroup
	defer writer.Wait()
	defer conn.Close()
	writer.Go(func() {
		for _, piece := range pieces {
			time.Sleep(pause)
			if _, err := io.WriteString(conn, piece); err != nil {
				return
			}
		}
	})
	in := bufio.NewReader(conn)
	end := ending{}
	if resp, err := http.ReadResponse(in, nil); err == nil {
		_, _ = io.Copy(io.Discard, resp.Body)
		end.status = resp.StatusCode
	}
	_, _ = io.Copy(io.Discard, in)
	end.after = time.Since(start)
	return end
}

// Holds docs/spec/02-inbound.md, "Order of checks": the size, time and depth limits of what
// a caller sends, as the connection shows them.
func TestHostileRequests(t *testing.T) {
	trickle := strings.Split(strings.Repeat("x", 60), "")
	body := `{"subscriber_id":"900000001","text":"hello"}`
	tests := []struct {
		name   string
		pause  time.Duration
		pieces []string
		want   ending
	}{
		{"nothing at all", 0, nil, ending{0, 5 * time.Second}},
		{"a header that never ends", time.Second, append([]string{"POST / HTTP/1.1\r\nX: "}, trickle...), ending{0, 5 * time.Second}},
		{"a header of a megabyte", 0, []string{"POST / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 1<<20)}, ending{431, 500 * time.Millisecond}},
		{"no secret and no body", 0, []string{head(100)}, ending{401, time.Second}},
		{"no secret and a slow body", 300 * time.Millisecond, append([]string{head(100)}, trickle...), ending{401, 1300 * time.Millisecond}},
		{"the secret and no body", 0, []string{head(100, withSecret)}, ending{408, 4 * time.Second}},
		{"the secret and a slow body", time.Second, append([]string{head(100, withSecret)}, trickle...), ending{408, 5 * time.Second}},
		{"no such route and no body", 0, []string{headTo("/nowhere", 100)}, ending{404, time.Second}},
		{"a host that is not the sandbox's and no body", 0, []string{strings.Replace(head(100), "localhost", "agent.example", 1)}, ending{421, time.Second}},
		{"two secrets", 0, []string{head(0, withSecret, withSecret)}, ending{401, 0}},
		{"two lengths", 0, []string{head(3, withSecret, "Content-Length: 4")}, ending{400, 0}},
		{"two types", 0, []string{head(len(body), withSecret, "Content-Type: application/json", "Content-Type: text/plain") + body}, ending{415, 0}},
		{"compressed", 0, []string{head(len(body), withSecret, "Content-Encoding: gzip") + body}, ending{415, 0}},
		{"in another encoding", 0, []string{head(4, withSecret) + "\xff\xfe{\x00"}, ending{400, 0}},
		{"nested deeply", 0, []string{head(60_000, withSecret) + strings.Repeat("[", 60_000)}, ending{400, 0}},
		{"nested deeply inside a key", 0, []string{head(60_011, withSecret) + `{"a":[0,1,[` + strings.Repeat("[", 60_000)}, ending{400, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				if got := r.sends(tt.pause, tt.pieces...); got != tt.want {
					t.Errorf("the connection ended with %d after %s, want %d after %s", got.status, got.after, tt.want.status, tt.want.after)
				}
			})
		})
	}
}

// Holds docs/spec/02-inbound.md, "Order of checks": whatever hundreds of hostile callers do,
// a well-behaved one is answered in time, and memory stays flat.
func TestHostileCallersHurtNobody(t *testing.T) {
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		r.write(id, question)
		before := heap()
		big := strings.Repeat("x", 100<<10)
		var hostile sync.WaitGroup
		for i := range 300 {
			hostile.Go(func() {
				time.Sleep(time.Duration(i) * 10 * time.Millisecond)
				switch i % 5 {
				case 0:
					r.sends(time.Second, append([]string{"POST / HTTP/1.1\r\nX: "}, strings.Split(strings.Repeat("x", 9), "")...)...)
				case 1:
					r.sends(0, head(1<<20))
				case 2:
					r.sends(time.Second, append([]string{head(100, withSecret)}, strings.Split(strings.Repeat("x", 9), "")...)...)
				case 3:
					r.sends(0, head(len(big), withSecret)+big)
				default:
					r.sends(0, head(60_000, withSecret)+strings.Repeat(`{"a":`, 12_000))
				}
			})
		}
		for range 20 {
			started := time.Now()
			exchange := r.write(id, question)
			if took := time.Since(started); exchange.Status != http.StatusOK || took > 2500*time.Millisecond { // a gap behind the message before
				t.Errorf("beside hostile callers a message was answered %d after %s", exchange.Status, took)
			}
			time.Sleep(250 * time.Millisecond)
		}
		hostile.Wait()
		synctest.Wait()
		if grown := int64(heap()) - int64(before); grown > 8<<20 {
			t.Errorf("the heap grew by %d KiB", grown>>10)
		}
	})
}

// heap is how many bytes are live.
func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Holds docs/spec/02-inbound.md, "Order of checks": requests sent at once over one
// connection are each judged, and answered in their order.
func TestPipelinedRequests(t *testing.T) {
	inBubble(t, func(r *rig) {
		conn := r.dial()
		defer conn.Close()
		var all string
		for i := range 3 {
			body := fmt.Sprintf(`{"subscriber_id":"90000000%d","text":"hello"}`, i+1)
			all += head(len(body), withSecret) + body
		}
		go func() { _, _ = io.WriteString(conn, all+head(2)+"{}") }()
		in := bufio.NewReader(conn)
		for i, want := range []int{200, 200, 200, 401} {
			resp, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatalf("answer %d: %v", i, err)
			}
			_, _ = io.Copy(io.Discard, resp.Body)
			if resp.StatusCode != want {
				t.Errorf("answer %d is %d, want %d", i, resp.StatusCode, want)
			}
		}
	})
}

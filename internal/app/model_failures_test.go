package app_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/chatapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// The question that meets a fault, in the tests that have one beside healthy turns.
const (
	unlucky      = "how much is the glaze weekend?"
	unluckyPrice = "Glaze Weekend: 155 EUR"
)

// fate is what happens to a request instead of its answer.
type fate func(*http.Request) (*http.Response, error)

// providers is the way to the providers: each host has its server, and on one of them the
// unlucky question meets its fate.
type providers struct {
	servers map[string]http.RoundTripper
	sick    string // host
	fate    fate
}

func (p providers) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	if req.URL.Host == p.sick && bytes.Contains(body, []byte(unlucky)) {
		return p.fate(req)
	}
	server, found := p.servers[req.URL.Host]
	if !found {
		return nil, fmt.Errorf("there is no %s", req.URL.Host)
	}
	return server.RoundTrip(req)
}

// pair are two providers, one of which may stand in for the other. The second is a server
// that asks for no key, and takes what it is sent from the first request on.
func pair() []maker {
	all := makers()
	all[4].serve = func(m llm.Model, _ string) *provider.Server { return chatapi.New(m, "") }
	return []maker{all[0], all[4]}
}

// healthy are the servers of both, with the mock behind each.
func healthy() map[string]http.RoundTripper {
	servers := map[string]http.RoundTripper{}
	for _, m := range pair() {
		servers[m.host] = m.serve(mock.New(), m.credential).Transport()
	}
	return servers
}

// answering is a response of a status with a body of a type.
func answering(status int, kind string, body io.Reader) fate {
	return func(req *http.Request) (*http.Response, error) {
		return &http.Response{
			Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
			Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(body), ContentLength: -1, Request: req,
		}, nil
	}
}

// trickle is nonsense that never ends, a little of it ten times a second, until the reader
// gives up.
type trickle struct{ req *http.Request }

func (t trickle) Read(p []byte) (int, error) {
	select {
	case <-t.req.Context().Done():
		return 0, t.req.Context().Err()
	case <-time.After(100 * time.Millisecond):
		return copy(p, "data: \x00\xff<junk>{{{"), nil
	}
}

// flood is 8 MiB at once, and nothing more until the reader gives up.
type flood struct {
	req  *http.Request
	left int
}

func (f *flood) Read(p []byte) (int, error) {
	if f.left == 0 {
		<-f.req.Context().Done()
		return 0, f.req.Context().Err()
	}
	n := min(len(p), f.left)
	f.left -= n
	for i := range n {
		p[i] = 'x'
	}
	return n, nil
}

// broken is half of an answer, and then the end of the connection.
type broken struct{}

func (broken) Read(p []byte) (int, error) { return copy(p, `{"id":"x",`), io.ErrUnexpectedEOF }

// failure is a fate of a provider's request and what it costs its turn.
type failure struct {
	name  string
	fate  func(m maker) fate
	class string
	late  bool          // handed off behind the deadline
	takes time.Duration // until the fallback is asked
}

func failures() []failure {
	always := func(f fate) func(maker) fate { return func(maker) fate { return f } }
	return []failure{
		{"hangs", always(func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		}), "abort", true, 15 * time.Second},
		{"streams garbage", always(func(req *http.Request) (*http.Response, error) {
			return answering(200, "text/event-stream", trickle{req})(req)
		}), "abort", true, 15 * time.Second},
		{"answers more than anybody reads", always(func(req *http.Request) (*http.Response, error) {
			return answering(200, "application/json", &flood{req, 8 << 20})(req)
		}), "provider", false, 0},
		{"answers a page with 502", always(func(req *http.Request) (*http.Response, error) {
			return answering(502, "text/html", strings.NewReader("<html><h1>Bad gateway</h1>"))(req)
		}), "breaker", true, 0},
		{"closes the connection", always(func(*http.Request) (*http.Response, error) { return nil, io.EOF }), "breaker", true, 0},
		{"breaks off", always(func(req *http.Request) (*http.Response, error) {
			return answering(200, "application/json", broken{})(req)
		}), "breaker", true, 0},
		{"answers half of its JSON", always(func(req *http.Request) (*http.Response, error) {
			return answering(200, "application/json", strings.NewReader(`{"id":"x","content":[{"type":"te`))(req)
		}), "provider", false, 0},
		{"has an adapter that panics", always(func(*http.Request) (*http.Response, error) { panic("a bug that quotes +49 170 5550199") }), "panic", false, 0},
	}
}

// misbehaviours are answers that a provider gives in good health; no fallback is asked.
func misbehaviours() []failure {
	instead := func(step llmtest.Step) func(maker) fate {
		return func(m maker) fate {
			return m.serve(&llmtest.Scripted{Steps: []llmtest.Step{step}, Repeat: true}, m.credential).Transport().RoundTrip
		}
	}
	half := wrote("Gladly, here you are.")
	half.Text = half.Text[:len(half.Text)/2]
	refusal := llmtest.Step{Response: llm.Response{Stop: llm.StopRefusal}}
	return []failure{
		{"refuses", instead(refusal), "refusal", false, 0},
		{"answers half a reply", instead(half), "schema", false, 0},
	}
}

// Holds docs/spec/04-agent.md, "Loop", and docs/spec/17-quality.md, "Reliability": whatever a
// provider does to one turn, that turn is one handoff; turns beside it are answered in time
// and memory stays flat.
func TestModelFailuresCostOneHandoff(t *testing.T) {
	for _, m := range pair() {
		for _, f := range append(failures(), misbehaviours()...) {
			t.Run(m.model+" "+f.name, func(t *testing.T) {
				keepCredentials()
				inBubble(t, func(r *rig) {
					id := r.contact("900000001")
					r.write(r.contact("900000002"), question) // what is made once is made
					time.Sleep(time.Minute)
					before, start := heap(), time.Since(r.start)
					go r.write(id, unlucky)
					r.burst(t)
					r.checkOneHandoff(id, f, start)
					if grown := int64(heap()) - int64(before); grown > 8<<20 {
						t.Errorf("the heap grew by %d KiB", grown>>10)
					}
				}, setup{
					env:      append(credentials(), "AGENT_MODEL="+m.model),
					provider: providers{healthy(), m.host, f.fate(m)},
				})
			})
		}
	}
}

// burst is five turns of other contacts within four seconds, each of which is answered
// at once.
func (r *rig) burst(t *testing.T) {
	t.Helper()
	var all sync.WaitGroup
	for i := range 5 {
		id := r.contact(fmt.Sprint(900000100 + i))
		all.Go(func() {
			time.Sleep(time.Duration(i) * 800 * time.Millisecond)
			began := time.Now()
			exchange := r.write(id, question)
			if took := time.Since(began); len(exchange.Shown) != 1 || exchange.Shown[0].Text != price || took > time.Second {
				t.Errorf("beside the failing turn a contact was shown %v after %s", exchange.Shown, took)
			}
		})
	}
	all.Wait()
}

// checkOneHandoff asserts that a turn that began at a time was handed off once, in its time.
func (r *rig) checkOneHandoff(id string, f failure, began time.Duration) {
	r.t.Helper()
	if !f.late {
		r.checkHandoff(id, escalation)
	} else {
		bubbles := r.phone(id, 2*time.Minute)
		if len(bubbles) != 2 || bubbles[0].Text != ack || bubbles[0].At != began+8*time.Second || bubbles[1].Text != escalation {
			r.t.Fatalf("the phone shows %v, want the acknowledgement and one handoff", bubbles)
		}
		if took := bubbles[1].At - began; took > 30*time.Second || f.class == "abort" && took != 30*time.Second {
			r.t.Errorf("the handoff came after %s", took)
		}
		if calls := r.calls(id); len(calls) != 2 {
			r.t.Errorf("a late handoff made %d calls to ManyChat", len(calls))
		}
	}
	r.checkVerdict(id, failed(f.class))
}

// Holds docs/spec/04-agent.md, "Loop": with a fallback model, whatever fails of the first
// costs the contact nothing but time: one attempt of it, and half of the abort at most.
func TestFallbackAnswers(t *testing.T) {
	both := pair()
	for i, m := range both {
		spare := both[1-i]
		for _, f := range failures() {
			t.Run(m.model+" "+f.name, func(t *testing.T) {
				keepCredentials()
				inBubble(t, func(r *rig) {
					id := r.contact("900000001")
					r.write(id, unlucky)
					want := []shown{{0, phone.ViaInline, unluckyPrice}}
					if f.takes > 0 {
						want = []shown{{8 * time.Second, phone.ViaInline, ack}, {f.takes, phone.ViaFlow, unluckyPrice}}
					}
					if diff := cmp.Diff(want, r.phone(id, time.Minute)); diff != "" {
						t.Errorf("phone (-want +got):\n%s", diff)
					}
					r.checkVerdict(id, verdict{"answered", "", nil})
					if got := r.newest(id).Model; got != spare.model {
						t.Errorf("the recorded model is %s, want %s", got, spare.model)
					}
				}, setup{
					env:      append(credentials(), "AGENT_MODEL="+m.model, "AGENT_FALLBACK_MODEL="+spare.model),
					provider: providers{healthy(), m.host, f.fate(m)},
				})
			})
		}
	}
}

// Holds docs/spec/04-agent.md, "Reply contract": what a healthy provider answers is its
// answer; the fallback is not asked for another one.
func TestFallbackIsForFailures(t *testing.T) {
	m, spare := pair()[0], pair()[1]
	for _, f := range misbehaviours() {
		t.Run(f.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				id := r.contact("900000001")
				r.write(id, unlucky)
				r.checkHandoff(id, escalation)
				r.checkVerdict(id, failed(f.class))
				if got := r.newest(id).Model; got != m.model {
					t.Errorf("the recorded model is %s, want %s", got, m.model)
				}
			}, setup{
				env:      append(credentials(), "AGENT_MODEL="+m.model, "AGENT_FALLBACK_MODEL="+spare.model),
				provider: providers{healthy(), m.host, f.fate(m)},
			})
		})
	}
}

// Holds docs/spec/04-agent.md, "Loop": Retry-After is kept, and the reply comes exactly once,
// by the route that is then open.
func TestRetryAfter(t *testing.T) {
	for _, m := range pair() {
		for _, c := range []struct {
			after string
			want  []shown
		}{
			{"3", []shown{{3 * time.Second, phone.ViaInline, price}}},
			{"9", []shown{{8 * time.Second, phone.ViaInline, ack}, {10 * time.Second, phone.ViaFlow, price}}}, // a gap behind the acknowledgement
			{"60", []shown{{0, phone.ViaInline, escalation}}},                                                 // beyond the abort
		} {
			t.Run(m.model+" "+c.after, func(t *testing.T) {
				keepCredentials()
				server := m.serve(mock.New(), m.credential)
				server.Break(provider.Fault{
					Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {c.after}, "Content-Type": {"application/json"}},
					Body: `{"type":"error","error":{"type":"rate_limit_error","message":"slower"}}`,
				})
				inBubble(t, func(r *rig) {
					id := r.contact("900000001")
					r.write(id, question)
					if diff := cmp.Diff(c.want, r.phone(id, 2*time.Minute)); diff != "" {
						t.Errorf("phone (-want +got):\n%s", diff)
					}
					if calls := r.calls(id); len(calls) != 2*(len(c.want)-1) {
						t.Errorf("%d calls to ManyChat were made", len(calls))
					}
				}, setup{env: append(credentials(), "AGENT_MODEL="+m.model), provider: server.Transport()})
			})
		}
	}
}

// Holds docs/spec/04-agent.md, "Loop": behind repeated failures turns hand off at once, until
// a probe is answered; the provider hears nothing in between.
func TestBreaker(t *testing.T) {
	for _, m := range pair() {
		t.Run(m.model, func(t *testing.T) {
			keepCredentials()
			server := m.serve(mock.New(), m.credential)
			for range 100 {
				server.Break(provider.Fault{Do: func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusServiceUnavailable) }})
			}
			well := false
			way := roundTripper(func(req *http.Request) (*http.Response, error) {
				if well {
					return m.serve(mock.New(), m.credential).Transport().RoundTrip(req)
				}
				return server.Transport().RoundTrip(req)
			})
			inBubble(t, func(r *rig) {
				first := r.contact("900000001")
				r.write(first, question)
				for i := 0; ; i++ {
					time.Sleep(time.Second)
					if synctest.Wait(); r.newest(first).Outcome != "" {
						break
					}
					if i > 30 {
						t.Fatal("the first turn never ended")
					}
				}
				asked := len(server.Requests())
				second := r.contact("900000002")
				began := time.Now()
				exchange := r.write(second, question)
				if took := time.Since(began); took != 0 || len(exchange.Shown) != 1 || exchange.Shown[0].Text != escalation {
					t.Errorf("behind an open breaker a contact was shown %v after %s", exchange.Shown, took)
				}
				r.checkVerdict(second, failed("breaker"))
				if n := len(server.Requests()); n != asked || asked < 5 {
					t.Errorf("the provider was asked %d times and then %d", asked, n-asked)
				}
				well = true
				time.Sleep(15 * time.Second)
				third := r.contact("900000003")
				if got := r.write(third, question); len(got.Shown) != 1 || got.Shown[0].Text != price {
					t.Errorf("behind the pause a contact was shown %v", got.Shown)
				}
				for _, line := range []string{"it is left alone for a while", "provider answers again"} {
					if strings.Count(r.log.String(), line) != 1 {
						t.Errorf("the log does not say %q once", line)
					}
				}
			}, setup{
				env: append(credentials(), "AGENT_MODEL="+m.model), provider: way,
				rules: func(r *tenant.Rules) { r.EscalationQuietMinutes = 0 },
			})
		})
	}
}

// roundTripper is a way to a server that a function makes.
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

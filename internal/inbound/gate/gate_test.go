package gate_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/inbound/gate"
)

const (
	secret    = "an-invented-secret-of-32-letters"
	newSecret = "another-invented-secret-for-later"
)

// clock is a time that the test sets.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func noon() *clock { return &clock{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)} }

// newGate trusts the proxies at 10.0.0.0/8 and fd00::/8, at a noon that does not pass.
func newGate(t testing.TB, change func(*gate.Config)) *gate.Gate {
	t.Helper()
	cfg := gate.Config{
		Secrets: []string{secret, newSecret}, PerMinute: 300, Now: noon().now,
		Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")},
	}
	if change != nil {
		change(&cfg)
	}
	g, err := gate.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func once(cfg *gate.Config) { cfg.PerMinute = 1 }

// from is a plain request of a peer with headers given as name, value, name, value…
func from(peer string, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/v1/channels/manychat/message", nil)
	r.RemoteAddr = peer
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

// Holds docs/spec/02-inbound.md, "Order of checks".
func TestSecret(t *testing.T) {
	const presents = "Authorization"
	tests := []struct {
		name    string
		headers []string
		want    string // the secret it admits; empty: 401
	}{
		{"the secret", []string{presents, "Bearer " + secret}, secret},
		{"the other one during a rotation", []string{presents, "Bearer " + newSecret}, newSecret},
		{"scheme in another case", []string{presents, "bEARER " + secret}, secret},
		{"several spaces", []string{presents, "Bearer   " + secret}, secret},
		{"no header", nil, ""},
		{"empty header", []string{presents, ""}, ""},
		{"scheme alone", []string{presents, "Bearer"}, ""},
		{"no secret behind the scheme", []string{presents, "Bearer "}, ""},
		{"no scheme", []string{presents, secret}, ""},
		{"another scheme", []string{presents, "Basic " + secret}, ""},
		{"a prefix of it", []string{presents, "Bearer " + secret[:31]}, ""},
		{"more than it", []string{presents, "Bearer " + secret + "x"}, ""},
		{"another of its length", []string{presents, "Bearer " + strings.ToUpper(secret)}, ""},
		{"both at once", []string{presents, "Bearer " + secret + "," + newSecret}, ""},
		{"a wrong one of 16 KiB", []string{presents, "Bearer " + strings.Repeat("s", 16<<10)}, ""},
		{"the header twice", []string{presents, "Bearer " + secret, presents, "Bearer " + secret}, ""},
		{"a wrong header behind it", []string{presents, "Bearer " + secret, presents, "Bearer wrong"}, ""},
		{"another header", []string{"Proxy-Authorization", "Bearer " + secret}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := gate.Verdict{Admitted: true, Secret: tt.want, Plain: true}
			if tt.want == "" {
				want = gate.Verdict{Status: http.StatusUnauthorized, Plain: true}
			}
			if diff := cmp.Diff(want, newGate(t, nil).Admit(from("192.0.2.1:5000", tt.headers...))); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

// Holds docs/spec/02-inbound.md, "Order of checks": a request with the secret is neither
// limited nor charged, since all of ManyChat arrives from few addresses.
func TestSecretIsNotLimited(t *testing.T) {
	g := newGate(t, once)
	for range 1000 {
		if v := g.Admit(from("192.0.2.1:5000", "Authorization", "Bearer "+secret)); !v.Admitted {
			t.Fatalf("verdict is %+v", v)
		}
	}
	var got []int
	for range 2 {
		got = append(got, g.Admit(from("192.0.2.1:5000")).Status)
	}
	if diff := cmp.Diff([]int{401, 429}, got); diff != "" {
		t.Errorf("without the secret (-want +got):\n%s", diff)
	}
	if v := g.Admit(from("192.0.2.1:5000", "Authorization", "Bearer "+secret)); !v.Admitted {
		t.Errorf("from an address without a budget left, the verdict is %+v", v)
	}
}

// Holds docs/spec/02-inbound.md, "Order of checks": whoever has no valid secret is
// limited, whatever was presented instead.
func TestEveryRefusalIsCharged(t *testing.T) {
	for name, headers := range map[string][]string{
		"no header": nil, "a wrong secret": {"Authorization", "Bearer wrong"},
		"the header twice": {"Authorization", "Bearer " + secret, "Authorization", "Bearer " + secret},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate(t, once)
			g.Admit(from("192.0.2.1:5000", headers...))
			want := gate.Verdict{Status: http.StatusTooManyRequests, RetryAfter: 60, Plain: true}
			if diff := cmp.Diff(want, g.Admit(from("192.0.2.1:5001", headers...))); diff != "" {
				t.Errorf("second verdict (-want +got):\n%s", diff)
			}
		})
	}
}

// Holds docs/spec/02-inbound.md, "Order of checks": which address is charged.
func TestAddress(t *testing.T) {
	const xff = "X-Forwarded-For"
	tests := []struct {
		name, peer string
		headers    []string
		want       string // the peer whose budget is used up
	}{
		{"peer", "192.0.2.1:5000", nil, "192.0.2.1:1"},
		{"peer without a port", "192.0.2.1", nil, "192.0.2.1:1"},
		{"IPv6 peer", "[2001:db8::1]:5000", nil, "[2001:db8::1]:1"},
		{"IPv4 peer of an IPv6 socket", "[::ffff:192.0.2.1]:5000", nil, "192.0.2.1:1"},
		{"peer with a zone", "[fe80::1%eth0]:5000", nil, "[fe80::1]:1"},
		{"another address of the /64", "[2001:db8::1]:5000", nil, "[2001:db8::ffff:1:2:3]:1"},
		{"no address", "pipe", nil, "@"},
		{"no address at all", "", nil, "pipe"},
		{"no address and a header", "pipe", []string{xff, "192.0.2.9"}, "pipe"},
		{"untrusted peer with a header", "192.0.2.1:5000", []string{xff, "192.0.2.9"}, "192.0.2.1:1"},
		{"untrusted peer that claims a proxy", "192.0.2.1:5000", []string{xff, "192.0.2.9, 10.0.0.1"}, "192.0.2.1:1"},
		{"trusted peer without a header", "10.0.0.1:5000", nil, "10.0.0.1:1"},
		{"trusted peer", "10.0.0.1:5000", []string{xff, "192.0.2.9"}, "192.0.2.9:1"},
		{"trusted peer of an IPv6 socket", "[::ffff:10.0.0.1]:5000", []string{xff, "192.0.2.9"}, "192.0.2.9:1"},
		{"trusted IPv6 peer", "[fd00::1%eth0]:5000", []string{xff, "192.0.2.9"}, "192.0.2.9:1"},
		{"a client's own header before the proxy's word", "10.0.0.1:5000", []string{xff, "198.51.100.7, 192.0.2.9"}, "192.0.2.9:1"},
		{"two proxies", "10.0.0.1:5000", []string{xff, "198.51.100.7,192.0.2.9,10.0.0.2"}, "192.0.2.9:1"},
		{"lines are joined in order", "10.0.0.1:5000", []string{xff, "198.51.100.7", xff, "192.0.2.9", xff, "10.0.0.3, 10.0.0.2"}, "192.0.2.9:1"},
		{"only proxies", "10.0.0.1:5000", []string{xff, "10.0.0.4, 10.0.0.3, 10.0.0.2"}, "10.0.0.4:1"},
		{"entry with a port", "10.0.0.1:5000", []string{xff, "192.0.2.9:4711"}, "192.0.2.9:1"},
		{"IPv6 entry", "10.0.0.1:5000", []string{xff, "2001:db8::9"}, "[2001:db8::9]:1"},
		{"IPv6 entry in brackets", "10.0.0.1:5000", []string{xff, "[2001:db8::9]"}, "[2001:db8::9]:1"},
		{"IPv6 entry with a port", "10.0.0.1:5000", []string{xff, "[2001:db8::9]:4711"}, "[2001:db8::9]:1"},
		{"IPv6 entry with a zone", "10.0.0.1:5000", []string{xff, "fe80::9%eth0"}, "[fe80::9]:1"},
		{"IPv4 entry mapped into IPv6", "10.0.0.1:5000", []string{xff, "::ffff:192.0.2.9"}, "192.0.2.9:1"},
		{"proxy mapped into IPv6", "10.0.0.1:5000", []string{xff, "192.0.2.9, [::ffff:10.0.0.2]:80"}, "192.0.2.9:1"},
		{"spaces and tabs", "10.0.0.1:5000", []string{xff, " \t192.0.2.9 \t,  10.0.0.2 "}, "192.0.2.9:1"},
		{"garbage", "10.0.0.1:5000", []string{xff, "192.0.2.9, unknown"}, "10.0.0.1:1"},
		{"garbage behind a proxy", "10.0.0.1:5000", []string{xff, "192.0.2.9, unknown, 10.0.0.2"}, "10.0.0.2:1"},
		{"garbage before the client", "10.0.0.1:5000", []string{xff, "unknown, 192.0.2.9, 10.0.0.2"}, "192.0.2.9:1"},
		{"empty entry", "10.0.0.1:5000", []string{xff, "192.0.2.9, , 10.0.0.2"}, "10.0.0.2:1"},
		{"empty header", "10.0.0.1:5000", []string{xff, ""}, "10.0.0.1:1"},
		{"empty line behind the client", "10.0.0.1:5000", []string{xff, "192.0.2.9", xff, ""}, "10.0.0.1:1"},
		{"IPv4 in brackets is none", "10.0.0.1:5000", []string{xff, "[192.0.2.9]"}, "10.0.0.1:1"},
		{"half a bracket is none", "10.0.0.1:5000", []string{xff, "[2001:db8::9"}, "10.0.0.1:1"},
		{"no port behind the colon is none", "10.0.0.1:5000", []string{xff, "192.0.2.9:"}, "10.0.0.1:1"},
		{"a range is none", "10.0.0.1:5000", []string{xff, "192.0.2.0/24"}, "10.0.0.1:1"},
		{"a name is none", "10.0.0.1:5000", []string{xff, "localhost"}, "10.0.0.1:1"},
		{"another header", "10.0.0.1:5000", []string{"X-Real-Ip", "192.0.2.9", "Forwarded", "for=192.0.2.9"}, "10.0.0.1:1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newGate(t, once)
			if v := g.Admit(from(tt.peer, tt.headers...)); v.Status != http.StatusUnauthorized {
				t.Fatalf("first verdict is %+v", v)
			}
			if v := g.Admit(from(tt.want)); v.Status != http.StatusTooManyRequests {
				t.Errorf("%s was not charged", tt.want)
			}
		})
	}
}

// Holds docs/spec/02-inbound.md, "Order of checks": a budget is one address's.
func TestAddressesAreApart(t *testing.T) {
	g := newGate(t, once)
	for _, peer := range []string{
		"192.0.2.1:1", "192.0.2.2:1", "10.0.0.1:1", "[2001:db8::1]:1", "[2001:db8:0:1::1]:1", "[::c000:201]:1", "[::ffff:0:1]:1", "0.0.0.0:1", "pipe",
	} {
		if v := g.Admit(from(peer)); v.Status != http.StatusUnauthorized {
			t.Errorf("%s: verdict is %+v", peer, v)
		}
	}
}

// Holds docs/spec/02-inbound.md, "Errors": a plain request that no trusted proxy vouches
// as https is known as one, with the secret and without.
func TestPlain(t *testing.T) {
	const proto, xff = "X-Forwarded-Proto", "X-Forwarded-For"
	const trusted, untrusted = "10.0.0.1:5000", "192.0.2.1:5000"
	tests := []struct {
		name, peer string
		headers    []string
		want       bool
	}{
		{"nobody says anything", untrusted, nil, true},
		{"untrusted peer says https", untrusted, []string{proto, "https", "Forwarded", "proto=https"}, true},
		{"peer without an address says https", "pipe", []string{proto, "https"}, true},
		{"proxy says nothing", trusted, nil, true},
		{"proxy says https", trusted, []string{proto, "https"}, false},
		{"in capitals", trusted, []string{proto, "HTTPS"}, false},
		{"proxy says http", trusted, []string{proto, "http"}, true},
		{"something that begins like it", trusted, []string{proto, "httpsx"}, true},
		{"the client's own word before the proxy's", trusted, []string{proto, "https, http", xff, "192.0.2.9"}, true},
		{"on a line before the proxy's", trusted, []string{proto, "https", proto, "http", xff, "192.0.2.9"}, true},
		{"plain between two proxies", trusted, []string{proto, "https, http", xff, "192.0.2.9, 10.0.0.2"}, false},
		{"plain before two proxies", trusted, []string{proto, "https, http, https", xff, "192.0.2.9, 10.0.0.2"}, true},
		{"two proxies and one word", trusted, []string{proto, "https", xff, "192.0.2.9, 10.0.0.2"}, false},
		{"empty", trusted, []string{proto, ""}, true},
		{"Forwarded", trusted, []string{"Forwarded", "for=192.0.2.9;proto=https;by=10.0.0.1"}, false},
		{"Forwarded, quoted and in capitals", trusted, []string{"Forwarded", `for="[2001:db8::9]:4711"; Proto="HTTPS"`}, false},
		{"Forwarded says http", trusted, []string{"Forwarded", "proto=https, for=192.0.2.9;proto=http"}, true},
		{"Forwarded says no protocol", trusted, []string{"Forwarded", "for=https;by=https"}, true},
		{"Forwarded of two proxies", trusted, []string{"Forwarded", "proto=https, proto=http", xff, "192.0.2.9, 10.0.0.2"}, false},
		{"the usual header is believed before Forwarded", trusted, []string{proto, "http", "Forwarded", "proto=https"}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := newGate(t, once)
			valid := append([]string{"Authorization", "Bearer " + secret}, tt.headers...)
			got := []gate.Verdict{
				g.Admit(from(tt.peer, valid...)), g.Admit(from(tt.peer, tt.headers...)), g.Admit(from(tt.peer, tt.headers...)),
			}
			want := []gate.Verdict{{Admitted: true, Secret: secret, Plain: tt.want}, {Status: 401, Plain: tt.want}, {Status: 429, RetryAfter: 60, Plain: tt.want}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("verdicts (-want +got):\n%s", diff)
			}
			r := from(tt.peer, valid...)
			r.TLS = &tls.ConnectionState{}
			if v := g.Admit(r); v.Plain {
				t.Error("a request over TLS is plain")
			}
		})
	}
}

// Holds docs/spec/02-inbound.md, "Order of checks": what cannot be judged is no gate.
func TestNew(t *testing.T) {
	tests := []struct {
		name   string
		change func(*gate.Config)
		want   string
	}{
		{"no clock", func(c *gate.Config) { c.Now = nil }, "gate: the clock is missing"},
		{"no secret", func(c *gate.Config) { c.Secrets = nil }, "gate: at least one shared secret must be set, and none may be empty"},
		{"an empty secret", func(c *gate.Config) { c.Secrets = []string{secret, ""} }, "gate: at least one shared secret must be set, and none may be empty"},
		{"no budget", func(c *gate.Config) { c.PerMinute = 0 }, "gate: 0 requests a minute, must be 1 to 1000000"},
		{"too large a budget", func(c *gate.Config) { c.PerMinute = 1_000_001 }, "gate: 1000001 requests a minute, must be 1 to 1000000"},
		{"no range", func(c *gate.Config) { c.Trusted = []netip.Prefix{{}} }, "gate: a trusted range is empty or of IPv4 addresses mapped into IPv6"},
		{"a mapped range", func(c *gate.Config) { c.Trusted = []netip.Prefix{netip.MustParsePrefix("::ffff:10.0.0.0/104")} }, "gate: a trusted range is empty or of IPv4 addresses mapped into IPv6"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := gate.Config{Secrets: []string{secret}, PerMinute: 1, Now: time.Now}
			tt.change(&cfg)
			if _, err := gate.New(cfg); err == nil || err.Error() != tt.want {
				t.Errorf("error is %v, want %s", err, tt.want)
			}
		})
	}
}

// Holds docs/spec/02-inbound.md, "Order of checks": a budget is not exceeded by asking
// from many connections at once, and nobody else's is used up.
func TestAtOnce(t *testing.T) {
	g := newGate(t, func(c *gate.Config) { c.PerMinute = 100 })
	peers := []string{"192.0.2.1:1", "192.0.2.2:1", "[2001:db8::1]:1"}
	var mu sync.Mutex
	type answer struct {
		peer   string
		status int
	}
	got, want := map[answer]int{}, map[answer]int{}
	var callers sync.WaitGroup
	for _, peer := range peers {
		want[answer{peer, 401}], want[answer{peer, 429}] = 100, 100
		for range 4 {
			callers.Go(func() {
				for range 50 {
					status := g.Admit(from(peer)).Status
					mu.Lock()
					got[answer{peer, status}]++
					mu.Unlock()
				}
			})
		}
	}
	callers.Wait()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

package gate

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
)

// Holds docs/spec/02-inbound.md, "Order of checks": whatever a header holds, an untrusted
// peer is charged itself, and behind a trusted one it is the right-most other address or
// one that is trusted.
func FuzzAddress(f *testing.F) {
	f.Add("192.0.2.1:5000", "198.51.100.7, 192.0.2.9", "10.0.0.2")
	f.Add("10.0.0.1:5000", "[2001:db8::9]:4711, unknown,, ", "[::ffff:10.0.0.2]:1\t, fe80::1%eth0")
	f.Add("[::1%1]:5000", "", ",")
	f.Add("pipe", "1.2.3.4:5:6", "[]:1")
	f.Fuzz(func(t *testing.T, peer, first, second string) {
		p := proxies{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128")}
		r := &http.Request{RemoteAddr: peer, Header: http.Header{}}
		bare := p.origin(r)
		r.Header["X-Forwarded-For"] = []string{first, second}
		r.Header["X-Forwarded-Proto"] = []string{second, first}
		r.Header["Forwarded"] = []string{first}
		got := p.origin(r)
		if !p.trust(bare.client) && got != bare {
			t.Fatalf("headers of an untrusted peer made %v of %v", got, bare)
		}
		want := bare.client
		entries := strings.Split(first+","+second, ",")
		for i := len(entries) - 1; i >= 0 && p.trust(want); i-- {
			entry := parseAddress(strings.Trim(entries[i], " \t"))
			if !entry.IsValid() {
				break
			}
			want = entry
		}
		if got.client != want {
			t.Errorf("is %v, want %v", got.client, want)
		}
		if a := got.client; a.Zone() != "" || a.Is4In6() || holder(holder(a)) != holder(a) {
			t.Errorf("%v is not in its one form", a)
		}
	})
}

package gate_test

import (
	"net/http"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/inbound/gate"
)

// Whoever has the secret costs no memory, behind a proxy too: the check is run for every
// message, and a flood of guesses must not keep the collector busy.
func TestAdmitAllocatesNothing(t *testing.T) {
	g := newGate(t, nil)
	for name, r := range requests() {
		g.Admit(r)
		if got := testing.AllocsPerRun(100, func() { g.Admit(r) }); got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}

// requests are the usual ones, by name.
func requests() map[string]*http.Request {
	forwarded := []string{"X-Forwarded-For", "198.51.100.7, 192.0.2.9, 10.0.0.2", "X-Forwarded-Proto", "https"}
	return map[string]*http.Request{
		"secret":                 from("192.0.2.1:5000", "Authorization", "Bearer "+secret),
		"secret-behind-proxies":  from("10.0.0.1:5000", append(forwarded, "Authorization", "Bearer "+secret)...),
		"refused":                from("192.0.2.1:5000", "Authorization", "Bearer wrong"),
		"refused-behind-proxies": from("10.0.0.1:5000", append(forwarded, "Authorization", "Bearer wrong")...),
		"refused-IPv6":           from("[2001:db8::1]:5000"),
	}
}

func BenchmarkAdmit(b *testing.B) {
	for name, r := range requests() {
		b.Run(name, func(b *testing.B) {
			g := newGate(b, func(c *gate.Config) { c.Now = time.Now })
			b.ReportAllocs()
			for b.Loop() {
				g.Admit(r)
			}
		})
		b.Run(name+"-parallel", func(b *testing.B) {
			g := newGate(b, func(c *gate.Config) { c.Now = time.Now })
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					g.Admit(r)
				}
			})
		})
	}
}

// BenchmarkMillionAddresses is a flood from a million networks within one instant, the
// most that can be remembered: how long a request of it takes, and what it leaves.
func BenchmarkMillionAddresses(b *testing.B) {
	const million = 1_000_000
	r := from("")
	for b.Loop() {
		g := newGate(b, nil)
		before := heap()
		start := time.Now()
		for n := range million {
			address := netip.AddrFrom16([16]byte{0x20, 0x01, 0x0d, 0xb8, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
			r.RemoteAddr = netip.AddrPortFrom(address, 5000).String()
			if v := g.Admit(r); v.Status != http.StatusUnauthorized {
				b.Fatalf("address %d: verdict is %+v", n, v)
			}
		}
		b.ReportMetric(float64(time.Since(start).Nanoseconds())/million, "ns/address")
		b.ReportMetric(float64(heap()-before), "heap-bytes")
		runtime.KeepAlive(g)
	}
}

// heap is how many bytes are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

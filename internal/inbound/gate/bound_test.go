package gate

import (
	"net/netip"
	"testing"
	"time"
)

// numbered is the n-th of many addresses, each of an IPv6 network of its own.
func numbered(n int) netip.Addr {
	a := netip.MustParseAddr("2001:db8::").As16()
	a[4], a[5], a[6], a[7] = byte(n>>24), byte(n>>16), byte(n>>8), byte(n)
	return netip.AddrFrom16(a)
}

// kept is how many addresses are remembered, and holds that both lists of them agree and
// that the queue is in order.
func kept(t testing.TB, b *budgets) int {
	t.Helper()
	if len(b.accounts) != len(b.queue) {
		t.Fatalf("%d accounts, %d of them queued", len(b.accounts), len(b.queue))
	}
	for place, a := range b.queue {
		if a.place != place || b.accounts[a.address] != a {
			t.Fatalf("the account in place %d is lost", place)
		}
		if a.whole < b.queue[(place-1)/2].whole {
			t.Fatalf("the account in place %d is whole before one that goes first", place)
		}
	}
	return len(b.queue)
}

// Holds docs/spec/02-inbound.md, "Order of checks": the limiter's memory is bounded, and
// a flood of new addresses does not free one that was refused.
func TestManyAddresses(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	b := newBudgets(300, func() time.Time { return at })
	blocked := netip.MustParseAddr("192.0.2.1")
	for b.charge(blocked) == 0 {
	}
	for n := range 4 * maxAccounts {
		if b.charge(numbered(n)) != 0 {
			t.Fatalf("address %d was refused", n)
		}
	}
	if got := kept(t, b); got != maxAccounts {
		t.Errorf("%d addresses are remembered, want %d", got, maxAccounts)
	}
	if b.charge(blocked) == 0 {
		t.Error("new addresses freed a refused one")
	}
}

// Holds docs/spec/02-inbound.md, "Order of checks": how far the bound holds. Whoever has
// more addresses than are remembered, and uses all of each one's budget, frees one; not
// with one address fewer.
func TestPriceOfTheBound(t *testing.T) {
	for name, others := range map[string]int{"one too few": maxAccounts - 1, "enough": maxAccounts} {
		t.Run(name, func(t *testing.T) {
			at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
			b := newBudgets(1, func() time.Time { return at })
			blocked := netip.MustParseAddr("192.0.2.1")
			b.charge(blocked)
			at = at.Add(time.Second)
			for n := range others {
				b.charge(numbered(n))
			}
			if freed := b.charge(blocked) == 0; freed != (others == maxAccounts) {
				t.Errorf("freed: %t", freed)
			}
		})
	}
}

// Holds docs/spec/02-inbound.md, "Order of checks": old entries expire, those that are
// still needed do not, and whoever comes first does not pay for all.
func TestOldAddressesAreForgotten(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	b := newBudgets(300, func() time.Time { return at })
	blocked := netip.MustParseAddr("192.0.2.1")
	b.charge(blocked)
	for n := range 1000 {
		b.charge(numbered(n))
	}
	for b.charge(blocked) == 0 {
	}
	at = at.Add(30 * time.Second)
	for n := range 501 {
		b.charge(netip.MustParseAddr("192.0.2.2"))
		if got, want := kept(t, b), max(1002-2*(n+1), 2); got != want {
			t.Fatalf("%d addresses are remembered after %d requests, want %d", got, n+1, want)
		}
		at = at.Add(time.Millisecond)
	}
	for range 150 {
		if b.charge(blocked) != 0 {
			t.Fatal("what had come back to a refused address was forgotten")
		}
	}
	at = at.Add(time.Minute)
	b.charge(blocked)
	if got := kept(t, b); got != 1 {
		t.Errorf("%d addresses are remembered a minute later, want 1", got)
	}
}

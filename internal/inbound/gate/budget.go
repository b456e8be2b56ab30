package gate

import (
	"container/heap"
	"net/netip"
	"sync"
	"time"
)

// maxAccounts bounds the addresses that are remembered, and with them the memory: 9 MB
// (BenchmarkMillionAddresses). It is all the networks of an IPv6 /48, the most that one
// site is usually given (RFC 6177).
const maxAccounts = 1 << 16

// budgets gives every address a number of requests a minute. It may use all of them at
// once; they come back one by one, evenly over a minute.
//
// An address whose budget is whole again is forgotten, so memory follows the addresses
// of the last minute. Past maxAccounts of those, the address whose budget is whole the
// soonest is forgotten early. One that was refused is therefore among the last to go: to
// free it takes maxAccounts others that have each used as much of their own budgets, and
// whoever has so many addresses gains next to nothing by one more.
type budgets struct {
	now      func() time.Time
	start    time.Time     // instants are kept as the time since then
	interval time.Duration // in which one request comes back
	window   time.Duration // in which all of them do

	mu       sync.Mutex
	accounts map[netip.Addr]*account
	queue    queue
}

// account is what one address has used.
type account struct {
	address netip.Addr
	whole   time.Duration // when all of its budget is there again
	place   int           // in the queue
}

func newBudgets(perMinute int, now func() time.Time) *budgets {
	n := time.Duration(perMinute)
	interval := (time.Minute + n - 1) / n // rounded up: never more than n a minute come back
	return &budgets{
		now: now, start: now(), interval: interval, window: n * interval,
		accounts: map[netip.Addr]*account{},
	}
}

// charge takes one request from an address's budget. With none left it takes nothing and
// returns how long it is until one is there.
func (b *budgets) charge(address netip.Addr) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := b.now().Sub(b.start)
	b.forget(now)
	a, known := b.accounts[address]
	if !known {
		b.open(address, now+b.interval)
		return 0
	}
	// A clock that was set back leaves nobody with more than a window to wait.
	a.whole = min(max(a.whole, now), now+b.window)
	if wait = a.whole + b.interval - b.window - now; wait <= 0 {
		a.whole += b.interval
	}
	heap.Fix(&b.queue, a.place)
	return max(wait, 0)
}

// forget drops accounts that are whole: two at a time, so that no call does another's
// work and they still go faster than they come.
func (b *budgets) forget(now time.Duration) {
	for range 2 {
		if len(b.queue) > 0 && b.queue[0].whole <= now {
			b.drop()
		}
	}
}

// open begins to remember an address.
func (b *budgets) open(address netip.Addr, whole time.Duration) {
	if len(b.queue) == maxAccounts {
		b.drop()
	}
	a := &account{address: address, whole: whole}
	b.accounts[address] = a
	heap.Push(&b.queue, a)
}

// drop forgets the account that is whole the soonest.
func (b *budgets) drop() {
	delete(b.accounts, heap.Pop(&b.queue).(*account).address)
}

// queue is a heap of accounts, the one that is whole the soonest first.
type queue []*account

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].whole < q[j].whole }

func (q queue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}

// Push is for [heap.Push] alone.
func (q *queue) Push(x any) {
	a := x.(*account)
	a.place = len(*q)
	*q = append(*q, a)
}

// Pop is for [heap.Pop] alone.
func (q *queue) Pop() any {
	last := len(*q) - 1
	a := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return a
}

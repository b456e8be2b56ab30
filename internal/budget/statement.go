package budget

import "context"

// Ledger keeps the days of every process. Methods fail when the database does; then
// whether the statement was written is unknown.
type Ledger interface {
	// State writes what a process has of a day in place of what it stated before, lets
	// in what fits of the calls that wait, and answers what the day has come to. It does
	// so in one transaction that changes the stored values as [Statement.Apply] says.
	State(ctx context.Context, s Statement) (Answer, error)
}

// Statement is what a process has of a day, in absolute numbers, and what it wants of it.
type Statement struct {
	TenantID string
	Owner    string // the process
	Day      Day

	Spent    Amount // by the process, in all
	Reserved Amount // worst cases of its calls in flight
	Unused   Amount // leased, and neither
	// Aside says that the process hands nothing out of what is unused before its next
	// statement, so that all of it comes back when the process dies.
	Aside bool

	Calls []Amount // worst cases of the calls that wait, in their order
	Cap   Amount   // of the day; it bounds what is leased for them
}

// Share is what a ledger keeps of a process's day.
type Share struct {
	Spent   Amount // stated
	Leased  Amount // beyond that
	Unused  Amount // of what is leased: what comes back if the process dies now
	Waiting bool   // a call of the process was refused and waits
}

// Total is what a ledger keeps of a day: the sum of its shares, and what was spent of
// those that were taken over.
type Total struct {
	Spent   Amount
	Leased  Amount
	Waiting int64 // processes
}

// Answer is what a statement came to.
type Answer struct {
	Admitted int    // how many of the statement's calls may be made, from the first one
	Granted  Amount // leased beyond what was stated, for them
	Total    Total  // of all processes, after the statement
	Asked    bool   // calls of other processes wait for room
}

// Apply replaces a process's share by its statement. Calls are admitted in their order
// as long as what is lacking for them is free under the cap.
func (s Statement) Apply(total Total, share Share) (Total, Share, Answer) {
	held := s.Reserved.plus(s.Unused)
	total.Spent = total.Spent.plus(s.Spent).minus(share.Spent)
	total.Leased = total.Leased.plus(held).minus(share.Leased)
	admitted, need, granted := s.admit(s.Cap.minus(total.Spent).minus(total.Leased))
	total.Leased = total.Leased.plus(granted)
	stated := Share{Spent: s.Spent, Leased: held.plus(granted), Waiting: admitted < len(s.Calls)}
	if s.Aside {
		stated.Unused = s.Unused.plus(granted).minus(need)
	}
	total.Waiting += flag(stated.Waiting) - flag(share.Waiting)
	return total, stated, Answer{
		Admitted: admitted, Granted: granted, Total: total, Asked: total.Waiting > flag(stated.Waiting),
	}
}

// admit finds how many calls fit, what they need, and what is leased for them: whole
// blocks, or the rest of the day when less is left.
func (s Statement) admit(free Amount) (n int, need, granted Amount) {
	for n < len(s.Calls) && free.covers(need.plus(s.Calls[n]).minus(s.Unused)) {
		need = need.plus(s.Calls[n])
		n++
	}
	lacking, block := need.minus(s.Unused), s.Cap.block()
	return n, need, Amount{
		Tokens: lease(lacking.Tokens, block.Tokens, free.Tokens),
		Micros: lease(lacking.Micros, block.Micros, free.Micros),
	}
}

func lease(lacking, block, free int64) int64 {
	if lacking <= 0 {
		return 0
	}
	return min((lacking+block-1)/block*block, free)
}

// TakeOver ends the share of a process that died: it is charged all it had leased but
// for what it had set aside.
func (t Total) TakeOver(share Share) Total {
	t.Spent = t.Spent.plus(share.Leased).minus(share.Unused)
	t.Leased = t.Leased.minus(share.Leased)
	t.Waiting -= flag(share.Waiting)
	return t
}

func flag(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

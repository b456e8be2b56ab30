package budget

// account is a process's part of a day. The keeper's lock guards it.
type account struct {
	day Day

	spent    Amount // by settled calls
	reserved Amount // worst cases of calls in flight
	unused   Amount // leased, and neither; negative where calls spent more than they reserved
	aside    Amount // of what is unused: not to be handed out before the next statement

	stated Share  // what the ledger was last known to keep
	unsure bool   // whether it has the last statement is not known
	others Amount // spent by other processes, as the last answer said; it never shrinks

	cap    Amount // that the last lease was checked against
	usual  Amount // worst case of the call it was for
	warnAt float64
	asked  bool    // other processes wait for room
	busy   bool    // something was handed out since the last booking
	warned [2]bool // that the tokens, the money passed the share to warn at
}

// holds reports whether a call can be let in without asking the ledger. Under another cap
// it cannot: what was leased under one may be more than the other.
func (a *account) holds(call Call) bool {
	return call.Terms.Cap == a.cap && a.unused.minus(a.aside).covers(call.Worst)
}

// hopeless reports whether no settlement can make room for a call today.
func (a *account) hopeless(call Call) bool {
	return !call.Terms.Cap.minus(a.others).minus(a.spent).covers(call.Worst)
}

// keeps is how much of what is unused stays with the process: one block, and nothing
// while others ask. At a booking, a process that was idle since the one before keeps
// nothing either, and so every account of a day that has passed ends.
func (a *account) keeps(booking bool) Amount {
	if a.asked || booking && !a.busy && a.reserved == (Amount{}) {
		return Amount{}
	}
	return a.cap.block()
}

// returns reports whether more is unused than is kept.
func (a *account) returns(keep Amount) bool { return a.unused.below(keep) != a.unused }

// unstated reports whether the ledger does not have what the account has, or may have
// something to say to it: whether others ask for what is unused.
func (a *account) unstated() bool {
	return a.unsure || a.stated != Share{Spent: a.spent, Leased: a.reserved}
}

// ended reports whether the account holds nothing that is not in the ledger.
func (a *account) ended() bool {
	return a.reserved == (Amount{}) && !a.unstated()
}

// statement says what the account is, having given up what is not kept. Calls that wait
// may use all that is unused, unless others ask for it or the cap changed.
func (a *account) statement(waiting []*waiter, keep Amount) Statement {
	s := Statement{Day: a.day, Spent: a.spent, Reserved: a.reserved, Cap: a.cap}
	if len(waiting) > 0 {
		first := waiting[0].call
		a.usual, a.warnAt = first.Worst, first.Terms.WarnAt
		s.Cap, keep = first.Terms.Cap, Amount{}
		if s.Cap == a.cap && !a.asked {
			keep = a.unused
		}
	}
	for _, w := range waiting {
		s.Calls = append(s.Calls, w.call.Worst)
	}
	a.unused = a.unused.below(keep).above(Amount{})
	s.Unused = a.unused
	if s.Aside = !s.Cap.block().covers(a.usual); s.Aside {
		a.aside = a.unused // until it is known what the ledger has
	}
	return s
}

// answered takes over what became of a statement.
func (a *account) answered(s Statement, ans Answer) {
	a.stated = Share{Spent: s.Spent, Leased: s.Reserved.plus(s.Unused).plus(ans.Granted), Waiting: ans.Admitted < len(s.Calls)}
	a.unsure = false
	a.others = a.others.above(ans.Total.Spent.minus(s.Spent))
	a.asked = ans.Asked
	a.unused = a.unused.plus(ans.Granted)
	a.aside = Amount{}
	if s.Aside {
		a.aside = s.Unused.plus(ans.Granted)
		for _, worst := range s.Calls[:ans.Admitted] {
			a.aside = a.aside.minus(worst)
		}
	}
	a.cap = s.Cap
}

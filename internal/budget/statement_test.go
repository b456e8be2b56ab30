package budget_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/budget"
)

// Holds docs/spec/06-contact.md, "Caps": as many blocks of 1 % of the cap as a call
// needs, and the rest of the day when that is less.
func TestStatementLeases(t *testing.T) {
	amount := func(tokens, micros int64) budget.Amount { return budget.Amount{Tokens: tokens, Micros: micros} }
	total := budget.Total{Spent: amount(500, 5_000), Leased: amount(300, 3_000), Waiting: 1}
	day := amount(1_000, 10_000)
	share := budget.Share{Spent: amount(50, 500), Leased: amount(100, 1_000), Waiting: true}
	tests := []struct {
		name     string
		cap      budget.Amount // over what is unused
		unused   budget.Amount // beside 100 tokens and 1000 micro-dollars in flight
		aside    bool
		calls    []budget.Amount
		admitted int
		granted  budget.Amount
		back     budget.Amount // if the process dies
	}{
		{"nothing to ask", day, amount(0, 0), false, nil, 0, amount(0, 0), amount(0, 0)},
		{"whole blocks", day, amount(0, 0), false, []budget.Amount{amount(11, 101)}, 1, amount(20, 200), amount(0, 0)},
		{"whole blocks, set aside", day, amount(0, 0), true, []budget.Amount{amount(11, 101)}, 1, amount(20, 200), amount(9, 99)},
		{"what is lacking", day, amount(9, 500), true, []budget.Amount{amount(11, 101)}, 1, amount(10, 0), amount(8, 399)},
		{"the rest of the day", amount(1_005, 10_050), amount(0, 0), true, []budget.Amount{amount(201, 2_001)}, 1, amount(205, 2_050), amount(4, 49)},
		{"no money left", day, amount(0, 0), false, []budget.Amount{amount(11, 2_001)}, 0, amount(0, 0), amount(0, 0)},
		{"no tokens left", day, amount(0, 0), false, []budget.Amount{amount(201, 1)}, 0, amount(0, 0), amount(0, 0)},
		{"in order", day, amount(0, 0), false, []budget.Amount{amount(150, 0), amount(60, 0), amount(1, 0)}, 1, amount(150, 0), amount(0, 0)},
		{"together", day, amount(5, 0), true, []budget.Amount{amount(50, 0), amount(60, 7), amount(3, 0)}, 3, amount(110, 100), amount(2, 93)},
		{"no tokens left, and none needed", amount(0, 10_000), amount(20, 0), true, []budget.Amount{amount(11, 101)}, 1, amount(0, 200), amount(9, 99)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := budget.Statement{
				Spent: amount(50, 500), Reserved: amount(100, 1_000), Unused: tt.unused, Aside: tt.aside,
				Calls: tt.calls, Cap: add(tt.cap, tt.unused),
			}
			after, stated, ans := s.Apply(total, share)
			held := amount(100+tt.unused.Tokens+tt.granted.Tokens, 1_000+tt.unused.Micros+tt.granted.Micros)
			waits := tt.admitted < len(tt.calls)
			if d := cmp.Diff(budget.Share{Spent: amount(50, 500), Leased: held, Unused: tt.back, Waiting: waits}, stated); d != "" {
				t.Errorf("share (-want +got):\n%s", d)
			}
			want := budget.Total{Spent: total.Spent, Leased: amount(200+held.Tokens, 2_000+held.Micros)}
			if waits {
				want.Waiting = 1
			}
			if d := cmp.Diff(want, after); d != "" {
				t.Errorf("day (-want +got):\n%s", d)
			}
			if d := cmp.Diff(budget.Answer{Admitted: tt.admitted, Granted: tt.granted, Total: want}, ans); d != "" {
				t.Errorf("answer (-want +got):\n%s", d)
			}
		})
	}
}

// Holds docs/spec/17-quality.md, "Reliability": whatever processes state in whatever
// order, the day is the sum of their shares and of those that were taken over, what is
// said twice is said once, and no call is let in that passes the cap.
func TestStatementsAddUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amounts := rapid.Custom(func(t *rapid.T) budget.Amount {
			return budget.Amount{Tokens: rapid.Int64Range(0, 300).Draw(t, "tokens"), Micros: rapid.Int64Range(0, 300).Draw(t, "micros")}
		})
		shares, charged := map[string]budget.Share{}, budget.Amount{}
		var total budget.Total
		for range rapid.IntRange(1, 30).Draw(t, "statements") {
			owner := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "owner")
			if rapid.IntRange(0, 9).Draw(t, "dies") == 0 {
				share := shares[owner]
				total = total.TakeOver(share)
				charged = sub(add(charged, add(share.Spent, share.Leased)), share.Unused)
				delete(shares, owner)
			} else {
				s := budget.Statement{
					Owner: owner, Spent: add(shares[owner].Spent, amounts.Draw(t, "spent")), Reserved: amounts.Draw(t, "reserved"),
					Unused: amounts.Draw(t, "unused"), Aside: rapid.Bool().Draw(t, "aside"),
					Calls: rapid.SliceOfN(amounts, 0, 3).Draw(t, "calls"), Cap: amounts.Draw(t, "cap"),
				}
				after, share, ans := s.Apply(total, shares[owner])
				again := s
				again.Calls, again.Reserved = nil, add(s.Reserved, ans.Granted)
				if twice, _, _ := again.Apply(after, share); twice.Spent != after.Spent || twice.Leased != after.Leased {
					t.Fatalf("said twice, %+v became %+v", after, twice)
				}
				if g := ans.Granted; g.Tokens > 0 && after.Spent.Tokens+after.Leased.Tokens > s.Cap.Tokens ||
					g.Micros > 0 && after.Spent.Micros+after.Leased.Micros > s.Cap.Micros {
					t.Fatalf("%+v passes the cap of %+v", after, s.Cap)
				}
				total, shares[owner] = after, share
			}
			want := budget.Total{Spent: charged}
			for _, share := range shares {
				want.Spent, want.Leased = add(want.Spent, share.Spent), add(want.Leased, share.Leased)
				if share.Waiting {
					want.Waiting++
				}
				if share.Unused.Tokens < 0 || share.Unused.Micros < 0 || share.Unused.Tokens > share.Leased.Tokens || share.Unused.Micros > share.Leased.Micros {
					t.Fatalf("share %+v", share)
				}
			}
			if d := cmp.Diff(want, total); d != "" {
				t.Fatalf("day (-want +got):\n%s", d)
			}
		}
	})
}

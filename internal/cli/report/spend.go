package report

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/store/report"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

type spend struct {
	Days int  `help:"How many days of UTC, today included." default:"14" placeholder:"N"`
	JSON bool `help:"A JSON object a line: one for each day and model."`
}

// spendView is a line of the report as JSON. Costs are in US dollars.
type spendView struct {
	Day      string  `json:"day"`
	Model    string  `json:"model"`
	Turns    int     `json:"turns"`
	Read     int64   `json:"tokensIn"`
	Cached   int64   `json:"tokensCached"`
	Written  int64   `json:"tokensOut"`
	Cost     float64 `json:"costUsd"`
	Charged  int64   `json:"dayTokens"`     // of all models, calls that failed included
	TokenCap int64   `json:"dailyTokenCap"` // 0: none
	Dollars  float64 `json:"dayCostUsd"`
	CostCap  float64 `json:"dailyCostCapUsd"` // 0: none
}

// Run prints what each model cost on each day, newest first, and what of the day's caps was used.
func (s spend) Run(ctx context.Context, sh Shell) error {
	if err := sh.within("--days", s.Days, mostDays); err != nil {
		return err
	}
	return sh.read(ctx, func(ctx context.Context, db *store.DB, business *tenant.Tenant) error {
		since := db.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, 1-s.Days)
		spent, charged, err := db.Spend(ctx, business.ID, since)
		if err != nil {
			return err
		}
		spent = everyDay(spent, charged)
		if s.JSON {
			return spendLines(sh.Out, business, spent, charged)
		}
		if len(spent) == 0 {
			_, err := fmt.Fprintf(sh.Out, "No model was asked since %s.\n", day(since))
			return err
		}
		return spendTable(sh.Out, business, spent, charged)
	})
}

// everyDay adds a line for each day on which something was charged and of whose turns none is kept: all
// of its calls failed, or retention took the turns away.
func everyDay(spent []report.Spent, charged map[time.Time]report.Charged) []report.Spent {
	for at, c := range charged {
		if c != (report.Charged{}) && !slices.ContainsFunc(spent, func(s report.Spent) bool { return s.Day.Equal(at) }) {
			spent = append(spent, report.Spent{Day: at, Model: "-"})
		}
	}
	slices.SortStableFunc(spent, func(a, b report.Spent) int { return b.Day.Compare(a.Day) })
	return spent
}

func spendLines(out io.Writer, business *tenant.Tenant, spent []report.Spent, charged map[time.Time]report.Charged) error {
	lines := json.NewEncoder(out)
	for _, s := range spent {
		c, budget := charged[s.Day], business.Rules.Budget
		err := lines.Encode(spendView{
			Day: day(s.Day), Model: s.Model, Turns: s.Turns, Read: s.Read, Cached: s.Cached, Written: s.Written, Cost: dollars(s.CostMicros),
			Charged: c.Tokens, TokenCap: int64(budget.DailyTokenCap), Dollars: dollars(c.Micros), CostCap: budget.DailyCostCapUSD,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func spendTable(out io.Writer, business *tenant.Tenant, spent []report.Spent, charged map[time.Time]report.Charged) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "DAY\tMODEL\tTURNS\tREAD\tOF IT CACHED\tWRITTEN\tCOST\tDAY'S TOKENS\tDAY'S COST")
	var last time.Time
	var total report.Spent
	for _, s := range spent {
		tokens, cost := "", ""
		if c := charged[s.Day]; !s.Day.Equal(last) {
			tokens = ofCap(float64(c.Tokens), float64(business.Rules.Budget.DailyTokenCap), "%.0f")
			cost = ofCap(dollars(c.Micros), business.Rules.Budget.DailyCostCapUSD, "$%.4f")
		}
		last = s.Day
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%d\t$%.4f\t%s\t%s\n", day(s.Day), s.Model, s.Turns, s.Read, s.Cached, s.Written, dollars(s.CostMicros), tokens, cost)
		total.Turns, total.Read, total.Cached, total.Written, total.CostMicros =
			total.Turns+s.Turns, total.Read+s.Read, total.Cached+s.Cached, total.Written+s.Written, total.CostMicros+s.CostMicros
	}
	fmt.Fprintf(w, "all\t\t%d\t%d\t%d\t%d\t$%.4f\n", total.Turns, total.Read, total.Cached, total.Written, dollars(total.CostMicros))
	return w.Flush()
}

// ofCap writes an amount and which part of a cap it is.
func ofCap(amount, most float64, format string) string {
	if most <= 0 {
		return fmt.Sprintf(format+", no cap", amount)
	}
	return fmt.Sprintf(format+" of "+format+", %.0f %%", amount, most, 100*amount/most)
}

func dollars(micros int64) float64 { return float64(micros) / 1e6 }

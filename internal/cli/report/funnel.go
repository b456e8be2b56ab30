package report

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/sales/measure"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

type funnel struct {
	Weeks    int    `help:"How many weeks, this one included." default:"4" placeholder:"N"`
	Offering string `help:"Only contacts whose offering this is." placeholder:"ID"`
	JSON     bool   `help:"As a JSON object."`
}

// Run prints the measures of each week, and of all together.
func (f funnel) Run(ctx context.Context, sh Shell) error {
	if err := sh.within("--weeks", f.Weeks, mostWeeks); err != nil {
		return err
	}
	return sh.read(ctx, func(ctx context.Context, db *store.DB, business *tenant.Tenant) error {
		if _, found := business.Catalog.Offering(f.Offering); f.Offering != "" && !found {
			return sh.Usage(fmt.Errorf("--offering is %q, which the catalog does not have: give one of %s", f.Offering, ids(business)))
		}
		if business.Tools == nil || business.Tools.IntentField() == nil {
			fmt.Fprintln(sh.Err, "tools.json marks no field of the intent: there is no sale to count, only contacts.")
		}
		since := measure.Monday(db.Now()).AddDate(0, 0, -7*(f.Weeks-1))
		contacts, err := db.Contacts(ctx, business.ID, since)
		if err != nil {
			return err
		}
		if f.Offering != "" {
			contacts = slices.DeleteFunc(contacts, func(c measure.Contact) bool { return c.Sale.Offering != f.Offering })
		}
		if f.JSON {
			return printJSON(sh.Out, contacts, since)
		}
		if len(contacts) == 0 {
			_, err := fmt.Fprintf(sh.Out, "Nobody wrote for the first time since %s.\n", day(since))
			return err
		}
		return printTable(sh.Out, contacts)
	})
}

func ids(business *tenant.Tenant) string {
	var all []string
	for _, o := range business.Catalog.Offerings {
		all = append(all, o.ID)
	}
	return strings.Join(all, ", ")
}

// printTable prints a column a week, the newest first, and one for all of them.
func printTable(out io.Writer, contacts []measure.Contact) error {
	weeks := measure.Weeks(contacts)
	if len(weeks) > 1 {
		weeks = append(weeks, measure.All(contacts))
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	line := func(name string, value func(measure.Week) string) {
		fmt.Fprint(w, name)
		for _, week := range weeks {
			fmt.Fprint(w, "\t", value(week))
		}
		fmt.Fprintln(w)
	}
	at := 0
	line("first wrote in the week of", func(week measure.Week) string {
		if at++; at > 1 && at == len(weeks) {
			return "all weeks"
		}
		return day(week.Monday)
	})
	line("contacts", func(week measure.Week) string { return fmt.Sprint(week.Contacts) })
	line("prospects, of contacts", func(week measure.Week) string { return of(week.Prospects) })
	line("link to pay, of contacts", func(week measure.Week) string { return of(week.Links) })
	line("link to pay, of prospects", func(week measure.Week) string { return of(week.Paying) })
	line("asked for it early, of links", func(week measure.Week) string { return of(week.Bypassed) })
	line("follow-ups answered", func(week measure.Week) string { return of(week.Replies) })
	before := "prospect"
	for i, step := range weeks[0].Steps {
		line(before+" -> "+string(step.Stage), func(week measure.Week) string { return of(week.Steps[i].Came) })
		before = string(step.Stage)
	}
	for i, step := range weeks[0].Steps {
		line("median time to "+string(step.Stage), func(week measure.Week) string { return took(week.Steps[i]) })
	}
	return w.Flush()
}

// of writes a share with what it is a share of.
func of(s measure.Share) string {
	ratio, known := s.Ratio()
	if !known {
		return "- of 0"
	}
	return fmt.Sprintf("%d of %d, %.0f %%", s.N, s.Of, 100*ratio)
}

// took writes a median with how many it is of.
func took(s measure.Step) string {
	if s.TimesOf == 0 {
		return "- of 0"
	}
	return fmt.Sprintf("%s of %d", lasted(s.Median), s.TimesOf)
}

// lasted is a duration in the two largest units that a person would say.
func lasted(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	case d < 48*time.Hour:
		return fmt.Sprintf("%.1f h", d.Hours())
	}
	return fmt.Sprintf("%.1f days", d.Hours()/24)
}

// The report as JSON. A ratio is null when there is nothing to be a part of, and times are seconds.
type (
	funnelView struct {
		Since string     `json:"since"`
		Weeks []weekView `json:"weeks"` // newest first
		All   weekView   `json:"all"`
	}
	weekView struct {
		Week      string     `json:"week,omitempty"` // the Monday
		Contacts  int        `json:"contacts"`
		Prospects shareView  `json:"prospects"`
		Links     shareView  `json:"linkSentOfContacts"`
		Paying    shareView  `json:"linkSentOfProspects"`
		Bypassed  shareView  `json:"linkBypassed"`
		Replies   shareView  `json:"nudgesAnswered"`
		Stages    []stepView `json:"stages"`
	}
	shareView struct {
		measure.Share
		Ratio *float64 `json:"ratio"`
	}
	stepView struct {
		Stage  contact.FunnelStage `json:"stage"`
		Came   shareView           `json:"ofThoseBefore"`
		Median *float64            `json:"medianSeconds"`
		Of     int                 `json:"medianOf"`
	}
)

func printJSON(out io.Writer, contacts []measure.Contact, since time.Time) error {
	view := funnelView{Since: day(since), Weeks: []weekView{}, All: viewOf(measure.All(contacts))}
	for _, week := range measure.Weeks(contacts) {
		v := viewOf(week)
		v.Week = day(week.Monday)
		view.Weeks = append(view.Weeks, v)
	}
	return json.NewEncoder(out).Encode(view)
}

func viewOf(week measure.Week) weekView {
	v := weekView{
		Contacts: week.Contacts, Prospects: shareOf(week.Prospects), Links: shareOf(week.Links), Paying: shareOf(week.Paying),
		Bypassed: shareOf(week.Bypassed), Replies: shareOf(week.Replies),
	}
	for _, s := range week.Steps {
		step := stepView{Stage: s.Stage, Came: shareOf(s.Came), Of: s.TimesOf}
		if seconds := math.Round(s.Median.Seconds()); s.TimesOf > 0 {
			step.Median = &seconds
		}
		v.Stages = append(v.Stages, step)
	}
	return v
}

func shareOf(s measure.Share) shareView {
	v := shareView{Share: s}
	if ratio, known := s.Ratio(); known {
		ratio = math.Round(ratio*1e4) / 1e4
		v.Ratio = &ratio
	}
	return v
}

package sales_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/sales"
)

// Holds docs/spec/08-sales.md, over turns of calls in any order: intent and stage never go back, a
// flow goes out at most once per contact and an event is fired at most once a stage, the opening is
// for the first turn of a prospect, the gate of the link opens only when prepared or asked for, and
// nothing but the intent field is written before there is a prospect.
func TestSalesOfAnyCalls(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := world{times: map[string]int{}, fired: map[string]int{}}
		w.sale.OpeningOver = rapid.IntRange(0, 4).Draw(t, "over") == 4
		for range rapid.IntRange(1, 4).Draw(t, "turns") {
			w.turn(t)
		}
	})
}

// world is one contact over several turns.
type world struct {
	sale  contact.Sale
	sent  []string
	times map[string]int // each flow went out
	fired map[string]int // each event
	waits []string       // events behind writes of this turn
}

func (w *world) turn(t *rapid.T) {
	before := w.sale
	w.waits = nil
	c := sales.Open(selling(), w.sale, w.sent)
	for range rapid.IntRange(0, 8).Draw(t, "calls") {
		if rapid.Bool().Draw(t, "flow") {
			w.ask(t, &c)
		} else {
			w.set(t, &c, before)
		}
	}
	if rapid.Bool().Draw(t, "performed") {
		w.sale = c.Sale()
		for _, event := range w.waits {
			w.fired[event]++
		}
	} else { // what was staged is discarded, and what went out went out
		w.sale.OpeningOver = sales.OpeningOver(before, c.Sale(), true)
		if w.times["pay"] > 0 {
			w.sale = w.sale.Moved(contact.MarkFunnel, string(contact.LinkSent))
		}
	}
	if w.fired["told"] > 1 {
		t.Fatalf("an event is fired %d times", w.fired["told"])
	}
	if w.sale.Intent.Before(before.Intent) || w.sale.Stage.Before(before.Stage) {
		t.Fatalf("the sale goes back from %+v to %+v", before, w.sale)
	}
}

// out sends a flow, which the contact then has.
func (w *world) out(t *rapid.T, c *sales.Case, id string, again bool) {
	f, _ := selling().Flow(id)
	if w.times[id]++; w.times[id] > 1 && !f.Repeatable && !again {
		t.Fatalf("%s goes out %d times", id, w.times[id])
	}
	w.sent = append(w.sent, id)
	c.Sent(id)
	link, follows := c.Paid(f)
	if follows != (id == "pay" && w.fired["bought"] == 0) || follows && link != (sales.Link{Field: "stage", Event: "bought"}) {
		t.Fatalf("behind %s comes %+v: %v", id, link, follows)
	}
	if follows {
		w.fired["bought"]++
	}
}

func (w *world) ask(t *rapid.T, c *sales.Case) {
	f := rapid.SampledFrom(selling().Flows).Draw(t, "which")
	if f.ID == "hello" {
		return // in no menu
	}
	asked, now := rapid.Bool().Draw(t, "asked"), c.Sale()
	link := f.ID == "pay"
	why, opens := c.Ask(f, asked), c.Opens(f, asked)
	gate := !link || asked || !now.Stage.Before(contact.Prepared)
	had := slices.Contains(w.sent, f.ID) && !f.Repeatable && !(link && asked)
	if may := now.Prospect() && gate && !had && (f.Offering == "" || f.Offering == now.Offering); (why == "") != may {
		t.Fatalf("%s at %+v, asked for %v: refused as %q, may go out %v", f.ID, now, asked, why, may)
	}
	if opens != (link && asked && now.Stage.Before(contact.Prepared)) {
		t.Fatalf("asking opens %v of %s at %+v", opens, f.ID, now)
	}
	if why == "" {
		w.out(t, c, f.ID, link && asked)
	}
	if why != "" && c.Sale() != now {
		t.Fatalf("a refused call moved the sale to %+v", c.Sale())
	}
}

func (w *world) set(t *rapid.T, c *sales.Case, before contact.Sale) {
	f := rapid.SampledFrom(selling().Fields).Draw(t, "field")
	value := rapid.SampledFrom(f.Values).Filter(func(v string) bool { return v != "link_sent" }).Draw(t, "value")
	now, why := c.Sale(), c.Refuses(action.SetField, f.ID, value)
	step := c.Set(f, value)
	switch {
	case why != "" && (c.Sale() != now || step.Opening != nil || step.Flow != nil || step.Event != "" || step.Flows != nil):
		t.Fatalf("a refused write did %+v", step)
	case why == "" && f.ID != "intent" && !now.Prospect():
		t.Fatalf("%s is written of %+v", f.ID, now)
	case c.Sale().Intent.Before(now.Intent), c.Sale().Stage.Before(now.Stage), now.Prospect() && !c.Sale().Prospect():
		t.Fatalf("%s %s goes back from %+v to %+v", f.ID, value, now, c.Sale())
	case why == "" && c.Sale() != now.Moved(f.Mark(), value):
		t.Fatalf("%s %s moves %+v to %+v", f.ID, value, now, c.Sale())
	}
	if step.Opening != nil {
		if before.Prospect() || before.OpeningOver || !c.Sale().Prospect() {
			t.Fatalf("the opening is due in a turn from %+v to %+v", before, c.Sale())
		}
		w.out(t, c, step.Opening.ID, false)
	}
	if step.Flow != nil && step.Refused == "" {
		w.out(t, c, step.Flow.ID, false)
	}
	if step.Event != "" {
		w.waits = append(w.waits, step.Event)
	}
	if step.Event != "" && !now.Stage.Before(c.Sale().Stage) {
		t.Fatalf("the event %s fires without a step forward", step.Event)
	}
}

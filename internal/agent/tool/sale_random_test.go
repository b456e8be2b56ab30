package tool_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/contact"
)

// Holds docs/spec/08-sales.md, whatever is called in whatever order, however the account behaves
// and whenever the turn is cut off: intent and stage never go back, a flow goes out at most once
// and an event is fired at most once a stage, the gate of the link to pay opens only as the page
// says, and nothing but the intent field and notes is written before there is a prospect.
func TestRandomSale(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := drawSale(rt)
		var wrong []string
		synctest.Test(t, func(t *testing.T) { wrong = p.play(t.Context()) })
		if len(wrong) > 0 {
			rt.Fatalf("%s\nof %+v", strings.Join(wrong, "\n"), p)
		}
	})
}

// saleProgram is a program of a tenant that sells.
type saleProgram struct {
	program
	Sale contact.Sale
	Open bool // the turn does not escalate
}

// calls are what a model writes.
var saleCalls = []string{
	asProspect, asProspect, asProspect, asNoProspect, asNurturing, asOffered, asPrepared, asPrepared, wantsA, wantsB, sendMap, sendFilm, sendPay, sendPayAsked,
	`set_field {"field":"stage","value":"qualifying"}`, `set_field {"field":"stage","value":"link_sent"}`, `set_field {"field":"shift","value":"evening"}`,
	`send_flow {"flow":"folder_a"}`, `send_flow {"flow":"folder_b","contactAsked":true}`, `send_flow {"flow":"terms_a"}`, `send_flow {"flow":"hello"}`,
	`add_tag {"tag":"gift"}`, `schedule_nudge {"delay":"soon"}`, `write_note {"note":"summary","text":"x"}`, "get_contact {}",
}

func drawSale(t *rapid.T) saleProgram {
	takes := rapid.Custom(func(t *rapid.T) time.Duration {
		return 2 * time.Duration(rapid.IntRange(0, 500).Draw(t, "ms")) * time.Millisecond
	})
	flows := []string{"hello", "map", "folder_a", "folder_b", "film", "terms_a", "pay"}
	p := saleProgram{Open: rapid.Bool().Draw(t, "open"), Sale: contact.Sale{
		Intent:      rapid.SampledFrom([]contact.Intent{contact.Prospect, contact.Prospect, "", contact.NotProspect}).Draw(t, "intent"),
		Stage:       rapid.SampledFrom(append(contact.FunnelStages(), "", "")).Draw(t, "stage"),
		Offering:    rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "offering"),
		OpeningOver: rapid.IntRange(0, 4).Draw(t, "over") == 4,
	}}
	p.Staged, p.Flows = rapid.IntRange(0, 4).Draw(t, "staged") == 4, map[string]behaviour{}
	p.Sent = rapid.SliceOfNDistinct(rapid.SampledFrom(flows), 0, 2, rapid.ID[string]).Draw(t, "sent")
	for _, id := range flows {
		p.Flows[id] = behaviour{rapid.SampledFrom(ways).Draw(t, "how"), takes.Draw(t, "takes")}
		origin := map[string]action.Origin{"hello": action.FromOpening, "film": action.FromStage}[id]
		r := action.Record{Tool: action.SendFlow, ID: id, Origin: origin, Status: rapid.SampledFrom([]action.Status{action.Performed, action.Sending, action.Failed}).Draw(t, "earlier status")}
		if rapid.IntRange(0, 9).Draw(t, "earlier") == 9 {
			p.Earlier = append(p.Earlier, r)
		}
	}
	p.Steps = rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) request {
		name, written, _ := strings.Cut(rapid.SampledFrom(saleCalls).Draw(t, "call"), " ")
		return request{Tool: action.Kind(name), Written: written}
	}), 1, 6), 1, 3).Draw(t, "steps")
	if p.Cut = rapid.IntRange(0, 2*len(p.Steps)).Draw(t, "cut"); p.Cut > 0 {
		p.After, p.Closed = takes.Draw(t, "after")+time.Millisecond, rapid.Bool().Draw(t, "closed")
	}
	return p
}

// play plays the program at a desk and returns which rules were broken.
func (p saleProgram) play(ctx context.Context) []string {
	a := &account{send: func(ctx context.Context, r action.Record) (action.Record, error) { return p.Flows[r.ID].send(ctx, r) }}
	turn := sale(a, p.Sale)
	turn.Sent, turn.Earlier = p.Sent, p.Earlier
	if p.Staged {
		turn.Flows = nil
	}
	d := tool.NewDesk(turn)
	var told []string
	for i, step := range p.Steps {
		told = append(told, perform(ctx, d, p.program, i+1, step)...)
		if p.Cut == i+1 {
			break
		}
	}
	if p.Open {
		d.Open(ctx)
	}
	r := rules{p: p, result: d.Close(), saw: a.saw, stage: p.Sale.Stage, now: p.Sale, events: map[string]bool{}}
	r.check(told)
	if a.crossed {
		r.broken("two flows at a time")
	}
	return r.wrong
}

// rules are those of the page over what a turn came to, walked through in the order of its record.
type rules struct {
	p      saleProgram
	result tool.Result
	saw    []action.Record
	now    contact.Sale // as the record has it so far
	stage  contact.FunnelStage
	slots  int
	events map[string]bool
	wrong  []string
}

func (r *rules) broken(format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

func (r *rules) check(told []string) {
	for i, e := range r.result.Record {
		r.entry(i, e)
	}
	if r.slots > 8 {
		r.broken("%d slots", r.slots)
	}
	if r.now != r.result.Sale {
		r.broken("the sale is %+v, by the record %+v", r.result.Sale, r.now)
	}
	r.sent()
	r.pending()
	r.traced(told)
}

// entry is one entry of the record, with all before it known.
func (r *rules) entry(i int, e action.Record) {
	earlier := i < len(r.p.Earlier) && e.Tool == action.SendFlow && e.Status != action.Staged
	free := e.Origin == action.FromOpening || e.Status == action.DroppedOverCap || r.follows(i)
	if !free {
		r.slots++
	}
	switch {
	case e.Status == action.DroppedOverCap:
		return
	case e.Tool != action.WriteNote && e.Mark != contact.MarkIntent && !earlier && !r.follows(i) && !r.now.Prospect():
		r.broken("%+v without a prospect", e)
	}
	switch e.Tool {
	case action.SetField:
		r.written(i, e)
	case action.SendEvent:
		before := r.result.Record[max(0, i-1)]
		if r.events[e.ID] || i == 0 || before.Mark != contact.MarkFunnel || map[string]string{"told": "offered", "bought": "link_sent"}[e.ID] != before.Value {
			r.broken("the event %s fires behind %+v", e.ID, before)
		}
		r.events[e.ID] = true
	case action.SendFlow:
		r.flow(i, e, earlier)
	}
}

func (r *rules) written(i int, e action.Record) {
	marks := map[string]contact.Mark{"intent": contact.MarkIntent, "stage": contact.MarkFunnel, "thing": contact.MarkOffering}
	switch before := r.now; {
	case e.Mark != marks[e.ID] || e.Status != action.Staged:
		r.broken("%+v is marked or performed", e)
	case e.Mark == contact.MarkIntent && contact.Intent(e.Value).Before(before.Intent), e.Mark == contact.MarkFunnel && contact.FunnelStage(e.Value).Before(before.Stage):
		r.broken("%+v goes back from %+v", e, before)
	case e.Mark == contact.MarkIntent && e.Value == "not_prospect" && before.Prospect():
		r.broken("a prospect is none any more")
	case e.Mark == contact.MarkOffering && !before.Stage.Before(contact.Offered):
		r.broken("another offering at %s", before.Stage)
	case e.Value == "link_sent" && !r.follows(i):
		r.broken("link_sent behind no link")
	}
	advances := e.Mark == contact.MarkFunnel && r.now.Stage.Before(contact.FunnelStage(e.Value))
	r.now = r.now.Moved(e.Mark, e.Value)
	event := advances && (e.Value == "offered" || e.Value == "link_sent")
	if fired := i+1 < len(r.result.Record) && r.result.Record[i+1].Tool == action.SendEvent; fired != event {
		r.broken("%+v fires: %v, want %v", e, fired, event)
	}
}

func (r *rules) flow(i int, e action.Record, earlier bool) {
	out := e.Status == action.Performed || e.Status == action.Staged
	offering := map[string]string{"folder_a": "a", "terms_a": "a", "folder_b": "b"}[e.ID]
	switch {
	case earlier:
	case offering != "" && offering != r.now.Offering:
		r.broken("%s goes out for the offering %q", e.ID, r.now.Offering)
	case e.ID == "hello" && (e.Origin != action.FromOpening || r.p.Sale.Prospect() || r.p.Sale.OpeningOver):
		r.broken("the opening goes out to %+v", r.p.Sale)
	case e.ID == "pay" && r.now.Stage.Before(contact.Prepared) != e.ContactAsked:
		r.broken("the link goes out at %s, asked for: %v", r.now.Stage, e.ContactAsked)
	}
	behind := out && e.ID == "pay" && r.now.Stage != contact.LinkSent
	if follows := r.follows(i + 1); follows != behind {
		r.broken("%+v has something behind it: %v, want %v", e, follows, behind)
	}
}

// follows reports whether the entry in a place is what the server does behind another.
func (r *rules) follows(place int) bool {
	return place < len(r.result.Record) && (r.result.Record[place].Value == "link_sent" || r.result.Record[place].Tool == action.SendEvent)
}

// sent looks at what the account was asked for.
func (r *rules) sent() {
	asked := map[string]bool{}
	for i, s := range r.saw {
		again := s.ID == "pay" && s.ContactAsked
		switch {
		case asked[s.ID] && !(again && r.p.Flows["pay"].How == "had"):
			r.broken("%s goes out twice", s.ID)
		case s.ID != "map" && !again && slices.Contains(r.p.Sent, s.ID):
			r.broken("%s goes out again", s.ID)
		case s.ID == "hello" && i > 0:
			r.broken("the opening goes out behind %s", r.saw[0].ID)
		case slices.ContainsFunc(r.p.Earlier, func(e action.Record) bool { return e.ID == s.ID }):
			r.broken("%s goes out in both tries", s.ID)
		}
		asked[s.ID] = true
	}
}

// pending holds what waits equal to what the record says is staged.
func (r *rules) pending() {
	var staged []int
	for i, e := range r.result.Record {
		if e.Status == action.Staged {
			staged = append(staged, i)
		}
	}
	for i, p := range r.result.Pending {
		if i >= len(staged) || p.Place != staged[i] || p.FollowOn != r.follows(p.Place) || p.Tool != r.result.Record[p.Place].Tool || p.ID != r.result.Record[p.Place].ID || p.Value != r.result.Record[p.Place].Value {
			r.broken("pending %+v", p)
		}
	}
	if len(staged) != len(r.result.Pending) {
		r.broken("%d staged, %d pending", len(staged), len(r.result.Pending))
	}
}

// traced looks at what the model was told of each call, in order.
func (r *rules) traced(told []string) {
	prospect := r.p.Sale.Prospect() || slices.ContainsFunc(r.p.Earlier, func(e action.Record) bool { return e.ID == "pay" && e.Status == action.Performed })
	for i, c := range r.result.Calls {
		exempt := c.Tool == action.WriteNote || c.Tool == action.GetContact || c.ID == "intent" || c.Answer == action.AnsweredBad ||
			slices.ContainsFunc(r.p.Earlier, func(e action.Record) bool { return e.ID == c.ID })
		if refused := c.Reason == "not_prospect"; refused != (!prospect && !exempt) && r.p.Sale.Intent == "" {
			r.broken("%+v is told %s, with a prospect: %v", c, told[i], prospect)
		}
		prospect = prospect || c.ID == "intent" && c.Value == "prospect" && c.Answer == action.AnsweredStaged
		if c.Reason == "not_prepared" && c.ContactAsked {
			r.broken("%+v: who asks for the link gets it", c)
		}
		if strings.Contains(told[i], "HIDDEN") || c.ID == "hello" && c.Answer != action.AnsweredBad {
			r.broken("told %s of %+v", told[i], c)
		}
	}
}

package tool_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/contact"
)

// notes fills slots.
func notes(n int) (calls []string) {
	for i := range n {
		calls = append(calls, `write_note {"note":"summary","text":"`+string(rune('a'+i))+`"}`)
	}
	return calls
}

// Holds docs/spec/08-sales.md, "Opening": it goes out just before the first flow that is sent on
// the turn that first stages prospect, or, with none, before the reply; never to anybody else,
// never twice, outside the cap.
func TestOpening(t *testing.T) {
	over := nobody
	over.OpeningOver = true
	const intent = "set_field intent prospect staged intent"
	tests := []struct {
		name   string
		sale   contact.Sale
		sent   []string
		how    map[string]string
		calls  []string
		record string
		saw    string
	}{
		{"before the first flow", nobody, nil, nil, []string{asProspect, sendMap, sendFilm, "open"},
			intent + "; send_flow hello performed opening; send_flow map performed; send_flow film performed", "hello opening, map, film"},
		{"before the reply", nobody, nil, nil, []string{asProspect, wantsA, "open", "open"}, intent + "; set_field thing a staged offering; send_flow hello performed opening", "hello opening"},
		{"before a stage's flow", nobody, nil, nil, []string{asProspect, asNurturing, "open"},
			intent + "; set_field stage nurturing staged funnel; send_flow hello performed opening; send_flow film performed stage", "hello opening, film stage"},
		{"before a flow that fails", nobody, nil, map[string]string{"map": "refused"}, []string{asProspect, sendMap, "open"},
			intent + "; send_flow hello performed opening; send_flow map failed refused", "hello opening, map"},
		{"not before a flow that is refused", nobody, nil, nil, []string{asProspect, sendPay, `send_flow {"flow":"folder_a"}`, "open"}, intent + "; send_flow hello performed opening", "hello opening"},
		{"not behind the reply of a turn that does not ask for it", nobody, nil, nil, []string{asProspect}, intent, ""},
		{"fails", nobody, nil, map[string]string{"hello": "refused"}, []string{asProspect, sendMap, sendFilm, "open"},
			intent + "; send_flow hello failed refused opening; send_flow map performed; send_flow film performed", "hello opening, map, film"},
		{"not known to have arrived", nobody, nil, map[string]string{"hello": "unknown"}, []string{asProspect, "open", "open"}, intent + "; send_flow hello failed outcome unknown opening", "hello opening"},
		{"claimed already", nobody, nil, map[string]string{"hello": "had"}, []string{asProspect, sendMap, "open"}, intent + "; send_flow map performed", "hello opening, map"},
		{"sent before", nobody, []string{"hello"}, nil, []string{asProspect, sendMap, "open"}, intent + "; send_flow map performed", "map"},
		{"over", over, nil, nil, []string{asProspect, sendMap, "open"}, intent + "; send_flow map performed", "map"},
		{"to a prospect", buyer, nil, nil, []string{asProspect, sendMap, "open"}, intent + "; send_flow map performed", "map"},
		{"to one past the first stage", contact.Sale{Stage: contact.Qualifying}, nil, nil, []string{asProspect, sendMap, "open"}, intent + "; send_flow map performed", "map"},
		{"to a non-prospect", nobody, nil, nil, []string{asNoProspect, "open"}, "set_field intent not_prospect staged intent", ""},
		{"to a non-prospect who turns out to be one", contact.Sale{Intent: contact.NotProspect}, nil, nil, []string{asProspect, "open"}, intent + "; send_flow hello performed opening", "hello opening"},
		{"called twice", nobody, nil, nil, []string{asProspect, asProspect, "open", asProspect, sendMap, "open"}, intent + "; send_flow hello performed opening; send_flow map performed", "hello opening, map"},
		{"to follow the reply", nobody, nil, map[string]string{"hello": "staged", "map": "staged"}, []string{asProspect, sendMap, "open"},
			intent + "; send_flow hello staged opening; send_flow map staged", "hello opening, map"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &account{send: treats(tt.how)}
			turn := sale(a, tt.sale)
			turn.Sent = tt.sent
			got := sell(t, turn, a, tt.calls...)
			same(t, "record", tt.record, strings.Join(got.Record, "; "))
			same(t, "asked", tt.saw, strings.Join(got.Saw, ", "))
		})
	}
}

// Holds docs/spec/08-sales.md, "Opening": outside the cap. A flow that finds no slot is none that it
// goes before.
func TestOpeningIsOutsideTheCap(t *testing.T) {
	a := &account{}
	got := sell(t, sale(a, nobody), a, append(append([]string{asProspect}, notes(7)...), sendMap, "open")...)
	same(t, "told of the flow", unsentCap, got.Told[8])
	same(t, "record", []string{"send_flow map dropped_over_cap", "send_flow hello performed opening"}, got.Record[8:])

	a = &account{}
	got = sell(t, sale(a, nobody), a, append(append([]string{asProspect, sendMap}, notes(7)...), "open")...)
	same(t, "told of the last", staged+" "+overCap, got.Told[7]+" "+got.Told[8])

	a = &account{send: treats(map[string]string{"hello": "had"})} // which had no slot to give back
	got = sell(t, sale(a, nobody), a, append(append([]string{asProspect, sendMap}, notes(7)...), "open")...)
	same(t, "told of the last", staged+" "+overCap, got.Told[7]+" "+got.Told[8])
}

// Holds docs/spec/08-sales.md, "Opening", "Stage flows" and "Payment link": on a nudge turn they
// are staged, each in its place.
func TestSaleOfANudgeTurn(t *testing.T) {
	a := &account{}
	turn := sale(a, nobody)
	turn.Flows = nil
	got := sell(t, turn, a, asProspect, asNurturing, sendFilm, sendMap, sendPay, sendPayAsked, "open")
	same(t, "told", strings.Join([]string{queued, `{"staged":true,"flowStaged":"film"}`, staged, staged, `{"staged":false,"reason":"not_prepared"}`, staged}, "\n"), strings.Join(got.Told, "\n"))
	same(t, "record", []string{
		"set_field intent prospect staged intent", "set_field stage nurturing staged funnel", "send_flow hello staged opening", "send_flow film staged stage",
		"send_flow map staged", "send_flow pay staged asked", "set_field stage link_sent staged funnel", "send_event bought staged",
	}, got.Record)
	same(t, "pending", []string{
		"0 set_field intent prospect", "1 set_field stage nurturing", "2 send_flow hello", "3 send_flow film", "4 send_flow map",
		"5 send_flow pay asked", "6 set_field stage link_sent follows", "7 send_event bought follows",
	}, got.Pending)
	same(t, "sale", contact.Sale{Intent: contact.Prospect, Stage: contact.LinkSent}, got.Sale)
	same(t, "asked", 0, len(a.saw))

	turn.Sale = nobody
	got = sell(t, turn, a, asProspect, "open", sendMap)
	same(t, "without a flow before the reply", []string{"0 set_field intent prospect", "1 send_flow hello", "2 send_flow map"}, got.Pending)
}

// Holds docs/spec/08-sales.md, "Stage flows": an accepted write to exactly a flow's stage sends it
// then, once ever, with the offering respected, against the cap; the result says what became of it.
func TestStageFlows(t *testing.T) {
	withB := buyer
	withB.Offering = "b"
	withA := buyer
	withA.Offering = "a"
	is := func(word, flow string) string { return `{"staged":true,"` + word + `":"` + flow + `"}` }
	refused := func(flow, why string) string {
		return `{"staged":true,"flowRefused":"` + flow + `","flowReason":"` + why + `"}`
	}
	const nurturing, reached = "set_field stage nurturing staged funnel", "set_field stage offered staged funnel; send_event told staged"
	tests := []struct {
		name   string
		sale   contact.Sale
		sent   []string
		how    map[string]string
		calls  []string
		told   string // of the last call
		record string
		saw    string
	}{
		{"sent", buyer, nil, nil, []string{asNurturing}, is("flowSent", "film"), nurturing + "; send_flow film performed stage", "film stage"},
		{"failed", buyer, nil, map[string]string{"film": "refused"}, []string{asNurturing}, refused("film", "failed"), nurturing + "; send_flow film failed refused stage", "film stage"},
		{"unknown", buyer, nil, map[string]string{"film": "unknown"}, []string{asNurturing}, refused("film", "unknown"), nurturing + "; send_flow film failed outcome unknown stage", "film stage"},
		{"had by the database", buyer, nil, map[string]string{"film": "had"}, []string{asNurturing}, refused("film", "already_sent"), nurturing, "film stage"},
		{"to follow the reply", buyer, nil, map[string]string{"film": "staged"}, []string{asNurturing}, is("flowStaged", "film"), nurturing + "; send_flow film staged stage", "film stage"},
		{"had before", buyer, []string{"film"}, nil, []string{asNurturing}, refused("film", "already_sent"), nurturing, ""},
		{"of another offering", withB, nil, nil, []string{asOffered}, refused("terms_a", "other_offering"), reached, ""},
		{"of no offering yet", buyer, nil, nil, []string{asOffered}, refused("terms_a", "other_offering"), reached, ""},
		{"of the offering", withA, nil, nil, []string{asOffered}, is("flowSent", "terms_a"), reached + "; send_flow terms_a performed stage", "terms_a stage"},
		{"passed by", withA, nil, nil, []string{asPrepared}, staged, "set_field stage prepared staged funnel", ""},
		{"reached before, and not sent then", offering, nil, nil, []string{asOffered}, is("flowSent", "terms_a"), "set_field stage offered staged funnel; send_flow terms_a performed stage", "terms_a stage"},
		{"refused", prepared, nil, nil, []string{asOffered}, earlierStage, "", ""},
		{"called for before", buyer, nil, nil, []string{sendFilm, asNurturing}, is("flowSent", "film"), "send_flow film performed; " + nurturing, "film"},
		{"called for before, failed", buyer, nil, map[string]string{"film": "refused"}, []string{sendFilm, asNurturing}, refused("film", "failed"), "send_flow film failed refused; " + nurturing, "film"},
		{"called for behind", buyer, nil, nil, []string{asNurturing, sendFilm}, sent, nurturing + "; send_flow film performed stage", "film stage"},
		{"again", buyer, nil, nil, []string{asNurturing, asNurturing}, is("flowSent", "film"), nurturing + "; send_flow film performed stage", "film stage"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &account{send: treats(tt.how)}
			turn := sale(a, tt.sale)
			turn.Sent = tt.sent
			got := sell(t, turn, a, tt.calls...)
			same(t, "told", tt.told, got.Told[len(got.Told)-1])
			same(t, "record", tt.record, strings.Join(got.Record, "; "))
			same(t, "asked", tt.saw, strings.Join(got.Saw, ", "))
		})
	}

	a := &account{}
	got := sell(t, sale(a, buyer), a, append(notes(7), asNurturing, sendFilm)...)
	same(t, "told", is("flowDropped", "film")+" "+unsentCap, got.Told[7]+" "+got.Told[8])
	same(t, "record", []string{nurturing, "send_flow film dropped_over_cap stage"}, got.Record[7:])
	got = sell(t, sale(a, buyer), a, append(notes(8), asNurturing)...)
	same(t, "told of a write without a slot", overCap, got.Told[8])
	same(t, "sale after it", buyer, got.Sale)
	same(t, "asked", 0, len(a.saw))
	got = sell(t, sale(a, buyer), a, append([]string{asNurturing}, notes(7)...)...)
	same(t, "told of the last", staged+" "+overCap, got.Told[6]+" "+got.Told[7])
}

// Holds docs/spec/08-sales.md, "Payment link": refused before prepared, unless the contact asked;
// asking is recorded when it opened the gate; what follows stands behind a link that went out, and
// behind no other.
func TestPaymentLink(t *testing.T) {
	const follows = "; set_field stage link_sent staged funnel; send_event bought staged"
	both := []string{"set_field stage link_sent follows", "send_event bought follows"}
	paid := func(sale contact.Sale) contact.Sale { sale.Stage = contact.LinkSent; return sale }
	tests := []struct {
		name    string
		sale    contact.Sale
		sent    []string
		how     map[string]string
		calls   []string
		told    string // of the last call
		record  string
		pending []string // without places
		saw     string
		want    contact.Sale
	}{
		{"too early", offering, nil, nil, []string{sendPay}, notPrepared, "", nil, "", offering},
		{"prepared", prepared, nil, nil, []string{sendPay}, sent, "send_flow pay performed" + follows, both, "pay", paid(prepared)},
		{"prepared in this turn", offering, nil, nil, []string{asPrepared, sendPay}, sent, "set_field stage prepared staged funnel; send_flow pay performed" + follows,
			append([]string{"set_field stage prepared"}, both...), "pay", paid(offering)},
		{"asked for, which opens", buyer, nil, nil, []string{sendPayAsked}, sent, "send_flow pay performed asked" + follows, both, "pay asked", paid(buyer)},
		{"asked for after a refusal", buyer, nil, nil, []string{sendPay, sendPayAsked}, sent, "send_flow pay performed asked" + follows, both, "pay asked", paid(buyer)},
		{"asked for, which opens nothing", prepared, nil, nil, []string{sendPayAsked}, sent, "send_flow pay performed" + follows, both, "pay asked", paid(prepared)},
		{"asked for by nobody who buys", nobody, nil, nil, []string{sendPayAsked}, flowNoBuyer, "", nil, "", nobody},
		{"fails", prepared, nil, map[string]string{"pay": "refused"}, []string{sendPay}, failure, "send_flow pay failed refused", nil, "pay", prepared},
		{"unknown", prepared, nil, map[string]string{"pay": "unknown"}, []string{sendPay}, unknown, "send_flow pay failed outcome unknown", nil, "pay", prepared},
		{"had", prepared, nil, map[string]string{"pay": "had"}, []string{sendPay}, sentBefore, "", nil, "pay", prepared},
		{"had before", prepared, []string{"pay"}, nil, []string{sendPay}, sentBefore, "", nil, "", prepared},
		{"had before and asked for again", prepared, []string{"pay"}, nil, []string{sendPay, sendPayAsked}, sent, "send_flow pay performed" + follows, both, "pay asked", paid(prepared)},
		{"asked for again at the last stage", paying, []string{"pay"}, nil, []string{sendPayAsked}, sent, "send_flow pay performed", nil, "pay asked", paying},
		{"to follow the reply", buyer, nil, map[string]string{"pay": "staged"}, []string{sendPayAsked, sendMap}, sent, "send_flow pay staged asked" + follows + "; send_flow map performed",
			append([]string{"send_flow pay asked"}, both...), "pay asked, map", paid(buyer)},
		{"to follow the reply, asked for when prepared", prepared, nil, map[string]string{"pay": "staged"}, []string{sendPayAsked}, staged, "send_flow pay staged" + follows,
			append([]string{"send_flow pay asked"}, both...), "pay asked", paid(prepared)},
		{"no way back", prepared, nil, nil, []string{sendPay, asPrepared}, earlierStage, "send_flow pay performed" + follows, both, "pay", paid(prepared)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &account{send: treats(tt.how)}
			turn := sale(a, tt.sale)
			turn.Sent = tt.sent
			got := sell(t, turn, a, tt.calls...)
			same(t, "told", tt.told, got.Told[len(got.Told)-1])
			same(t, "record", tt.record, strings.Join(got.Record, "; "))
			for i := range got.Pending {
				_, got.Pending[i], _ = strings.Cut(got.Pending[i], " ")
			}
			same(t, "pending", tt.pending, got.Pending)
			same(t, "asked", tt.saw, strings.Join(got.Saw, ", "))
			same(t, "sale", tt.want, got.Sale)
		})
	}
}

// Holds docs/spec/08-sales.md, "Payment link", of tenants without a funnel or an event.
func TestPaymentLinkWithoutAFunnel(t *testing.T) {
	a := &account{}
	turn := sale(a, contact.Sale{Intent: contact.Prospect})
	turn.Tools.Events = nil
	got := sell(t, turn, a, sendPayAsked, notes(7)[0])
	same(t, "without events", "send_flow pay performed asked; set_field stage link_sent staged funnel; write_note summary staged", strings.Join(got.Record, "; "))
	turn.Tools.Fields = turn.Tools.Fields[:1]
	got = sell(t, turn, a, sendPay)
	same(t, "without a funnel", sent+" send_flow pay performed", got.Told[0]+" "+strings.Join(got.Record, "; "))
	same(t, "sale", turn.Sale, got.Sale)
}

// Holds docs/spec/07-tools.md, "Performing": follow-ons do not count against the cap, and stand
// right behind what they follow, also when more was staged while it went out.
func TestFollowOnsAreOutsideTheCap(t *testing.T) {
	a := &account{}
	d := tool.NewDesk(sale(a, prepared))
	flow := begin(t, d, 1, sendPay)
	var told []string
	for _, c := range notes(8) {
		told = append(told, call(t, d, c))
	}
	same(t, "link", sent, finish(t, flow))
	same(t, "told of the last", staged+" "+overCap, told[6]+" "+told[7])
	got := sold{}.with(d.Close(), a)
	same(t, "record", []string{"send_flow pay performed", "set_field stage link_sent staged funnel", "send_event bought staged", "write_note summary staged"}, got.Record[:4])
	same(t, "pending", []string{"1 set_field stage link_sent follows", "2 send_event bought follows", "3 write_note summary"}, got.Pending[:3])
}

// Holds docs/spec/08-sales.md, "Funnel" and "Offerings": while the link is under way neither a stage
// nor an offering is staged, which would be written behind the last stage; when it failed, one is.
func TestNothingBehindALinkUnderWay(t *testing.T) {
	a := &account{send: treats(map[string]string{"pay": "refused"})}
	d := tool.NewDesk(sale(a, buyer))
	flow := begin(t, d, 1, sendPayAsked)
	same(t, "told under way", earlierStage+"\n"+offeringFixed+"\n"+staged, each(t, d, asPrepared, wantsA, asProspect))
	same(t, "link", failure, finish(t, flow))
	same(t, "told behind it", staged, call(t, d, asPrepared))
}

// Holds docs/spec/08-sales.md, "Payment link": one still in flight when the loop ends has nothing
// behind it, nor does an opening hold up the end.
func TestSaleWhenTheLoopEnds(t *testing.T) {
	for _, how := range []string{"aborted", "closed"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				release := make(chan struct{})
				a := &account{send: func(ctx context.Context, r action.Record) (action.Record, error) {
					if how == "closed" {
						<-release
						return performed(ctx, r)
					}
					<-ctx.Done()
					return failed(action.OutcomeUnknown)(ctx, r)
				}}
				d := tool.NewDesk(sale(a, nobody))
				done := make(chan string, 3)
				call(t, d, asProspect)
				for _, c := range []string{asNurturing, asNurturing, sendPayAsked} { // the opening first
					o := begin(t, d, 1, c)
					go func() { done <- written(o.Run(ctx)) }()
					synctest.Wait()
				}
				var result tool.Result
				if how == "closed" {
					result = d.Close()
					close(release)
				}
				cancel()
				for range 3 {
					<-done
				}
				if how != "closed" {
					result = d.Close()
				}
				d.Open(t.Context()) // too late
				got := sold{}.with(result, a)
				same(t, "record", []string{
					"set_field intent prospect staged intent", "set_field stage nurturing staged funnel", "send_flow hello failed outcome unknown opening",
					"send_flow film failed not started in time stage", "send_flow pay failed not started in time asked",
				}, got.Record)
				same(t, "after", result, d.Close())
				same(t, "asked", []string{"hello opening"}, got.Saw)
			})
		})
	}
}

// Holds docs/spec/07-tools.md, "Flows go out before the reply": the flows of the server's rules wait
// for those ahead of them, one after the other; a repeat waits for the first.
func TestFlowsOfASaleGoOutInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{send: func(ctx context.Context, r action.Record) (action.Record, error) {
			time.Sleep(time.Second)
			return performed(ctx, r)
		}}
		d, began := tool.NewDesk(sale(a, nobody)), time.Now()
		calls := []string{asProspect, sendMap, asNurturing, asNurturing, sendFilm, sendPayAsked}
		var outcomes []tool.Outcome
		for _, c := range calls {
			outcomes = append(outcomes, begin(t, d, 1, c))
		}
		waits := make([]func() string, len(calls))
		for i := len(calls) - 1; i >= 0; i-- { // whatever starts first
			waits[i] = goes(t, outcomes[i])
			synctest.Wait()
		}
		film := `{"staged":true,"flowSent":"film"}`
		for i, want := range []struct {
			told string
			took time.Duration
		}{{queued, 0}, {sent, 2}, {film, 3}, {film, 3}, {sent, 3}, {sent, 4}} {
			same(t, "told", want.told, waits[i]())
			if took := time.Since(began); took != want.took*time.Second {
				t.Errorf("%s took %v, want %v s", calls[i], took, want.took)
			}
		}
		got := sold{}.with(d.Close(), a)
		same(t, "asked", "hello opening, map, film stage, pay asked", strings.Join(got.Saw, ", "))
		if a.crossed {
			t.Error("two were sent at a time")
		}
	})
}

// Holds docs/spec/07-tools.md, "Performing" and 08-sales.md, "Opening", "Stage flows" and "Payment
// link": what an earlier try of the turn sent is not sent again, and a link that went out then has
// what follows it.
func TestEarlierOfASale(t *testing.T) {
	opening := action.Record{Tool: action.SendFlow, ID: "hello", Status: action.Performed, Origin: action.FromOpening, At: at}
	stage := action.Record{Tool: action.SendFlow, ID: "film", Status: action.Sending, Origin: action.FromStage}
	link := action.Record{Tool: action.SendFlow, ID: "pay", Status: action.Performed, ContactAsked: true, At: at}
	const follows = "set_field stage link_sent staged funnel; send_event bought staged"
	tests := []struct {
		name    string
		sale    contact.Sale
		earlier []action.Record
		calls   []string
		told    string
		record  string
		saw     string
	}{
		{"the opening", nobody, []action.Record{opening}, []string{asProspect, sendMap, "open"}, staged + " " + sent, "send_flow hello performed opening; set_field intent prospect staged intent; send_flow map performed", "map"},
		{"an opening that failed", nobody, []action.Record{{Tool: action.SendFlow, ID: "hello", Status: action.Failed, Error: "refused", Origin: action.FromOpening}}, []string{asProspect, "open"}, staged,
			"send_flow hello failed refused opening; set_field intent prospect staged intent", ""},
		{"a stage's flow", buyer, []action.Record{stage}, []string{asNurturing, sendFilm}, `{"staged":true,"flowRefused":"film","flowReason":"unknown"} ` + unknown,
			"send_flow film failed outcome unknown stage; set_field stage nurturing staged funnel", ""},
		{"the link", prepared, []action.Record{link}, []string{sendPayAsked, asPrepared}, sent + " " + earlierStage, "send_flow pay performed; " + follows, ""},
		{"a link that asking opened", offering, []action.Record{link}, nil, "", "send_flow pay performed asked; " + follows, ""},
		{"a link not known to have arrived", prepared, []action.Record{{Tool: action.SendFlow, ID: "pay", Status: action.Sending}}, []string{sendPay}, unknown, "send_flow pay failed outcome unknown", ""},
		{"all of them", nobody, []action.Record{opening, stage, link}, []string{sendMap, asProspect, "open"}, sent + " " + staged,
			"send_flow hello performed opening; send_flow film failed outcome unknown stage; send_flow pay performed asked; " + follows + "; send_flow map performed; set_field intent prospect staged intent", "map"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &account{}
			turn := sale(a, tt.sale)
			turn.Earlier = tt.earlier
			got := sell(t, turn, a, tt.calls...)
			same(t, "told", tt.told, strings.Join(got.Told, " "))
			same(t, "record", tt.record, strings.Join(got.Record, "; "))
			same(t, "asked", tt.saw, strings.Join(got.Saw, ", "))
		})
	}
	turn := sale(&account{}, prepared)
	turn.Earlier = []action.Record{opening, stage, link}
	got := sell(t, turn, &account{}, notes(7)...)
	same(t, "pending", []string{"3 set_field stage link_sent follows", "4 send_event bought follows", "5 write_note summary"}, got.Pending[:3])
	same(t, "told of the last", staged+" "+overCap, got.Told[5]+" "+got.Told[6])
}

package tool_test

import (
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/contact"
)

// every is one call of each tool that writes, without those that may always be made.
var every = []string{
	sendMap, sendPayAsked, `add_tag {"tag":"gift"}`, `remove_tag {"tag":"gift"}`, `schedule_nudge {"delay":"soon"}`,
	`set_field {"field":"shift","value":"evening"}`, wantsA, asNurturing, asOffered,
}

// Holds docs/spec/08-sales.md, "Intent": until the contact is a prospect, every write but the
// intent field and notes is refused, makes no request and takes no slot; reading works.
func TestUntilProspect(t *testing.T) {
	a := &account{read: reads(profile)}
	d := tool.NewDesk(sale(a, nobody))
	want := []action.Call{}
	for range 3 { // more than there are slots
		for _, c := range every {
			name, _, _ := strings.Cut(c, " ")
			refused := notProspect
			answer := action.AnsweredNotStaged
			if name == "send_flow" {
				refused, answer = flowNoBuyer, action.AnsweredNotSent
			}
			same(t, c, refused, call(t, d, c))
			want = append(want, action.Call{Step: 1, Tool: action.Kind(name), Answer: answer, Reason: "not_prospect"})
		}
	}
	if got := call(t, d, "get_contact"); !strings.HasPrefix(got, `{"available":true`) {
		t.Errorf("get_contact is told %s", got)
	}
	same(t, "note", staged, call(t, d, `write_note {"note":"summary","text":"Asks for a job."}`))
	same(t, "intent", staged, call(t, d, asNoProspect))
	same(t, "then", notProspect, call(t, d, wantsA))
	result := d.Close()
	for i, c := range result.Calls[:len(want)] {
		c.ID, c.Value, c.ContactAsked = "", "", false
		same(t, "trace", want[i], c)
	}
	same(t, "record", []string{"write_note summary staged", "set_field intent not_prospect staged intent"}, sold{}.with(result, a).Record)
	same(t, "sale", contact.Sale{Intent: contact.NotProspect}, result.Sale)
	if len(a.saw) > 0 || a.reads != 1 {
		t.Errorf("asked for %+v, read %d times", a.saw, a.reads)
	}
}

// Holds docs/spec/08-sales.md, "Intent": unknown, then not_prospect, then prospect, and never
// back; a contact past the first stage counts as a prospect; an intent write earlier in the same
// turn counts, and one that was dropped does not.
func TestIntent(t *testing.T) {
	some := strings.Split(strings.TrimSpace(strings.Repeat(`write_note {"note":"summary","text":"#"};`, 8)), ";")[:8]
	for i := range some {
		some[i] = strings.Replace(some[i], "#", string(rune('a'+i)), 1)
	}
	tests := []struct {
		name  string
		sale  contact.Sale
		calls []string
		told  string // of the last calls
		want  contact.Sale
	}{
		{"in order", nobody, []string{asNoProspect, asProspect, sendMap}, staged + " " + queued + " " + sent, contact.Sale{Intent: contact.Prospect}},
		{"at once", nobody, []string{asProspect, wantsA}, queued + ` {"staged":true,"flows":["folder_a","terms_a"]}`, contact.Sale{Intent: contact.Prospect, Offering: "a", Chosen: true}},
		{"too late", nobody, []string{sendMap, asProspect}, flowNoBuyer + " " + queued, contact.Sale{Intent: contact.Prospect}},
		{"not back", buyer, []string{asNoProspect, sendMap}, earlierStage + " " + sent, buyer},
		{"not back within a turn", nobody, []string{asProspect, asNoProspect}, queued + " " + earlierStage, contact.Sale{Intent: contact.Prospect}},
		{"once more", buyer, []string{asProspect, asProspect}, staged + " " + staged, buyer},
		{"past the first stage", contact.Sale{Stage: contact.Qualifying}, []string{sendMap, asNoProspect, asProspect}, sent + " " + earlierStage + " " + staged, buyer},
		{"at the first stage", contact.Sale{Stage: contact.New}, []string{sendMap}, flowNoBuyer, contact.Sale{Stage: contact.New}},
		{"dropped", nobody, append(some, asProspect, sendMap), overCap + " " + flowNoBuyer, nobody},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &account{}
			got := sell(t, sale(a, tt.sale), a, tt.calls...)
			want := strings.Fields(tt.told)
			same(t, "told", want, got.Told[len(got.Told)-len(want):])
			same(t, "sale", tt.want, got.Sale)
		})
	}
}

// Holds docs/spec/08-sales.md, "Funnel": forward only.
func TestFunnel(t *testing.T) {
	tests := []struct {
		name  string
		sale  contact.Sale
		calls []string
		told  []string
		want  contact.FunnelStage
	}{
		{"forward", buyer, []string{asNurturing, asPrepared}, []string{`{"staged":true,"flowSent":"film"}`, staged}, contact.Prepared},
		{"back", offering, []string{asNurturing}, []string{earlierStage}, contact.Offered},
		{"back within a turn", buyer, []string{asPrepared, asNurturing}, []string{staged, earlierStage}, contact.Prepared},
		{"the same", prepared, []string{asPrepared}, []string{staged}, contact.Prepared},
		{"after the last", paying, []string{asPrepared}, []string{earlierStage}, contact.LinkSent},
		{"the server's", buyer, []string{`set_field {"field":"stage","value":"link_sent"}`},
			[]string{"bad: value of stage must be one of: new, qualifying, nurturing, offered, prepared"}, contact.Qualifying},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &account{}
			got := sell(t, sale(a, tt.sale), a, tt.calls...)
			same(t, "told", tt.told, got.Told)
			same(t, "stage", tt.want, got.Sale.Stage)
		})
	}
}

// Holds docs/spec/08-sales.md, "Conversion events": a write that advances the stage fires the
// stage's event right behind it, once, outside the cap; the model never sees it.
func TestEvents(t *testing.T) {
	tests := []struct {
		name            string
		sale            contact.Sale
		calls           []string
		record, pending []string
	}{
		{"advances", buyer, []string{asOffered, `add_tag {"tag":"gift"}`},
			[]string{"set_field stage offered staged funnel", "send_event told staged", "add_tag gift staged"},
			[]string{"0 set_field stage offered", "1 send_event told follows", "2 add_tag gift"}},
		{"does not advance", offering, []string{asOffered}, []string{"set_field stage offered staged funnel", "send_flow terms_a performed stage"}, []string{"0 set_field stage offered"}},
		{"passes by", buyer, []string{asPrepared}, []string{"set_field stage prepared staged funnel"}, []string{"0 set_field stage prepared"}},
		{"once", buyer, []string{asOffered, asOffered}, []string{"set_field stage offered staged funnel", "send_event told staged"}, []string{"0 set_field stage offered", "1 send_event told follows"}},
		{"refused", prepared, []string{asOffered}, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &account{}
			got := sell(t, sale(a, tt.sale), a, tt.calls...)
			same(t, "record", tt.record, got.Record)
			same(t, "pending", tt.pending, got.Pending)
			if all := strings.Join(got.Told, ""); strings.Contains(all, "event") || strings.Contains(all, "told") || strings.Contains(all, "bought") {
				t.Errorf("told %s", all)
			}
		})
	}
	for _, spec := range tool.Specs(selling()) {
		if all := spec.Description + string(spec.Parameters); strings.Contains(all, "event") || strings.Contains(all, "bought") {
			t.Errorf("%s tells of events: %s", spec.Name, all)
		}
	}
}

// Holds docs/spec/08-sales.md, "Offerings": a flow of an offering is offered and accepted only when
// it is the turn's; setting the field makes the new one's available in the same turn, named by the
// result; writes are refused from offered on.
func TestOfferings(t *testing.T) {
	named := func(sale contact.Sale) contact.Sale { sale.Offering = "a"; return sale }
	tests := []struct {
		name  string
		sale  contact.Sale
		sent  []string
		calls []string
		told  []string
		enum  string // at last
	}{
		{"none", buyer, nil, []string{`send_flow {"flow":"folder_a"}`}, []string{otherOffering}, "map film pay"},
		{"of the request", named(buyer), nil, []string{`send_flow {"flow":"folder_a"}`, `send_flow {"flow":"folder_b"}`}, []string{sent, otherOffering}, "map folder_a film terms_a pay"},
		{"set", buyer, nil, []string{wantsB, `send_flow {"flow":"folder_b"}`}, []string{`{"staged":true,"flows":["folder_b"]}`, sent}, "map folder_b film pay"},
		{"set anew", named(buyer), nil, []string{wantsB, `send_flow {"flow":"folder_a"}`}, []string{`{"staged":true,"flows":["folder_b"]}`, otherOffering}, "map folder_b film pay"},
		{"set as it was", named(buyer), nil, []string{wantsA}, []string{staged}, "map folder_a film terms_a pay"},
		{"set to one whose flows the contact has", buyer, []string{"folder_b"}, []string{wantsB}, []string{staged}, "map film pay"},
		{"set to one of whose flows the contact has some", buyer, []string{"folder_a"}, []string{wantsA}, []string{`{"staged":true,"flows":["terms_a"]}`}, "map film terms_a pay"},
		{"after it was offered", offering, nil, []string{wantsB, wantsA}, []string{offeringFixed, offeringFixed}, "map folder_a film terms_a pay"},
		{"after it was offered in this turn", named(buyer), []string{"terms_a"}, []string{asOffered, wantsB}, []string{`{"staged":true,"flowRefused":"terms_a","flowReason":"already_sent"}`, offeringFixed}, "map folder_a film pay"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &account{}
			turn := sale(a, tt.sale)
			turn.Sent, turn.Menu = tt.sent, &tool.Menu{}
			d := tool.NewDesk(turn)
			same(t, "told", strings.Join(tt.told, "\n"), each(t, d, tt.calls...))
			want := `"enum":["` + strings.ReplaceAll(tt.enum, " ", `","`) + `"]`
			if got := string(find(d, "send_flow").Spec().Parameters); !strings.Contains(got, want) {
				t.Errorf("offered at last %s, want %s", got, want)
			}
		})
	}
}

// Holds docs/spec/08-sales.md, "Offerings" and 07-tools.md, "The tools": a tool whose list is empty
// is not offered, until there is something in it.
func TestFlowsOfOfferingsAlone(t *testing.T) {
	a := &account{}
	turn := sale(a, buyer)
	turn.Tools.Flows = turn.Tools.Flows[2:4]
	d := tool.NewDesk(turn)
	flows := find(d, "send_flow")
	if flows == nil || flows.Offered() || len(tool.Specs(turn.Tools)) != 6 {
		t.Fatal("flows are offered before there is an offering")
	}
	same(t, "told", "bad: flow must be one of: ", call(t, d, `send_flow {"flow":"zzz"}`))
	call(t, d, wantsB)
	if !flows.Offered() || !strings.Contains(string(flows.Spec().Parameters), `"enum":["folder_b"]`) {
		t.Errorf("offered: %v, %s", flows.Offered(), flows.Spec().Parameters)
	}
	turn.Sent = []string{"folder_a", "folder_b"}
	if find(tool.NewDesk(turn), "send_flow") != nil {
		t.Error("flows are offered that the contact has")
	}
}

// Holds docs/spec/08-sales.md, "Flows once", of a tenant that sells: what a turn has sent stays in
// the enum of its later steps, so that the prompt's bytes stay, and is answered like the first.
func TestSentInThisTurn(t *testing.T) {
	a := &account{}
	d := tool.NewDesk(sale(a, buyer))
	before := find(d, "send_flow").Spec()
	same(t, "told", strings.Join([]string{sent, sent, `{"staged":true,"flowSent":"film"}`, sent}, "\n"), each(t, d, sendMap, sendMap, asNurturing, sendFilm))
	same(t, "spec", before, find(d, "send_flow").Spec())
	same(t, "asked", 2, len(a.saw))
}

// Holds docs/spec/08-sales.md, "The sale": a tenant without an intent field gets the front desk only.
func TestFrontDeskOnly(t *testing.T) {
	bare := selling()
	for i := range bare.Fields {
		bare.Fields[i].Intent, bare.Fields[i].Offering = false, i == 2
	}
	a := &account{}
	turn := sale(a, nobody)
	turn.Tools = bare
	got := sell(t, turn, a, `send_flow {"flow":"folder_a"}`, sendFilm, sendPayAsked, asOffered, asNurturing, wantsA, wantsB, asProspect, asNoProspect, "open")
	same(t, "told", strings.TrimSpace(strings.Repeat(sent+"\n", 3)+strings.Repeat(staged+"\n", 5)+overCap), strings.Join(got.Told, "\n"))
	same(t, "record", []string{
		"send_flow folder_a performed", "send_flow film performed", "send_flow pay performed asked", "set_field stage offered staged", "set_field stage nurturing staged",
		"set_field thing a staged", "set_field thing b staged", "set_field intent prospect staged", "set_field intent not_prospect dropped_over_cap",
	}, got.Record)
	same(t, "pending", []string{"3 set_field stage offered", "4 set_field stage nurturing", "5 set_field thing a", "6 set_field thing b", "7 set_field intent prospect"}, got.Pending)
	same(t, "sale", nobody, got.Sale)
	for _, spec := range tool.Specs(bare) {
		for _, word := range []string{"not_prospect`", "openingQueued", "offering_fixed", "flowSent"} {
			if strings.Contains(spec.Description, word) {
				t.Errorf("%s speaks of %s", spec.Name, word)
			}
		}
	}
}

// Holds docs/spec/07-tools.md, "The action record" and "Bounds": the last step is told of the flows
// that the server sent by itself, and of what was refused.
func TestSoFarOfASale(t *testing.T) {
	a := &account{send: treats(map[string]string{"film": "refused"})}
	d := tool.NewDesk(sale(a, nobody))
	each(t, d, sendMap, asProspect, asNurturing)
	same(t, "so far", strings.Join([]string{
		"send_flow map: not sent (not_prospect)", "set_field intent prospect: staged, not done yet", "set_field stage nurturing: staged, not done yet",
		"send_flow hello: sent, the person sees it before your reply", "send_flow film: not sent (failed)",
	}, "\n"), d.SoFar())
	for _, secret := range []string{"HIDDEN"} {
		if strings.Contains(d.SoFar(), secret) {
			t.Errorf("%q is told", secret)
		}
	}
}

// Holds docs/spec/07-tools.md, "The tools": what is told of the sale names only what is configured,
// and never speaks of success.
func TestWordsOfTheSale(t *testing.T) {
	all := tool.Rules()
	for _, spec := range tool.Specs(selling()) {
		text := spec.Description + string(spec.Parameters)
		if strings.Contains(text, "HIDDEN") || strings.Contains(strings.ToLower(text), "success") {
			t.Errorf("%s tells %s", spec.Name, text)
		}
		for paragraph := range strings.SplitSeq(spec.Description, "\n\n") {
			if spec.Name != "get_contact" && !strings.Contains(all, paragraph) {
				t.Errorf("the rules do not hold what %s says: %q", spec.Name, paragraph)
			}
		}
	}
}

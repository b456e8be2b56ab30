package sales_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/sales"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// selling are the tools of a tenant that sells.
func selling() *tenant.Tools {
	return &tenant.Tools{
		Flows: []tenant.Flow{
			{ID: "hello", Role: tenant.RoleOpening}, {ID: "map", Repeatable: true}, {ID: "folder_a", Offering: "a"}, {ID: "folder_b", Offering: "b"},
			{ID: "film", OnStage: contact.Nurturing}, {ID: "terms_a", OnStage: contact.Offered, Offering: "a"}, {ID: "pay", Role: tenant.RolePaymentLink},
		},
		Fields: []tenant.Field{
			{ID: "intent", Values: []string{"not_prospect", "prospect"}, Intent: true},
			{ID: "stage", Values: []string{"new", "qualifying", "nurturing", "offered", "prepared", "link_sent"}, Funnel: true},
			{ID: "thing", Values: []string{"a", "b"}, Offering: true}, {ID: "shift", Values: []string{"morning"}},
		},
		Events: []tenant.Event{{ID: "told", Stage: contact.Offered}, {ID: "bought", Stage: contact.LinkSent}},
	}
}

func field(t *testing.T, id string) tenant.Field {
	t.Helper()
	f, found := selling().Field(id)
	if !found {
		t.Fatalf("there is no field %s", id)
	}
	return f
}

func flow(t *testing.T, id string) tenant.Flow {
	t.Helper()
	f, found := selling().Flow(id)
	if !found {
		t.Fatalf("there is no flow %s", id)
	}
	return f
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

const (
	unknown     = contact.Intent("")
	notProspect = contact.NotProspect
	prospect    = contact.Prospect
)

// Holds docs/spec/08-sales.md, "Intent", "Funnel" and "Offerings": what is refused, of every write
// at every point of a sale.
func TestRefuses(t *testing.T) {
	at := func(i contact.Intent, s contact.FunnelStage) contact.Sale {
		return contact.Sale{Intent: i, Stage: s, Offering: "a"}
	}
	const no, back, fixed = sales.NotProspect, sales.EarlierStage, sales.OfferingFixed
	tests := []struct {
		sale      contact.Sale
		kind      action.Kind
		id, value string
		want      sales.Refusal
	}{
		{at(unknown, ""), action.AddTag, "gift", "", no},
		{at(unknown, ""), action.RemoveTag, "gift", "", no},
		{at(unknown, ""), action.ScheduleNudge, "soon", "", no},
		{at(unknown, ""), action.SetField, "shift", "morning", no},
		{at(unknown, ""), action.SetField, "thing", "b", no},
		{at(unknown, ""), action.SetField, "stage", "qualifying", no},
		{at(unknown, contact.New), action.SetField, "stage", "qualifying", no},
		{at(unknown, ""), action.SetField, "intent", "not_prospect", ""},
		{at(unknown, ""), action.SetField, "intent", "prospect", ""},
		{at(unknown, ""), action.WriteNote, "summary", "", ""},
		{at(notProspect, ""), action.SetField, "shift", "morning", no},
		{at(notProspect, ""), action.WriteNote, "intent", "", ""},
		{at(notProspect, ""), action.SetField, "intent", "not_prospect", ""},
		{at(notProspect, ""), action.SetField, "intent", "prospect", ""},
		{at(notProspect, contact.Offered), action.AddTag, "gift", "", no},
		{at(prospect, ""), action.AddTag, "intent", "", ""},
		{at(prospect, ""), action.SetField, "intent", "not_prospect", back},
		{at(prospect, ""), action.SetField, "intent", "prospect", ""},
		{at(prospect, ""), action.SetField, "stage", "new", ""},
		{at(unknown, contact.Qualifying), action.SetField, "shift", "morning", ""},
		{at(unknown, contact.Qualifying), action.SetField, "intent", "not_prospect", back},
		{at(unknown, contact.Qualifying), action.SetField, "stage", "new", back},
		{at(prospect, contact.Nurturing), action.SetField, "stage", "qualifying", back},
		{at(prospect, contact.Nurturing), action.SetField, "stage", "nurturing", ""},
		{at(prospect, contact.Nurturing), action.SetField, "stage", "prepared", ""},
		{at(prospect, contact.Nurturing), action.SetField, "thing", "b", ""},
		{at(prospect, contact.Offered), action.SetField, "thing", "b", fixed},
		{at(prospect, contact.Offered), action.SetField, "thing", "a", fixed},
		{at(prospect, contact.LinkSent), action.SetField, "thing", "b", fixed},
		{at(prospect, contact.LinkSent), action.SetField, "stage", "prepared", back},
		{at(prospect, contact.LinkSent), action.SetField, "shift", "morning", ""},
	}
	for _, tt := range tests {
		c := sales.Open(selling(), tt.sale, nil)
		if got := c.Refuses(tt.kind, tt.id, tt.value); got != tt.want {
			t.Errorf("%s %s %s at %+v: refused as %q, want %q", tt.kind, tt.id, tt.value, tt.sale, got, tt.want)
		}
		none := sales.Open(&tenant.Tools{}, tt.sale, nil)
		if got := none.Refuses(tt.kind, tt.id, tt.value); got != "" {
			t.Errorf("without an intent field %s %s is refused as %q", tt.kind, tt.id, got)
		}
	}
}

// Holds docs/spec/08-sales.md, "Payment link", "Offerings" and "Flows once": which flows a model
// may call for.
func TestAsk(t *testing.T) {
	buyer := func(s contact.FunnelStage) contact.Sale { return contact.Sale{Intent: prospect, Stage: s} }
	tests := []struct {
		name  string
		sale  contact.Sale
		sent  []string
		flow  string
		asked bool
		want  sales.Refusal
		opens bool
	}{
		{"no prospect", contact.Sale{}, nil, "map", false, sales.NotProspect, false},
		{"no prospect asks for the link", contact.Sale{Stage: contact.New}, nil, "pay", true, sales.NotProspect, true},
		{"a flow", buyer(""), nil, "map", false, "", false},
		{"a stage's flow", buyer(""), nil, "film", false, "", false},
		{"had", buyer(""), []string{"film"}, "film", false, sales.AlreadySent, false},
		{"had, asked for, and not the link", buyer(""), []string{"film"}, "film", true, sales.AlreadySent, false},
		{"had, repeatable", buyer(""), []string{"map"}, "map", false, "", false},
		{"of another offering", buyer(""), nil, "folder_a", true, sales.OtherOffering, false},
		{"of the offering", contact.Sale{Intent: prospect, Offering: "a"}, nil, "folder_a", false, "", false},
		{"the link, unknown stage", buyer(""), nil, "pay", false, sales.NotPrepared, false},
		{"the link, before", buyer(contact.Offered), nil, "pay", false, sales.NotPrepared, false},
		{"the link, asked for before", buyer(contact.Qualifying), nil, "pay", true, "", true},
		{"the link, prepared", buyer(contact.Prepared), nil, "pay", false, "", false},
		{"the link, asked for when prepared", buyer(contact.Prepared), nil, "pay", true, "", false},
		{"the link, had", buyer(contact.LinkSent), []string{"pay"}, "pay", false, sales.AlreadySent, false},
		{"the link, had and asked for", buyer(contact.LinkSent), []string{"pay"}, "pay", true, "", false},
	}
	for _, tt := range tests {
		c := sales.Open(selling(), tt.sale, tt.sent)
		if got := c.Ask(flow(t, tt.flow), tt.asked); got != tt.want {
			t.Errorf("%s: refused as %q, want %q", tt.name, got, tt.want)
		}
		if got := c.Opens(flow(t, tt.flow), tt.asked); got != tt.opens {
			t.Errorf("%s: asking opens the gate: %v, want %v", tt.name, got, tt.opens)
		}
	}
}

// Holds docs/spec/08-sales.md, "Opening", "Stage flows", "Offerings" and "Conversion events": what
// follows a write.
func TestSet(t *testing.T) {
	hello, film, terms := flow(t, "hello"), flow(t, "film"), flow(t, "terms_a")
	tests := []struct {
		name         string
		sale         contact.Sale
		sent         []string
		field, value string
		want         sales.Step
		moved        contact.Sale
	}{
		{"a prospect", contact.Sale{}, nil, "intent", "prospect", sales.Step{Opening: &hello}, contact.Sale{Intent: prospect}},
		{"a prospect at last", contact.Sale{Intent: notProspect}, nil, "intent", "prospect", sales.Step{Opening: &hello}, contact.Sale{Intent: prospect}},
		{"still a prospect", contact.Sale{Intent: prospect}, nil, "intent", "prospect", sales.Step{}, contact.Sale{Intent: prospect}},
		{"a prospect by the stage", contact.Sale{Stage: contact.Offered}, nil, "intent", "prospect", sales.Step{}, contact.Sale{Intent: prospect, Stage: contact.Offered}},
		{"a prospect who had the opening", contact.Sale{}, []string{"hello"}, "intent", "prospect", sales.Step{}, contact.Sale{Intent: prospect}},
		{"a prospect whose opening is over", contact.Sale{OpeningOver: true}, nil, "intent", "prospect", sales.Step{}, contact.Sale{Intent: prospect, OpeningOver: true}},
		{"no prospect", contact.Sale{}, nil, "intent", "not_prospect", sales.Step{}, contact.Sale{Intent: notProspect}},
		{"a stage", contact.Sale{Intent: prospect}, nil, "stage", "nurturing", sales.Step{Flow: &film}, contact.Sale{Intent: prospect, Stage: contact.Nurturing}},
		{"a stage whose flow they have", contact.Sale{Intent: prospect}, []string{"film"}, "stage", "nurturing", sales.Step{Flow: &film, Refused: sales.AlreadySent}, contact.Sale{Intent: prospect, Stage: contact.Nurturing}},
		{"a stage whose flow is about another offering", contact.Sale{Intent: prospect, Offering: "b"}, nil, "stage", "offered", sales.Step{Event: "told", Flow: &terms, Refused: sales.OtherOffering},
			contact.Sale{Intent: prospect, Stage: contact.Offered, Offering: "b"}},
		{"a stage with an event", contact.Sale{Intent: prospect, Offering: "a"}, nil, "stage", "offered", sales.Step{Event: "told", Flow: &terms}, contact.Sale{Intent: prospect, Stage: contact.Offered, Offering: "a"}},
		{"the same stage", contact.Sale{Intent: prospect, Stage: contact.Offered, Offering: "a"}, nil, "stage", "offered", sales.Step{Flow: &terms}, contact.Sale{Intent: prospect, Stage: contact.Offered, Offering: "a"}},
		{"an earlier stage", contact.Sale{Intent: prospect, Stage: contact.Prepared}, nil, "stage", "offered", sales.Step{}, contact.Sale{Intent: prospect, Stage: contact.Prepared}},
		{"an offering", contact.Sale{Intent: prospect, Offering: "b"}, []string{"terms_a"}, "thing", "a", sales.Step{Flows: []string{"folder_a"}}, contact.Sale{Intent: prospect, Offering: "a", Chosen: true}},
		{"the same offering", contact.Sale{Intent: prospect, Offering: "a"}, nil, "thing", "a", sales.Step{}, contact.Sale{Intent: prospect, Offering: "a", Chosen: true}},
		{"an offering too late", contact.Sale{Intent: prospect, Stage: contact.Offered}, nil, "thing", "a", sales.Step{}, contact.Sale{Intent: prospect, Stage: contact.Offered}},
		{"no part in the sale", contact.Sale{Intent: prospect}, nil, "shift", "morning", sales.Step{}, contact.Sale{Intent: prospect}},
		{"no part in the sale of a non-prospect", contact.Sale{}, nil, "shift", "morning", sales.Step{}, contact.Sale{}},
	}
	for _, tt := range tests {
		c := sales.Open(selling(), tt.sale, tt.sent)
		same(t, tt.name, tt.want, c.Set(field(t, tt.field), tt.value))
		same(t, tt.name+": sale", tt.moved, c.Sale())
	}
}

// Holds docs/spec/08-sales.md, "Payment link": what follows the link, once.
func TestPaid(t *testing.T) {
	c := sales.Open(selling(), contact.Sale{Intent: prospect, Stage: contact.Offered}, nil)
	if _, follows := c.Paid(flow(t, "map")); follows {
		t.Error("something follows a flow that is not the link")
	}
	apart := c
	link, follows := c.Paid(flow(t, "pay"))
	if want := (sales.Link{Field: "stage", Event: "bought"}); link != want || !follows || c.Sale().Stage != contact.LinkSent {
		t.Errorf("%+v follows: %v; the sale is %+v", link, follows, c.Sale())
	}
	if _, follows := c.Paid(flow(t, "pay")); follows {
		t.Error("it follows twice")
	}
	if apart.Sale().Stage != contact.Offered {
		t.Error("a copy moved along")
	}
	silent := selling()
	silent.Events = nil
	c = sales.Open(silent, contact.Sale{Intent: prospect}, nil)
	if link, follows := c.Paid(flow(t, "pay")); link != (sales.Link{Field: "stage"}) || !follows {
		t.Errorf("without events %+v follows: %v", link, follows)
	}
	c = sales.Open(&tenant.Tools{Fields: silent.Fields[:1]}, contact.Sale{Intent: prospect}, nil)
	if _, follows := c.Paid(flow(t, "pay")); follows {
		t.Error("it follows without a funnel")
	}
}

// Holds docs/spec/08-sales.md, "Flows once" and "Offerings": what leaves the enum.
func TestMenu(t *testing.T) {
	names := func(flows []tenant.Flow) (ids []string) {
		for _, f := range flows {
			ids = append(ids, f.ID)
		}
		return ids
	}
	bare := selling()
	bare.Fields = nil
	tests := []struct {
		name          string
		tools         *tenant.Tools
		sale          contact.Sale
		sent          []string
		menu, choices []string
	}{
		{"no offering", selling(), contact.Sale{}, nil, []string{"map", "film", "pay"}, []string{"map", "folder_a", "folder_b", "film", "terms_a", "pay"}},
		{"an offering", selling(), contact.Sale{Offering: "a"}, nil, []string{"map", "folder_a", "film", "terms_a", "pay"}, []string{"map", "folder_a", "folder_b", "film", "terms_a", "pay"}},
		{"sent", selling(), contact.Sale{Offering: "a"}, []string{"map", "folder_a", "folder_b", "pay", "gone", "film"}, []string{"map", "terms_a", "pay"}, []string{"map", "terms_a", "pay"}},
		{"a front desk", bare, contact.Sale{}, []string{"film"}, []string{"map", "folder_a", "folder_b", "terms_a", "pay"}, []string{"map", "folder_a", "folder_b", "terms_a", "pay"}},
		{"no tools", nil, contact.Sale{}, nil, nil, nil},
	}
	for _, tt := range tests {
		c := sales.Open(tt.tools, tt.sale, tt.sent)
		same(t, tt.name, tt.menu, names(c.Menu()))
		same(t, tt.name+": choices", tt.choices, names(c.Choices()))
	}
}

// Holds docs/spec/08-sales.md, "Opening": not on any turn after an escalated prospect turn.
func TestOpeningOver(t *testing.T) {
	none, not, some, staged := contact.Sale{}, contact.Sale{Intent: notProspect}, contact.Sale{Intent: prospect}, contact.Sale{Stage: contact.Offered}
	tests := []struct {
		before, after contact.Sale
		escalated     bool
		want          bool
	}{
		{none, some, true, true}, {none, some, false, false}, {not, some, true, true}, {none, not, true, false}, {some, some, true, false},
		{staged, some, true, false}, {contact.Sale{OpeningOver: true}, none, false, true},
	}
	for _, tt := range tests {
		if got := sales.OpeningOver(tt.before, tt.after, tt.escalated); got != tt.want {
			t.Errorf("from %+v to %+v, escalated %v: %v, want %v", tt.before, tt.after, tt.escalated, got, tt.want)
		}
	}
}

// Holds docs/spec/08-sales.md, "The sale": copies of a case are apart from each other, and from what
// it was opened with.
func TestCopiesAreApart(t *testing.T) {
	sent := append(make([]string, 0, 8), "film")
	first := sales.Open(selling(), contact.Sale{Intent: prospect}, sent)
	second := first
	first.Sent("map")
	second.Sent("folder_a")
	second.Sent("folder_a")
	first.Set(field(t, "thing"), "a")
	if second.Sale().Offering != "" || first.Ask(flow(t, "folder_a"), false) != "" || len(slices.Clip(sent)) != 1 {
		t.Errorf("they are not: %+v, %+v", first, second)
	}
}

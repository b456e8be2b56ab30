package mock_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/agent/prompt"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/tenant/tenanttest"
)

// account stands for the turn's contact: it takes every flow, or none.
type account struct{ refuses bool }

func (a account) Send(_ context.Context, r action.Record) (action.Record, error) {
	if r.Status = action.Performed; a.refuses {
		r.Status, r.Error = action.Failed, action.OutcomeUnknown
	}
	return r, nil
}

func (account) Read(context.Context) (contact.Profile, error) {
	return contact.Profile{Tags: []string{"former_student"}}, nil
}

// turn runs a message through the prompt, the loop and the tools of a tenant: what the
// desk did, each as "tool id=value", and its reply.
func turn(t *testing.T, tn *tenant.Tenant, m *mock.Model, in agent.Input, a account) (did []string, steps int, r reply.Reply, notes []string) {
	t.Helper()
	did, steps, r, closed := deskOf(t, tn, m, in, tool.Turn{Tools: tn.Tools, Flows: a, Contact: a, Fence: prompt.Fence})
	for _, p := range closed.Pending {
		if p.Tool == action.WriteNote {
			notes = append(notes, p.Text)
		}
	}
	return did, steps, r, notes
}

// turnOf runs a message of a contact of whom something is known as of a buyer, and returns what is
// known then.
func turnOf(t *testing.T, tn *tenant.Tenant, sale contact.Sale, in agent.Input) (did []string, steps int, r reply.Reply, after contact.Sale) {
	t.Helper()
	did, steps, r, closed := deskOf(t, tn, mock.New(), in, tool.Turn{Tools: tn.Tools, Sale: sale, Flows: account{}, Contact: account{}, Fence: prompt.Fence, Nudges: true})
	return did, steps, r, closed.Sale
}

func deskOf(t *testing.T, tn *tenant.Tenant, m *mock.Model, in agent.Input, of tool.Turn) (did []string, steps int, r reply.Reply, closed tool.Result) {
	t.Helper()
	runner, err := agent.New(agent.Config{Models: []attempt.Model{{Name: "mock:demo", Model: m}}, Jitter: attempt.Jitter, Log: slog.New(slog.DiscardHandler), Budget: budget.Unlimited{}, MaxOutputTokens: 800,
		Now: func() time.Time { return time.Date(2026, 3, 4, 9, 30, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	desk := tool.NewDesk(of)
	in.Tenant, in.Tools, in.SoFar = tn, desk.Tools(), desk.SoFar
	result, err := runner.Run(t.Context(), in)
	if err != nil {
		t.Fatalf("%q: %v", in.Text, err)
	}
	closed = desk.Close()
	for _, c := range closed.Calls {
		one := string(c.Tool) + " " + c.ID
		if c.Value != "" {
			one += "=" + c.Value
		}
		if c.ContactAsked {
			one += " asked"
		}
		did = append(did, strings.TrimSpace(one))
	}
	return did, len(result.Steps), result.Reply, closed
}

type toolCase struct {
	earlier, text string // what the contact wrote before, and now
	did           []string
	reason        conversation.EscalationReason
	holds         string
}

func checkTools(t *testing.T, tn *tenant.Tenant, tests []toolCase) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			in := agent.Input{Text: tt.text}
			if tt.earlier != "" {
				_, _, before, _ := turn(t, tn, mock.New(), agent.Input{Text: tt.earlier}, account{})
				in.History = []conversation.Entry{{Role: conversation.ByContact, Text: tt.earlier}, {Role: conversation.ByAgent, Text: strings.Join(before.Messages, "\n")}}
			}
			did, steps, r, _ := turn(t, tn, mock.New(), in, account{})
			if diff := cmp.Diff(tt.did, did); diff != "" {
				t.Errorf("the desk did otherwise (-want +got):\n%s", diff)
			}
			if want := 1 + min(len(tt.did), 1); steps != want {
				t.Errorf("%d steps, want %d", steps, want)
			}
			if text := strings.Join(r.Messages, "\n"); r.EscalationReason != tt.reason || !strings.Contains(text, tt.holds) {
				t.Errorf("answers %q %q, want %q and %q", r.EscalationReason, text, tt.reason, tt.holds)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "The mock": it calls tools by their descriptions, and none
// that the message does not call for.
func TestToolsOfTheAcademy(t *testing.T) {
	const gift, evening, noted = "add_tag gift", "set_field preferred_shift=evening", "write_note handoff_note"
	checkTools(t, frontDesk(t), []toolCase{
		{"", "do you have a brochure of the wheel course?", []string{"send_flow wheel_course_brochure"}, "", "Wheel Course for Beginners"},
		{"", "I would like something to read about hand-building", []string{"send_flow hand_building_brochure"}, "", "Hand-Building Course"},
		{"how much is the wheel course?", "can you send me more details?", []string{"send_flow wheel_course_brochure"}, "", "Wheel Course for Beginners"},
		{"", "how do I get there?", []string{"send_flow studio_map"}, "", "3 Kiln Lane"},
		{"", "could you send me a map please", []string{"send_flow studio_map"}, "", "3 Kiln Lane"},
		{"", "do I take the ferry, or is there a car park?", []string{"send_flow studio_map"}, "", ""},
		{"", "I have no talent, I am not sure I can do it", []string{"send_flow student_gallery"}, "", "start from nothing"},
		{"how much is the wheel course?", "please send me the payment link", []string{"send_flow payment_link asked"}, "", "By card on the payment page"},
		{"", "I am ready to sign up", []string{"send_flow payment_link asked"}, "", "By card on the payment page"},
		{"", "the wheel course would be a gift for my sister", []string{gift}, "", "Wheel Course for Beginners"},
		{"", "do you sell gift vouchers?", []string{gift}, "", "valid for two years"},
		{"", "how much is the wheel course as a group booking?", []string{"add_tag group_booking"}, "", ""},
		{"", "evenings suit me better", []string{evening}, "", ""},
		{"", "good morning, the evening works best for me", []string{evening}, "", ""},
		{"", "the brochure of the wheel course please, evenings work better for me", []string{"send_flow wheel_course_brochure", evening}, "", "Wheel Course for Beginners"},
		{"", "I was in your hand-building course last year", []string{"get_contact"}, "", "Hand-Building Course"},
		{"", "I was charged twice", []string{noted}, conversation.Complaint, ""},
		{"", "any discount on a gift?", []string{noted}, conversation.PriceNegotiation, ""},
		{"", "do you sell kilns?", []string{noted}, conversation.OutOfScope, ""},
		{"", "send me a brochure about kilns", []string{noted}, conversation.OutOfScope, ""},

		{"", "how much is the wheel course?", nil, "", "240 EUR"},
		{"", "where is the studio?", nil, "", "3 Kiln Lane"},
		{"", "is the studio accessible by wheelchair?", nil, "", "step-free"},
		{"", "is there a course in the evening?", nil, "", ""},
		{"", "how much is the wheel course in a group?", nil, "", "240 EUR"},
		{"", "can I pay by card?", nil, "", "By card"},
		{"", "how do I sign up for the wheel course?", nil, "", "courses/wheel"},
		{"", "something to read, please", []string{noted}, conversation.OutOfScope, ""}, // of two courses it cannot tell which
		{"", "hi", nil, "", ""},
		{"", "thanks!", nil, "", ""},
		{"", "👍", nil, "", ""},
	})
}

// Holds docs/spec/04-agent.md, "The mock": in any tenant's words.
func TestToolsOfTheRepairShop(t *testing.T) {
	checkTools(t, tenanttest.Equipped(), []toolCase{
		{"", "tem um folheto da troca de tela?", []string{"send_flow folheto_tela"}, "", "Troca de tela"},
		{"quanto custa a troca de tela?", "tem mais detalhes?", []string{"send_flow folheto_tela"}, "", "Troca de tela"},
		{"", "como chego aí?", []string{"send_flow mapa_oficina"}, "", "Pirilampos"},
		{"", "tenho dúvida, tem fotos?", []string{"send_flow consertos_prontos"}, "", ""},
		{"quanto custa a troca de tela?", "quero pagar, manda o link de pagamento", []string{"send_flow pagamento asked"}, "", "Pix"},
		{"", "a troca de tela é um presente", []string{"add_tag presente"}, "", "Troca de tela"},
		{"", "de manhã fica melhor para mim", []string{"set_field periodo=manhã"}, "", ""},
		{"", "fui cobrado duas vezes", []string{"write_note passagem"}, conversation.Complaint, ""},
		{"", "já fiz a troca de tela com vocês", []string{"get_contact"}, "", "Troca de tela"},

		{"", "quanto custa a troca de tela?", nil, "", "350 BRL"},
		{"", "onde fica a oficina?", nil, "", "Pirilampos"},
		{"", "bom dia", nil, "", ""},
	})
}

// Holds docs/spec/04-agent.md, "The mock": without tools in the request none is called.
func TestNoToolsNoCalls(t *testing.T) {
	bare := academy(t)
	bare.Tools = nil
	for _, text := range []string{"how do I get there?", "I was charged twice", "please send me the payment link"} {
		if did, steps, _, _ := turn(t, bare, mock.New(), agent.Input{Text: text}, account{}); len(did) > 0 || steps != 1 {
			t.Errorf("%q: did %v in %d steps", text, did, steps)
		}
	}
}

// A reply does not rest on a flow that did not go out.
func TestFlowThatDidNotGoOut(t *testing.T) {
	_, _, r, _ := turn(t, academy(t), mock.New(), agent.Input{Text: "do I take the ferry, or is there a car park?"}, account{refuses: true})
	if r.EscalationReason != conversation.OutOfScope {
		t.Errorf("answers %q %q", r.EscalationReason, r.Messages)
	}
	if _, _, r, _ = turn(t, academy(t), mock.New(), agent.Input{Text: "a brochure of the wheel course, how much is it?"}, account{refuses: true}); !strings.Contains(strings.Join(r.Messages, "\n"), "240 EUR") {
		t.Errorf("the price is not told: %q", r.Messages)
	}
}

// What is known from the history is not noted again.
func TestDoneBeforeIsNotDoneAgain(t *testing.T) {
	in := agent.Input{Text: "as I said, evenings suit me better for the gift", History: []conversation.Entry{
		{Role: conversation.ByContact, Text: "evenings suit me better, it is a gift"},
		{Role: conversation.ByAgent, Text: "Good.", Actions: []action.Record{
			{Tool: action.SetField, ID: "preferred_shift", Value: "evening", Status: action.Performed}, {Tool: action.AddTag, ID: "gift", Status: action.Performed}}},
	}}
	if did, _, _, _ := turn(t, academy(t), mock.New(), in, account{}); strings.Contains(strings.Join(did, ","), "gift") || strings.Contains(strings.Join(did, ","), "evening") {
		t.Errorf("did %v", did)
	}
}

// Holds docs/spec/04-agent.md, "The mock": a note for whoever takes over says why, and about
// which offering, in no word of the contact's.
func TestNoteOfAHandoff(t *testing.T) {
	for text, want := range map[string]string{
		"I was charged twice": "reason: complaint",
		"I was charged twice for the wheel course, call me at 555 0199": "reason: complaint; about: Wheel Course for Beginners",
		"we have a cafe, do you sell kilns?":                            "reason: out of scope",
		"any discount on the Glaze Weekend?":                            "reason: price negotiation; about: Glaze Weekend",
	} {
		_, _, _, notes := turn(t, academy(t), mock.New(), agent.Input{Text: text}, account{})
		if diff := cmp.Diff([]string{want}, notes); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// A mock that was slowed down takes its time once a turn, however many steps it makes.
func TestLatencyOfATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := mock.New()
		if err := m.Control(mock.Directive{Latency: 9 * time.Second}); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		_, steps, _, _ := turn(t, frontDesk(t), m, agent.Input{Text: "how do I get there?"}, account{})
		if took := time.Since(start); steps != 2 || took != 9*time.Second {
			t.Errorf("%d steps took %v", steps, took)
		}
	})
}

// Holds docs/spec/04-agent.md, "The mock": told to misbehave, it misuses its tools, and the
// turn still ends in a reply.
func TestToolsMisused(t *testing.T) {
	m := mock.New()
	if err := m.Control(mock.Directive{Mode: mock.EveryTool}); err != nil {
		t.Fatal(err)
	}
	did, _, r, _ := turn(t, academy(t), m, agent.Input{Text: "how much is the wheel course?"}, account{})
	if len(did) < 20 || !strings.Contains(strings.Join(r.Messages, "\n"), "240 EUR") {
		t.Errorf("did %v and answers %q", did, r.Messages)
	}
	if err := m.Control(mock.Directive{Mode: mock.UnknownID}); err != nil {
		t.Fatal(err)
	}
	did, steps, r, _ := turn(t, academy(t), m, agent.Input{Text: "how much is the wheel course?"}, account{})
	if steps != 3 || !strings.Contains(strings.Join(r.Messages, "\n"), "240 EUR") {
		t.Errorf("did %v in %d steps and answers %q", did, steps, r.Messages)
	}
}

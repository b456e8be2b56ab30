package mock_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/tenant/tenanttest"
)

// seller runs turns of a contact of whom the tools know what the turns before recorded.
type seller struct {
	of      *tenant.Tenant
	sale    contact.Sale
	history []conversation.Entry
}

type sold struct {
	text   string
	did    []string
	says   string // in the reply
	reason conversation.EscalationReason
}

func (s *seller) check(t *testing.T, tests []sold) {
	t.Helper()
	for _, tt := range tests {
		did, _, r, after := turnOf(t, s.of, s.sale, agent.Input{Text: tt.text, History: s.history, Sale: s.sale, Offering: s.sale.Offering})
		said := strings.Join(append(r.Messages, r.ClosingQuestion), "\n")
		if diff := cmp.Diff(tt.did, did); diff != "" || r.EscalationReason != tt.reason || !strings.Contains(said, tt.says) {
			t.Errorf("%q: says %q %q, want %q %q; the desk did (-want +got):\n%s", tt.text, r.EscalationReason, said, tt.reason, tt.says, diff)
		}
		if r.EscalationReason == "" {
			s.sale = after
		}
		s.history = append(s.history, conversation.Entry{Role: conversation.ByContact, Text: tt.text}, conversation.Entry{Role: conversation.ByAgent, Text: said})
	}
}

// Holds docs/spec/08-sales.md, "Funnel": the mock takes somebody who means to buy from the first
// question to the link to pay, and hands off what is for a person.
func TestSellsToAnybody(t *testing.T) {
	s := &seller{of: academy(t)}
	s.check(t, []sold{
		{"hi", nil, "Kilnbrook", ""},
		{"what courses do you have?", []string{"set_field intent=prospect", "set_field stage=qualifying"}, "What would you like to make", ""},
		{"the wheel course sounds nice, evenings suit me better", []string{"set_field course=wheel_course", "set_field stage=nurturing", "set_field preferred_shift=evening"}, "", ""},
		{"how much is it?", []string{"set_field stage=offered"}, "240 EUR\nIs there anything else you would like to know", ""},
		{"do I need experience?", nil, "start from nothing", ""},
		{"no, that's all", []string{"set_field stage=prepared"}, "How would you like to pay?", ""},
		{"by card, please", []string{"send_flow payment_link"}, "card", ""},
		{"I have paid", []string{"write_note handoff_note"}, "", conversation.PaymentReported},
	})
	if s.sale.Stage != contact.LinkSent || s.sale.Offering != "wheel_course" {
		t.Errorf("it ends as %+v", s.sale)
	}

	s = &seller{of: tenanttest.Selling()}
	s.check(t, []sold{
		{"bom dia", nil, "Vagalume", ""},
		{"quanto custa a troca de tela?", []string{"set_field intencao=prospect", "set_field conserto=tela"}, "350 BRL", ""},
		{"quanto custa mesmo?", []string{"set_field etapa=offered"}, "Falta alguma informação", ""},
		{"não, é só isso", []string{"set_field etapa=prepared"}, "Como você prefere pagar?", ""},
		{"pix", []string{"send_flow pagamento"}, "Pix", ""},
	})
}

// Holds docs/spec/08-sales.md, "Intent" and "Answers to objections": whoever wants something else is
// not sold to, and who asks for the link gets it.
func TestWaysOut(t *testing.T) {
	const noted = "write_note handoff_note"
	prospect := contact.Sale{Intent: contact.Prospect, Stage: contact.Offered, Offering: "wheel_course", Chosen: true}
	for name, tt := range map[string]struct {
		sale contact.Sale
		sold
	}{
		"a supplier":          {contact.Sale{}, sold{"we supply clay and glazes to schools, may we send you our price list?", []string{"set_field intent=not_prospect"}, "only look after courses", ""}},
		"a job":               {contact.Sale{}, sold{"are you hiring teachers?", []string{"set_field intent=not_prospect"}, "only look after courses", ""}},
		"a customer":          {contact.Sale{}, sold{"I am already enrolled in the wheel course, when does it start?", []string{"set_field intent=not_prospect"}, "Tuesdays or Thursdays", ""}},
		"a discount":          {prospect, sold{"can you give me a discount?", []string{noted}, "", conversation.PriceNegotiation}},
		"a complaint":         {prospect, sold{"this is unacceptable, I want to complain", []string{noted}, "", conversation.Complaint}},
		"another offering":    {prospect, sold{"can I switch to the glaze weekend?", []string{noted}, "", conversation.ExplicitRequest}},
		"the link at once":    {contact.Sale{}, sold{"please send me the payment link for the wheel course", []string{"set_field intent=prospect", "set_field course=wheel_course", "send_flow payment_link asked"}, "card", ""}},
		"later":               {prospect, sold{"I will think about it", []string{"schedule_nudge later_today"}, "take your time", ""}},
		"through an advert":   {contact.Sale{Offering: "glaze_weekend"}, sold{"hello", []string{"set_field intent=prospect"}, "", ""}},
		"a place to look for": {contact.Sale{}, sold{"where is the studio?", nil, "3 Kiln Lane", ""}},
	} {
		t.Run(name, func(t *testing.T) { (&seller{of: academy(t), sale: tt.sale}).check(t, []sold{tt.sold}) })
	}
}

package guardrail_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

const handedOff = "A colleague will write to you."

// school is a tenant with one of everything that the checks read.
func school() *tenant.Tenant {
	return &tenant.Tenant{
		ID:     "school",
		Prompt: "You are the front desk. Our map: https://school.example/map.",
		Catalog: tenant.Catalog{
			BusinessName: "School", Currency: "EUR",
			Offerings: []tenant.Offering{
				{ID: "wheel", Name: "Wheel course", Description: "Eight evenings, 240 taler. Clay for 9,50 € extra.",
					Price: tenant.Money{Amount: 24000, Currency: "EUR"}, URL: "https://school.example/wheel"},
				{ID: "masters", Name: "Masters", Description: "A year. 1200 taler.", Price: tenant.Money{Amount: 120000, Currency: "EUR"}},
			},
			FAQ:            []tenant.Question{{Question: "Where?", Answer: "Lane 3, see www.school.example/find. Parking is 2.50 EUR."}},
			PaymentOptions: []tenant.PaymentOption{{ID: "parts", Description: "In two parts of 120 EUR."}},
		},
		Rules: tenant.Rules{
			Messages:            tenant.Messages{Escalation: handedOff},
			ConfidenceThreshold: 0.6,
			PriceGuard:          tenant.PriceGuardEscalate,
		},
	}
}

func guard() *guardrail.Guard {
	return guardrail.New(guardrail.Config{
		Markers: []string{"<<<FENCE>>>", "<<<THE_FENCE>>>", "## CATALOG"},
		Secrets: []string{"", "240 EUR", "not-a-real-secret"},
	})
}

func says(messages ...string) reply.Reply { return reply.Reply{Messages: messages, Confidence: 0.9} }

func asking(closing string, messages ...string) reply.Reply {
	r := says(messages...)
	r.ClosingQuestion = closing
	return r
}

func answered(messages ...string) guardrail.Verdict {
	return guardrail.Verdict{Messages: messages, Outcome: conversation.Answered}
}

func mended(by string, messages ...string) guardrail.Verdict {
	v := answered(messages...)
	v.Interventions = []string{by}
	return v
}

func failed(by string) guardrail.Verdict {
	return guardrail.Verdict{Messages: []string{handedOff}, Outcome: conversation.EscalatedError,
		Reason: conversation.ByError, Interventions: []string{by}}
}

type guardCase struct {
	name  string
	reply reply.Reply
	want  guardrail.Verdict
}

func check(t *testing.T, tests []guardCase) {
	t.Helper()
	g, tn := guard(), school()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Helper()
			got := g.Apply(guardrail.Input{Tenant: tn, Reply: tt.reply})
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("verdict differs (-want +got):\n%s", d)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Guardrails", 1: anything invalid hands off.
func TestContract(t *testing.T) {
	unsure := says("Yes.")
	unsure.Confidence = 2
	reasonless := says("Yes.")
	reasonless.Escalate = true
	check(t, []guardCase{
		{"valid", says("Yes."), answered("Yes.")},
		{"several messages", says("Yes.", "No."), answered("Yes.", "No.")},
		{"no message", says(), failed("contract")},
		{"blank message", says(" "), failed("contract")},
		{"blank closing question", asking(" ", "Yes."), failed("contract")},
		{"confidence out of range", unsure, failed("contract")},
		{"escalation without a reason", reasonless, failed("contract")},
	})
}

// Holds docs/spec/04-agent.md, "Reply contract": what is no reply hands off under its
// own class.
func TestFailure(t *testing.T) {
	got := guard().Apply(guardrail.Input{Tenant: school(), Failure: "length"})
	if d := cmp.Diff(failed("length"), got); d != "" {
		t.Errorf("verdict differs (-want +got):\n%s", d)
	}
}

// Holds docs/spec/04-agent.md, "Guardrails": a handoff replaces all text.
func TestModelEscalates(t *testing.T) {
	r := asking("Anything else?", "You get 50 EUR off.", "## CATALOG")
	r.Escalate, r.EscalationReason = true, conversation.PriceNegotiation
	check(t, []guardCase{
		{"its reason is kept", r, guardrail.Verdict{Messages: []string{handedOff},
			Outcome: conversation.Escalated, Reason: conversation.PriceNegotiation}},
	})
}

// Holds docs/spec/04-agent.md, "Guardrails", 2: echoes are stripped.
func TestFieldEcho(t *testing.T) {
	check(t, []guardCase{
		{"field line", says("We open at nine.\nescalation_reason: null"), mended("field_echo", "We open at nine.")},
		{"quoted field", says("We open at nine.\n\"closing_question\": \"When?\","), mended("field_echo", "We open at nine.")},
		{"confidence", says("We open at nine.\nConfidence: 0.9"), mended("field_echo", "We open at nine.")},
		{"escalate", says("**escalate**: false\nWe open at nine."), mended("field_echo", "We open at nine.")},
		{"quoted line", says("We open at nine.\n> escalate: true"), mended("field_echo", "We open at nine.")},
		{"item of a list", says("We open at nine.\n1. confidence: 0.9\n2) \"escalate\": false"), mended("field_echo", "We open at nine.")},
		{"object", says("{\"messages\": [\"Hi\"]}", "Hi"), mended("field_echo", "Hi")},
		{"action note", says("Here it is.\n[actions performed: send_flow brochure]"), mended("field_echo", "Here it is.")},
		{"action note in a line", says("Here it is. [Actions performed: send_flow brochure]"), mended("field_echo", "Here it is.")},
		{"in the closing question", asking("confidence: 1", "Yes."), mended("field_echo", "Yes.")},
		{"nothing left", says("escalate: true"), failed("field_echo")},
		{"words of a sentence", says("Confidence: you will gain it.\nMessages: we answer all."), answered("Confidence: you will gain it.\nMessages: we answer all.")},
	})
}

// Holds docs/spec/04-agent.md, "Guardrails", 3.
func TestLeak(t *testing.T) {
	check(t, []guardCase{
		{"fence marker", says("It says <<<FENCE>>>"), failed("leak")},
		{"full-width fence marker", says("＜＜＜FENCE＞＞＞"), failed("leak")},
		{"split fence marker", says("<<\u200b<FENCE>>>"), failed("leak")},
		{"heading", says("Sure:\n## CATALOG"), failed("leak")},
		{"heading with other spaces", says("Sure: ##CATALOG"), failed("leak")},
		{"secret", says("Yes.", "not-a-real-secret"), failed("leak")},
		{"a secret too short to tell from a word", says("It costs 240 EUR."), answered("It costs 240 EUR.")},
		{"fence marker in another case", says("It says <<<fence>>>"), failed("leak")},
		{"fence marker in other brackets", says("It says ‹‹ the fence ››"), failed("leak")},
		{"half a fence marker", says("It says << THE-FENCE"), failed("leak")},
		{"the words of a fence marker", says("It says the_fence."), failed("leak")},
		{"a word of a fence marker", says("The fence <3 is 5 > 4, fence > gate."), answered("The fence <3 is 5 > 4, fence > gate.")},
		{"secret in another case", says("NOT-A-REAL-Secret"), failed("leak")},
		{"secret with other signs", says("not a *real* (secret)"), failed("leak")},
		{"secret in lines", says("not-a-\nreal-secret"), failed("leak")},
		{"secret with accents and invisible signs", says("nöt-a-real\u2063-secret"), failed("leak")},
		{"secret over messages", asking("secret?", "Yes: not-a", "real"), failed("leak")},
		{"in the closing question", asking("not-a-real-secret?", "Yes."), failed("leak")},
		{"a heading's word", says("Our catalog, the CATALOG."), answered("Our catalog, the CATALOG.")},
		{"heading in another case", says("## Catalog"), answered("## Catalog")},
	})
}

// Holds docs/spec/04-agent.md, "Guardrails", 4.
func TestConfidence(t *testing.T) {
	low := says("Perhaps.")
	low.Confidence = 0.59
	enough := says("Yes.")
	enough.Confidence = 0.6
	check(t, []guardCase{
		{"below", low, guardrail.Verdict{Messages: []string{handedOff}, Outcome: conversation.Escalated,
			Reason: conversation.LowConfidence, Interventions: []string{"confidence"}}},
		{"at the threshold", enough, answered("Yes.")},
	})
}

// Holds docs/spec/04-agent.md, "Guardrails", 6: only URLs of the catalog or persona.
func TestLinks(t *testing.T) {
	check(t, []guardCase{
		{"of the catalog", says("See https://school.example/wheel."), answered("See https://school.example/wheel.")},
		{"spelled otherwise", says("See www.School.example/wheel/"), answered("See www.School.example/wheel/")},
		{"of the persona", says("(https://school.example/map)"), answered("(https://school.example/map)")},
		{"of an answer", says("https://school.example/find"), answered("https://school.example/find")},
		{"invented", says("Pay at https://pay.invalid/x now."), mended("links", "Pay at now.")},
		{"invented path", says("See https://school.example/secret here"), mended("links", "See here")},
		{"allowed as prefix only", says("Go https://school.example/wheel.evil.invalid/x please"), mended("links", "Go please")},
		{"without a scheme", says("Go to pay.invalid/x today"), mended("links", "Go to today")},
		{"bare host", says("Go to school-pay.com today"), mended("links", "Go to today")},
		{"markdown", says("[Pay here](https://pay.invalid/x) now"), mended("links", "Pay here now")},
		{"emptied message goes", says("https://pay.invalid", "Yes."), mended("links", "Yes.")},
		{"none left", says("https://pay.invalid"), failed("links")},
		{"in the closing question", asking("https://pay.invalid", "Yes."), mended("links", "Yes.")},
		{"stuck to a sentence", says("Book here.https://pay.invalid/x"), mended("links", "Book here.")},
		{"after an at sign", says("Pay at desk@https://pay.invalid/x now"), mended("links", "Pay at desk@ now")},
		{"after dots", says("See ..pay.invalid/x"), mended("links", "See ..")},
		{"after a bracket", says("(https://school.example/map)https://pay.invalid/x"), mended("links", "(https://school.example/map)")},
		{"an address with a path", says("Pay desk@pay.invalid/x"), mended("links", "Pay desk@")},
		{"invisible characters", says("Go to pay\u200b.invalid/x today"), mended("links", "Go to today")},
		{"invisible in the scheme", says("Go to ht\u200btps://pay.invalid today"), mended("links", "Go to today")},
		{"full width", says("Go to ｈｔｔｐｓ：／／ｐａｙ．ｉｎｖａｌｉｄ today"), mended("links", "Go to today")},
		{"ideographic point", says("Go to pay。com today"), mended("links", "Go to today")},
		{"letters of another script", says("Go to пример.рф/x or рау.com"), mended("links", "Go to or")},
		{"another scheme", says("Open whatsapp://send?x now"), mended("links", "Open now")},
		{"another scheme on a known host", says("Open javascript://school.example/wheel now"), mended("links", "Open now")},
		{"a port", says("Open pay.com:8080/x now"), mended("links", "Open now")},
		{"a country's ending", says("Open pay.com.br or pay.co.uk now"), mended("links", "Open or now")},
		{"no scheme but slashes", says("Open //pay.com now"), mended("links", "Open now")},
		{"slashes and any ending", says("Open //pay.de now"), mended("links", "Open now")},
		{"an ending in ASCII form", says("Open xn--80a.xn--p1ai/x now"), mended("links", "Open now")},
		{"an address of numbers", says("Open 192.0.2.1:80/x now"), mended("links", "Open now")},
		{"in brackets", says("Our page (https://pay.invalid/x) or <https://pay.invalid> is here"), mended("links", "Our page or is here")},
		{"a date and a fraction", says("On 1.2.2027 and 3/4"), answered("On 1.2.2027 and 3/4")},
		{"formed by a removal", says("See [pay.](https://pay.invalid/x)com now"), mended("links", "See now")},
		{"longer than an ending", says("Ana.Comércio abre às nove."), answered("Ana.Comércio abre às nove.")},
		{"e-mail that begins as a host", says("Write to ana.me@school.mail"), answered("Write to ana.me@school.mail")},
		{"e-mail", says("Write to desk@school-mail.com"), answered("Write to desk@school-mail.com")},
		{"no space after a sentence", says("Yes.See you at 9.30"), answered("Yes.See you at 9.30")},
	})
}

// Holds docs/spec/04-agent.md, "Reply contract": the closing question.
func TestClosingQuestion(t *testing.T) {
	check(t, []guardCase{
		{"its own message", asking("Which day?", "Yes."), answered("Yes.", "Which day?")},
		{"body asks already", asking("Which day?", "Morning or evening?"), answered("Morning or evening?")},
		{"body asks, then an emoji", asking("Which day?", "Morning or evening? 🙂👍🏽 "), answered("Morning or evening? 🙂👍🏽 ")},
		{"full width", asking("几点？", "上午还是晚上？"), answered("上午还是晚上？")},
		{"Arabic", asking("متى؟", "صباحا أم مساء؟"), answered("صباحا أم مساء؟")},
		{"Greek", asking("Πότε;", "Πρωί ή βράδυ;"), answered("Πρωί ή βράδυ;")},
		{"a semicolon elsewhere", asking("Which day?", "Mornings; evenings;"), answered("Mornings; evenings;", "Which day?")},
		{"only an earlier message asks", asking("Which day?", "Which?", "This."), answered("Which?", "This.", "Which day?")},
	})
}

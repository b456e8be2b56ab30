package guardrail_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

const staticRules = `
- Answer only from the catalog below. Never guess a price, a date or a place that it does not state.
- When the person only thanks you, acknowledge it in a few words and add nothing.
- We open the kiln for visitors on every first Sunday of the month, at ten.
`

// account is the school with one of every name that its ManyChat account has.
func account() *tenant.Tenant {
	tn := school()
	tn.Prompt += " We open the kiln for visitors on every first Sunday of the month, at ten."
	tn.Catalog.Offerings[0].URL = "https://school.example/wheel-2027"
	tn.Catalog.FAQ = append(tn.Catalog.FAQ, tenant.Question{
		Question: "Thanks?", Answer: "Acknowledge it in a few words and add nothing, please."})
	tn.Tools = &tenant.Tools{
		Flows:    []tenant.Flow{{ID: "brochure", FlowNs: "content20270101_0001"}, {ID: "plain", FlowNs: "brochure"}, {ID: "short", FlowNs: "flow_1"}},
		Events:   []tenant.Event{{ID: "offered", FlowNs: "content20270101_0002"}},
		Tags:     []tenant.Tag{{ID: "vip", Tag: "vip_client"}, {ID: "word", Tag: "customer"}, {ID: "short", Tag: "vip_1"}, {ID: "page", Tag: "wheel-2027"}},
		Fields:   []tenant.Field{{ID: "stage", Field: "Funnel Stage 2"}},
		Notes:    []tenant.Note{{ID: "note", Field: "agent-note"}},
		Readable: tenant.Readable{Tags: []tenant.ReadableTag{{ID: "old", Tag: "alumni2019"}}, Fields: []tenant.ReadableField{{ID: "age", Field: "age_group"}}},
		Nudge:    &tenant.Nudge{HumanActiveTag: "human_active"},
	}
	tn.Rules.Handoff = &tenant.Handoff{Tag: "needs-person", FlowNs: "content20270101_0003"}
	tn.Rules.Learning = &tenant.Learning{ConvertedTag: "paid_2027"}
	return tn
}

func keeper() *guardrail.Guard {
	return guardrail.New(guardrail.Config{
		Rules: staticRules, Names: []string{"ai_reply_1", "ai_token_1", "reply"}, Flows: []string{"content20270101_0009"},
	})
}

// Holds docs/spec/04-agent.md, "Guardrails", 3: a flow namespace, a field or tag name of
// the tenant's account, whole, and eight consecutive words of the static rules.
func TestLeakOfTheAccount(t *testing.T) {
	leaked := failed("leak")
	tests := []guardCase{
		{"flow", says("I start content20270101_0001 now."), leaked},
		{"flow that is a word", says("Here is the brochure."), leaked},
		{"flow of an event", says("content20270101_0002"), leaked},
		{"flow of the handoff", says("`content20270101_0003`"), leaked},
		{"reply flow", says("content20270101_0009?"), leaked},
		{"flow in capitals", says("CONTENT20270101_0001"), leaked},
		{"flow with invisible characters", says("content2027\u200b0101_0001"), leaked},
		{"flow in full width", says("ｃｏｎｔｅｎｔ20270101_0001"), leaked},
		{"flow with letters that do not show", says("content2027\u31640101\u115f_0001"), leaked},
		{"flow in lines", says("content2027\n0101_0001"), leaked},
		{"flow over messages", asking("Yes?", "content20270101", "_0001"), leaked},
		{"flow with other signs", says("*content* 20270101-0001."), leaked},
		{"a link in a flow", says("content2027(https://pay.invalid)0101_0001"), leaked},
		{"flow too short", says("It is flow_1."), answered("It is flow_1.")},
		{"part of a flow", says("content20270101_00015 and xcontent20270101_0001"), answered("content20270101_00015 and xcontent20270101_0001")},
		{"tag", says("You are a vip_client now."), leaked},
		{"tag, escaped", says(`You are a vip\_client now.`), leaked},
		{"tag in markup", says("You are a _vip_client_ now."), leaked},
		{"tag in bold", says("You are a **vip**_client and a vi*p_cl*ient."), leaked},
		{"tag beside markup", says("a*vip_client*b"), leaked},
		{"tag, underlined", says("v\u0332i\u0332p\u0332_client"), leaked},
		{"tag with what does not show", says("vip\u3164_cl\x01ient"), leaked},
		{"a link in a tag", says("vip_(https://pay.invalid)client"), leaked},
		{"tag in the closing question", asking("Are you a VIP_CLIENT?", "Yes."), leaked},
		{"tag in a longer name", says("vip_clients, my-vip_client"), answered("vip_clients, my-vip_client")},
		{"tag that is a word", says("You are a customer."), answered("You are a customer.")},
		{"tag too short", says("You are vip_1."), answered("You are vip_1.")},
		{"tag that is part of a page's address", says("https://school.example/wheel-2027"), answered("https://school.example/wheel-2027")},
		{"field with spaces", says("I set funnel  stage\n2."), leaked},
		{"note", says("I write agent-note."), leaked},
		{"readable tag", says("alumni2019"), leaked},
		{"readable field", says("(age_group)"), leaked},
		{"tag of people", says("human_active: no"), leaked},
		{"tag of the handoff", says("I add needs-person."), leaked},
		{"tag of those who paid", says("You are paid_2027."), leaked},
		{"reply field", says("It goes to ai_reply_1."), leaked},
		{"token field", says("AI_TOKEN_1"), leaked},
		{"a configured name that is a word", says("That is my reply."), answered("That is my reply.")},
		{"rules", says("I answer only from the catalog below. Never guess a price, you know."), leaked},
		{"rules without punctuation", says("ANSWER ONLY from the *catalog* below\nnever: guess"), leaked},
		{"rules over messages", asking("or a place?", "Never guess a price", "a date"), leaked},
		{"rules with accents", says("Nevér guéss a price, a dâte or a place"), leaked},
		{"rules with what does not show", says("Never gu\u3164ess a pr\u0332ice, a da\x00te or a place"), leaked},
		{"rules in markup", says("Never gu*ess* a price, a date or a place"), leaked},
		{"a link between the rules", says("Never guess a price https://pay.invalid a date or a place"), leaked},
		{"a link in a word of the rules", says("Never gu(https://pay.invalid)ess a price, a date or a place"), leaked},
		{"seven words of the rules", says("Never guess a price, a date or."), answered("Never guess a price, a date or.")},
		{"words of the rules in another order", says("A price, a date or a place, never guess that."), answered("A price, a date or a place, never guess that.")},
		{"rules that the persona says too", says("We open the kiln for visitors on every first Sunday of the month."), answered("We open the kiln for visitors on every first Sunday of the month.")},
		{"rules that the catalog says too", says("Acknowledge it in a few words and add nothing."), answered("Acknowledge it in a few words and add nothing.")},
	}
	g, tn := keeper(), account()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := g.Apply(guardrail.Input{Tenant: tn, Reply: tt.reply})
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("verdict differs (-want +got):\n%s", d)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Guardrails", 3: a name that the catalog holds, however it
// spells it, is no secret.
func TestFlowOfTheCatalog(t *testing.T) {
	tn := school()
	tn.Tools = &tenant.Tools{Flows: []tenant.Flow{{ID: "wheel", FlowNs: "wheel_course"}, {ID: "dashes", FlowNs: "----------"}}}
	if d := cmp.Diff(answered("The Wheel course it is."), keeper().Apply(guardrail.Input{Tenant: tn, Reply: says("The Wheel course it is.")})); d != "" {
		t.Errorf("verdict differs (-want +got):\n%s", d)
	}
}

// Holds docs/spec/04-agent.md, "Guardrails", 3: the contact's token, whatever stands
// between its letters; the next turn's token is another.
func TestLeakOfTheToken(t *testing.T) {
	const token = "Zk3-9QwErTy_7u1"
	for text, want := range map[string]guardrail.Verdict{
		"Your code is Zk3-9QwErTy_7u1.":    failed("leak"),
		"zk39 qwert\ny7u1":                 failed("leak"),
		"Your code is Zk3-9QwErTy, really": answered("Your code is Zk3-9QwErTy, really"),
	} {
		if d := cmp.Diff(want, guard().Apply(guardrail.Input{Tenant: school(), Reply: says(text), Token: token})); d != "" {
			t.Errorf("%q: verdict differs (-want +got):\n%s", text, d)
		}
		if got := guard().Apply(guardrail.Input{Tenant: school(), Reply: says(text)}); len(got.Interventions) > 0 {
			t.Errorf("%q without a token: %v", text, got.Interventions)
		}
	}
}

// Holds docs/spec/04-agent.md, "Guardrails", 3: what the channel's style takes away hides
// no name and no rule.
func TestLeakOfWhatIsWritten(t *testing.T) {
	style := func([]string) []string { return []string{"Styled."} }
	for _, text := range []string{"vip_client", "never guess a price, a date or a place"} {
		got := keeper().Apply(guardrail.Input{Tenant: account(), Reply: says(text), Style: style})
		if d := cmp.Diff(failed("leak"), got); d != "" {
			t.Errorf("%q: verdict differs (-want +got):\n%s", text, d)
		}
	}
}

package guardrail_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// acting is the school with tools, whose ids are words.
func acting() *tenant.Tenant {
	tn := school()
	tn.Tools = &tenant.Tools{
		Flows: []tenant.Flow{{ID: "brochure", FlowNs: "content20270101_0001"}}, Tags: []tenant.Tag{{ID: "vip", Tag: "vip_client"}},
		Fields: []tenant.Field{{ID: "shift", Field: "preferred_shift"}},
	}
	return tn
}

// Holds docs/spec/04-agent.md, "Guardrails", 2: a tool call that a model writes into its
// reply, in any of the forms models have, does not reach the contact.
func TestWrittenCalls(t *testing.T) {
	forms := map[string]string{
		"tags round JSON":          `<tool_call>{"name": "send_flow", "arguments": {"flow": "brochure"}}</tool_call>`,
		"tags over lines":          "<tool_call>\n{\"name\": \"send_flow\", \"arguments\": {\"flow\": \"brochure\"}}\n</tool_call>",
		"tags without an end":      "<tool_call>\n{\"name\": \"send_flow\", \"arguments\": {\"flow\": \"brochure\"}}",
		"tags in full width":       `＜tool_call＞{"name": "send_flow"}＜/tool_call＞`,
		"a tag alone":              "<tool_call>",
		"invoke":                   "<function_calls>\n<invoke name=\"send_flow\">\n<parameter name=\"flow\">brochure</parameter>\n<parameter name=\"contactAsked\">true</parameter>\n</invoke>\n</function_calls>",
		"invoke in a name space":   `<x:function_calls><x:invoke name="set_field"><x:parameter name="field">shift</x:parameter></x:invoke></x:function_calls>`,
		"function":                 "<function=send_flow>{\"flow\": \"brochure\"}</function>",
		"special tokens":           `<|tool_calls_begin|>{"name":"add_tag","arguments":{"tag":"vip"}}<|tool_calls_end|>`,
		"python tag":               `<|python_tag|>send_flow(flow="brochure")`,
		"brackets":                 `[TOOL_CALLS] [{"name": "send_flow", "arguments": {"flow": "brochure"}}]`,
		"JSON":                     `{"name":"send_flow","arguments":{"flow":"brochure"}}`,
		"JSON over lines":          "{\n  \"tool\": \"set_field\",\n  \"input\": {\n    \"field\": \"shift\",\n    \"value\": \"evening\"\n  }\n}",
		"JSON in a code fence":     "```json\n{\"name\": \"send_flow\", \"arguments\": {\"flow\": \"brochure\"}}\n```",
		"code in a code fence":     "```tool_code\nprint(default_api.send_flow(flow='brochure'))\n```",
		"JSON in single quotes":    `{'name': 'send_flow', 'arguments': {'flow': 'brochure'}}`,
		"JSON with a brace inside": `{"name":"write_note","arguments":{"note":"summary","text":"wants } and \" too"}}`,
		"JSON that is cut":         `{"name": "send_flow", "arguments": {"flow": "bro`,
		"a list of calls":          `[{"name":"send_flow","arguments":{}}, {"name":"add_tag","arguments":{}}]`,
		"arguments alone":          `{"flow": "brochure"}`,
		"a result":                 `{"staged": true}`,
		"a result with a reason":   `{"sent":false,"reason":"unknown"}`,
		"a profile":                `{"tags":["vip"],"fields":{"shift":"evening"},"available":true}`,
		"openai":                   `{"tool_calls":[{"type":"function","function":{"name":"x","arguments":"{}"}}]}`,
		"a call":                   `send_flow(brochure)`,
		"a call with an object":    `functions.send_flow({"flow":"brochure"})`,
		"a call in capitals":       `SEND_FLOW("brochure")`,
		"name and object":          `send_flow: {"flow": "brochure"}`,
		"name and id":              `send_flow brochure`,
		"name in brackets":         `[send_flow: brochure]`,
		"name in parentheses":      `(calling send_flow for the brochure)`,
		"name in bold":             "**set_field** shift = evening",
		"action and input":         "Action: send_flow\nAction Input: {\"flow\": \"brochure\"}",
		"what is being called":     "- Tool call: get_contact",
		"with what does not show":  "send\u200b_flow(bro\u00adchure)",
		"a note copied":            "[actions performed: send_flow brochure, add_tag vip]",
	}
	g, tn := guard(), acting()
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			for where, r := range map[string]guardCase{
				"between texts":           {reply: says("Here it is.\n"+form, "See you."), want: mended("field_echo", "Here it is.", "See you.")},
				"in a message of its own": {reply: says("Here it is.", form), want: mended("field_echo", "Here it is.")},
				"in the closing question": {reply: asking(form, "Here it is."), want: mended("field_echo", "Here it is.")},
				"alone":                   {reply: says(form), want: failed("field_echo")},
			} {
				if d := cmp.Diff(r.want, g.Apply(guardrail.Input{Tenant: tn, Reply: r.reply})); d != "" {
					t.Errorf("%s: verdict differs (-want +got):\n%s", where, d)
				}
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Guardrails", 2: of a line with a call in it, the rest stays
// as it is.
func TestCallInALine(t *testing.T) {
	check(t, []guardCase{
		{"tags", says(`Here: <tool_call>{"name": "send_flow"}</tool_call> See you.`), mended("field_echo", "Here:  See you.")},
		{"a list", says(`Here. [{"name":"send_flow","arguments":{}}, {"name":"add_tag"}]`), mended("field_echo", "Here.")},
		{"braces and quotes in a text", says(`Here. {"note":"summary","text":"wants } and \" } too"} See you.`), mended("field_echo", "Here.  See you.")},
		{"behind a brace that opens nothing", says(`Sad :{ but here it is. {"staged": true}`), mended("field_echo", "Sad :{ but here it is.")},
		{"inside braces that are no object", says(`Take {this: {"staged": true}} and go.`), mended("field_echo", "Take  and go.")},
		{"a call", says("Here (send_flow brochure) it is, send_flow(brochure)."), mended("field_echo", "Here  it is, .")},
		{"a note", says("Here it is. [actions performed: send_flow brochure] See you."), mended("field_echo", "Here it is.  See you.")},
	})
}

// Holds docs/spec/04-agent.md, "Guardrails", 2: what only resembles a call stays.
func TestNoCalls(t *testing.T) {
	g, tn := guard(), acting()
	for _, text := range []string{
		"Bring {a towel}, {\"clay\": 2} or <3 things.",
		"The flow of water (and its tag) is noted; I send the field notes.",
		"Your function: \"sent\": nothing { more",
		"Tools: a wire, a sponge. Parameters: none. Call 9 to 5!",
		"if x < 3 and y > 4, use <tools>",
		"[Tools] are at hand {:",
	} {
		if d := cmp.Diff(answered(text), g.Apply(guardrail.Input{Tenant: tn, Reply: says(text)})); d != "" {
			t.Errorf("%q: verdict differs (-want +got):\n%s", text, d)
		}
	}
}

// Holds docs/spec/04-agent.md, "Guardrails", 2: a tool's name that is left in a sentence
// goes no further, unless the tenant has no tools or its catalog says it.
func TestToolNameInASentence(t *testing.T) {
	const text = "I will use add_tag and then send_flow for you."
	agency := acting()
	agency.Catalog.FAQ = append(agency.Catalog.FAQ, tenant.Question{Question: "What is add_tag?", Answer: "We build send_flow steps."})
	tests := []struct {
		name, text string
		of         *tenant.Tenant
		want       guardrail.Verdict
	}{
		{"with tools", text, acting(), failed("field_echo")},
		{"in capitals", "Let me ADD_TAG you.", acting(), failed("field_echo")},
		{"in markup", "Let me *add*_tag you.", acting(), failed("field_echo")},
		{"underlined", "Let me _add_tag_ you.", acting(), failed("field_echo")},
		{"round a link", "Let me add_(https://pay.invalid)tag you.", acting(), failed("field_echo")},
		{"in a longer name", "It is my_add_tags.", acting(), answered("It is my_add_tags.")},
		{"without tools", text, school(), answered(text)},
		{"in the catalog", text, agency, answered(text)},
	}
	for _, tt := range tests {
		if d := cmp.Diff(tt.want, guard().Apply(guardrail.Input{Tenant: tt.of, Reply: says(tt.text)})); d != "" {
			t.Errorf("%s: verdict differs (-want +got):\n%s", tt.name, d)
		}
	}
}

// Holds docs/spec/04-agent.md, "Guardrails", 3: every name of tools.json and of the handoff
// that no word looks like is caught; tags that are words are left to replies.
func TestEveryNameOfTheAccountIsCaught(t *testing.T) {
	tn := account()
	names := []string{tn.Rules.Handoff.Tag, tn.Rules.Handoff.FlowNs, tn.Tools.Nudge.HumanActiveTag}
	for _, f := range tn.Tools.Flows {
		names = append(names, f.FlowNs)
	}
	for _, e := range tn.Tools.Events {
		names = append(names, e.FlowNs)
	}
	for _, x := range tn.Tools.Tags {
		names = append(names, x.Tag)
	}
	for _, x := range tn.Tools.Readable.Tags {
		names = append(names, x.Tag)
	}
	for _, x := range tn.Tools.Fields {
		names = append(names, x.Field)
	}
	for _, x := range tn.Tools.Readable.Fields {
		names = append(names, x.Field)
	}
	for _, x := range tn.Tools.Notes {
		names = append(names, x.Field)
	}
	// Too short or a word (customer); of the catalog's (wheel-2027).
	said := map[string]bool{"flow_1": true, "vip_1": true, "customer": true, "wheel-2027": true}
	for _, name := range names {
		want := failed("leak")
		text := "It is " + name + " today."
		if said[name] {
			want = answered(text)
		}
		if d := cmp.Diff(want, keeper().Apply(guardrail.Input{Tenant: tn, Reply: says(text)})); d != "" {
			t.Errorf("%q: verdict differs (-want +got):\n%s", name, d)
		}
	}
	tn.Tools.Tags = append(tn.Tools.Tags, tenant.Tag{ID: "evening", Tag: "evening"}, tenant.Tag{ID: "long", Tag: "interested in lessons"})
	words := "Those who are interested in lessons come in the evening."
	if d := cmp.Diff(answered(words), keeper().Apply(guardrail.Input{Tenant: tn, Reply: says(words)})); d != "" {
		t.Errorf("words: verdict differs (-want +got):\n%s", d)
	}
}

// Holds docs/spec/04-agent.md, "Guardrails", 3: what describes the tools is not quoted.
func TestLeakOfToolDescriptions(t *testing.T) {
	g := guardrail.New(guardrail.Config{Rules: staticRules + "\nSends one of the flows to the person before the reply, at once."})
	if d := cmp.Diff(failed("leak"), g.Apply(guardrail.Input{Tenant: school(), Reply: says("It sends one of the flows to the person before the reply.")})); d != "" {
		t.Errorf("verdict differs (-want +got):\n%s", d)
	}
}

func FuzzWrittenCalls(f *testing.F) {
	f.Add(`{"a{"flow":}`, `<tool_call`)
	f.Add(`{{{"}"`, `send_flow((`)
	g, tn := guard(), acting()
	f.Fuzz(func(t *testing.T, one, two string) {
		if strings.Contains(strings.ToLower(one+two), "flow") {
			return // it may make a longer name of its own
		}
		got := g.Apply(guardrail.Input{Tenant: tn, Reply: says(one+" send_flow(x) "+two, "Yes.")})
		for _, m := range got.Messages {
			if strings.Contains(m, "send_flow") {
				t.Errorf("%q and %q round a call leave %q", one, two, m)
			}
		}
	})
}

package guardrail_test

import (
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/guardrail"
)

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
		{"object inside a line", says("We open at nine. {\"escalate\": false, \"confidence\": 0.9}"), mended("field_echo", "We open at nine.")},
		{"object over lines", says("We open at nine.\n{\n  \"escalate\": false,\n  \"confidence\": 0.92\n}"), mended("field_echo", "We open at nine.")},
		{"object in a code fence", says("We open at nine.\n```json\n{\"messages\": [\"x\"], \"escalate\": false}\n```"), mended("field_echo", "We open at nine.")},
		{"cut object", says("We open at nine. {\"messages\": [\"We"), mended("field_echo", "We open at nine.")},
		{"assigned", says("We open at nine.\nconfidence = .95"), mended("field_echo", "We open at nine.")},
		{"in words", says("We open at nine.\nConfidence: high\nEscalate: no"), mended("field_echo", "We open at nine.")},
		{"as a share", says("We open at nine.\nConfidence: 95%"), mended("field_echo", "We open at nine.")},
		{"null", says("We open at nine.\n- escalate: null"), mended("field_echo", "We open at nine.")},
		{"several in a line", says("We open at nine.\nconfidence: 0.9, escalate: false"), mended("field_echo", "We open at nine.")},
		{"before the text", says("escalation_reason: none\n\nWe open at nine."), mended("field_echo", "We open at nine.")},
		{"only in one message", says("We open at nine.", "closing_question: When?"), mended("field_echo", "We open at nine.")},
		{"unfinished note", says("Here it is. [actions performed: send_flow"), mended("field_echo", "Here it is.")},
		{"nothing left of an object", says("{\n\"escalate\": true\n}"), failed("field_echo")},
		{"nothing left of a note", says("[actions performed: none]"), failed("field_echo")},
		{"a number of things", says("Confidence: 7 exercises for it."), answered("Confidence: 7 exercises for it.")},
		{"a title", says("Confidence: 3 evenings, 2 teachers"), answered("Confidence: 3 evenings, 2 teachers")},
		{"a word of the answer", says("We will not escalate: no need to."), answered("We will not escalate: no need to.")},
		{"brackets and braces", says("Bring {a towel} and [an apron]."), answered("Bring {a towel} and [an apron].")},
		{"a list", says("- Clay\n- Glaze\n\n1. First\n2. Second"), answered("- Clay\n- Glaze\n\n1. First\n2. Second")},
		{"actions of the course", says("[actions: centre, pull, cut]"), answered("[actions: centre, pull, cut]")},
		{"a note in a note", says("Here it is. [act[actions performed: x]ions performed: add_tag vip]"), mended("field_echo", "Here it is.")},
		{"a note round a note", says("Here it is. [actions performed: [actions performed: x] y]"), mended("field_echo", "Here it is.")},
		{"a note over lines", says("Here it is.\n[actions\nperformed:\nadd_tag vip,\nsend_flow x]\nSee you."), mended("field_echo", "Here it is.\nSee you.")},
		{"an unfinished note before a text", says("[actions performed: add_tag vip\nHere it is."), mended("field_echo", "Here it is.")},
		{"an unfinished note over lines", says("Here it is.\n[actions performed:\nadd_tag vip\nSee you."), mended("field_echo", "Here it is.\nSee you.")},
		{"a note in other brackets", says("Here it is. ［actions performed: x］ 【actions performed: y】"), mended("field_echo", "Here it is.")},
		{"a note with what does not show", says("Here it is. [act\u200bions perf\u3164ormed: x]"), mended("field_echo", "Here it is.")},
		{"a note in markup", says("Here it is. [actions *performed*: x] \\[actions performed: x\\]"), mended("field_echo", "Here it is.")},
		{"markup that no echo needs to lose", says("*Here* it is.\nescalate: no"), mended("field_echo", "*Here* it is.")},
		{"a field behind other line breaks", says("Yes.\rconfidence: 0.9\u2028escalate: false\u0085escalate: no"), mended("field_echo", "Yes.")},
		{"full width", says("ｅｓｃａｌａｔｅ： ｆａｌｓｅ\nYes.\nconfidence：0.9"), mended("field_echo", "Yes.")},
		{"other lines stay as they are", says("*We* open at 9½.\n*confi*dence：0.9\nYes."), mended("field_echo", "*We* open at 9½.\nYes.")},
		{"a field with what does not show", says("esca\u200blate: false\nYes.\nconfi*den*ce: \u11600.9"), mended("field_echo", "Yes.")},
		{"fields in one line", says("Yes.\nescalate: false confidence: 0.9\nconfidence: 0.9 – escalate: no"), mended("field_echo", "Yes.")},
		{"a value on the next line", says("Yes.\nconfidence:\n0.9\nEscalate\n: no\nescalation_reason:\nnull\nCome in."), mended("field_echo", "Yes.\nCome in.")},
		{"an object in other quotes", says("Yes. {“escalate”: false}"), mended("field_echo", "Yes.")},
		{"nested deeper than any text is", says("Yes.", strings.Repeat("[act", 200)+"[actions performed: x]"+strings.Repeat("ions performed: x]", 200)), mended("field_echo", "Yes.")},
		{"a title before a list", says("Confidence:\n1 evening\nEscalate:\nno, never."), answered("Confidence:\n1 evening\nEscalate:\nno, never.")},
		{"confidence in a course", says("Confidence: 3 exercises, messages: none."), answered("Confidence: 3 exercises, messages: none.")},
		{"nothing left", says("escalate: true"), failed("field_echo")},
		{"words of a sentence", says("Confidence: you will gain it.\nMessages: we answer all."), answered("Confidence: you will gain it.\nMessages: we answer all.")},
	})
}

// Holds docs/spec/04-agent.md, "Guardrails", 2 and 6: what links keep apart is an echo
// without them, and what echoes keep apart may be a link.
func TestEchoAndLink(t *testing.T) {
	check(t, []guardCase{
		{"a link in a note", says("Yes. [actions (https://pay.invalid)performed: x]"), mended("links", "Yes.")},
		{"a link in a field", says("Yes.\nesca(https://pay.invalid)late: false"), mended("links", "Yes.")},
		{"a note in a link", says("Go to pay.[actions performed: x]com now"),
			interventions(answered("Go to now"), "field_echo", "links")},
		{"each in the other", says("Yes. [act(https://pay.[actions performed: x]invalid)ions performed: y]"),
			interventions(answered("Yes."), "field_echo", "links")},
		{"a link in a note in a link", says("Go to pay.[actions (https://pay.invalid)performed: x]com now"), mended("links", "Go to now")},
		{"nothing left", says("esca(https://pay.invalid)late: false"), failed("links")},
		{"in the closing question", asking("[actions (https://pay.invalid)performed: x]", "Yes."), mended("links", "Yes.")},
	})
}

func interventions(v guardrail.Verdict, names ...string) guardrail.Verdict {
	v.Interventions = names
	return v
}

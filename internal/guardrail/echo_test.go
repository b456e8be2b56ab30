package guardrail_test

import (
	"testing"
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
		{"nothing left", says("escalate: true"), failed("field_echo")},
		{"words of a sentence", says("Confidence: you will gain it.\nMessages: we answer all."), answered("Confidence: you will gain it.\nMessages: we answer all.")},
	})
}

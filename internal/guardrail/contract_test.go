package guardrail_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
)

// Holds docs/spec/04-agent.md, "Guardrails", 1: anything invalid hands off.
func TestContract(t *testing.T) {
	unsure := says("Yes.")
	unsure.Confidence = 2
	reasonless := says("Yes.")
	reasonless.Escalate = true
	notSure := says("Yes.")
	notSure.Confidence = math.NaN()
	negative := says("Yes.")
	negative.Confidence = -0.1
	needless := says("Yes.")
	needless.EscalationReason = conversation.Complaint
	foreign := reasonless
	foreign.EscalationReason = conversation.ByError
	certain, lost := says("Yes."), says("Yes.")
	certain.Confidence = 1
	lost.Confidence = math.Inf(1)
	check(t, []guardCase{
		{"valid", says("Yes."), answered("Yes.")},
		{"several messages", says("Yes.", "No."), answered("Yes.", "No.")},
		{"no message", says(), failed("contract")},
		{"blank message", says(" "), failed("contract")},
		{"blank closing question", asking(" ", "Yes."), failed("contract")},
		{"confidence out of range", unsure, failed("contract")},
		{"escalation without a reason", reasonless, failed("contract")},
		{"three messages", says("Yes.", "No.", "So."), answered("Yes.", "No.", "So.")},
		{"several lines", says("Yes.\n\nNo."), answered("Yes.\n\nNo.")},
		{"only an emoji", says("👍"), answered("👍")},
		{"a closing question", asking("When?", "Yes."), answered("Yes.", "When?")},
		{"full confidence", certain, answered("Yes.")},
		{"one of several is blank", says("Yes.", "\n\t"), failed("contract")},
		{"the word null", says("null"), failed("contract")},
		{"invisible characters only", says("\u200b\u2060"), failed("contract")},
		{"a closing question that is null", asking("null", "Yes."), failed("contract")},
		{"confidence below zero", negative, failed("contract")},
		{"confidence that is no number", notSure, failed("contract")},
		{"confidence without end", lost, failed("contract")},
		{"a reason without escalation", needless, failed("contract")},
		{"a reason that is not the model's", foreign, failed("contract")},
	})
}

// Holds docs/spec/04-agent.md, "Reply contract": a message that shows nothing is an empty
// one, and so is what is left of one.
func TestContractOfWhatShows(t *testing.T) {
	var tests []guardCase
	for _, text := range []string{
		"\u2800", "\u3164", "\u200e", "\u202e", "\x00", "\u0301", "\ufe0f", "\u200d", "\U000e0041", "\u115f", "\u180e",
		"*", "**", "> ---", "<!-- -->", "``` ```",
	} {
		tests = append(tests, guardCase{text, says(text), failed("contract")})
		tests = append(tests, guardCase{"beside a link: " + text, says("Yes.", "https://pay.invalid "+text), mended("links", "Yes.")})
	}
	check(t, append(tests,
		guardCase{"a part of a link", says("http:pay.com"), failed("links")},
		guardCase{"markup round a note", says("Yes.", "**[actions performed:** x]"), mended("field_echo", "Yes.")},
		guardCase{"a face", says(":-)"), answered(":-)")},
		guardCase{"a sign", says("?"), answered("?")},
		guardCase{"an emoji of several characters", says("👍🏽", "🏳️‍🌈"), answered("👍🏽", "🏳️‍🌈")},
	))
	style := func([]string) []string { return []string{"\u3164"} }
	if d := cmp.Diff(failed("contract"), guard().Apply(guardrail.Input{Tenant: school(), Reply: says("Yes."), Style: style})); d != "" {
		t.Errorf("verdict differs (-want +got):\n%s", d)
	}
}

package guardrail_test

import (
	"testing"
)

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
		{"body asks in bold", asking("Which day?", "*Morning or evening?*"), answered("*Morning or evening?*")},
		{"body asks in brackets", asking("Which day?", "We do (morning or evening?)"), answered("We do (morning or evening?)")},
		{"body asks loudly", asking("Which day?", "Morning or evening?!"), answered("Morning or evening?!")},
		{"a question mark of another form", asking("Which day?", "Morning or evening⁇"), answered("Morning or evening⁇")},
		{"an emoji that asks", asking("Which day?", "Morning or evening❓"), answered("Morning or evening❓")},
		{"Armenian", asking("Ե՞րբ", "Առավոտյա՞ն՞"), answered("Առավոտյա՞ն՞")},
		{"Greek question mark of its own", asking("Πότε;", "Πρωί ή βράδυ\u037e"), answered("Πρωί ή βράδυ\u037e")},
		{"Greek, then an emoji", asking("Πότε;", "Πρωί ή βράδυ; 🙂"), answered("Πρωί ή βράδυ; 🙂")},
		{"only an emoji", asking("Which day?", "👍"), answered("👍", "Which day?")},
		{"a question inside", asking("Which day?", "Why? Because."), answered("Why? Because.", "Which day?")},
		{"a question in a line above", asking("Which day?", "Morning?\nOr evening."), answered("Morning?\nOr evening.", "Which day?")},
		{"an ending that only looks like one", asking("Which day?", "Write ʔ"), answered("Write ʔ", "Which day?")},
		{"none", says("Yes."), answered("Yes.")},
		{"only an earlier message asks", asking("Which day?", "Which?", "This."), answered("Which?", "This.", "Which day?")},
	})
}

package guardrail_test

import (
	"testing"
)

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
		{"secret with letters that do not show", says("not-a\u3164-real\u115f-sec\uffa0ret"), failed("leak")},
		{"secret with control characters", says("not-a-re\x00al-secret"), failed("leak")},
		{"fence words with what does not show", says("THE\u3164_FE\u0332NCE"), failed("leak")},
		{"fence words in markup", says("**THE**_FENCE"), failed("leak")},
		{"heading with what does not show", says("##\u3164CAT\u0332ALOG"), failed("leak")},
		{"heading in markup", says("**##** *CATALOG*"), failed("leak")},
		{"a link in a secret", says("not-a-(https://pay.invalid)real-secret"), failed("leak")},
		{"a link in a heading", says("#(https://pay.invalid)# CATALOG"), failed("leak")},
		{"a link in fence words", says("THE_(https://pay.invalid)FENCE"), failed("leak")},
		{"a link between messages of a secret", says("not-a-", "https://pay.invalid", "real-secret"), failed("leak")},
		{"a link in a note in a secret", says("not-a-[actions (https://pay.invalid)performed: x]real-secret"), failed("leak")},
		{"a note in a secret", says("not-a-[actions performed: x]real-secret"), interventions(failed("leak"), "field_echo", "leak")},
		{"a heading's word", says("Our catalog, the CATALOG."), answered("Our catalog, the CATALOG.")},
		{"heading in another case", says("## Catalog"), answered("## Catalog")},
	})
}

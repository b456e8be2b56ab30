package notice_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/guardrail/notice"
)

// Holds docs/spec/04-agent.md, "Guardrails", 2: whatever letters it is written in, and
// whatever stands round it, a note goes and all else stays to the byte.
func TestReplaced(t *testing.T) {
	like := map[rune][]string{'a': {"а", "α", "á"}, 'c': {"с"}, 'i': {"і", "ɪ"}, 'o': {"о", "ο", "0"}, 's': {"ѕ"}, 'e': {"е", "é"}, 'p': {"р"}, 'd': {"ԁ"}, 'm': {"ᴍ"}}
	texts := []string{"Вот она. ", "áé ", "想要 ", "\xff", "Ok, ", "e\u0301 ", "{x} ", "(1) ", "👩‍👧 ", "\n"}
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(texts), 0, 5).Draw(t, name), "")
		}
		var note strings.Builder
		for _, r := range "[actions performed: x]" {
			note.WriteString(rapid.SampledFrom(append([]string{string(r)}, like[r]...)).Draw(t, "letter"))
		}
		before, after := text("before"), text("after")
		if got := notice.Replaced(before+note.String()+after, "*"); got != before+"*"+after {
			t.Errorf("%q round %q becomes %q", []string{before, after}, note.String(), got)
		}
		if got := notice.Replaced(before+after, "*"); got != before+after {
			t.Errorf("%q becomes %q", before+after, got)
		}
	})
}

// Holds docs/spec/04-agent.md, "Guardrails", 2: a glance tells what nothing is in.
func TestMayHold(t *testing.T) {
	for text, want := range map[string]bool{
		"We open at nine.": false, "Мы открыты.": false, "": false,
		"[acti\u043ens performed: x]": true, "\u0410\u0421T\u0406ONS: x": true, "SERVER: x": true, "SЕRVЕR: x": true,
	} {
		if got := notice.MayHold(text); got != want || !want && notice.Replaced(text, "*") != text {
			t.Errorf("%q: %v", text, got)
		}
	}
}

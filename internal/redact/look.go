package redact

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/redact/glyph"
)

const (
	fewestDigits = 5  // of a phone number behind tel:, the shortest that is looked for
	longWord     = 15 // letters, digits, - and _ in a row: the shortest key, sk- and 12
)

// sight is what a glance at a text shows: enough to say what cannot be in it.
type sight struct {
	all    glyph.Kind // what any of its bytes is
	digits int
	long   bool // it holds a word of [longWord] or more
}

func look(s string) sight {
	var seen sight
	run := 0
	for i := range len(s) {
		k := glyph.Of(s[i])
		seen.all |= k
		seen.digits += int(k & glyph.Digit)
		if run++; k&glyph.Word == 0 {
			run = 0
		}
		if run >= longWord {
			seen.long = true
		}
	}
	return seen
}

// harmless reports whether the text can hold no shape at all.
func (s sight) harmless(text string) bool {
	return s.all&glyph.Foreign == 0 && s.all&glyph.At == 0 && !s.long && s.digits < fewestDigits &&
		!s.links(text) && !s.secrets(text)
}

// links reports whether there may be a link: x://, host.name/path, www.host.name.
func (s sight) links(text string) bool {
	return s.all&glyph.Slash != 0 && s.all&(glyph.Colon|glyph.Dot) != 0 ||
		s.all&glyph.Dot != 0 && (s.all&glyph.Query != 0 || strings.Contains(text, "ww.") || strings.Contains(text, "WW."))
}

// secrets reports whether there may be a secret behind its name.
func (s sight) secrets(text string) bool {
	return s.all&(glyph.Equals|glyph.Colon) != 0 || s.all&glyph.Space != 0 && indexBearer(text) >= 0
}

// indexBearer is where the word stands that announces a token, -1 for nowhere.
func indexBearer(text string) int {
	if i := strings.Index(text, "earer "); i >= 0 {
		return i
	}
	return strings.Index(text, "EARER ")
}

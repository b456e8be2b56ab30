package guardrail

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// leak hands off a reply that quotes the prompt or a credential.
type leak struct {
	markers []string // without spaces
	fences  []string // what only a fence marker looks like, folded
	words   []string // of fence markers, in lower case
	secrets []string // folded
}

// minSecret is the least number of letters and digits of a secret that is looked for: a
// shorter one may be a word or an amount that a reply is right to hold. Every configured
// secret is longer; the bound keeps a careless one from silencing the agent.
const minSecret = 8

// newLeak keeps the markers that are there and the secrets that are long enough; an
// empty one would be found in every reply.
func newLeak(c Config) leak {
	var l leak
	for _, marker := range c.Markers {
		if marker == "" {
			continue
		}
		l.markers = append(l.markers, unspaced(marker))
		if core := strings.Trim(marker, "<>"); core != marker {
			folded := fold(core, isWord)
			l.fences = append(l.fences, "<<"+folded, "<"+folded+">", folded+">>")
			if strings.Contains(core, "_") {
				l.words = append(l.words, strings.ToLower(core))
			}
		}
	}
	for _, secret := range c.Secrets {
		if folded := fold(secret, isWord); len([]rune(folded)) >= minSecret {
			l.secrets = append(l.secrets, folded)
		}
	}
	return l
}

// run looks at what the model wrote, in which a heading still is one, and at what would go
// out. It looks for headings in each text with compatibility forms folded, and spaces and
// invisible characters taken out: their case counts, since a heading is also a word.
// Fence markers and secrets are found in any case and whatever stands between their
// letters, secrets also across messages.
func (l leak) run(d *draft) finding {
	for _, text := range slices.Concat(d.written, d.texts()) {
		bare := plain(text)
		if holdsAny(unspaced(bare), l.markers) ||
			holdsAny(strings.ToLower(bare), l.words) || holdsAny(fold(text, isWordOrAngle), l.fences) {
			return broken()
		}
	}
	for _, all := range []string{strings.Join(d.written, ""), strings.Join(d.texts(), "")} {
		if holdsAny(fold(all, isWord), l.secrets) {
			return broken()
		}
	}
	return finding{}
}

func holdsAny(text string, forbidden []string) bool {
	for _, s := range forbidden {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

// plain folds compatibility forms, such as full width, and takes out characters that
// do not show.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.In(r, unicode.Cf, unicode.Variation_Selector) || r == '\u034f' {
			return -1
		}
		return r
	}, norm.NFKC.String(text))
}

// fold is the skeleton of a text: its runes that count, without case, accents and
// compatibility forms.
func fold(text string, counts func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if r = angle(unicode.ToLower(r)); counts(r) {
			return r
		}
		return -1
	}, norm.NFKD.String(text))
}

func unspaced(text string) string { return strings.Join(strings.Fields(text), "") }

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func isWordOrAngle(r rune) bool { return isWord(r) || r == '<' || r == '>' }

// angle is the angle bracket that a rune looks like, or the rune.
func angle(r rune) rune {
	switch {
	case strings.ContainsRune("‹«〈⟨\u2329《⟪≪⋘❮❰", r):
		return '<'
	case strings.ContainsRune("›»〉⟩\u232a》⟫≫⋙❯❱", r):
		return '>'
	}
	return r
}

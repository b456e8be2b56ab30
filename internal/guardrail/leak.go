package guardrail

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// leak hands off a reply that quotes the prompt, a credential, or a name that only the
// business's ManyChat account has.
type leak struct {
	facts   *factCache
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
func newLeak(c Config, facts *factCache) leak {
	l := leak{facts: facts}
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
	l.secrets = foldedSecrets(c.Secrets)
	return l
}

func foldedSecrets(secrets []string) []string {
	var out []string
	for _, secret := range secrets {
		if folded := fold(secret, isWord); len([]rune(folded)) >= minSecret {
			out = append(out, folded)
		}
	}
	return out
}

// run looks at what the model wrote, in which a heading still is one, and at what would
// go out.
func (l leak) run(d *draft) finding {
	versions := [][]string{d.written}
	if texts := d.texts(); !slices.Equal(texts, d.written) {
		versions = append(versions, texts)
	}
	secrets := slices.Concat(l.secrets, foldedSecrets([]string{d.token}))
	known := l.facts.of(d.tenant)
	for _, texts := range versions {
		if slices.ContainsFunc(texts, l.marked) ||
			holdsAny(fold(strings.Join(texts, ""), isWord), secrets) ||
			known.names.in(texts) || known.rules.in(texts) {
			return broken()
		}
	}
	return finding{}
}

// marked reports whether a text holds a part of the prompt's frame. Headings are looked
// for with compatibility forms folded, and spaces and invisible characters taken out:
// their case counts, since a heading is also a word. Fence markers are found in any case
// and whatever stands between their letters.
func (l leak) marked(text string) bool {
	bare := plain(text)
	return holdsAny(unspaced(bare), l.markers) ||
		holdsAny(strings.ToLower(bare), l.words) || holdsAny(fold(text, isWordOrAngle), l.fences)
}

func holdsAny(text string, forbidden []string) bool {
	return slices.ContainsFunc(forbidden, func(s string) bool { return strings.Contains(text, s) })
}

// plain folds compatibility forms, such as full width, and takes out characters that
// do not show.
func plain(text string) string {
	if isASCII(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r >= 0x80 && unicode.In(r, unicode.Cf, unicode.Variation_Selector) || r == '\u034f' {
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

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

func unspaced(text string) string { return strings.Join(strings.Fields(text), "") }

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func isWordOrAngle(r rune) bool { return isWord(r) || r == '<' || r == '>' }

// angle is the angle bracket that a rune looks like, or the rune.
func angle(r rune) rune {
	switch {
	case r < 0x80:
		return r
	case strings.ContainsRune("‹«〈⟨\u2329《⟪≪⋘❮❰", r):
		return '<'
	case strings.ContainsRune("›»〉⟩\u232a》⟫≫⋙❯❱", r):
		return '>'
	}
	return r
}

package guardrail

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/manychat-agent/manychat-agent/internal/guardrail/visible"
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
			folded := only(fold(core), isWord)
			l.fences = append(l.fences, "<<"+folded, "<"+folded+">", folded+">>")
			if strings.Contains(core, "_") {
				l.words = append(l.words, fold(core))
			}
		}
	}
	l.secrets = foldedSecrets(c.Secrets)
	return l
}

func foldedSecrets(secrets []string) []string {
	var out []string
	for _, secret := range secrets {
		if folded := only(fold(secret), isWord); len([]rune(folded)) >= minSecret {
			out = append(out, folded)
		}
	}
	return out
}

// run looks at what the model wrote, in which a heading still is one, at what would go
// out, and at what is left of that without links and echoes, which keep apart what they
// stand in; each with its markup and as the channel shows it.
func (l leak) run(d *draft) finding {
	known := l.facts.of(d.tenant)
	var versions []string
	for _, texts := range [][]string{d.written, d.texts(), d.leftover(known.allowed).texts()} {
		text := visible.Text(strings.Join(texts, "\n"))
		for _, version := range []string{text, withoutMarkup(text)} {
			if !slices.Contains(versions, version) {
				versions = append(versions, version)
			}
		}
	}
	secrets := slices.Concat(l.secrets, foldedSecrets([]string{d.token}))
	for _, text := range versions {
		folded := fold(text)
		if l.marked(text, folded) || holdsAny(only(folded, isWord), secrets) || known.names.in(folded) || known.rules.in(folded) {
			return broken()
		}
	}
	return finding{}
}

// marked reports whether a text holds a part of the prompt's frame. Headings are looked
// for without spaces: their case counts, since a heading is also a word. Fence markers are
// found in any case and whatever stands between their letters.
func (l leak) marked(text, folded string) bool {
	return holdsAny(unspaced(text), l.markers) || holdsAny(folded, l.words) || holdsAny(only(folded, isWordOrAngle), l.fences)
}

func holdsAny(text string, forbidden []string) bool {
	return slices.ContainsFunc(forbidden, func(s string) bool { return strings.Contains(text, s) })
}

// fold is what shows of a text, without case, accents and compatibility forms.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsMark(r) {
			return -1
		}
		return angle(unicode.ToLower(r))
	}, norm.NFKD.String(visible.Text(text)))
}

// only is a text of the runes that count.
func only(text string, counts func(rune) bool) string {
	return strings.Map(func(r rune) rune {
		if counts(r) {
			return r
		}
		return -1
	}, text)
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

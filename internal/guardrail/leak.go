package guardrail

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// leak hands off a reply that quotes the prompt or a credential.
type leak struct {
	forbidden []string
}

// minSecret is the least length, in bytes, of a secret that is looked for: a shorter
// one may be a word or an amount that a reply is right to hold. Every configured secret
// is longer; the bound keeps a careless one from silencing the agent.
const minSecret = 8

// newLeak keeps the markers that are there and the secrets that are long enough; an
// empty one would be found in every reply.
func newLeak(c Config) leak {
	var l leak
	for _, marker := range c.Markers {
		if marker != "" {
			l.forbidden = append(l.forbidden, marker)
		}
	}
	for _, secret := range c.Secrets {
		if len(secret) >= minSecret {
			l.forbidden = append(l.forbidden, secret)
		}
	}
	return l
}

// run looks at each text as it is and with full-width and other compatibility forms
// folded and invisible characters taken out. Case counts: a heading is also a word.
func (l leak) run(d *draft) finding {
	for _, text := range d.texts() {
		if l.in(text) || l.in(plain(text)) {
			return broken()
		}
	}
	return finding{}
}

func (l leak) in(text string) bool {
	for _, s := range l.forbidden {
		if strings.Contains(text, s) {
			return true
		}
	}
	return false
}

func plain(text string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case '\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u00ad':
			return -1
		}
		return r
	}, norm.NFKC.String(text))
}

package guardrail

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// leak hands off a reply that quotes the prompt or a credential.
type leak struct {
	forbidden []string
}

// newLeak keeps the secrets and markers that are there; an empty one would be found in
// every reply.
func newLeak(c Config) leak {
	var l leak
	for _, list := range [][]string{c.Markers, c.Secrets} {
		for _, s := range list {
			if s != "" {
				l.forbidden = append(l.forbidden, s)
			}
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

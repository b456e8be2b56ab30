package guardrail

import (
	"iter"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// passage is how many consecutive words of the rules make a quotation of them.
const passage = 8

// rulePassages are the passages of the prompt's static rules, folded for case, accents
// and punctuation, that the tenant does not say itself.
type rulePassages map[string]bool

// readRules leaves out what the tenant's own persona or catalog holds: a reply may say it.
func readRules(rules string, t *tenant.Tenant) rulePassages {
	secret := rulePassages{}
	for p := range passages(fold(rules)) {
		secret[p] = true
	}
	if len(secret) == 0 {
		return secret
	}
	for _, text := range append(catalogTexts(&t.Catalog), t.Prompt) {
		for p := range passages(fold(text)) {
			delete(secret, p)
		}
	}
	return secret
}

// in reports whether a folded reply quotes the rules, also from one message to the next.
func (r rulePassages) in(folded string) bool {
	if len(r) == 0 {
		return false
	}
	for p := range passages(folded) {
		if r[p] {
			return true
		}
	}
	return false
}

// passages are the runs of eight words of a folded text, whatever stands between the words.
func passages(folded string) iter.Seq[string] {
	return func(yield func(string) bool) {
		words := strings.FieldsFunc(folded, func(r rune) bool { return !isWord(r) })
		for i := 0; i+passage <= len(words); i++ {
			if !yield(strings.Join(words[i:i+passage], " ")) {
				return
			}
		}
	}
}

package guardrail

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// minName is the least number of characters of a flow namespace, field or tag name that
// is looked for. A field or tag name must also be written as no word is.
const minName = 8

// accountNames are the names of a ManyChat account that no reply may hold.
type accountNames struct {
	tokens []string // as nameKey writes them
	flows  []string // namespaces, folded as secrets are
}

// readNames collects the names of the tenant's tools and rules, and those the service
// itself uses. One that the catalog holds, such as a tag that is also part of a page's
// address, is the catalog's word and left out.
func readNames(c Config, t *tenant.Tenant) accountNames {
	flows, names := slices.Clone(c.Flows), slices.Clone(c.Names)
	if t.Tools != nil {
		flows, names = append(flows, toolFlows(t.Tools)...), append(names, toolNames(t.Tools)...)
	}
	if h := t.Rules.Handoff; h != nil {
		flows, names = append(flows, h.FlowNs), append(names, h.Tag)
	}
	if l := t.Rules.Learning; l != nil {
		names = append(names, l.ConvertedTag)
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !strings.ContainsAny(name, "0123456789_-") })
	own := fold(strings.Join(catalogTexts(&t.Catalog), "\n"))
	ownKey, ownSkeleton := nameKey(own), readSkeleton(own)
	var out accountNames
	for _, name := range append(flows, names...) {
		key := nameKey(fold(name))
		if utf8.RuneCountInString(name) >= minName && !holdsToken(ownKey, key) {
			out.tokens = append(out.tokens, key)
		}
	}
	for _, flow := range foldedSecrets(flows) {
		if !ownSkeleton.holds(flow) {
			out.flows = append(out.flows, flow)
		}
	}
	out.tokens, out.flows = distinct(out.tokens), distinct(out.flows)
	return out
}

func distinct(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

func toolFlows(tools *tenant.Tools) []string {
	var out []string
	for _, f := range tools.Flows {
		out = append(out, f.FlowNs)
	}
	for _, e := range tools.Events {
		out = append(out, e.FlowNs)
	}
	return out
}

func toolNames(tools *tenant.Tools) []string {
	var out []string
	for _, t := range tools.Tags {
		out = append(out, t.Tag)
	}
	for _, t := range tools.Readable.Tags {
		out = append(out, t.Tag)
	}
	for _, f := range tools.Fields {
		out = append(out, f.Field)
	}
	for _, f := range tools.Readable.Fields {
		out = append(out, f.Field)
	}
	for _, n := range tools.Notes {
		out = append(out, n.Field)
	}
	if tools.Nudge != nil {
		out = append(out, tools.Nudge.HumanActiveTag)
	}
	return out
}

// in reports whether a folded text holds one of the names as a whole token; a flow's namespace
// also with other signs or line breaks between its letters.
func (n accountNames) in(folded string) bool {
	if len(n.tokens)+len(n.flows) == 0 {
		return false
	}
	key := nameKey(folded)
	if slices.ContainsFunc(n.tokens, func(name string) bool { return holdsToken(key, name) }) {
		return true
	}
	return len(n.flows) > 0 && slices.ContainsFunc(n.flows, readSkeleton(folded).holds)
}

// nameKey is a folded text for the comparison of names: all white space as one space, and
// without the backslash that keeps markup from being read.
func nameKey(folded string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(folded, `\`, "")), " ")
}

// skeleton is the letters and digits of a folded text, and where other signs part them.
type skeleton struct {
	letters string
	edges   []bool // by place in letters: other signs stand there, or an end of the text
}

func readSkeleton(folded string) skeleton {
	s := skeleton{letters: only(folded, isWord)}
	s.edges = make([]bool, len(s.letters)+1)
	at := 0
	for _, r := range folded {
		if isWord(r) {
			at += utf8.RuneLen(r)
		} else {
			s.edges[at] = true
		}
	}
	s.edges[0], s.edges[len(s.letters)] = true, true
	return s
}

// holds reports whether a folded name stands in the text between two edges.
func (s skeleton) holds(name string) bool {
	for from := 0; ; {
		i := strings.Index(s.letters[from:], name)
		if i < 0 {
			return false
		}
		if start := from + i; s.edges[start] && s.edges[start+len(name)] {
			return true
		}
		from += i + 1
	}
}

// holdsToken reports whether a name stands in a text as a whole token. An underscore or
// a hyphen belongs to a token only between letters or digits: _name_ is markup.
func holdsToken(text, name string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(name)
		before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text[:start], "_-"))
		after, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[end:], "_-"))
		if !isWord(before) && !isWord(after) {
			return true
		}
		from = end
	}
}

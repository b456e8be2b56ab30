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

// accountNames are the names of a ManyChat account that no reply may hold, as nameKey
// writes them.
type accountNames []string

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
	own := nameKey(strings.Join(catalogTexts(&t.Catalog), "\n"))
	var out accountNames
	for _, name := range append(flows, names...) {
		key := nameKey(name)
		if utf8.RuneCountInString(name) >= minName && !holdsToken(own, key) {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
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

// in reports whether a text holds one of the names as a whole token.
func (n accountNames) in(texts []string) bool {
	if len(n) == 0 {
		return false
	}
	text := nameKey(strings.Join(texts, "\n"))
	return slices.ContainsFunc(n, func(name string) bool { return holdsToken(text, name) })
}

// nameKey folds a text for the comparison of names: case, compatibility forms, white
// space, invisible characters and the backslash that keeps markup from being read.
func nameKey(text string) string {
	text = strings.ReplaceAll(strings.ToLower(plain(text)), `\`, "")
	return strings.Join(strings.Fields(text), " ")
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

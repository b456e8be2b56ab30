package archtest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Citations checks what tests say they hold. A citation names a page and then its
// headings in quotes (or the bold words that open a paragraph or a list item), or rules
// by their number. What a heading adds in brackets or after a comma may be left out:
//
//	// Holds docs/spec/05-delivery.md, "Outbox" and "ManyChat client".
//	// Holds docs/spec/01-principles.md, C5.
func Citations(t *Tree) []Violation {
	var found []Violation
	pages := map[string][]string{} // what each page has to cite, read once
	for _, f := range t.Files {
		if !f.Test {
			continue
		}
		for _, group := range f.AST.Comments {
			text := strings.Join(strings.Fields(group.Text()), " ")
			for _, m := range citation.FindAllStringSubmatch(text, -1) {
				page, parts := m[1], m[2]
				if _, read := pages[page]; !read {
					pages[page] = citable(t.Docs[page])
				}
				for _, why := range unfounded(t, page, parts, pages[page]) {
					found = append(found, Violation{f.Path, t.line(group.Pos()), why})
				}
			}
		}
	}
	return found
}

var (
	citation = regexp.MustCompile(`(docs/[\w./-]+\.md)((?:,? (?:and )?(?:"[^"]+"|C\d\b))*)`)
	cited    = regexp.MustCompile(`"[^"]+"|C\d`)
	addition = regexp.MustCompile(`( \(|, ).*$`)
	boldLead = regexp.MustCompile(`(?m)^(?:- )?\*\*([^*]+?)\.?\*\*`)
	ruleRow  = regexp.MustCompile(`(?m)^\| (C\d) `)
)

// citable lists what a test may cite of a page.
func citable(text string) []string {
	have := headings(text)
	for _, h := range headings(text) {
		have = append(have, addition.ReplaceAllString(h, ""))
	}
	for _, pattern := range []*regexp.Regexp{boldLead, ruleRow} {
		for _, m := range pattern.FindAllStringSubmatch(text, -1) {
			have = append(have, m[1])
		}
	}
	return have
}

// unfounded says which parts of a citation the page does not have.
func unfounded(t *Tree, page, parts string, have []string) []string {
	if _, ok := t.Docs[page]; !ok {
		return []string{"cites " + page + ", which does not exist"}
	}
	var wrong []string
	for _, part := range cited.FindAllString(parts, -1) {
		kind := "rule"
		if strings.HasPrefix(part, `"`) {
			kind = "heading"
		}
		if !slices.Contains(have, strings.ReplaceAll(strings.Trim(part, `"`), "`", "")) {
			wrong = append(wrong, fmt.Sprintf("cites %s, %s, but the page has no such %s", page, part, kind))
		}
	}
	return wrong
}

func sorted(m map[string]string) []string { return slices.Sorted(maps.Keys(m)) }

package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"regexp"
	"slices"
	"strings"
)

const architecture = "ARCHITECTURE.md"

// Map checks ARCHITECTURE.md against the tree: every package is named in it, and every
// path and test named in it exists. A path is a code span with a slash in it, a test
// one that starts with Test, Fuzz, Benchmark or Example.
func Map(t *Tree) []Violation {
	text, ok := t.Docs[architecture]
	if !ok {
		return []Violation{{Path: architecture, Message: "the map of the repository is missing"}}
	}
	spans := codeSpans(text)
	var found []Violation
	for _, dir := range t.Packages() {
		if !slices.Contains(spans, dir) {
			found = append(found, Violation{Path: architecture, Message: "does not name the package " + dir})
		}
	}
	tests := testNames(t)
	for _, span := range spans {
		switch {
		case testName.MatchString(span) && !tests[span]:
			found = append(found, Violation{Path: architecture, Message: "names a test that does not exist: " + span})
		case pathSpan.MatchString(span) && !t.has(span):
			found = append(found, Violation{Path: architecture, Message: "names a path that does not exist: " + span})
		}
	}
	return found
}

var (
	codeSpan = regexp.MustCompile("`([^`\n]+)`")
	pathSpan = regexp.MustCompile(`^[\w.*-]+(/[\w.*-]*)+$`)
	testName = regexp.MustCompile(`^(Test|Fuzz|Benchmark|Example)[A-Z]\w*$`)
	fence    = regexp.MustCompile("(?ms)^```.*?^```")
)

// codeSpans lists the code spans of a Markdown text, fenced blocks left out, each
// without a trailing slash.
func codeSpans(text string) []string {
	var spans []string
	for _, m := range codeSpan.FindAllStringSubmatch(fence.ReplaceAllString(text, ""), -1) {
		spans = append(spans, strings.TrimSuffix(m[1], "/"))
	}
	return spans
}

// has reports whether a path, possibly with * in its names, is in the tree.
func (t *Tree) has(p string) bool {
	p = path.Clean(p)
	if t.Paths[p] {
		return true
	}
	for candidate := range t.Paths {
		if ok, err := path.Match(p, candidate); err == nil && ok {
			return true
		}
	}
	return false
}

func testNames(t *Tree) map[string]bool {
	names := map[string]bool{}
	for _, f := range t.Files {
		for _, decl := range f.AST.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil {
				names[fn.Name.Name] = true
			}
		}
	}
	return names
}

// Links checks that every relative link and image of every document leads somewhere.
func Links(t *Tree) []Violation {
	var found []Violation
	for _, doc := range sorted(t.Docs) {
		for _, m := range link.FindAllStringSubmatch(prose(t.Docs[doc]), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, ":") {
				continue // another site; nothing here may ask it
			}
			file := doc
			if target != "" {
				file = path.Join(path.Dir(doc), target)
			}
			if !t.Paths[file] {
				found = append(found, Violation{Path: doc, Message: "links to " + m[1] + ", which does not exist"})
			} else if anchor != "" && !hasAnchor(t.Docs[file], anchor) {
				found = append(found, Violation{Path: doc, Message: fmt.Sprintf("links to %s, but %s has no such heading", m[1], file)})
			}
		}
	}
	return found
}

var (
	link      = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	notAnchor = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// hasAnchor reports whether a heading of the text has the anchor that a web view of
// the repository gives it: lower case, punctuation dropped, spaces as hyphens.
func hasAnchor(text, anchor string) bool {
	return slices.ContainsFunc(headings(text), func(h string) bool {
		return strings.ReplaceAll(notAnchor.ReplaceAllString(strings.ToLower(h), ""), " ", "-") == anchor
	})
}

// prose is a Markdown text without its fenced blocks and code spans.
func prose(text string) string {
	return codeSpan.ReplaceAllString(fence.ReplaceAllString(text, ""), "")
}

// headings lists the headings of a Markdown text, without their code marks.
func headings(text string) []string {
	var found []string
	for line := range strings.Lines(fence.ReplaceAllString(text, "")) {
		if h := strings.TrimLeft(line, "#"); h != line && strings.HasPrefix(h, " ") {
			found = append(found, strings.ReplaceAll(strings.TrimSpace(h), "`", ""))
		}
	}
	return found
}

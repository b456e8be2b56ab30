package archtest

import (
	"go/ast"
	"slices"
)

// Tests checks that no test waits for the wall clock or leaves itself out. A sleep
// inside a testing/synctest bubble takes no time, so packages whose tests run in one
// may sleep.
func Tests(t *Tree) []Violation {
	var found []Violation
	for _, dir := range t.Packages() {
		files := slices.DeleteFunc(t.In(dir), func(f File) bool { return !f.Test })
		bubble := slices.ContainsFunc(files, inBubble)
		for _, f := range files {
			ast.Inspect(f.AST, func(n ast.Node) bool {
				if isCall(n, "time", "Sleep") && !bubble {
					found = append(found, Violation{f.Path, t.line(n.Pos()), "a test sleeps; wait for the event, or use testing/synctest"})
				}
				if isCall(n, "t", "Skip", "Skipf", "SkipNow") || isCall(n, "b", "Skip", "Skipf", "SkipNow") {
					found = append(found, Violation{f.Path, t.line(n.Pos()), "a test skips itself; what it needs is set up or is a failure"})
				}
				return true
			})
		}
	}
	return found
}

// inBubble reports whether a test file uses testing/synctest.
func inBubble(f File) bool {
	return slices.ContainsFunc(f.AST.Imports, func(s *ast.ImportSpec) bool { return s.Path.Value == `"testing/synctest"` })
}

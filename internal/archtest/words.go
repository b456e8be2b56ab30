package archtest

import (
	"go/ast"
	"slices"
	"strings"
)

// Words checks that the pure packages stay pure: no network, database, process,
// goroutine or clock. Only the tenant's loader may open files.
func Words(t *Tree) []Violation {
	table := Table()
	var found []Violation
	for _, f := range t.Files {
		row, _, _ := rowOf(table, f.Dir())
		if row.Layer != Word || f.Test {
			continue
		}
		for _, spec := range f.AST.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			if impure(imported) || imported == "os" && row.Path != "internal/tenant" {
				found = append(found, Violation{f.Path, t.line(spec.Pos()), "a word imports " + imported + "; words are pure values"})
			}
		}
		ast.Inspect(f.AST, func(n ast.Node) bool {
			if _, ok := n.(*ast.GoStmt); ok {
				found = append(found, Violation{f.Path, t.line(n.Pos()), "a word starts a goroutine; words are pure values"})
			}
			if isCall(n, "time", "Now", "After", "Sleep", "Since", "Until") {
				found = append(found, Violation{f.Path, t.line(n.Pos()), "a word reads the clock; take the time as a value"})
			}
			return true
		})
	}
	return found
}

func impure(imported string) bool {
	for _, root := range []string{"net", "database/sql", "os/exec", "os/signal"} {
		if within(imported, root) && imported != "net/url" && imported != "net/netip" {
			return true
		}
	}
	return false
}

// isCall reports whether a node calls one of a package's functions by its usual name.
func isCall(n ast.Node, pkg string, funcs ...string) bool {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return false
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains(funcs, sel.Sel.Name) {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == pkg
}

package archtest

import (
	"fmt"
	"go/ast"
	"go/token"
)

// The sizes at which a rule fails, in lines unless said. They are the last warning:
// files aim at 150 lines, functions at 15, packages at 300.
const (
	maxFile      = 500
	maxTestFile  = 1000
	maxFunc      = 80
	maxPackage   = 1500 // without tests
	maxMethods   = 4    // methods of an interface
	maxArguments = 4    // parameters of a function, the context aside
)

// Sizes checks files, functions, packages, interfaces and parameter lists. Of test
// files it checks only the length.
func Sizes(t *Tree) []Violation {
	var found []Violation
	for _, dir := range t.Packages() {
		total := 0
		for _, f := range t.In(dir) {
			limit := maxFile
			if f.Test {
				limit = maxTestFile
			} else {
				total += f.Lines
				found = append(found, declarations(t, f)...)
			}
			if f.Lines > limit {
				found = append(found, Violation{Path: f.Path, Message: fmt.Sprintf("%d lines; a file of more than %d is split", f.Lines, limit)})
			}
		}
		if total > maxPackage {
			found = append(found, Violation{Path: dir, Message: fmt.Sprintf("%d lines without tests; a package of more than %d is split", total, maxPackage)})
		}
	}
	return found
}

func declarations(t *Tree, f File) []Violation {
	var found []Violation
	report := func(pos token.Pos, format string, args ...any) {
		found = append(found, Violation{f.Path, t.line(pos), fmt.Sprintf(format, args...)})
	}
	ast.Inspect(f.AST, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if lines := t.line(n.End()) - t.line(n.Pos()) + 1; lines > maxFunc {
				report(n.Pos(), "%s has %d lines; a function of more than %d is split", n.Name.Name, lines, maxFunc)
			}
			if count := parameters(n.Type); count > maxArguments {
				report(n.Pos(), "%s has %d parameters; more than %d become a struct", n.Name.Name, count, maxArguments)
			}
		case *ast.InterfaceType:
			if count := methods(n); count > maxMethods {
				report(n.Pos(), "an interface of %d methods; more than %d are several", count, maxMethods)
			}
		}
		return true
	})
	return found
}

// parameters counts the parameters of a function without a leading context.
func parameters(f *ast.FuncType) int {
	count := 0
	for i, field := range f.Params.List {
		if sel, ok := field.Type.(*ast.SelectorExpr); ok && i == 0 && sel.Sel.Name == "Context" {
			continue
		}
		count += max(1, len(field.Names))
	}
	return count
}

// methods counts the methods of an interface; an embedded one counts once, and the
// terms of a type constraint do not count.
func methods(i *ast.InterfaceType) int {
	count := 0
	for _, m := range i.Methods.List {
		switch m.Type.(type) {
		case *ast.FuncType, *ast.Ident, *ast.SelectorExpr:
			count += max(1, len(m.Names))
		}
	}
	return count
}

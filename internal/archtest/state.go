package archtest

import (
	"go/ast"
	"go/token"
	"slices"
)

// State checks that a package does nothing when it is imported and keeps nothing that
// changes: no init function, no package variable that is written, locked or filled
// later, and no value carried in a context.
func State(t *Tree) []Violation {
	var found []Violation
	for _, dir := range t.Packages() {
		files := slices.DeleteFunc(t.In(dir), func(f File) bool { return f.Test })
		vars := map[string]bool{}
		for _, f := range files {
			found = append(found, variables(t, f, vars)...)
		}
		for _, f := range files {
			found = append(found, effects(t, f, vars)...)
		}
	}
	return found
}

// variables adds a file's package variables to vars, and reports those whose very type
// is there to change.
func variables(t *Tree, f File, vars map[string]bool) []Violation {
	var found []Violation
	for _, decl := range f.AST.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.VAR {
			continue
		}
		for _, spec := range gen.Specs {
			value := spec.(*ast.ValueSpec) // a var declaration holds nothing else
			for _, name := range value.Names {
				vars[name.Name] = true
			}
			if changes(value) {
				found = append(found, Violation{f.Path, t.line(value.Pos()), "a package variable that is there to change; make it a field"})
			}
		}
	}
	return found
}

// changes reports whether a variable is a lock, an atomic, a channel or something made
// empty to be filled later.
func changes(value *ast.ValueSpec) bool {
	if _, ok := value.Type.(*ast.ChanType); ok {
		return true
	}
	if sel, ok := value.Type.(*ast.SelectorExpr); ok {
		if pkg, ok := sel.X.(*ast.Ident); ok && (pkg.Name == "sync" || pkg.Name == "atomic") {
			return true
		}
	}
	for _, v := range value.Values {
		if call, ok := v.(*ast.CallExpr); ok {
			if fn, ok := call.Fun.(*ast.Ident); ok && (fn.Name == "make" || fn.Name == "new") {
				return true
			}
		}
	}
	return false
}

// effects reports init functions, writes to package variables, and context values.
func effects(t *Tree, f File, vars map[string]bool) []Violation {
	var found []Violation
	report := func(n ast.Node, message string) {
		found = append(found, Violation{f.Path, t.line(n.Pos()), message})
	}
	for _, decl := range f.AST.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		if fn.Name.Name == "init" && fn.Recv == nil {
			report(fn, "an init function; do the work in New, or declare the value")
		}
		w := writes{vars: vars, imports: importNames(f), locals: localNames(fn)}
		ast.Inspect(fn, func(n ast.Node) bool {
			if isCall(n, "context", "WithValue") {
				report(n, "context.WithValue; pass the value as an argument")
			}
			for _, target := range targets(n) {
				if w.global(target) {
					report(n, "writes a package variable; make it a field")
				}
			}
			return true
		})
	}
	return found
}

// targets lists the expressions that a node writes to.
func targets(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.CallExpr:
		if fn, ok := n.Fun.(*ast.Ident); ok && (fn.Name == "delete" || fn.Name == "clear") && len(n.Args) > 0 {
			return n.Args[:1]
		}
	}
	return nil
}

// writes decides whether a written expression belongs to a package.
type writes struct {
	vars    map[string]bool // package variables of the package
	imports map[string]bool // names of the file's imports
	locals  map[string]bool // names the function declares itself
}

func (w writes) global(target ast.Expr) bool {
	for {
		switch e := target.(type) {
		case *ast.Ident:
			return e.Name != "_" && !w.locals[e.Name] && w.vars[e.Name]
		case *ast.SelectorExpr:
			if id, ok := e.X.(*ast.Ident); ok && w.imports[id.Name] && !w.locals[id.Name] {
				return true // a variable of another package
			}
			target = e.X
		case *ast.IndexExpr:
			target = e.X
		case *ast.StarExpr:
			target = e.X
		case *ast.ParenExpr:
			target = e.X
		default:
			return false
		}
	}
}

package archtest

import (
	"go/ast"
	"go/token"
	"strings"
)

// importNames lists the names under which a file knows its imports, guessed from the
// last part of the path where no name is given.
func importNames(f File) map[string]bool {
	names := map[string]bool{}
	for _, spec := range f.AST.Imports {
		p := strings.Trim(spec.Path.Value, `"`)
		name := p[strings.LastIndexByte(p, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = true
	}
	return names
}

// localNames lists every name a function declares: receiver, parameters, results and
// variables, in inner functions too. A local that hides a package variable in one
// block hides it here in the whole function, which errs towards silence.
func localNames(fn *ast.FuncDecl) map[string]bool {
	names := map[string]bool{}
	add := func(e ast.Expr) {
		if id, ok := e.(*ast.Ident); ok {
			names[id.Name] = true
		}
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				add(name)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, e := range n.Lhs {
					add(e)
				}
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				add(n.Key)
				add(n.Value)
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				add(name)
			}
		}
		return true
	})
	return names
}

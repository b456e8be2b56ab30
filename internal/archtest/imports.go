package archtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Imports checks that every package has a row of [Table] and imports only what its
// row allows.
func Imports(t *Tree) []Violation {
	table := Table()
	var found []Violation
	for _, dir := range t.Packages() {
		if _, _, ok := rowOf(table, dir); !ok {
			found = append(found, Violation{Path: dir, Message: "the package has no row in the import table: " +
				"decide which layer it is, add it to Table in internal/archtest/table.go and to ARCHITECTURE.md"})
			continue
		}
		for _, f := range t.In(dir) {
			found = append(found, fileImports(t, table, f)...)
		}
	}
	return found
}

func fileImports(t *Tree, table []Row, f File) []Violation {
	var found []Violation
	for _, spec := range f.AST.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // the parser accepts only string literals here
		}
		target, ours := strings.CutPrefix(imported, Module+"/")
		if !ours {
			continue
		}
		if why := refuse(table, f, target); why != "" {
			found = append(found, Violation{f.Path, t.line(spec.Pos()), why})
		}
	}
	return found
}

// refuse says why a file may not import a package of the module; "" when it may.
func refuse(table []Row, f File, target string) string {
	from, fromPlace, _ := rowOf(table, f.Dir())
	to, toPlace, ok := rowOf(table, target)
	switch {
	case !ok:
		return fmt.Sprintf("imports %s, which has no row in the import table", target)
	case from.Path == to.Path, slices.Contains(from.Also, "*"), slices.Contains(from.Also, to.Path):
		return ""
	case f.Test && (slices.Contains(inTests(), to.Path) || slices.Contains(from.Tests, to.Path)):
		return ""
	case to.Layer == Word && from.Layer == Word && toPlace < fromPlace:
		return ""
	case to.Layer == Word && (from.Layer == Room || from.Layer == Adapter || from.Layer == Edge):
		return ""
	case to.Layer == Room && from.Layer == Room && toPlace > fromPlace:
		return ""
	case to.Layer == Room && from.Layer == Edge && !from.Outside:
		return ""
	}
	return fmt.Sprintf("%s (%s) may not import %s (%s); %s", from.Path, from.Layer, to.Path, to.Layer, direction(from.Layer))
}

// direction is the sentence of the rule that a refused import breaks.
func direction(l Layer) string {
	switch l {
	case Public:
		return "public packages never import the program"
	case Word:
		return "a word imports the words above it"
	case Room:
		return "a room imports words and the rooms downstream of it"
	case Adapter:
		return "an adapter imports words and the rooms whose interfaces it fills"
	case Edge:
		return "an edge imports words and rooms, never another edge or the store"
	case Wiring:
		return "wiring imports what its row names"
	}
	return "its layer is unknown"
}

// Libraries checks that a library with one home is imported only there, and a test
// library only by tests and by the suites that tests call.
func Libraries(t *Tree) []Violation {
	var found []Violation
	for _, f := range t.Files {
		for _, spec := range f.AST.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			for _, c := range confinement() {
				if !within(imported, c.Library) || allowed(c, f) {
					continue
				}
				home := c.Home
				if home == "" {
					home = "tests"
				}
				found = append(found, Violation{f.Path, t.line(spec.Pos()),
					fmt.Sprintf("imports %s, whose only home is %s", imported, home)})
			}
		}
	}
	return found
}

func allowed(c confined, f File) bool {
	if c.Home == "" {
		return f.Test || strings.HasSuffix(f.Dir(), "test") // a conformance suite such as store/storetest
	}
	return within(f.Dir(), c.Home)
}

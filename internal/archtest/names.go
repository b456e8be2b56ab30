package archtest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// forbiddenNames say nothing about what a package does.
func forbiddenNames() []string {
	return []string{"util", "utils", "common", "helper", "helpers", "misc", "types", "models", "service", "services", "manager", "base", "shared"}
}

// Names checks that no package has a name that says nothing.
func Names(t *Tree) []Violation {
	var found []Violation
	for _, dir := range t.Packages() {
		for _, name := range []string{path.Base(dir), strings.TrimSuffix(t.In(dir)[0].AST.Name.Name, "_test")} {
			if slices.Contains(forbiddenNames(), name) {
				found = append(found, Violation{Path: dir, Message: fmt.Sprintf("a package named %q says nothing; name it after what it does", name)})
				break
			}
		}
	}
	return found
}

// Comments checks that every package has exactly one package comment, in the usual form.
func Comments(t *Tree) []Violation {
	var found []Violation
	for _, dir := range t.Packages() {
		files := slices.DeleteFunc(t.In(dir), func(f File) bool { return f.Test })
		if len(files) == 0 {
			files = t.In(dir) // a package of tests alone
		}
		var with []string
		for _, f := range files {
			text := f.AST.Doc.Text()
			if text == "" {
				continue
			}
			with = append(with, f.Path)
			if want := commentStart(f.AST.Name.Name, dir); !strings.HasPrefix(text, want) {
				found = append(found, Violation{Path: f.Path, Message: fmt.Sprintf("the package comment must start with %q", want)})
			}
		}
		if len(with) != 1 {
			found = append(found, Violation{Path: dir, Message: fmt.Sprintf("%d package comments; every package has one: %v", len(with), with)})
		}
	}
	return found
}

func commentStart(pkg, dir string) string {
	if pkg == "main" {
		return "Command " + path.Base(dir) + " "
	}
	return "Package " + pkg + " "
}

package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Module is the import path of the repository's module.
const Module = "github.com/manychat-agent/manychat-agent"

// Tree is a repository as the rules read it: everything git would not ignore.
type Tree struct {
	Files  []File            // Go files, in path order, without those under testdata
	Docs   map[string]string // Markdown files by path, without those under testdata
	Paths  map[string]bool   // every file and directory by path, testdata included
	Ignore Ignore            // the root .gitignore

	fset *token.FileSet
}

// File is one Go file.
type File struct {
	Path  string
	Test  bool // the name ends in _test.go
	Lines int
	AST   *ast.File
}

// Dir is the path of the package the file belongs to; "." for the root.
func (f File) Dir() string { return path.Dir(f.Path) }

// Violation is one place where a rule does not hold.
type Violation struct {
	Path    string
	Line    int // 0: the whole file or directory
	Message string
}

func (v Violation) String() string {
	if v.Line == 0 {
		return v.Path + ": " + v.Message
	}
	return fmt.Sprintf("%s:%d: %s", v.Path, v.Line, v.Message)
}

// Load reads a repository. It skips .git and everything the root .gitignore names,
// and fails on a Go file that does not parse.
func Load(fsys fs.FS) (*Tree, error) {
	t := &Tree{Docs: map[string]string{}, Paths: map[string]bool{}, fset: token.NewFileSet()}
	if rules, err := fs.ReadFile(fsys, ".gitignore"); err == nil {
		t.Ignore = ParseIgnore(string(rules))
	}
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if p != "." && (p == ".git" || t.Ignore.Match(p, d.IsDir())) {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		t.Paths[p] = true
		if d.IsDir() {
			return nil
		}
		return t.add(fsys, p)
	})
	if err != nil {
		return nil, fmt.Errorf("read the tree: %w", err)
	}
	return t, nil
}

func (t *Tree) add(fsys fs.FS, p string) error {
	isGo := strings.HasSuffix(p, ".go")
	if !isGo && !strings.HasSuffix(p, ".md") || slices.Contains(strings.Split(p, "/"), "testdata") {
		return nil
	}
	src, err := fs.ReadFile(fsys, p)
	if err != nil {
		return err
	}
	if !isGo {
		t.Docs[p] = string(src)
		return nil
	}
	parsed, err := parser.ParseFile(t.fset, p, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	t.Files = append(t.Files, File{
		Path:  p,
		Test:  strings.HasSuffix(p, "_test.go"),
		Lines: bytes.Count(src, []byte("\n")),
		AST:   parsed,
	})
	return nil
}

// Packages lists the directories that hold Go files, in path order.
func (t *Tree) Packages() []string {
	var dirs []string
	for _, f := range t.Files {
		if !slices.Contains(dirs, f.Dir()) {
			dirs = append(dirs, f.Dir())
		}
	}
	slices.Sort(dirs)
	return dirs
}

// In lists the files of one package directory.
func (t *Tree) In(dir string) []File {
	var files []File
	for _, f := range t.Files {
		if f.Dir() == dir {
			files = append(files, f)
		}
	}
	return files
}

func (t *Tree) line(pos token.Pos) int { return t.fset.Position(pos).Line }

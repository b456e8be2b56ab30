package document

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Problem is one thing that is wrong in a file.
type Problem struct {
	File         string
	Line, Column int    // from 1, columns in code points; both 0 when the whole file is meant
	Path         string // JSON Pointer; empty for the top of the file
	Found        string
	Expected     string
	Hint         string // what to do about it, when that is known
}

// String is one line: file:line:column path: found …, expected … (hint).
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	if p.Path != "" {
		b.WriteString(" " + p.Path)
	}
	fmt.Fprintf(&b, ": found %s, expected %s", p.Found, p.Expected)
	if p.Hint != "" {
		fmt.Fprintf(&b, " (%s)", p.Hint)
	}
	return b.String()
}

// Compare orders problems as a reader walks through the files.
func (p Problem) Compare(q Problem) int {
	return cmp.Or(
		cmp.Compare(p.File, q.File),
		cmp.Compare(p.Line, q.Line),
		cmp.Compare(p.Column, q.Column),
		cmp.Compare(p.Path, q.Path),
		cmp.Compare(p.Found, q.Found),
	)
}

// Problems are all that is wrong with a set of files. As an error it prints one
// problem a line.
type Problems []Problem

// Error lists every problem, one a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Sort orders the problems by file, line and column and drops repeats.
func (ps Problems) Sort() Problems {
	slices.SortFunc(ps, Problem.Compare)
	return slices.Compact(ps)
}

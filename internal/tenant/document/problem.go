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
	More         int    // so many problems of the file are not listed; then only File is set
}

// maxListed is the most problems of one file that are listed.
const maxListed = 100

// String is one line: file:line:column path: found …, expected … (hint).
func (p Problem) String() string {
	if p.More > 0 {
		return fmt.Sprintf("%s: and %d more", p.File, p.More)
	}
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

// Compare orders problems as a reader walks through the files; what is not listed comes
// after what is.
func (p Problem) Compare(q Problem) int {
	return cmp.Or(
		cmp.Compare(p.File, q.File),
		cmp.Compare(p.More, q.More),
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

// Sort orders the problems by file, line and column, drops repeats and keeps the first
// 100 of each file, with one more that counts the rest.
func (ps Problems) Sort() Problems {
	slices.SortFunc(ps, Problem.Compare)
	return slices.Compact(ps).shorten()
}

func (ps Problems) shorten() Problems {
	var short Problems
	listed := 0
	for i, p := range ps {
		if i == 0 || p.File != ps[i-1].File {
			listed = 0
		}
		switch {
		case p.More == 0 && listed < maxListed:
			listed++
			short = append(short, p)
		case listed > 0 && short[len(short)-1].More > 0:
			short[len(short)-1].More += max(p.More, 1)
		default:
			short = append(short, Problem{File: p.File, More: max(p.More, 1)})
		}
	}
	return short
}

package redact

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/redact/glyph"
	"github.com/manychat-agent/manychat-agent/internal/redact/ordinary"
)

// A number with nothing ordinary about it is long from 9 digits on: subscriber ids have
// 9 to 20. A phone number has up to 15, and is one from 7 on when it is written so.
const (
	fewestLong  = 9
	fewestPhone = 7
	mostPhone   = 15
)

// findNumbers takes out flow namespaces, phone numbers and long numbers.
func (f *finder) findNumbers() {
	t, kept := f.text, -1
	for i := 0; i < len(t); {
		if !glyph.Is(t[i], glyph.Digit) && !(glyph.Is(t[i], glyph.HexLetter) && (i == 0 || !glyph.Is(t[i-1], glyph.Alnum))) {
			i++
			continue
		}
		if end := ordinary.At(t, i, kept); end > i {
			i, kept = end, end
			continue
		}
		if !glyph.Is(t[i], glyph.Digit) {
			i++
			continue
		}
		if start, end := flowNamespace(t, i); end > i {
			f.take(start, end, flow)
			i = end
			continue
		}
		g := groupsAt(t, i)
		i = g.end()
		if marker := f.judge(g); marker != "" {
			start, end := g.bounds()
			f.take(start, end, marker)
			i = end
		}
	}
}

// flowNamespace is where a flow's name stands whose digits begin at i: content, the 14
// digits of a time, _ and digits.
func flowNamespace(t string, i int) (start, end int) {
	const name = "content"
	start, end = i-len(name), glyph.Run(t, i, glyph.Digit)
	last := glyph.Run(t, end+1, glyph.Digit)
	if start < 0 || !strings.EqualFold(t[start:i], name) || end-i != 14 || last <= end+1 || t[end] != '_' {
		return i, i
	}
	return start, last
}

// group is a row of digits, and the mark between it and the group before: space, - . /
// or ( for a bracket, comma for what only groups thousands.
type group struct {
	start, end int
	mark       byte
}

// groups is a number as it is written: digits with marks between them.
type groups struct {
	t      string
	all    []group
	digits int
}

func (g groups) end() int          { return g.all[len(g.all)-1].end }
func (g groups) text(i int) string { return g.t[g.all[i].start:g.all[i].end] }
func (g groups) size(i int) int    { return g.all[i].end - g.all[i].start }

// slice is the number between two of its groups.
func (g groups) slice(from, to int) groups {
	part := groups{t: g.t, all: g.all[from:to]}
	for i := range part.all {
		part.digits += part.size(i)
	}
	return part
}

// groupsAt reads the number whose first digit is at i.
func groupsAt(t string, i int) groups {
	g := groups{t: t, all: make([]group, 0, 8)}
	var mark byte
	for {
		end := glyph.Run(t, i, glyph.Digit)
		g.all = append(g.all, group{i, end, mark})
		g.digits += end - i
		next, joined := joint(t, i, end)
		if next == end || joined == ' ' && ordinary.Starts(t, next) {
			return g
		}
		i, mark = next, joined
	}
}

// joint is where the next group begins behind the one between start and end, and what
// stands between them; next is end when the number is over.
func joint(t string, start, end int) (next int, mark byte) {
	if end+3 < len(t) && glyph.In(",'_", t[end]) {
		if end-start <= 3 && glyph.Run(t, end+1, glyph.Digit) == end+4 {
			return end + 1, ','
		}
		return end, 0
	}
	spaces, brackets, marks := 0, 0, 0
	mark = ' '
	for next = end; next < len(t) && !glyph.Is(t[next], glyph.Digit); next++ {
		switch c := t[next]; c {
		case ' ', '\t':
			spaces++
		case '(', ')':
			brackets++
			mark = '('
		case '-', '.', '/':
			if marks++; marks > 1 && (c != '-' || t[next-1] != '-') {
				return end, 0
			}
			mark = c
		default:
			return end, 0
		}
	}
	dotted := mark == '.' && spaces > 0 // the end of a sentence
	if next == len(t) || next == end || spaces > 3 || brackets > 2 || marks > 2 || dotted {
		return end, 0
	}
	return next, mark
}

// bounds is the number with the plus sign and the bracket that it begins with.
func (g groups) bounds() (start, end int) {
	start, end = g.all[0].start, g.end()
	number := g.t[start:end]
	open := strings.Count(number, ")") > strings.Count(number, "(") // before the number
	for {
		before := strings.TrimRight(g.t[:start], " ")
		switch {
		case strings.HasSuffix(before, "+"), open && strings.HasSuffix(before, "("):
			open = open && strings.HasSuffix(before, "+")
			start = len(before) - 1
		default:
			return start, end
		}
	}
}

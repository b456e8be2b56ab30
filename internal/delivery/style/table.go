package style

import "strings"

// table writes the table whose head is the line at an offset, a line for each row, and
// returns where the line behind it begins, or 0 when the line is no head.
func (p *page) table(at int, l line) (next int) {
	if !p.isTable(at, l) {
		return 0
	}
	p.row(l, true)
	l = lineAt(p.src, l.next) // the separator
	for l.next <= len(p.src) {
		row := lineAt(p.src, l.next)
		if text := p.src[row.start:row.end]; !strings.Contains(text, "|") || strings.TrimSpace(text) == "" {
			break
		}
		p.row(row, false)
		l = row
	}
	return l.next
}

// isTable reports whether a line with a bar has a row of hyphens below it.
func (p *page) isTable(at int, l line) bool {
	if l.next > len(p.src) || !strings.Contains(p.src[at:l.end], "|") {
		return false
	}
	below := lineAt(p.src, l.next)
	return isSeparator(strings.TrimSpace(p.src[below.start:below.end]))
}

// isSeparator reports whether a line is bars, hyphens and colons, at least one bar and
// one hyphen.
func isSeparator(text string) bool {
	return strings.Trim(text, "|-: \t") == "" && strings.Contains(text, "|") && strings.Contains(text, "-")
}

// row writes the cells of a row on one line. Empty cells at its end are left out, as is
// the one over the names of the rows; one before others is a hyphen.
func (p *page) row(l line, head bool) {
	p.newLine(l)
	lo, hi := trimmed(p.src, l.start, l.end)
	if p.src[lo] == '|' {
		lo++
	}
	p.w.Cell = true
	sep, empty := "", 0
	for _, c := range cells(p.src[lo:hi]) {
		from, to := trimmed(p.src, lo+c[0], lo+c[1])
		if from == to {
			empty++
			continue
		}
		for ; empty > 0 && !(head && sep == ""); empty-- {
			p.w.Out = append(append(p.w.Out, sep...), '-')
			sep = " | "
		}
		p.w.Out = append(p.w.Out, sep...)
		p.w.Text(from, to)
		sep, empty = " | ", 0
	}
	p.w.Cell = false
}

// cells returns where the cells of a row are. A bar behind a backslash is part of its
// cell.
func cells(text string) [][2]int {
	var found [][2]int
	from := 0
	for i := range len(text) {
		if text[i] == '|' && (i == 0 || text[i-1] != '\\') {
			found = append(found, [2]int{from, i})
			from = i + 1
		}
	}
	return append(found, [2]int{from, len(text)})
}

// trimmed moves two offsets over the white space between them.
func trimmed(s string, lo, hi int) (int, int) {
	text := strings.TrimSpace(s[lo:hi])
	if text == "" {
		return lo, lo
	}
	lo += strings.Index(s[lo:hi], text)
	return lo, lo + len(text)
}

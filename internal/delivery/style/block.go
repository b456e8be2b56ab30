package style

import (
	"bytes"
	"strings"
	"unicode"
)

// render writes the whole message to out.
func (p *page) render() {
	for at := 0; at <= len(p.src); {
		at = p.block(at)
	}
	if p.trim {
		p.w.Out = bytes.TrimRight(p.w.Out, "\r\n")
	}
}

// block writes the block that begins with the line at an offset and returns where the
// next line begins, which is behind the end of the text when there is none.
func (p *page) block(at int) (next int) {
	l := lineAt(p.src, at)
	text := strings.TrimSpace(p.src[at:l.end])
	if text == "" {
		p.blankLine(l)
		return l.next
	}
	p.quoted = p.quoted && text[0] == '>'
	switch text[0] {
	case '`', '~':
		if next = p.fence(at, text); next > 0 {
			return next
		}
	case '>':
		if p.quote(at, l) {
			return l.next
		}
	case '[':
		if p.w.Defines(at, l.end) {
			return p.drop(l)
		}
	}
	if isRule(text) || p.isUnderline(text) {
		return p.drop(l)
	}
	if next = p.table(at, l); next > 0 {
		return next
	}
	return p.paragraph(at, l)
}

// paragraph writes the line at an offset and the plain lines that go on from it.
func (p *page) paragraph(at int, l line) (next int) {
	p.newLine(l)
	lo := p.lead(at, l.end)
	if end := p.heading(at, l.end); end > 0 {
		p.w.Text(lo, max(lo, end))
		return l.next
	}
	hi := l.end
	for l.next <= len(p.src) && !p.begins(l.next) {
		l = lineAt(p.src, l.next)
		hi = l.end
	}
	p.eol = l.eol
	p.w.Text(lo, hi)
	return l.next
}

// begins reports whether the line at an offset does not go on from the plain line before.
func (p *page) begins(at int) bool {
	l := lineAt(p.src, at)
	text := strings.TrimSpace(p.src[at:l.end])
	if text == "" || strings.IndexByte("`~>[#", text[0]) >= 0 || isRule(text) || isUnderline(text) {
		return true
	}
	if n, _ := bullet(text); n > 0 || number(text) > 0 {
		return true
	}
	return p.isTable(at, l)
}

// newLine ends the line before and begins one whose end is known.
func (p *page) newLine(l line) {
	if p.started {
		p.w.Out = append(p.w.Out, p.eol...)
	}
	p.eol, p.started, p.blank, p.trim = l.eol, true, false, false
	p.w.Break()
}

// blankLine writes an empty line as it is, unless a line between two of them
// disappeared.
func (p *page) blankLine(l line) {
	if p.trim && (p.blank || !p.started) {
		return
	}
	p.newLine(l)
	p.w.Out = append(p.w.Out, p.src[l.start:l.end]...)
	p.blank, p.quoted = true, false
}

// drop leaves a line out.
func (p *page) drop(l line) (next int) {
	p.trim = true
	p.w.Break()
	return l.next
}

// lead writes what stands before the text of a line and returns where that begins:
// indentation, a bullet, a box to tick, a number. A heading's sign is left out.
func (p *page) lead(at, end int) int {
	lo := end - len(strings.TrimLeft(p.src[at:end], " \t"))
	text := p.src[lo:end]
	if n := headingSign(text); n > 0 {
		return lo + n
	}
	p.w.Out = append(p.w.Out, p.src[at:lo]...)
	if n := number(text); n > 0 {
		p.w.Out = append(p.w.Out, text[:n]...)
		return lo + n
	}
	n, sign := bullet(text)
	if n == 0 || text[0] == '*' && p.lone {
		return lo
	}
	if sign == "" {
		sign = text[:n]
	}
	if box := tickBox(text[n:]); box != "" {
		sign, n = box, n+len("[ ] ")
	}
	p.w.Out = append(p.w.Out, sign...)
	return lo + n
}

// bullet returns the length of the bullet that a line begins with, and what to write
// for it if that is something else.
func bullet(text string) (n int, sign string) {
	mark := strings.IndexFunc(text, unicode.IsSpace)
	if mark < 1 {
		return 0, ""
	}
	n = len(text) - len(strings.TrimLeft(text[mark:], " \t"))
	switch text[:mark] {
	case "*":
		return n, "- "
	case "-", "+", "•":
		return n, ""
	}
	return 0, ""
}

// tickBox returns what to write for the box to tick that the text of a list item begins
// with.
func tickBox(text string) string {
	switch {
	case strings.HasPrefix(text, "[ ] "):
		return "☐ "
	case strings.HasPrefix(text, "[x] "), strings.HasPrefix(text, "[X] "):
		return "☑ "
	}
	return ""
}

// number returns the length of the number of a numbered list that a line begins with.
func number(text string) int {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	if n == 0 || n+1 >= len(text) || text[n] != '.' && text[n] != ')' || text[n+1] != ' ' {
		return 0
	}
	return n + 2
}

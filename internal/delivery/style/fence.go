package style

import "strings"

// fence writes a block between fences and returns where the line behind it begins, or 0
// when the line is no fence or nothing closes it. What stands in a fence is untouched,
// unless the fence says that it is Markdown.
func (p *page) fence(at int, text string) (next int) {
	n := run(text)
	if n < 3 || p.fenced || !isInfo(text[n:]) || p.unclosed(text[0], n) {
		return 0
	}
	l := lineAt(p.src, at)
	first := l.next
	for l.next <= len(p.src) {
		l = lineAt(p.src, l.next)
		if closes(strings.TrimSpace(p.src[l.start:l.end]), text[0], n) {
			p.within(first, l.start, strings.TrimSpace(text[n:]))
			return l.next
		}
	}
	p.remember(text[0], n)
	return 0
}

// within writes the lines between two fences.
func (p *page) within(at, end int, info string) {
	if info == "markdown" || info == "md" {
		p.fenced = true
		for at < end {
			at = p.block(at)
		}
		p.fenced = false
		return
	}
	for at < end {
		l := lineAt(p.src, at)
		p.newLine(l)
		p.w.Out = append(p.w.Out, p.src[at:l.end]...)
		at = l.next
	}
}

// run returns how often the first byte of a text is repeated at its beginning.
func run(text string) int {
	n := 0
	for n < len(text) && text[n] == text[0] {
		n++
	}
	return n
}

// isInfo reports whether what follows a fence can be the name of a language.
func isInfo(info string) bool {
	info = strings.TrimSpace(info)
	for i := range len(info) {
		c := info[i]
		if !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z') && strings.IndexByte("+#-._", c) < 0 {
			return false
		}
	}
	return true
}

func closes(text string, sign byte, n int) bool {
	return len(text) >= n && text[0] == sign && run(text) == len(text)
}

// remember keeps that no fence of n signs closes from here on, so that the lines behind
// are not searched again and again; unclosed asks.
func (p *page) remember(sign byte, n int) {
	if known := &p.fences[fenceKind(sign)]; *known == 0 || n < *known {
		*known = n
	}
}

func (p *page) unclosed(sign byte, n int) bool {
	known := p.fences[fenceKind(sign)]
	return known > 0 && n >= known
}

func fenceKind(sign byte) int {
	if sign == '~' {
		return 1
	}
	return 0
}

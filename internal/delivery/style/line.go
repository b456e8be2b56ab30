package style

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// line is where a line of the source is. Its end has no line break; eol is the line break
// and next is where the next line begins, behind the end of the text for the last line.
type line struct {
	start, end, next int
	eol              string
}

func lineAt(s string, at int) line {
	n := strings.IndexByte(s[at:], '\n')
	if n < 0 {
		return line{start: at, end: len(s), next: len(s) + 1}
	}
	l := line{start: at, end: at + n, next: at + n + 1}
	if n > 0 && s[l.end-1] == '\r' {
		l.end--
	}
	l.eol = s[l.end:l.next]
	return l
}

// isRule reports whether a line draws a rule: three or more of one sign, spaces aside.
func isRule(text string) bool {
	n := 0
	for i := range len(text) {
		switch text[i] {
		case ' ', '\t':
		case text[0]:
			n++
		default:
			return false
		}
	}
	return n >= 3 && strings.IndexByte("-*_", text[0]) >= 0
}

// isUnderline reports whether a line could underline the one before as a heading; the
// underline of hyphens is a rule already.
func isUnderline(text string) bool { return len(text) >= 3 && strings.Trim(text, "=") == "" }

func (p *page) isUnderline(text string) bool {
	return isUnderline(text) && p.started && !p.blank && !p.trim
}

// headingSign returns the length of the signs and spaces that begin a heading. A single #
// before a small letter or a figure is a number sign.
func headingSign(text string) int {
	n := len(text) - len(strings.TrimLeft(text, "#"))
	rest := strings.TrimLeft(text[n:], " \t")
	if n < 1 || n > 6 || strings.Trim(rest, "# \t") == "" || len(rest) == len(text)-n {
		return 0
	}
	if n == 1 {
		if r := first(rest); unicode.IsLower(r) || unicode.IsDigit(r) && number(rest) == 0 {
			return 0
		}
	}
	return len(text) - len(rest)
}

// heading returns where the text of a heading ends, before the signs that close it, or 0
// if the line is none.
func (p *page) heading(at, end int) int {
	text := strings.TrimSpace(p.src[at:end])
	if headingSign(text) == 0 {
		return 0
	}
	end = at + len(strings.TrimRight(p.src[at:end], " \t"))
	bare := at + len(strings.TrimRight(p.src[at:end], "#"))
	if bare < end && (p.src[bare-1] == ' ' || p.src[bare-1] == '\t') {
		return at + len(strings.TrimRight(p.src[at:bare], " \t"))
	}
	return end
}

// quote writes a line that is quoted, if it is: "> " and a text that does not begin with
// a figure or a currency, which would make it a comparison.
func (p *page) quote(at int, l line) bool {
	lo := at
	for i := at; i < l.end && strings.IndexByte("> \t", p.src[i]) >= 0; i++ {
		if p.src[i] == '>' {
			lo = i + 1
		}
	}
	if lo == l.end && p.quoted {
		p.newLine(l)
		return true
	}
	if lo == l.end || p.src[lo] != ' ' {
		return false
	}
	lo = l.end - len(strings.TrimLeft(p.src[lo:l.end], " \t"))
	if r := first(p.src[lo:l.end]); unicode.IsDigit(r) || unicode.Is(unicode.Sc, r) || r == '=' {
		return false
	}
	p.quoted = true
	if text := strings.TrimSpace(p.src[lo:l.end]); isRule(text) {
		return true
	}
	p.newLine(l)
	if p.quotes {
		p.w.Out = append(p.w.Out, "> "...)
	}
	from, end := p.lead(lo, l.end), l.end
	if h := p.heading(lo, end); h > 0 {
		end = max(from, h)
	}
	p.w.Text(from, end)
	return true
}

// first returns the first character of a text.
func first(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}

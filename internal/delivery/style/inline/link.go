package inline

import (
	"bytes"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/delivery/style/address"
)

// link recognises a link or an image at i: a label in brackets and behind it an address
// in parentheses or the name of a reference.
func (w *Writer) link(i, from, hi int) (next int) {
	open := i
	if w.src[i] == '!' {
		if open++; open == hi || w.src[open] != '[' || word(before(w.src, i, from)) {
			return 0
		}
	}
	end := closingBracket(w.src[:hi], open)
	if end < 0 || w.depth > maxLabels {
		return 0
	}
	t := token{kind: link, start: i, lo: open + 1, hi: end}
	if end+1 < hi && w.src[end+1] == '(' {
		t.lit, t.end = target(w.src[:hi], end+1)
	}
	if t.end == 0 {
		t.lit, t.end = w.reference(open, end, hi)
	}
	if t.end == 0 || t.lit == "" && strings.TrimSpace(w.src[t.lo:t.hi]) == "" {
		return 0
	}
	return w.add(from, t)
}

// closingBracket returns where the bracket is that closes the one at an offset, or -1.
func closingBracket(s string, at int) int {
	depth := 0
	for i := at; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			if depth++; depth > maxLabels {
				return -1
			}
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// target reads an address in parentheses, with a title or without, and returns it and
// where the link ends, or 0 if that is not an address.
func target(s string, at int) (dest string, end int) {
	i := skipSpace(s, at+1)
	if i < len(s) && s[i] == '<' {
		n := strings.IndexAny(s[i+1:], "<>\n")
		if n < 0 || s[i+1+n] != '>' {
			return "", 0
		}
		dest, i = s[i+1:i+1+n], i+n+2
	} else {
		stop := closingParen(s, i, " \t")
		dest, i = s[i:stop], stop
	}
	if end = behindTitle(s, skipSpace(s, i)); end == 0 {
		// An address with spaces, which Markdown does not allow and models write.
		stop := closingParen(s, i, "")
		if dest += strings.TrimRight(s[i:stop], " \t"); stop == len(s) || s[stop] != ')' || !strings.Contains(dest, "://") {
			return "", 0
		}
		end = stop + 1
	}
	if dest != "" && !address.Is(dest) {
		return "", 0
	}
	return dest, end
}

func skipSpace(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

// closingParen returns where the parenthesis is that closes one before i, or where the
// line, the text or what is searched ends before it: at one of the stops, or where too
// many are open.
func closingParen(s string, i int, stops string) int {
	depth := 0
	for ; i < len(s); i++ {
		switch c := s[i]; c {
		case '(':
			if depth++; depth > maxLabels {
				return i
			}
		case ')':
			if depth--; depth < 0 {
				return i
			}
		default:
			if c == '\n' || strings.IndexByte(stops, c) >= 0 {
				return i
			}
		}
	}
	return i
}

// behindTitle returns where a link ends whose address ends at i, or 0: at the closing
// parenthesis, or behind a quoted title and one. A title with a link in it is none.
func behindTitle(s string, i int) int {
	if i < len(s) && quote(rune(s[i])) {
		n := strings.IndexByte(s[i+1:], s[i])
		if n < 0 || strings.Contains(s[i+1:i+1+n], "://") || strings.Contains(s[i+1:i+1+n], "\n") {
			return 0
		}
		i = skipSpace(s, i+n+2)
	}
	if i < len(s) && s[i] == ')' {
		return i + 1
	}
	return 0
}

// writeLink writes a link as "label: address", or the address alone when the label says
// the same.
func (w *Writer) writeLink(t token) {
	w.write("", apart)
	if w.gap > 0 {
		w.fillGap()
	}
	shown := address.Shown(t.lit)
	if n := len(w.Out); n > 0 && (w.urlEnd != settled || t.lo == t.hi && cased(rune(w.Out[n-1]))) {
		w.Out = append(w.Out, ' ')
	}
	w.urlEnd = settled
	start := len(w.Out)
	w.depth++
	w.Text(t.lo, t.hi)
	w.depth--
	w.Out = append(w.Out[:start], bytes.TrimSpace(w.Out[start:])...)
	label := string(w.Out[start:])
	for _, m := range t.closes.list[:t.closes.n] {
		w.closeMark(m)
	}
	if shown == "" {
		return
	}
	switch {
	case address.Same(label, shown):
		w.Out = w.Out[:start]
	case w.urlEnd != settled || strings.HasSuffix(label, "…") || strings.IndexByte(":!?.,", label[len(label)-1]) >= 0:
		w.Out = append(w.Out, ' ')
	default:
		w.Out = append(w.Out, ": "...)
	}
	w.Out = append(w.Out, shown...)
	w.urlEnd = apart
}

package inline

import (
	"html"
	"strings"
	"unicode"

	"github.com/manychat-agent/manychat-agent/internal/delivery/style/address"
)

// kind says what a token is.
type kind uint8

const (
	plainText kind = iota // src[start:end] as it is
	urlText               // the same, a URL
	literal               // lit instead of what stands in the source
	delim                 // a run of marks, or a tag that stands for one
	link                  // src[lo:hi] is the label, lit the address
	lineGap               // at least n line breaks
	lineBreak             // one line break
)

// token is a stretch of a paragraph.
type token struct {
	kind       kind
	start, end int
	lo, hi     int
	lit        string

	// Of a run of marks: the character, how many found no other half, and what the others
	// do in the order in which they were found.
	char           byte
	n              int
	closes, opens  marks
	behind, before bool // a URL is the next thing that is shown behind it, before it

	// What came before in the message: lines, URLs, stretches with letters or figures.
	line, urls, words int32
}

// maxLabels bounds how deep links may stand in each other's labels, and how many brackets
// one address may open, which keeps the search for their ends short.
const maxLabels = 8

// maxTicks is the longest run of backticks that is read as code.
const maxTicks = 3

// scan takes the text apart; whatever is not recognised stays text.
func (w *Writer) scan(lo, hi int) {
	from := lo
	for i := lo; i < hi; {
		next := w.special(i, from, lo, hi)
		if next == 0 {
			i++
			continue
		}
		from, i = next, next
	}
	w.addText(from, hi)
}

// special adds the token that begins at i, and the text from from to there, and returns
// where the token ends, or 0 if none begins there.
func (w *Writer) special(i, from, lo, hi int) (next int) {
	switch c := w.src[i]; c {
	case '\n':
		w.line++
	case '*', '_', '~':
		return w.delimiter(i, from, lo, hi)
	case ':', '/', 'w', 'W':
		return w.url(i, from, hi)
	case '[', '!':
		return w.link(i, from, hi)
	case '`':
		return w.code(i, from, lo, hi)
	case '\\':
		return w.escape(i, from, hi)
	case '<':
		return w.tag(i, from, hi)
	case '&':
		return w.entity(i, from, hi)
	}
	return 0
}

// add appends a token behind the text that came before it.
func (w *Writer) add(from int, t token) (next int) {
	w.addText(from, t.start)
	w.push(t)
	return t.end
}

func (w *Writer) addText(from, to int) {
	if from < to {
		w.push(token{kind: plainText, start: from, end: to})
	}
}

func (w *Writer) push(t token) {
	switch t.kind {
	case plainText, literal:
		if strings.ContainsFunc(w.src[t.start:t.end], shown) {
			w.words++
		}
	case urlText:
		w.words++
		w.urls++
		w.beforeURL()
	case link:
		w.words++
		if t.lit != "" {
			w.urls++
		}
		if t.lo == t.hi || strings.HasPrefix(w.src[t.lo:t.hi], "http") {
			w.beforeURL()
		}
	}
	t.line, t.urls, t.words = w.line, w.urls, w.words
	w.tokens = append(w.tokens, t)
}

// shown reports whether a character makes what marks stand around worth marking.
func shown(r rune) bool { return word(r) || sign(r) }

// beforeURL notes in the marks just before that a URL follows.
func (w *Writer) beforeURL() {
	for i := len(w.tokens) - 1; i >= 0 && w.tokens[i].kind == delim && !w.tokens[i].before; i-- {
		w.tokens[i].before = true
	}
}

// url recognises a URL that is written out.
func (w *Writer) url(i, from, hi int) (next int) {
	start, end := address.At(w.src[:hi], i, from)
	if end <= i {
		return 0
	}
	return w.add(from, token{kind: urlText, start: start, end: address.Trim(w.src, start, end)})
}

// escape recognises a backslash before a sign or at the end of a line. A shrug's arm and
// a path keep theirs.
func (w *Writer) escape(i, from, hi int) (next int) {
	if i+1 == hi {
		return 0
	}
	c := w.src[i+1]
	switch {
	case c == '\n':
		if space(before(w.src, i, from)) {
			return 0
		}
		return w.add(from, token{kind: literal, start: i, end: i + 1})
	case c == '\\':
		if third := after(w.src, i+2, hi); !in("*_~\\`[]#", third) {
			return 0
		}
	case c == '/' || c > '~' || !unicode.In(rune(c), unicode.P, unicode.S):
		return 0
	case c == '_' && before(w.src, i, from) == '¯':
		return w.add(from, token{kind: literal, start: i, end: i + 2, lit: `\_`})
	}
	return w.add(from, token{kind: literal, start: i, end: i + 2, lit: w.src[i+1 : i+2]})
}

// code recognises code in backticks, on one line unless there are three; what is within
// stays as it is. A backtick in a word is an apostrophe.
func (w *Writer) code(i, from, lo, hi int) (next int) {
	n := run(w.src[i:hi])
	if n > maxTicks || n == 1 && cased(before(w.src, i, lo)) {
		return w.add(from, token{kind: plainText, start: i, end: i + n})
	}
	end := w.ticks(i+n, hi, n)
	if end < 0 {
		return w.add(from, token{kind: plainText, start: i, end: i + n})
	}
	body := w.src[i+n : end]
	switch {
	case n == maxTicks:
		body = strings.Trim(body, "\r\n")
	case len(body) > 2 && body[0] == ' ' && body[len(body)-1] == ' ':
		body = body[1 : len(body)-1]
	}
	w.line += int32(strings.Count(body, "\n"))
	return w.add(from, token{kind: literal, start: i, end: end + n, lit: body})
}

// ticks returns where the run of n backticks begins that ends code, or -1.
func (w *Writer) ticks(i, hi, n int) int {
	if i < w.noClose[n] {
		return -1
	}
	if n < maxTicks {
		if w.lineEnd < i {
			w.lineEnd = i + len(firstLine(w.src[i:hi]))
		}
		hi = min(hi, w.lineEnd)
	}
	for at := i; at < hi; {
		skip := strings.IndexByte(w.src[at:hi], '`')
		if skip < 0 {
			break
		}
		at += skip
		size := run(w.src[at:hi])
		if size == n && strings.TrimSpace(w.src[i:at]) != "" && (n > 1 || !cased(after(w.src, at+1, hi))) {
			return at
		}
		at += size
	}
	w.noClose[n] = hi
	return -1
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// maxEntity is longer than the names of the entities that models write.
const maxEntity = 12

// entity recognises an HTML entity that stands for a printed character or a space.
func (w *Writer) entity(i, from, hi int) (next int) {
	n := strings.IndexByte(w.src[i:min(hi, i+maxEntity)], ';')
	if n < 2 {
		return 0
	}
	name := w.src[i : i+n+1]
	char := html.UnescapeString(name)
	r := after(char, 0, len(char))
	switch {
	case len(char) != len(string(r)) || char == name || r == unicode.ReplacementChar || !unicode.IsPrint(r) && r != '\u00A0':
		return 0
	case r == '\u00A0':
		char = " "
	}
	return w.add(from, token{kind: literal, start: i, end: i + n + 1, lit: char})
}

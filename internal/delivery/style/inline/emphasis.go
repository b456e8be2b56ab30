package inline

import (
	"strings"
	"unicode"

	"github.com/manychat-agent/manychat-agent/internal/delivery/style/address"
)

// styleOf is a way to show text.
type styleOf uint8

const (
	bold styleOf = iota
	italic
	struck
	styles
)

// sign is WhatsApp's mark of a style.
func (s styleOf) sign() string { return "*_~"[s : s+1] }

// marks are what a run of marks opens or closes. A run has four at most, of which two
// make one.
type marks struct {
	list [2]mark
	n    int8
}

// mark is one half of a pair; a dropped one is not shown.
type mark struct {
	style styleOf
	drop  bool
}

func (m *marks) add(one mark) {
	m.list[m.n] = one
	m.n++
}

// The kinds of pairs; both halves of a pair are of one kind.
const (
	oneStar = iota
	twoStars
	oneUnder
	twoUnders
	twoTildes
	tagBold
	tagItalic
	tagStruck
	kinds
)

// opener is a mark that waits for its other half.
type opener struct {
	token int // in Writer.tokens
	kind  int
	below int // the opener of the same kind below, as in Writer.heads
}

// longestRun is the longest run of marks that is not decoration: two pairs of bold that
// touch.
const longestRun = 4

// delimiter recognises a run of marks, pairs it with what came before, and keeps it for
// what comes.
func (w *Writer) delimiter(i, from, lo, hi int) (next int) {
	t := token{kind: delim, start: i, end: i + run(w.src[i:hi]), char: w.src[i]}
	t.n = t.end - t.start
	if t.n > longestRun || t.char == '~' && t.n != 2 || t.char == '_' && t.n > 3 {
		t.kind = plainText
		return w.add(from, t)
	}
	w.addText(from, i)
	t.behind = w.behindURL()
	w.push(t)
	if n := len(w.tokens) - 2; n >= 0 && w.tokens[n].kind == delim && w.tokens[n].lit != "" && w.tokens[n].end == i {
		lo = i // what stands before a tag's mark is nothing
	}
	s := sides{src: w.src, char: t.char, start: i, end: t.end, lo: lo, hi: hi}
	last := len(w.tokens) - 1
	if s.closes(t.n) {
		w.pair(last)
	}
	n := w.tokens[last].n
	s.start = t.end - n
	if n > 0 && n < longestRun && s.opens(n) {
		w.wait(last)
	}
	return t.end
}

// behindURL reports whether the last thing shown was a URL.
func (w *Writer) behindURL() bool {
	if len(w.tokens) == 0 {
		return false
	}
	last := w.tokens[len(w.tokens)-1]
	return last.kind == urlText || last.kind == link && last.lit != "" || last.kind == delim && last.behind
}

// wait keeps a run as an opener of what it has left.
func (w *Writer) wait(at int) {
	t := w.tokens[at]
	if t.n >= 2 {
		w.keep(at, double(t.char))
	}
	if t.n%2 == 1 && t.char != '~' {
		w.keep(at, single(t.char))
	}
}

func (w *Writer) keep(at, kind int) {
	w.open = append(w.open, opener{token: at, kind: kind, below: w.heads[kind]})
	w.heads[kind] = len(w.open)
}

func single(char byte) int {
	if char == '_' {
		return oneUnder
	}
	return oneStar
}

func double(char byte) int {
	switch char {
	case '_':
		return twoUnders
	case '~':
		return twoTildes
	}
	return twoStars
}

// pair matches a closing run with the openers that wait, innermost first.
func (w *Writer) pair(at int) {
	for {
		t := w.tokens[at]
		one, two := 0, 0
		if t.n == 1 || t.n == 3 {
			one = w.waiting(single(t.char), t)
		}
		if t.n >= 2 {
			two = w.waiting(double(t.char), t)
		}
		if one == 0 && two == 0 {
			return
		}
		w.match(max(one, two), at)
	}
}

// waiting returns the opener that a closing run matches, as in Writer.heads, or 0. A single
// mark ends on its line, and what is between has something to show.
func (w *Writer) waiting(kind int, t token) int {
	head := w.heads[kind]
	if head == 0 {
		return 0
	}
	o := w.tokens[w.open[head-1].token]
	if o.words == t.words || (kind == oneStar || kind == oneUnder) && o.line != t.line {
		return 0
	}
	return head
}

// match makes a pair of an opener and a closing token. What waited between them waits no
// more.
func (w *Writer) match(head, at int) {
	o := w.open[head-1]
	for len(w.open) >= head {
		top := w.open[len(w.open)-1]
		w.heads[top.kind] = top.below
		w.open = w.open[:len(w.open)-1]
	}
	from, to := &w.tokens[o.token], &w.tokens[at]
	if w.keeps {
		w.pairs = append(w.pairs, [2]int{from.start, to.end})
	}
	size := 1
	if o.kind == twoStars || o.kind == twoUnders || o.kind == twoTildes {
		size = 2
	}
	from.n -= size
	to.n -= size
	m := mark{style: w.styleOf(o.kind)}
	if url := &w.tokens[at-1]; w.endsEarly(*from, *to, *url) {
		url.closes.add(m)
	} else {
		m.drop = w.drops(*from, *to, m.style)
		to.closes.add(m)
	}
	from.opens.add(m)
	if from.n == 1 && size == 2 {
		w.keep(o.token, single(from.char))
	}
}

func (w *Writer) styleOf(kind int) styleOf {
	switch kind {
	case oneStar:
		if w.markdown {
			return italic
		}
	case oneUnder, tagItalic:
		return italic
	case twoTildes, tagStruck:
		return struck
	}
	return bold
}

// drops reports whether WhatsApp would show the marks of a pair as characters. Those of
// struck text are shown even then, and even where the channel has no marks: without them
// the text would say the opposite.
func (w *Writer) drops(from, to token, s styleOf) bool {
	if s == struck {
		return from.before || to.behind
	}
	return w.glued(from) || to.behind || word(after(w.src, to.end, len(w.src))) ||
		unicode.IsSpace(before(w.src, to.start, 0)) || from.line != to.line && from.urls != to.urls
}

// glued reports whether WhatsApp would show the first mark of a pair as a character.
func (w *Writer) glued(from token) bool {
	return from.before || word(before(w.src, from.start, 0)) || unicode.IsSpace(after(w.src, from.end, len(w.src)))
}

// endsEarly reports whether a pair ends before the URL that is the last thing in it: behind
// a label, or other words on the line.
func (w *Writer) endsEarly(from, to, url token) bool {
	if from.line != to.line || w.glued(from) {
		return false
	}
	switch url.kind {
	case link:
		label := w.src[url.lo:url.hi]
		return url.lit != "" && !strings.Contains(label, "://") && !address.Same(label, address.Shown(url.lit))
	case urlText:
		return url.words-1 > from.words && unicode.IsSpace(before(w.src, url.start, 0))
	}
	return false
}

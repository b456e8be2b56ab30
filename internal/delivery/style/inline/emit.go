package inline

import (
	"bytes"
	"strings"
)

// The values of Writer.urlEnd besides an offset: nothing is to be kept apart from a URL, or
// whatever comes next did not stand behind the URL in the source.
const (
	settled = -1
	apart   = -2
)

// emit writes one token.
func (w *Writer) emit(t token) {
	switch t.kind {
	case plainText:
		w.text(w.src[t.start:t.end], t.start)
	case urlText:
		w.closeEarly(t)
		w.write(w.src[t.start:t.end], t.start)
		w.urlEnd = t.end
	case literal:
		w.text(t.lit, apart)
	case delim:
		w.delims(t)
	case link:
		w.writeLink(t)
	case lineGap:
		w.gap = max(w.gap, t.n)
		w.write(t.lit, apart)
	case lineBreak:
		w.lineBreak()
	}
}

// delims writes a run of marks: what it closes, what is left of it, what it opens.
func (w *Writer) delims(t token) {
	if t.lit != "" && t.n > 0 { // a tag without its other half
		w.write(t.lit, t.start)
		return
	}
	for _, m := range t.closes.list[:t.closes.n] {
		w.closeMark(m)
	}
	if t.lit == "" {
		w.write(w.src[t.start:t.start+t.n], t.start)
	}
	for i := t.opens.n - 1; i >= 0; i-- {
		w.openMark(t.opens.list[i])
	}
}

// openMark and closeMark write a mark unless the style is shown already.
func (w *Writer) openMark(m mark) {
	if w.hides(m) {
		return
	}
	if w.active[m.style]++; w.active[m.style] == 1 {
		w.write(m.style.sign(), apart)
		w.order = append(w.order, m.style)
	}
}

func (w *Writer) closeMark(m mark) {
	if w.hides(m) {
		return
	}
	if w.active[m.style]--; w.active[m.style] == 0 {
		w.order = w.order[:len(w.order)-1]
		w.Out = append(w.Out, m.style.sign()...)
	}
}

func (w *Writer) hides(m mark) bool { return m.drop || !w.marks && m.style != struck }

// closeEarly closes the marks of pairs that end with a URL, before the space before it.
func (w *Writer) closeEarly(t token) {
	if t.closes.n == 0 {
		return
	}
	w.Out = bytes.TrimRight(w.Out, " \t")
	for _, m := range t.closes.list[:t.closes.n] {
		w.closeMark(m)
	}
	w.Out = append(w.Out, ' ')
}

// text writes a stretch that stands at an offset of the source. WhatsApp's marks do not
// reach over the end of a line.
func (w *Writer) text(s string, at int) {
	for len(w.order) > 0 {
		line, rest, more := strings.Cut(s, "\n")
		if !more {
			break
		}
		w.write(strings.TrimRight(line, " \t\r"), at)
		w.breakLine(1)
		lead := len(rest) - len(strings.TrimLeft(rest, " \t"))
		s, at = rest[lead:], apart
	}
	w.write(s, at)
}

// breakLine ends a line so often, and the marks on it.
func (w *Writer) breakLine(n int) {
	for i := len(w.order) - 1; i >= 0; i-- {
		w.Out = append(w.Out, w.order[i].sign()...)
	}
	for range n {
		w.Out = append(w.Out, '\n')
	}
	for _, s := range w.order {
		w.Out = append(w.Out, s.sign()...)
	}
	w.urlEnd = settled
}

// lineBreak writes what a <br> stands for, a space in a cell.
func (w *Writer) lineBreak() {
	if w.Cell {
		w.write(" ", apart)
		return
	}
	w.breakLine(1)
}

// write appends a stretch behind the line breaks that are due, and keeps it apart from a
// URL that did not have it behind it: at is where it stands in the source, or apart.
func (w *Writer) write(s string, at int) {
	if w.gap > 0 {
		if s = strings.TrimLeft(s, " \t\r\n"); s == "" {
			return
		}
		w.fillGap()
	}
	if s == "" {
		return
	}
	if w.urlEnd != settled && w.urlEnd != at {
		n := glued(s)
		if n >= 0 {
			w.Out = append(append(w.Out, s[:n]...), ' ')
			s = s[n:]
		}
	}
	w.urlEnd = settled
	w.Out = append(w.Out, s...)
}

// fillGap writes the line breaks that are due and not there.
func (w *Writer) fillGap() {
	if w.Cell {
		w.Out = append(w.Out, ' ')
		w.gap = 0
		return
	}
	for i := len(w.Out) - 1; i >= 0 && w.Out[i] == '\n'; i-- {
		w.gap--
	}
	if w.gap > 0 && len(w.Out) > 0 {
		w.breakLine(w.gap)
	}
	w.gap = 0
}

// glued returns where a text right behind a URL is to be kept apart from it, or -1 when
// nobody takes it for a part of the URL: it is space, or punctuation of a sentence with
// space behind.
func glued(s string) int {
	rest := strings.TrimLeft(s, `.,;:!?)]}»”"'…`)
	if rest == "" || space(after(rest, 0, len(rest))) {
		return -1
	}
	return len(s) - len(rest)
}

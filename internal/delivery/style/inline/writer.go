// Package inline renders what stands within the lines of a message: marks for bold,
// italic and struck text, links, code, escapes, and the HTML that models mix in.
//
// Marks are paired with a stack of those that wait for their other half, as Markdown
// does, but a mark has to be more clearly one: see sides.
package inline

// Writer writes stretches of one message to Out. The lines around them are the caller's,
// which calls Break at the end of each.
type Writer struct {
	Out  []byte
	Cell bool // within a table's cell, where a line break is a space

	src      string
	marks    bool // WhatsApp's marks are shown
	markdown bool // a single pair of asterisks is italic
	refs     map[string]*reference

	tokens []token
	open   []opener
	heads  [kinds]int // the last opener of each kind, as an index in open plus 1
	depth  int        // of links within labels

	// What was recognised so far: lines, URLs, stretches with something to show.
	line, urls, words int32

	// Searches that failed and will fail again: for a run of so many backticks before an
	// offset, for the end of a link in HTML.
	noClose  [maxTicks + 1]int
	noAnchor bool
	lineEnd  int // where the line ends on which code was looked for last

	pairs [][2]int // where matched marks began and ended, while that is asked for
	keeps bool

	active [styles]int // how often each style is open in Out
	order  []styleOf   // the marks that are open in Out, outermost first
	gap    int         // line breaks to write before the next word
	urlEnd int         // where in src the URL ends that was just written; see write

	room struct { // what a usual message needs, without more allocations
		tokens [12]token
		open   [4]opener
		order  [styles]styleOf
	}
}

// NewWriter returns a writer for stretches of src. With marks, bold, italic and struck
// text get WhatsApp's marks, without they get none.
func NewWriter(src string, marks bool) *Writer {
	w := &Writer{src: src, marks: marks, markdown: hasDouble(src), refs: definitions(src)}
	w.start(make([]byte, 0, len(src)+len(src)/8))
	return w
}

// start makes the writer ready to write the message to a buffer.
func (w *Writer) start(out []byte) {
	w.Out, w.urlEnd = out, settled
	w.tokens, w.open, w.order = w.room.tokens[:0], w.room.open[:0], w.room.order[:0]
}

// hasDouble reports whether a text has two asterisks or two low lines in a row.
func hasDouble(s string) bool {
	for i := 1; i < len(s); i++ {
		if s[i] == s[i-1] && (s[i] == '*' || s[i] == '_') {
			return true
		}
	}
	return false
}

// Unused forgets the references that nothing written so far has used, whose lines are text
// then, and reports whether there were any. If so, the message is to be written again;
// the writer is as new.
func (w *Writer) Unused() bool {
	n := len(w.refs)
	for name, ref := range w.refs {
		if !ref.used {
			delete(w.refs, name)
		}
		ref.used = false
	}
	if len(w.refs) == n {
		return false
	}
	out := w.Out[:0]
	*w = Writer{src: w.src, marks: w.marks, markdown: w.markdown, refs: w.refs}
	w.start(out)
	return true
}

// Break ends what was written: nothing that comes is kept apart from it.
func (w *Writer) Break() { w.gap, w.urlEnd = 0, settled }

// Text writes the source between two offsets.
func (w *Writer) Text(lo, hi int) {
	base, open, heads := len(w.tokens), len(w.open), w.heads
	w.heads = [kinds]int{}
	w.scan(lo, hi)
	for i := base; i < len(w.tokens); i++ {
		w.emit(w.tokens[i])
	}
	w.tokens, w.open, w.heads = w.tokens[:base], w.open[:open], heads
}

// Pairs returns where marks stand around text on one line of src, from the first mark to
// behind the last, in the order in which they end. What WhatsApp shows as bold, italic or
// struck is among them.
func Pairs(src string) [][2]int {
	w := NewWriter(src, true)
	w.keeps = true
	for lo := 0; lo < len(src); {
		hi := lo + len(firstLine(src[lo:]))
		w.scan(lo, hi)
		w.tokens, w.open, w.heads = w.tokens[:0], w.open[:0], [kinds]int{}
		lo = hi + 1
	}
	return w.pairs
}

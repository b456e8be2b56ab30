package delivery

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/manychat-agent/manychat-agent/internal/delivery/style/address"
	"github.com/manychat-agent/manychat-agent/internal/delivery/style/inline"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// Split cuts a text into pieces of at most limit UTF-16 units, which is two or more: at
// the end of a paragraph, a line, a sentence, a clause or a word, whichever leaves the
// piece at least half full, else at the last word, else between graphemes. What is longer
// than the limit by itself is cut all the same: a URL between graphemes, a grapheme
// between code points. Nothing but the white space around a cut is lost; a text of white
// space alone has no pieces. (docs/spec/02-inbound.md, "Response: Dynamic Block v2".)
func Split(text string, limit int) []string {
	return splitter{text: text, limit: limit}.pieces(false)
}

// splitMarked is Split for a channel that shows marks for bold, italic and struck text: a
// pair of marks is kept whole like a URL, since both halves would show as characters. One
// that is longer than the limit is cut and does show them.
func splitMarked(text string, limit int) []string {
	return splitter{text: text, limit: limit}.pieces(true)
}

// splitter cuts one text.
type splitter struct {
	text  string
	limit int
	whole [][2]int // what is not cut: in order, apart, each within the limit
}

func (s splitter) pieces(marked bool) []string {
	if len(s.text) > s.limit {
		s.keepWhole(marked)
	}
	var pieces []string
	at := skipSpace(s.text, 0)
	for at < len(s.text) {
		most := at + window(s.text[at:], s.limit)
		cut := most
		if most < len(s.text) {
			cut = s.cut(at, most)
		}
		if piece := strings.TrimRightFunc(s.text[at:cut], unicode.IsSpace); piece != "" {
			pieces = append(pieces, piece)
		}
		at = skipSpace(s.text, cut)
	}
	return pieces
}

// keepWhole finds what is not cut.
func (s *splitter) keepWhole(marked bool) {
	spans := address.Find(s.text)
	if marked {
		spans = append(spans, inline.Pairs(s.text)...)
	}
	slices.SortFunc(spans, func(a, b [2]int) int { return a[0] - b[0] })
	for _, span := range spans {
		switch last := len(s.whole) - 1; {
		case last >= 0 && span[1] <= s.whole[last][1]:
		case span[1]-span[0] > 3*s.limit || manychat.UTF16Len(s.text[span[0]:span[1]]) > s.limit:
		case last >= 0 && span[0] < s.whole[last][1]:
			s.whole[last][1] = max(s.whole[last][1], span[1])
		default:
			s.whole = append(s.whole, span)
		}
	}
}

// around returns the span of what is not cut that an offset is within.
func (s splitter) around(at int) (span [2]int, ok bool) {
	i, _ := slices.BinarySearchFunc(s.whole, at, func(span [2]int, at int) int { return span[1] - at - 1 })
	if i < len(s.whole) && s.whole[i][0] < at {
		return s.whole[i], true
	}
	return span, false
}

// cut returns where to cut a piece that begins at at and can reach to most: at the best
// break in its second half, else at the last one.
func (s splitter) cut(at, most int) int {
	best, found := most, breaks
	for i := most; i > at && found != paragraphEnd; i-- {
		if i-at < (most-at)/2 && found < breaks {
			break
		}
		if kind := s.breakAt(i); kind < found {
			best, found = i, kind
		}
	}
	if span, ok := s.around(best); ok && found == breaks {
		return s.start(span, at, most)
	}
	return best
}

// start returns where to cut before a span so that no grapheme is cut, or most when that
// is not behind at.
func (s splitter) start(span [2]int, at, most int) int {
	for i := span[0]; i > at; {
		_, size := utf8.DecodeLastRuneInString(s.text[:i])
		if endsGrapheme(s.text, i-size, i) {
			return i
		}
		i -= size
	}
	return most
}

// window returns the byte length of the longest run of whole graphemes at the start of a
// text that has at most limit UTF-16 units. A single grapheme that is longer than that is
// cut between code points, so the result is never zero.
func window(text string, limit int) int {
	if len(text) <= limit {
		return len(text) // no text has more units than bytes
	}
	state, used, at := -1, 0, 0
	for at < len(text) {
		g := ""
		if plainASCII(text, at) {
			g, state = text[at:at+1], -1
		} else {
			g, _, _, state = uniseg.FirstGraphemeClusterInString(text[at:], state)
		}
		used += manychat.UTF16Len(g)
		if used > limit {
			break
		}
		at += len(g)
	}
	if at > 0 {
		return at
	}
	used = 0
	for at < len(text) {
		_, size := utf8.DecodeRuneInString(text[at:])
		used += manychat.UTF16Len(text[at : at+size])
		if used > limit && at > 0 {
			break
		}
		at += size
	}
	return at
}

// plainASCII reports whether the byte at an offset is a grapheme of its own because it and
// the next one are ASCII, and no line break of two.
func plainASCII(text string, at int) bool {
	return text[at] < utf8.RuneSelf && text[at] != '\r' && (at+1 == len(text) || text[at+1] < utf8.RuneSelf)
}

// skipSpace returns where white space ends that begins at an offset. Space that carries a
// combining mark is more than space.
func skipSpace(text string, at int) int {
	for at < len(text) {
		r, size := utf8.DecodeRuneInString(text[at:])
		if !unicode.IsSpace(r) || !endsGrapheme(text, at, at+size) && r != '\r' {
			break
		}
		at += size
	}
	return at
}

// endsGrapheme reports whether the character between two offsets is the last of its
// grapheme.
func endsGrapheme(text string, at, end int) bool {
	if end < len(text) && text[end] < utf8.RuneSelf && text[at] < utf8.RuneSelf && text[at] != '\r' {
		return true
	}
	g, _, _, _ := uniseg.FirstGraphemeClusterInString(text[at:], -1)
	return len(g) == end-at
}

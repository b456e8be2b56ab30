package document

import "sort"

// stride is the distance in bytes between the counts that [places] keeps.
const stride = 1 << 10

// places turns byte offsets into lines and columns without reading the text from its
// beginning each time, which for a file full of problems would take minutes.
type places struct {
	text  []byte
	lines []int // where each line starts
	runes []int // how many code points start before each stride
}

func newPlaces(text []byte) places {
	p := places{text: text, lines: []int{0}}
	runes := 0
	for at, b := range text {
		if at%stride == 0 {
			p.runes = append(p.runes, runes)
		}
		if b == '\n' {
			p.lines = append(p.lines, at+1)
		}
		if startsRune(b) {
			runes++
		}
	}
	return p
}

// line is the line of an offset, from 1.
func (p places) line(offset int) int { return sort.SearchInts(p.lines, offset+1) }

// column is the column of an offset, from 1; it counts code points, as editors do.
func (p places) column(offset int) int {
	return 1 + p.before(offset) - p.before(p.lines[p.line(offset)-1])
}

// before counts the code points that start before an offset.
func (p places) before(offset int) int {
	if len(p.runes) == 0 {
		return 0
	}
	n := min(offset/stride, len(p.runes)-1)
	count := p.runes[n]
	for _, b := range p.text[n*stride : offset] {
		if startsRune(b) {
			count++
		}
	}
	return count
}

// startsRune tells the first byte of a code point in UTF-8 from those that follow it.
func startsRune(b byte) bool { return b&0xC0 != 0x80 }

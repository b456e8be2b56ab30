package delivery

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/manychat-agent/manychat-agent/manychat"
)

// urls finds the stretches that a split must leave whole.
var urls = regexp.MustCompile(`https?://\S+`)

// breaks are the places to split at, best first: each is tried on the whole window
// before the next.
var breaks = []string{"\n\n", "\n", ". ", "! ", "? ", "。", "؟ ", "; ", ", ", " "}

// Split cuts a text into pieces of at most limit UTF-16 units: at the end of a
// paragraph, a line, a sentence or a word, whichever leaves the piece at least
// half full, else between graphemes. A URL is never cut unless it is longer
// than the limit by itself. Nothing but the white space around a cut is lost; a text
// of white space alone has no pieces.
func Split(text string, limit int) []string {
	var pieces []string
	rest := strings.TrimSpace(text)
	for manychat.UTF16Len(rest) > limit {
		at := cutBefore(rest, limit)
		if piece := strings.TrimSpace(rest[:at]); piece != "" {
			pieces = append(pieces, piece)
		}
		rest = strings.TrimSpace(rest[at:])
	}
	if rest != "" {
		pieces = append(pieces, rest)
	}
	return pieces
}

// cutBefore returns the byte offset of the best cut that leaves at most limit units
// before it; it is always more than zero.
func cutBefore(text string, limit int) int {
	most := graphemes(text, limit)
	spans := urls.FindAllStringIndex(text, -1)
	for _, b := range breaks {
		if at := lastBreak(text[:most], b, most/2, spans); at > 0 {
			return at
		}
	}
	if at := lastBreak(text[:most], " ", 1, spans); at > 0 {
		return at
	}
	for _, s := range spans {
		if s[0] > 0 && s[0] < most && most < s[1] {
			return s[0]
		}
	}
	return most
}

// lastBreak returns the offset behind the last break in the window that leaves at
// least so many bytes before it and cuts no span, or 0.
func lastBreak(window, b string, least int, spans [][]int) int {
	for {
		i := strings.LastIndex(window, b)
		if i < 0 || i+len(b) < least {
			return 0
		}
		if at := i + len(b); !inside(spans, at) {
			return at
		}
		window = window[:i]
	}
}

// inside reports whether a cut at the offset would fall within one of the spans.
func inside(spans [][]int, at int) bool {
	for _, s := range spans {
		if s[0] < at && at < s[1] {
			return true
		}
	}
	return false
}

// graphemes returns the byte length of the longest run of whole graphemes at the
// start of text that has at most limit UTF-16 units. A single grapheme that is
// longer than that is cut between code points, so the result is never zero.
func graphemes(text string, limit int) int {
	state, used, at := -1, 0, 0
	for rest := text; rest != ""; {
		var g string
		g, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		n := manychat.UTF16Len(g)
		if used+n > limit {
			break
		}
		used, at = used+n, at+len(g)
	}
	if at > 0 {
		return at
	}
	for i, r := range text {
		n := 1
		if r > 0xFFFF {
			n = 2
		}
		if used += n; used > limit && i > 0 {
			return i
		}
	}
	_, size := utf8.DecodeRuneInString(text)
	return size
}

package redact

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/redact/domain"
	"github.com/manychat-agent/manychat-agent/internal/redact/glyph"
	"github.com/manychat-agent/manychat-agent/internal/redact/ordinary"
)

// hostStart is where the host name begins that ends at end. A name in ASCII does not
// run into the letters of a script that puts no space before it.
func hostStart(t string, end int) int {
	start := end
	letters := glyph.Alnum | glyph.Beyond
	if end > 0 && glyph.Is(t[end-1], glyph.Alnum) {
		letters = glyph.Alnum
	}
	for start > 0 && (glyph.Is(t[start-1], letters|glyph.Dot) || t[start-1] == '-' || t[start-1] == glyph.Alphabetic) {
		start--
	}
	for start < end && !glyph.Is(t[start], glyph.Alnum|glyph.Beyond) {
		start++
	}
	return start
}

// isHost reports whether a host name stands there, of at least two parts, and not
// behind the @ of an e-mail address. Within a file's path only the commonest endings
// count.
func (f *finder) isHost(start, end int) bool {
	t := f.text
	last := strings.LastIndexByte(t[start:end], '.')
	if last < 1 || strings.Contains(t[start:end], "..") {
		return false
	}
	switch ending := strings.ToLower(t[start+last+1 : end]); {
	case f.loopback(start) > 0, strings.HasSuffix(t[:start], "@"):
		return false
	case ordinary.Quad(t[:end], start) == end: // with a path, and not with the size of a network
		return strings.HasPrefix(t[end:], "/") && end+1 < len(t) && glyph.Is(t[end+1], glyph.Letter)
	case start == 0, strings.HasSuffix(t[:start], "//"), !glyph.In(`/\`, t[start-1]):
		return f.isEnding(start+last+1, end)
	default:
		return domain.InPath(ending)
	}
}

// isEnding reports whether a top-level domain stands there.
func (f *finder) isEnding(start, end int) bool {
	name := strings.ToLower(f.text[start:end])
	if name == "" {
		return false
	}
	if strings.HasPrefix(name, "xn--") {
		return true
	}
	if glyph.Run(f.text, start, glyph.Upper|glyph.Lower) == end {
		return domain.Known(name)
	}
	from, to := f.origin(start, end)
	return domain.Known(strings.ToLower(f.source[from:to]))
}

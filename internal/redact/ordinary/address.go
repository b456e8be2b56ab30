package ordinary

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/redact/glyph"
)

// address is the end of an IPv4 address with its port or prefix. Four pairs of digits
// may as well be a Scandinavian phone number, which begins with no 1: they are an
// address only with a port.
func address(t string, i int) int {
	end := Quad(t, i)
	if end == 0 || i > 0 && (glyph.Is(t[i-1], glyph.Alnum|glyph.Dot) || t[i-1] == '+') || end < len(t) && glyph.Is(t[end], glyph.Alnum) {
		return i
	}
	suffix := end
	if suffix+1 < len(t) && glyph.Is(t[suffix], glyph.Colon|glyph.Slash) && glyph.Is(t[suffix+1], glyph.Digit) {
		if stop := glyph.Run(t, suffix+1, glyph.Digit); stop-suffix <= len(":65535") {
			suffix = stop
		}
	}
	if end-i == len("20.12.34.56") && t[i] != '1' && t[i+2] == '.' && t[i+5] == '.' && t[i+8] == '.' && suffix == end {
		return i
	}
	return suffix
}

// Quad is the end of four numbers up to 255 with dots Between them, none beginning with
// a zero that it could do without; 0 when there are none.
func Quad(t string, i int) int {
	for part := range 4 {
		end := glyph.Run(t, i, glyph.Digit)
		if end == i || end-i > 3 || end-i > 1 && t[i] == '0' || end-i == 3 && t[i:end] > "255" {
			return 0
		}
		if i = end; part == 3 {
			break
		}
		if i == len(t) || t[i] != '.' {
			return 0
		}
		i++
	}
	if !ends(t, i) {
		return 0
	}
	return i
}

// IsThisMachine reports whether a host, with its port or without, is this machine or all of
// its addresses.
func IsThisMachine(host string) bool {
	if digits := glyph.Back(host, len(host), glyph.Digit); digits > 0 && host[digits-1] == ':' {
		host = host[:digits-1]
	}
	switch host {
	case "localhost", "[::1]", "[::]", "0.0.0.0":
		return true
	}
	n := Quad(host, 0)
	return n == len(host) && n > 0 && strings.HasPrefix(host, "127.")
}

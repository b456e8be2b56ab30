// Package glyph says what the characters of a text are, and writes a text of any script
// in the few letters that the shapes of internal/redact are made of.
package glyph

import "strings"

// Kind is what a byte can be; it can be several things.
type Kind uint32

// The kinds of bytes.
const (
	Digit Kind = 1 << iota
	Upper
	Lower
	HexLetter
	WordMark // - and _, which tokens hold too
	Space
	Newline
	Foreign // not ASCII
	At
	Colon
	Slash
	Dot
	Equals
	Query // ? and #
	Quote
	Beyond // a letter that no ASCII letter stands for

	Letter = Upper | Lower | Beyond
	Alnum  = Digit | Upper | Lower
	Word   = Alnum | WordMark
)

// The bytes that a folded text holds besides ASCII.
const (
	Alphabetic  = 0x80 // a letter of an alphabet other than the Latin one
	Ideographic = 0x81 // a letter of a script that puts no space between words
	Currency    = 0x82 // a currency sign
	Other       = 0x83 // any other character
	Taken       = 0x84 // what was found already
)

// kinds says what each byte is.
var kinds = func() [256]Kind {
	var k [256]Kind
	for bytes, kind := range map[string]Kind{
		"0123456789":           Digit,
		"abcdef":               Lower | HexLetter,
		"ghijklmnopqrstuvwxyz": Lower,
		"ABCDEF":               Upper | HexLetter,
		"GHIJKLMNOPQRSTUVWXYZ": Upper,
		"-_":                   WordMark,
		" \t":                  Space,
		"\n\r\v\f\x00":         Newline,
		"@":                    At,
		":":                    Colon,
		"/":                    Slash,
		".":                    Dot,
		"=":                    Equals,
		"?#":                   Query,
		"\"'`":                 Quote,
	} {
		for i := range len(bytes) {
			k[bytes[i]] = kind
		}
	}
	for b := 0x80; b <= 0xff; b++ {
		k[b] = Foreign
	}
	k[Alphabetic] |= Beyond
	k[Ideographic] |= Beyond
	return k
}()

// Of is everything that a byte is.
func Of(c byte) Kind { return kinds[c] }

// Is reports whether a byte is of one of the kinds.
func Is(c byte, k Kind) bool { return kinds[c]&k != 0 }

// In reports whether a byte is one of those of a set.
func In(set string, c byte) bool { return strings.IndexByte(set, c) >= 0 }

// Has reports whether a text holds a byte of one of the kinds.
func Has(s string, k Kind) bool {
	for i := range len(s) {
		if Is(s[i], k) {
			return true
		}
	}
	return false
}

// Run is the end of the bytes of the kinds that begin at i.
func Run(s string, i int, k Kind) int {
	for i < len(s) && Is(s[i], k) {
		i++
	}
	return i
}

// Back is the beginning of the bytes of the kinds that end at i.
func Back(s string, i int, k Kind) int {
	for i > 0 && Is(s[i-1], k) {
		i--
	}
	return i
}

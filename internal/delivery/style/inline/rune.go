package inline

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// none stands for the character before the beginning and behind the end.
const none rune = -1

// before and after return the characters around an offset within lo and hi.
func before(s string, at, lo int) rune {
	if at <= lo {
		return none
	}
	r, _ := utf8.DecodeLastRuneInString(s[lo:at])
	return r
}

func after(s string, at, hi int) rune {
	if at >= hi {
		return none
	}
	r, _ := utf8.DecodeRuneInString(s[at:hi])
	return r
}

// word reports whether a character is part of a word; cased whether it is one of a script
// that puts spaces between words and has capitals, or a digit. Marks are written into
// words of other scripts, which have no other place for them.
func word(r rune) bool {
	if r < utf8.RuneSelf {
		return '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	return unicode.In(r, unicode.L, unicode.N, unicode.M)
}

func cased(r rune) bool { return unicode.IsDigit(r) || unicode.IsLower(r) || unicode.IsUpper(r) }

func space(r rune) bool { return r == none || unicode.IsSpace(r) }

func delimiter(r rune) bool { return r == '*' || r == '_' || r == '~' }

func quote(r rune) bool { return r == '"' || r == '\'' }

// opening and closing are the brackets and quotes of any script; a quote that opens in one
// language closes in another.
func opening(r rune) bool { return quote(r) || unicode.In(r, unicode.Ps, unicode.Pi, unicode.Pf) }

func closing(r rune) bool { return quote(r) || unicode.In(r, unicode.Pe, unicode.Pi, unicode.Pf) }

// sign reports whether a character is an emoji, a currency or the like.
func sign(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '$'
	}
	return unicode.In(r, unicode.So, unicode.Sc) || 0x1F3FB <= r && r <= 0x1F3FF
}

func in(set string, r rune) bool { return r != none && strings.ContainsRune(set, r) }

// run returns how often the first byte of a text is repeated at its beginning.
func run(text string) int {
	n := 0
	for n < len(text) && text[n] == text[0] {
		n++
	}
	return n
}

package notice

import (
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// places say where each byte of a folded text, and its end, stands in the text itself; nil:
// at the same place.
type places []int

func (p places) at(i int) int {
	if p == nil {
		return i
	}
	return p[i]
}

// folded is a text as it looks, in the letters of ASCII where its own look like them.
func folded(text string) (string, places) {
	if isASCII(text) {
		return text, nil
	}
	b := make([]byte, 0, len(text))
	from := make(places, 0, len(text)+1)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		b = appendLook(b, r, text[i:i+size])
		for len(from) < len(b) {
			from = append(from, i)
		}
		i += size
	}
	return string(b), append(from, len(text))
}

// appendLook appends what a character looks like: a letter of ASCII, nothing for a mark on
// the letter before it, or the character.
func appendLook(b []byte, r rune, char string) []byte {
	if r < utf8.RuneSelf {
		return append(b, char...)
	}
	if look, ok := looks[r]; ok {
		return append(b, look)
	}
	if '\u0300' <= r && r <= '\u036f' {
		return b
	}
	if parts := norm.NFKD.PropertiesString(char).Decomposition(); len(parts) > 0 {
		first, _ := utf8.DecodeRune(parts)
		if look, ok := looks[first]; ok {
			return append(b, look)
		}
		if first < utf8.RuneSelf {
			return append(b, byte(first))
		}
	}
	return append(b, char...)
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// looks are the characters that look like a letter, or a mark, of the notices. Source: the
// confusables of Unicode Technical Standard 39, for those of scripts with cases and for
// small capitals.
var looks = func() map[rune]byte {
	m := map[rune]byte{}
	for letter, like := range map[byte]string{
		'a': "аαɑᴀ", 'b': "ьʙ", 'c': "сϲᴄ", 'd': "ԁɗᴅ", 'e': "еεєᴇҽ", 'f': "ƒꜰ", 'h': "һհʜ", 'i': "іıιɩɪ",
		'l': "ӏⅼʟ", 'm': "мᴍ", 'n': "пոɴη", 'o': "оοσօᴏ", 'p': "рρᴘ", 'q': "ԛգ", 'r': "гᴦʀ", 's': "ѕꜱ", 't': "тτᴛ",
		'u': "υսᴜ", 'v': "ѵνᴠ", 'y': "уγʏ",
		'A': "АΑᎪ", 'B': "ВΒ", 'C': "СϹᏟ", 'E': "ЕΕᎬ", 'H': "НΗ", 'I': "ІΙӀ", 'M': "МΜ", 'N': "Ν", 'O': "ОΟՕ",
		'P': "РΡ", 'R': "Ꮢ", 'S': "ЅՏ", 'T': "ТΤ", 'V': "ѴᏙ", 'Y': "ΥҮ",
		'[': "【〔⟦", ']': "】〕⟧", ':': "∶꞉։׃ː˸", '-': "–—−‐‑",
	} {
		for _, r := range like {
			m[r] = letter
		}
	}
	return m
}()

package prompt

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/agent/prompt/escape"
)

// The fence round a contact's words.
const (
	FenceOpen  = "<<<CONTACT_MESSAGE>>>"
	FenceClose = "<<<END_CONTACT_MESSAGE>>>"
)

// Fence puts untrusted text between the markers, after taking every marker out of it.
func Fence(text string) string {
	return FenceOpen + "\n" + unfence(text) + "\n" + FenceClose
}

// unfence takes out of a text whatever reads as a fence marker: the marker's words in any
// case, look, encoding and split, when an underscore joins them or enough brackets, rules
// or line ends stand round them. What is taken out cannot put another marker together,
// and a text without one stays as it is. It reads the text a fixed number of times.
//
// It also takes out tag characters, which no one sees and a model reads as ASCII.
//
// Known limits: a letter between the marker's letters, "rn" for "m", and an escape such as
// \n between them hide it; what is left does not look like a marker either.
func unfence(text string) string {
	for range mostRounds {
		cleaned := frame.ReplaceAllString(unmark(text), " ")
		if cleaned == text {
			return text
		}
		text = cleaned
	}
	return unmark(frameRuns.ReplaceAllString(text, " "))
}

// What is framed as a marker is: three brackets or more round one word with an underscore.
// It is one in whatever letters it is written, such as those of fancy text.
var (
	frame     = regexp.MustCompile(frameOpen + `[^\s<>]*[_＿‿⁀﹍﹎﹏][^\s<>]*` + frameClose)
	frameRuns = regexp.MustCompile(frameOpen + `|` + frameClose)
)

const (
	frameOpen  = `[<＜﹤‹«〈⟨《⟪≪⋘˂❮❰]{3,}`
	frameClose = `[>＞﹥›»〉⟩》⟫≫⋙˃❯❱]{3,}`
)

// unmark takes out the markers that a text shows in letters that look like theirs.
func unmark(text string) string {
	text = withoutTags(text)
	if !strings.ContainsAny(text, escape.Signs) {
		return cut(text, asWritten)
	}
	// What begins an escape may as well end a word, and an escape's last letter begin one,
	// so all are tried, as one may bring out what another finds. A text that goes on and on
	// loses its escapes.
	for range mostRounds {
		cleaned := cut(cut(cut(text, decoded), sparing), asWritten)
		if cleaned == text {
			return text
		}
		text = cleaned
	}
	for _, c := range []string{"&", "%", `\`} {
		text = strings.ReplaceAll(text, c, " ")
	}
	return cut(text, asWritten)
}

// mostRounds bounds how often a text is read. People write no marker at all.
const mostRounds = 4

// cut takes out the markers of a text in one reading.
func cut(text string, as escaping) string {
	if !holdsCore(text, as) {
		return text
	}
	found := markers(text, as)
	if len(found) == 0 {
		return text
	}
	return withoutTags(without(text, found)) // a flag may be gone and have left its tags
}

// core is what both markers have in common, without what joins its words.
const core = "CONTACTMESSAGE"

// advance is how many letters of the core a text ends with, one letter after it ended
// with matched of them.
func advance(matched int, letter byte) int {
	switch {
	case matched < len(core) && core[matched] == letter:
		return matched + 1
	case matched == len("CONTAC") && letter == 'O':
		return len("CO")
	case letter == 'C':
		return 1
	}
	return 0
}

// holdsCore reports whether a text holds the core at all: without it there is no marker.
func holdsCore(text string, as escaping) bool {
	matched := 0
	if as != asWritten {
		for s := range symbols(text, as) {
			if s.isLetter() {
				if matched = advance(matched, s.kind); matched == len(core) {
					return true
				}
			}
		}
		return false
	}
	var room [8]byte // symbols reads the same, and more than is asked for here
	for i := 0; i < len(text); {
		size, letters := 1, room[:1]
		if c := text[i]; c < utf8.RuneSelf {
			letters[0] = ascii(c)
		} else {
			var r rune
			r, size = utf8.DecodeRuneInString(text[i:])
			letters = wideLetters(letters[:0], r, text[i:])
		}
		for _, k := range letters {
			if k < 'A' || 'Z' < k {
				continue
			}
			if matched = advance(matched, k); matched == len(core) {
				return true
			}
		}
		i += size
	}
	return false
}

package prompt

import (
	"unicode"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// Tokens estimates how many tokens a model reads a text as. It is an estimate: every
// provider counts in its own way. A letter of ASCII is a quarter of a token, as 4 bytes
// of English are one; the other weights lie between what the public tokenizers
// cl100k_base and o200k_base give for chat messages in twenty languages.
func Tokens(text string) int {
	quarters := 0
	for _, r := range text {
		quarters += weight(r)
	}
	return (quarters + 3) / 4
}

// ToolText is what a model reads of a tool.
func ToolText(t llm.Tool) string { return t.Name + t.Description + string(t.Parameters) }

// weight is a character's share of a token, in quarters.
func weight(r rune) int {
	switch {
	case '0' <= r && r <= '9':
		return 2
	case r < unicode.MaxASCII:
		return 1
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
		return 3
	case unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.Z):
		return 2
	}
	return 6 // emoji and signs
}

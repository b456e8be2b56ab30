package prompt

import (
	"strings"
	"unicode"
)

// A first name as a profile has it is whatever its owner typed. What a model reads of it
// is short and made of letters, and stands in a fence of its own all the same.
const (
	maxNameRunes = 40
	maxNameWords = 3
)

// firstName is the notice of a contact's first name; empty for one that holds no letters.
func firstName(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '-' && r != '\'' && r != '’'
	})
	runes := []rune(strings.Join(words[:min(len(words), maxNameWords)], " "))
	name = string(runes[:min(len(runes), maxNameRunes)])
	if !strings.ContainsFunc(name, unicode.IsLetter) {
		return ""
	}
	return "FIRST NAME, as the person's profile has it:\n" + Fence(name) + "\n"
}

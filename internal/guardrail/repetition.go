package guardrail

import (
	"strings"
	"unicode"

	"github.com/manychat-agent/manychat-agent/internal/guardrail/visible"
)

// repetition notes a reply that equals the agent's last one to this contact. Where the
// contact only closes the conversation, the tenant's closing word goes out in its place;
// a repeated question, however short, may get its answer again.
func repetition(d *draft) finding {
	if !d.repeats() {
		return finding{}
	}
	if closer := d.tenant.Rules.Messages.Closer; closer != "" && !d.again && closes(d.message) {
		d.messages, d.closing = []string{closer}, ""
	}
	return finding{noted: true}
}

// repeats compares the joined texts, since a channel joins and splits them, and both
// with and without the closing question, which went out only where the body asked none.
func (d *draft) repeats() bool {
	last := strings.TrimSpace(strings.Join(d.last, "\n"))
	if last == "" {
		return false
	}
	body := strings.Join(d.messages, "\n")
	now := [...]string{repeatKey(body), repeatKey(body + d.closing)}
	before := repeatKey(last)
	if before == now[0] || before == now[1] {
		return true
	}
	if i := strings.LastIndexByte(last, '\n'); i > 0 && endsInQuestion(last) {
		before = repeatKey(last[:i])
		return before == now[0] || before == now[1]
	}
	return false
}

// repeatKey is a text without case, emoji and white space; of a text that is nothing
// else, the text. Punctuation stays, for 9.30 is no 930.
func repeatKey(text string) string {
	key := strings.Map(func(r rune) rune {
		if decoration(r) {
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r)) // by way of upper case, for ς and ſ
	}, visible.Text(text))
	if key == "" {
		return text
	}
	return key
}

// maxCloser is the most words of a message that only closes a conversation.
const maxCloser = 4

// closes reports whether a message looks as if it only thanked or said goodbye: it has
// at most four words, or an emoji only, and no question mark of any script.
func closes(message string) bool {
	if strings.TrimSpace(message) == "" || strings.ContainsAny(message, questionMarks) || holdsGreekQuestion(message) {
		return false
	}
	words := 0
	for word := range strings.FieldsFuncSeq(message, func(r rune) bool { return !isWord(r) && !unicode.IsMark(r) && r != '\'' && r != '’' && r != '-' }) {
		words += wordsIn(word)
	}
	return words <= maxCloser
}

// wordsIn is how many words a run of letters is. Scripts without spaces are counted by
// their letters, rounded up: two Han characters or four of the others make a word.
func wordsIn(run string) int {
	han, others := 0, 0
	for _, r := range run {
		switch {
		case unicode.Is(unicode.Han, r):
			han++
		case unicode.In(r, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar) && unicode.IsLetter(r):
			others++
		}
	}
	if han+others == 0 {
		return 1
	}
	return (han+1)/2 + (others+3)/4
}

// holdsGreekQuestion reports whether a semicolon stands behind a Greek letter.
func holdsGreekQuestion(text string) bool {
	for i, r := range text {
		if r == ';' && endsInQuestion(text[:i+1]) {
			return true
		}
	}
	return false
}

package guardrail

import (
	"regexp"
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/guardrail/notice"
	"github.com/manychat-agent/manychat-agent/internal/guardrail/visible"
)

// A line that writes a field of the reply, quoted or not, also as an item of a list. The names that are also
// words of a language count only before a value that no sentence has there.
var echoedField = regexp.MustCompile(`(?i)^[\s>#•]*(?:\d+[.)])?[\s{,*_\x60"'-]*(?:` +
	`(?:escalation_reason|closing_question)["'*_\x60]*\s*[:=]` +
	`|messages["'*_\x60]*\s*[:=]\s*\[` +
	`|escalate["'*_\x60]*\s*[:=][\s"'*_\x60]*(?:true|false|null|none|yes|no)` + valueEnd +
	`|confidence["'*_\x60]*\s*[:=][\s"'*_\x60]*(?:[01]?\.\d+|[01]|\d{1,3}\s*%|low|medium|high)` + valueEnd + `)`)

// valueEnd is what may follow a value that the whole line is about: nothing, or another
// field.
const valueEnd = `["'*_\x60]*(?:\s*(?:[,;}\]|]|\.?\s*$)|[\s\pP\pS]+` + fieldNames + `["'*_\x60]*\s*[:=])`

const fieldNames = `(?:messages|escalate|escalation_reason|confidence|closing_question)`

// echoWords are the words of which every echo holds one: of the reply's fields and
// of calls.
var echoWords = []string{
	"escalat", "confidence", "messages", "closing_question", "staged", "sent", "available",
	"{", "<", "[", "send_", "_tag", "set_field", "write_note", "_nudge", "get_contact", "notify_", "openingqueued", "flowdropped", "flowre",
}

// An object with a field of the reply inside a line.
var echoedObject = regexp.MustCompile(`\{[^{}]*"` + fieldNames + `"\s*:[^{}]*\}?`)

// What is left of an object when its fields are gone.
var bareFrame = regexp.MustCompile(`^[\s{}\[\],]*$|^\s*\x60{3}(?:json|xml|python|tool_\w+)?\s*$`)

// A line of a value alone, which belongs to the field on the line before it.
var valueLine = regexp.MustCompile(`(?i)^[\s:="'*_\x60]*(?:true|false|null|none|yes|no|[01]?\.\d+|[01]|\d{1,3}\s*%|low|medium|high)["'*_\x60]*[\s,;}\]]*\.?\s*$`)

// echoes takes out what writes a field of the reply, copies a notice of the server or
// writes a tool call. A reply of nothing else hands off, and so does one that still names a tool.
type echoes struct{ facts *factCache }

func (e echoes) run(d *draft) finding {
	changed := d.rewrite(withoutEchoes)
	known := e.facts.of(d.tenant)
	text := bareText(strings.Join(d.leftover(known.allowed).texts(), "\n"))
	if len(d.messages) == 0 || known.tools.in(fold(text)) {
		return broken()
	}
	return finding{noted: changed}
}

// withoutEchoes removes echoes until none is left, since what stood round one may form
// another; nothing is left of a text that needs more than maxPasses. What hides an
// echo behind markup or other characters is written without them.
func withoutEchoes(text string) string {
	for range maxPasses {
		bare := bareText(text)
		if !holdsAny(strings.ToLower(bare), echoWords) && !notice.MayHold(bare) {
			return text
		}
		seen := removeEchoes(bare)
		if seen == bare {
			return text
		}
		mended := removeEchoes(text)
		if mended == text {
			mended = removeHidden(text)
		}
		if mended == text {
			mended = seen
		}
		text = mended
	}
	return ""
}

// removeHidden removes echoes that only the bare text of a line holds; other lines stay as
// they are written.
func removeHidden(text string) string {
	var kept []string
	hidden := false
	for line := range strings.SplitSeq(otherBreaks.Replace(text), "\n") {
		bare := bareText(line)
		seen := removeEchoes(bare)
		if seen != bare {
			hidden, line = true, seen
		}
		if seen == bare || seen != "" {
			kept = append(kept, line)
		}
	}
	if !hidden {
		return text
	}
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// otherBreaks are line breaks that only some programs write.
var otherBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// otherShapes are the brackets and quotes in the place of those that an echo has.
var otherShapes = strings.NewReplacer("【", "[", "】", "]", "〔", "[", "〕", "]", "“", `"`, "”", `"`, "„", `"`)

// bareText is a text as an echo is looked for in it: what shows, without markup.
func bareText(text string) string {
	return otherShapes.Replace(withoutMarkup(visible.Text(otherBreaks.Replace(text))))
}

// withoutMarkup is a text without the marks of bold, struck out and code, and without
// the backslash that keeps markup from being read. The underscore is part of names.
func withoutMarkup(text string) string {
	if !strings.ContainsAny(text, "*~`\\") {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r == '*' || r == '~' || r == '`' || r == '\\' {
			return -1
		}
		return r
	}, text)
}

// gone stands where a note was, until its line is known.
const gone = "\x00"

func removeEchoes(text string) string {
	marked := withoutCalls(notice.Replaced(text, gone))
	lines := strings.Split(marked, "\n")
	var kept []string
	echoed := false
	for i := 0; i < len(lines); i++ {
		without := echoedObject.ReplaceAllString(strings.ReplaceAll(lines[i], gone, ""), "")
		emptied := without != lines[i] && strings.TrimSpace(without) == ""
		fields := fieldLines(without, lines[i+1:])
		echoed = echoed || without != lines[i] || fields > 0
		switch {
		case fields > 0:
			i += fields - 1
		case !emptied:
			kept = append(kept, without)
		}
	}
	if !echoed {
		return text
	}
	kept = slices.DeleteFunc(kept, func(line string) bool { return line != "" && bareFrame.MatchString(line) })
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// fieldLines is how many lines write a field of the reply: this one, this one and the next
// with its value, or none.
func fieldLines(line string, next []string) int {
	field := echoedField.MatchString(line)
	open := strings.TrimRight(line, " \t\"'*_`")
	switch {
	case open == "" || len(next) == 0 || !valueLine.MatchString(next[0]):
	case !field && echoedField.MatchString(line+" "+next[0]), field && strings.HasSuffix(open, ":"), field && strings.HasSuffix(open, "="):
		return 2
	}
	if field {
		return 1
	}
	return 0
}

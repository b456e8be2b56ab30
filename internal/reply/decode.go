package reply

import (
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
)

// Decode reads a model's answer. It accepts what models really send: a code fence
// round the JSON, text before it, an optional field that is missing, blank or the
// word "null" or "none", more than three messages, white space round a text, control
// characters in one. Anything that could change the meaning is an [*Error]: text or a
// second object after the JSON, an unknown or repeated key, a wrong type, an empty
// message, more than fifty of them.
func Decode(text string) (Reply, error) {
	object, err := cutObject(text)
	if err != nil {
		return Reply{}, err
	}
	var w wire
	if err := json.Unmarshal(object, &w, json.RejectUnknownMembers(true)); err != nil {
		return Reply{}, &Error{Problem: "has a field that is unknown or of a wrong type"}
	}
	return w.reply()
}

// wire is a [Reply] before its rules are checked; nil: missing or null.
type wire struct {
	Messages         []*string `json:"messages"`
	Escalate         *bool     `json:"escalate"`
	EscalationReason *string   `json:"escalation_reason"`
	Confidence       *float64  `json:"confidence"`
	ClosingQuestion  *string   `json:"closing_question"`
}

func (w wire) reply() (Reply, error) {
	if w.Escalate == nil {
		return Reply{}, &Error{Field: "escalate", Problem: "is missing"}
	}
	if w.Confidence == nil {
		return Reply{}, &Error{Field: "confidence", Problem: "is missing"}
	}
	messages, err := w.messages()
	if err != nil {
		return Reply{}, err
	}
	r := Reply{
		Messages:         messages,
		Escalate:         *w.Escalate,
		EscalationReason: conversation.EscalationReason(orNone(w.EscalationReason)),
		Confidence:       *w.Confidence,
		ClosingQuestion:  orNone(w.ClosingQuestion),
	}
	if err := r.Validate(); err != nil {
		return Reply{}, err
	}
	return r, nil
}

// messages trims every message and joins those past the third to it.
func (w wire) messages() ([]string, error) {
	if len(w.Messages) > maxWritten {
		return nil, &Error{Field: "messages", Problem: "holds more than 50 messages"}
	}
	var out []string
	for _, m := range w.Messages {
		s := optional(m)
		if s == "" {
			return nil, &Error{Field: "messages", Problem: "holds an empty message"}
		}
		out = append(out, s)
	}
	if len(out) > MaxMessages {
		out = append(out[:MaxMessages-1], strings.Join(out[MaxMessages-1:], "\n"))
	}
	return out, nil
}

// cutObject finds the one JSON object of an answer. Only the first thing that looks
// like an object is tried: a later one inside a broken first could be a draft.
func cutObject(text string) (jsontext.Value, error) {
	start := objectStart(text)
	if start < 0 {
		return nil, &Error{Problem: "holds no JSON object"}
	}
	dec := jsontext.NewDecoder(strings.NewReader(text[start:]))
	object, err := dec.ReadValue()
	if err != nil {
		return nil, &Error{Problem: "holds broken JSON"}
	}
	rest := text[start+int(dec.InputOffset()):]
	if strings.Trim(rest, "` \t\r\n") != "" {
		return nil, &Error{Problem: "goes on after its JSON object"}
	}
	return object, nil
}

// objectStart is the place of the first brace that a key or a closing brace
// follows, so that {placeholders} in the text before are passed over; -1: none.
func objectStart(text string) int {
	for i := 0; i < len(text); i++ {
		if text[i] != '{' {
			continue
		}
		rest := strings.TrimLeft(text[i+1:], " \t\r\n")
		if rest != "" && (rest[0] == '"' || rest[0] == '}') {
			return i
		}
	}
	return -1
}

// optional reads a field that may be absent in any of the ways models say so.
func optional(s *string) string {
	if s == nil || Blank(*s) {
		return ""
	}
	return trim(printable(*s))
}

// orNone reads an optional field for which models also write none or null in any case.
func orNone(s *string) string {
	text := optional(s)
	if strings.EqualFold(text, "none") || strings.EqualFold(text, "null") {
		return ""
	}
	return text
}

// Blank reports whether a text would show a contact nothing but white space and markup, or
// the word null.
func Blank(text string) bool {
	return trim(text) == "null" || !strings.ContainsFunc(text, shows)
}

// markup are the marks of Markdown, of a channel and of a comment, which are no answer on
// their own.
const markup = "*_~`#|<>-!=\\"

// shows reports whether a rune is a letter, a digit, a sign or an emoji that a reader sees.
func shows(r rune) bool {
	return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.IsMark(r) && !strings.ContainsRune(markup, r) &&
		!unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && r != '\u2800' // a braille cell without dots
}

// otherBreaks are the control characters that break a line.
var otherBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n")

// printable is a text without control characters but line breaks and tabs.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, otherBreaks.Replace(text))
}

// trim cuts white space and invisible characters from both ends.
func trim(s string) string {
	return strings.TrimFunc(s, func(r rune) bool {
		switch r {
		case '\u200b', '\u2060', '\ufeff', '\u00ad':
			return true
		}
		return unicode.IsSpace(r)
	})
}

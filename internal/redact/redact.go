// Package redact is the one list of what must never be seen outside: shapes of phone
// numbers, e-mail addresses, links, long numbers, tokens and secrets, in any script's
// digits (docs/spec/01-principles.md, C5). What operators need stays: ids of turns and
// rows, times, durations, prices, versions, stack traces, loopback addresses.
//
// It knows shapes, not meanings. A name, "ada at school dot example" and a phone number
// in words have none, eight digits without a space or a sign may be anything, and what is
// written as a price beside a currency is one: who has such a value keeps it back by its
// key.
package redact

import (
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/redact/glyph"
	"github.com/manychat-agent/manychat-agent/internal/redact/ordinary"
)

// What stands in a cleaned text for what was taken out.
const (
	phone  = "[phone]"
	email  = "[email]"
	link   = "[url]"
	media  = "[media]"  // a link to a picture, a recording or a file
	number = "[number]" // 9 digits or more, such as a subscriber id
	token  = "[token]"
	secret = "[secret]" // what stands behind a name such as password=
	flow   = "[flow]"
)

// Mark is what stands in a text for people, in place of every marker above.
const Mark = "[removed]"

// Text returns s with every such shape replaced by a marker that names its kind. A
// cleaned text is stable: Text(Text(s)) is Text(s). A text with nothing to hide is
// returned as it is, without an allocation where it is plain ASCII.
func Text(s string) string { return replace(s, "") }

// Removed is [Text] for what people read: [Mark] stands for whatever was taken out, and
// what only operators need goes too, see people.go.
func Removed(s string) string { return replace(s, Mark) }

// replace puts mark in place of every shape, for people; empty: the marker of the
// shape's kind, for operators.
func replace(s, mark string) string {
	for {
		seen := look(s)
		if seen.harmless(s) && (mark == "" || seen.all&glyph.Dot == 0) || len(s) == ordinary.UUIDLength && ordinary.IsUUID(s) {
			return s
		}
		clean := once(s, mark, seen)
		if clean == s {
			return s
		}
		s = clean // two neighbours of what went may form a shape of their own
	}
}

// once replaces what one look finds.
func once(s, mark string, seen sight) string {
	f := finder{source: s, text: s, mark: mark}
	if seen.all&glyph.Foreign != 0 {
		f.text, f.marks = glyph.Fold(s)
		seen = look(f.text)
	}
	f.find(seen)
	if len(f.spans) == 0 {
		return s
	}
	return f.replaced()
}

// finder collects what is to be replaced. Each kind of shape is looked for in the whole
// text before the next, and what one found is no longer there for the next: an e-mail
// address in a link is part of the link.
type finder struct {
	source  string
	text    string       // the source, folded; what was found is blanked
	marks   []glyph.Mark // where each byte of text comes from; nil: the text is the source
	spans   []span
	blanked int    // how many of the spans are blanked
	mark    string // for every kind; empty: each has its own
}

type span struct {
	start, end int // in text
	marker     string
}

// find looks for each kind in turn, leaving out what a glance has shown not to be there.
func (f *finder) find(seen sight) {
	if seen.links(f.text) {
		f.findLinks()
		f.blank()
	}
	if seen.secrets(f.text) {
		f.findSecrets()
		f.blank()
	}
	if seen.all&glyph.At != 0 {
		f.findEmails()
		f.blank()
	}
	if f.forPeople() && seen.all&glyph.Dot != 0 {
		f.findHosts()
		f.blank()
	}
	if seen.long || seen.all&glyph.Colon != 0 && seen.digits >= fewestDigits {
		f.findTokens()
		f.blank()
	}
	if seen.digits >= fewestDigits {
		f.findNumbers()
	}
	if f.forPeople() && seen.digits >= fewestLong {
		f.blank()
		f.findParted()
	}
}

func (f *finder) take(start, end int, marker string) {
	if f.mark != "" {
		marker = f.mark
	}
	f.spans = append(f.spans, span{start, end, marker})
}

// blank overwrites what was found since the last time with a byte that no shape holds.
func (f *finder) blank() {
	if f.blanked == len(f.spans) {
		return
	}
	text := []byte(f.text)
	for _, s := range f.spans[f.blanked:] {
		for i := s.start; i < s.end; i++ {
			text[i] = glyph.Taken
		}
	}
	f.text, f.blanked = string(text), len(f.spans)
}

// replaced is the source with markers for what was found.
func (f *finder) replaced() string {
	slices.SortFunc(f.spans, func(a, b span) int { return a.start - b.start })
	var b strings.Builder
	kept := 0
	for _, s := range f.spans {
		start, end := f.origin(s.start, s.end)
		if end <= kept {
			continue // a link in a quoted secret
		}
		b.WriteString(f.source[min(kept, start):start])
		b.WriteString(s.marker)
		kept = end
	}
	b.WriteString(f.source[kept:])
	return b.String()
}

// origin is where a part of the text stands in the source.
func (f *finder) origin(start, end int) (from, to int) {
	if f.marks == nil {
		return start, end
	}
	return f.marks[start].From, f.marks[end-1].To
}

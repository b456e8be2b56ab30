// Package document reads the JSON files that people write: comments and trailing
// commas are allowed, and everything that is wrong is reported at once, each
// problem with its line, column and JSON Pointer (RFC 6901).
//
// What a file may hold is said once, by the struct tags of the type it is decoded
// into; see [Document.Decode].
package document

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// MaxBytes is the largest file that is read: 2 MiB, some 3000 offerings, which is
// more than fits a model's context.
const MaxBytes = 2 << 20

// maxDepth bounds nesting, so that a hostile file cannot exhaust the stack. The
// deepest key of any tenant file is five levels down.
const maxDepth = 64

// A Document is one parsed file. It is immutable.
type Document struct {
	name   string
	text   []byte
	root   hujson.Value
	places places
}

// Parse reads a file's text. A syntax error ends reading, so there is at most one;
// the problem is nil when there is none.
func Parse(name string, text []byte) (*Document, *Problem) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(text) > MaxBytes {
		return nil, &Problem{File: name, Found: fmt.Sprintf("%d bytes", len(text)), Expected: fmt.Sprintf("at most %d bytes", MaxBytes)}
	}
	d := &Document{name: name, text: text, places: newPlaces(text)}
	if at := invalidUTF8(text); at >= 0 {
		return nil, d.syntax(at, fmt.Sprintf("the byte 0x%02x, which is not UTF-8", text[at]))
	}
	if at := tooDeep(text); at >= 0 {
		return nil, d.syntax(at, fmt.Sprintf("more than %d levels of nesting", maxDepth))
	}
	root, err := hujson.Parse(text)
	if err != nil {
		at, reason := syntaxError(text, err)
		return nil, d.syntax(at, reason)
	}
	d.root = root
	return d, nil
}

// Problem builds a problem at the value that the JSON Pointer names or, where there
// is none, at the nearest value that would hold it.
func (d *Document) Problem(pointer, found, expected string) Problem {
	p := Problem{File: d.name, Path: pointer, Found: found, Expected: expected}
	p.Line, p.Column = d.position(d.find(pointer).StartOffset)
	return p
}

// Has reports whether there is a value at a JSON Pointer.
func (d *Document) Has(pointer string) bool { return d.root.Find(pointer) != nil }

func (d *Document) find(pointer string) *hujson.Value {
	for pointer != "" {
		if v := d.root.Find(pointer); v != nil {
			return v
		}
		pointer = pointer[:max(strings.LastIndexByte(pointer, '/'), 0)]
	}
	return &d.root
}

func (d *Document) syntax(offset int, found string) *Problem {
	p := &Problem{File: d.name, Found: found, Expected: "valid JSON (comments and trailing commas are allowed)"}
	p.Line, p.Column = d.position(offset)
	return p
}

// position turns a byte offset into a line and a column, both from 1; columns count
// code points, as editors do.
func (d *Document) position(offset int) (line, column int) {
	offset = min(max(offset, 0), len(d.text))
	return d.places.line(offset), d.places.column(offset)
}

func invalidUTF8(text []byte) int {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

// tooDeep returns where nesting passes maxDepth, or -1. It tells strings and comments
// apart as the parser does, up to the first syntax error.
func tooDeep(text []byte) int {
	depth := 0
	for at := 0; at < len(text); at++ {
		switch text[at] {
		case '"', '/':
			at += skip(text[at:]) - 1
		case '{', '[':
			if depth++; depth > maxDepth {
				return at
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}

// skip is the length of the string or comment that rest begins with.
func skip(rest []byte) int {
	var end int
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		end = bytes.IndexByte(rest, '\n')
	case bytes.HasPrefix(rest, []byte("/*")):
		end = 3 + bytes.Index(rest[2:], []byte("*/"))
		if end < 3 {
			end = -1
		}
	case rest[0] == '"':
		end = closingQuote(rest)
	}
	if end < 0 {
		return len(rest)
	}
	return end + 1
}

func closingQuote(rest []byte) int {
	for at := 1; at < len(rest); at++ {
		switch rest[at] {
		case '\\':
			at++
		case '"':
			return at
		}
	}
	return -1
}

// syntaxError recovers the offset from the parser's message, which begins
// "hujson: line L, column C: " with columns in bytes.
func syntaxError(text []byte, err error) (offset int, reason string) {
	var line, column int
	message := err.Error()
	if _, scanErr := fmt.Sscanf(message, "hujson: line %d, column %d:", &line, &column); scanErr != nil {
		return 0, message
	}
	for ; line > 1; line-- {
		offset += bytes.IndexByte(text[offset:], '\n') + 1
	}
	_, reason, _ = strings.Cut(message, ": ")
	_, reason, _ = strings.Cut(reason, ": ")
	if within, ends := strings.CutSuffix(reason, ": unexpected EOF"); ends {
		reason = endOfFile(within)
	}
	return offset + column - 1, reason
}

// endOfFile says where the parser was, in its own words, when the file ended.
func endOfFile(within string) string {
	switch within {
	case "parsing string":
		return "the end of the file inside a string"
	case "parsing comment":
		return "the end of the file inside a comment"
	}
	return "the end of the file"
}

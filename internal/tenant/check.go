package tenant

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/manychat-agent/manychat-agent/internal/tenant/document"
	"github.com/manychat-agent/manychat-agent/internal/tenant/keyword"
)

// check reports problems at places of one file.
type check struct {
	doc      *document.Document
	problems *Problems
}

// at builds a JSON Pointer from keys and indexes, none of which needs escaping.
func at(parts ...any) string {
	s := ""
	for _, p := range parts {
		s += fmt.Sprint("/", p)
	}
	return s
}

func (c check) report(pointer, found, expected, hint string) {
	p := c.doc.Problem(pointer, found, expected)
	p.Hint = hint
	*c.problems = append(*c.problems, p)
}

// named is a configured name and where it stands.
type named struct {
	name    string
	pointer string
	id      string // of the entry, where a problem says whose the name is
}

// distinct reports every name that repeats an earlier one.
func (c check) distinct(names []named, what string) {
	c.distinctBy(func(name string) string { return name }, names, what)
}

// distinctBy is distinct for names that are the same when their keys are.
func (c check) distinctBy(key func(name string) string, names []named, what string) {
	first := map[string]string{}
	for _, n := range names {
		k := key(n.name)
		if k == "" {
			continue
		}
		if earlier, ok := first[k]; ok {
			c.report(n.pointer, fmt.Sprintf("%q a second time", n.name), what, "the first is "+earlier)
			continue
		}
		first[k] = n.pointer
	}
}

// kind is a kind of objects of the account, of which each has one entry.
type kind struct {
	key                  func(name string) string // what the names of one object have in common
	what, expected, hint string
}

// owned reports every name that is of the same object as one of an earlier entry. It says
// whose the object is, and repeats no name of the account.
func (c check) owned(names []named, of kind) {
	first := map[string]string{}
	for _, n := range names {
		k := of.key(n.name)
		if k == "" {
			continue
		}
		if owner, ok := first[k]; ok {
			c.report(n.pointer, "the "+of.what+" of "+owner, of.expected, of.hint)
			continue
		}
		first[k] = cmp.Or(n.id, n.pointer)
	}
}

// names lists a text of every element of a list, with its place.
func names[T any](list string, elements []T, key string, name func(T) string) []named {
	out := make([]named, len(elements))
	for i, e := range elements {
		out[i] = named{name: name(e), pointer: at(list, i, key)}
	}
	return out
}

// currency reports a code that has the form of one but is none.
func (c check) currency(code Currency, path ...any) {
	if len(code) == 3 && strings.Trim(string(code), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" && !code.Valid() {
		c.report(at(path...), strconv.Quote(string(code)), "an active ISO 4217 code such as EUR", "")
	}
}

// zone loads a time zone by its name; it is nil when there is none of that name.
func (c check) zone(pointer, name string) *time.Location {
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" {
		c.report(pointer, strconv.Quote(name), "an IANA time zone such as Europe/Lisbon", "")
		return nil
	}
	return zone
}

// keywords reports words that could never match, and those that end all messages as well.
func (c check) keywords(pointer string, words []string, optOut ...string) {
	ends := keyword.NewSet(optOut)
	for i, w := range words {
		switch {
		case w != "" && keyword.Fold(w) == "":
			c.report(pointer+at(i), strconv.Quote(w), "a keyword with a letter or a digit", "")
		case ends.Equals(w):
			c.report(pointer+at(i), strconv.Quote(w), "a keyword that is not in optOutKeywords", "case and accents do not tell two apart")
		}
	}
}

// message measures a text that a contact reads.
func (c check) message(pointer, text string, limit int) {
	if n := len(utf16.Encode([]rune(text))); limit > 0 && n > limit {
		c.report(pointer, fmt.Sprintf("%d characters", n), fmt.Sprintf("at most %d, the channel's longest text", limit), "")
	}
}

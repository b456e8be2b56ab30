package inline

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/delivery/style/address"
)

// reference is a link that is defined on a line of its own.
type reference struct {
	address string
	at      int  // where its line begins
	used    bool // something refers to it
}

// maxName is the longest name of a reference; a longer one is text.
const maxName = 100

// definitions collects the references that a text defines. The first of a name counts.
func definitions(s string) map[string]*reference {
	if !strings.Contains(s, "]:") {
		return nil
	}
	refs := map[string]*reference{}
	for at := 0; at < len(s); {
		end := at + len(firstLine(s[at:]))
		if name, dest, ok := definition(s[at:end]); ok && refs[name] == nil {
			refs[name] = &reference{address: dest, at: at}
		}
		at = end + 1
	}
	return refs
}

// definition reads a line of the form [name]: address "title".
func definition(text string) (name, dest string, ok bool) {
	name, rest, ok := strings.Cut(strings.TrimSpace(text), "]:")
	if !ok || len(name) < 2 || len(name) > maxName || name[0] != '[' || strings.ContainsAny(name[1:], "[]^") || strings.Contains(name, "://") {
		return "", "", false
	}
	rest = strings.TrimSpace(rest)
	dest, title := rest, ""
	if at := strings.IndexAny(rest, " \t"); at >= 0 {
		dest, title = rest[:at], strings.TrimSpace(rest[at:])
	}
	if title != "" && (!isTitle(title) || strings.Contains(title, "://")) {
		return "", "", false
	}
	if n := len(dest); n > 2 && dest[0] == '<' && dest[n-1] == '>' {
		dest = dest[1 : n-1]
	}
	if dest == "" || strings.ContainsAny(dest, "<>") || !address.Is(dest) {
		return "", "", false
	}
	return nameOf(name[1:]), dest, true
}

func isTitle(s string) bool {
	return len(s) >= 2 && (s[0] == s[len(s)-1] && quote(rune(s[0])) || s[0] == '(' && s[len(s)-1] == ')')
}

// nameOf is what spellings of one name share.
func nameOf(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// reference reads what follows a label that has no address: a name, an empty one for the
// label itself, or nothing where the label is a name and not the number of a footnote.
// Only the first of a name gets the address.
func (w *Writer) reference(open, end, hi int) (dest string, next int) {
	if len(w.refs) == 0 {
		return "", 0
	}
	name, next := w.src[open+1:end], end+1
	if next < hi && w.src[next] == '[' {
		n := strings.IndexAny(w.src[next+1:hi], "[]\n")
		if n < 0 || w.src[next+1+n] != ']' {
			return "", 0
		}
		if n > 0 {
			name = w.src[next+1 : next+1+n]
		}
		next += n + 2
	} else if strings.Trim(name, "0123456789") == "" {
		return "", 0
	}
	if len(name) > maxName {
		return "", 0
	}
	ref := w.refs[nameOf(name)]
	switch {
	case ref == nil:
		return "", 0
	case ref.used:
		return "", next
	}
	ref.used = true
	return ref.address, next
}

// Defines reports whether the line between two offsets defines a reference, and is to be
// left out.
func (w *Writer) Defines(at, end int) bool {
	if len(w.refs) == 0 {
		return false
	}
	name, _, ok := definition(w.src[at:end])
	return ok && w.refs[name] != nil && w.refs[name].at == at
}

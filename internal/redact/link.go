package redact

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/redact/glyph"
	"github.com/manychat-agent/manychat-agent/internal/redact/ordinary"
)

// findLinks takes out what people and phones recognise as a link: anything with a
// scheme, with www, and a bare host name with something behind it. A link to this very
// machine keeps its host and port, and what follows is looked at like any text.
func (f *finder) findLinks() {
	t := f.text
	free := 0 // where the last link ended
	for i := 0; i < len(t); i++ {
		var start, end int
		switch {
		case t[i] == ':':
			start, end = f.withScheme(i)
		case t[i] == '.':
			start, end = withWWW(t, i)
		case glyph.Is(t[i], glyph.Slash|glyph.Query):
			start, end = f.bare(i)
		}
		if end <= i {
			continue
		}
		if end > start {
			start = max(start, free)
			f.take(start, end, kindOfLink(t[start:end]))
			free = end
		}
		i = end - 1 // taken, or nothing to look for before here
	}
}

// withScheme is the link whose :// begins at i, or :\/\/ as some write it in JSON; the
// start is the end where there is nothing to take.
func (f *finder) withScheme(i int) (start, end int) {
	t, body := f.text, i
	switch {
	case strings.HasPrefix(t[i:], "://"):
		body += len("://")
	case strings.HasPrefix(t[i:], `:\/\/`):
		body += len(`:\/\/`)
	default:
		return i, i
	}
	if host := f.loopback(body); host > 0 {
		return body + host, body + host
	}
	if end = linkEnd(t, body); end == body {
		return i, i
	}
	start = i
	for start > 0 && (glyph.Is(t[start-1], glyph.Alnum) || glyph.In("+.-", t[start-1])) {
		start--
	}
	return start, end
}

// withWWW is the link whose www ends before the dot at i.
func withWWW(t string, i int) (start, end int) {
	start = i - len("www")
	if start < 0 || !strings.EqualFold(t[start:i], "www") || start > 0 && glyph.Is(t[start-1], glyph.Alnum) ||
		i+1 == len(t) || !glyph.Is(t[i+1], glyph.Alnum|glyph.Beyond) {
		return i, i
	}
	return start, linkEnd(t, start)
}

// bare is the link without a scheme whose path or query begins at i.
func (f *finder) bare(i int) (start, end int) {
	t := f.text
	hostEnd := i
	if digits := glyph.Back(t, i, glyph.Digit); digits < i && digits > 0 && t[digits-1] == ':' {
		hostEnd = digits - 1
	}
	start = hostStart(t, hostEnd)
	if !f.isHost(start, hostEnd) || glyph.Is(t[i], glyph.Query) && (i+1 == len(t) || !glyph.Is(t[i+1], glyph.Alnum)) {
		return i, i
	}
	if !f.forPeople() && isCode(t, start, i) {
		end = wordEnd(t, i)
		return end, end
	}
	end = linkEnd(t, start)
	if strings.HasSuffix(t[:start], "//") {
		start -= len("//")
	}
	return start, max(end, i)
}

// linkEnd is where the link ends whose body begins at i. What a sentence puts behind a
// link, and a bracket that was opened before it, do not belong to it.
func linkEnd(t string, i int) int {
	end := wordEnd(t, i)
	body := t[i:end]
	var unopened [3]int // closing brackets without an opening one
	for kind := range unopened {
		unopened[kind] = strings.Count(body, ")]}"[kind:kind+1]) - strings.Count(body, "([{"[kind:kind+1])
	}
	for ; end > i; end-- {
		kind := strings.IndexByte(")]}", t[end-1])
		switch {
		case kind >= 0 && unopened[kind] > 0:
			unopened[kind]--
		case kind >= 0 || !glyph.In(".,:;!?'*_", t[end-1]):
			return end
		}
	}
	return end
}

// wordEnd is where the characters end that a link may hold.
func wordEnd(t string, i int) int {
	for i < len(t) && !glyph.Is(t[i], glyph.Space|glyph.Newline) && !glyph.In("\"<>`|", t[i]) && t[i] < glyph.Other {
		i++
	}
	return i
}

// isCode reports whether what looks like a link is a package, in a stack trace or with
// its version: packages are named by where they come from. The host is at start, the
// path at i.
func isCode(t string, start, i int) bool {
	rest := t[start:wordEnd(t, i)]
	for _, sign := range [...]string{".go:", ".(*", "(0x", "({0x", "(...)", "@v0.", "@v1.", "@v2."} {
		if strings.Contains(rest, sign) {
			return true
		}
	}
	return strings.HasPrefix(rest, "github.com/manychat-agent/") || strings.HasSuffix(rest, "()") || strings.HasSuffix(t[:start], "created by ")
}

// loopback is the length of the host and port at i, where a link's body begins, when they
// are this machine's or its listen address, and 0 when they are not. To people it is a
// host like any other.
func (f *finder) loopback(i int) int {
	if f.forPeople() {
		return 0
	}
	body := f.text[i:]
	end := len(body)
	if i := strings.IndexAny(body, "/?#\\ \t\r\n\"'`<>),;@"); i >= 0 {
		end = i
	}
	if end < len(body) && body[end] == '@' {
		return 0
	}
	if ordinary.IsThisMachine(body[:end]) {
		return end
	}
	return 0
}

// kindOfLink tells a link to a file that somebody sent from any other.
func kindOfLink(found string) string {
	found = strings.ToLower(found)
	if i := strings.IndexAny(found, "?#"); i >= 0 {
		found = found[:i]
	}
	for _, host := range []string{"manybot-files.", ".fbcdn.net/", ".fbsbx.com/", ".cdninstagram.com/", ".whatsapp.net/"} {
		if strings.Contains(found, host) {
			return media
		}
	}
	if i := strings.LastIndexByte(found, '.'); i >= 0 && strings.Contains(fileEndings, " "+found[i+1:]+" ") {
		return media
	}
	return link
}

const fileEndings = " jpg jpeg png gif webp heic mp4 mov 3gp webm avi ogg oga opus mp3 m4a aac wav amr pdf "

package inline

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/delivery/style/address"
)

// The HTML that models write: tags that stand for marks, tags that break lines (with how
// many line breaks at least), and tags that show nothing.
func markTag(name string) (kind int, ok bool) {
	switch name {
	case "b", "strong":
		return tagBold, true
	case "i", "em":
		return tagItalic, true
	case "s", "del", "strike":
		return tagStruck, true
	}
	return 0, false
}

func gapTag(name string) int {
	switch name {
	case "p":
		return 2
	case "div", "ul", "ol", "li", "h1", "h2", "h3", "h4", "h5", "h6", "hr":
		return 1
	}
	return 0
}

func emptyTag(name string) bool {
	switch name {
	case "u", "span", "small", "big", "mark", "center", "font", "sub", "sup", "code", "pre":
		return true
	}
	return false
}

// tag recognises an HTML tag that is one of those, a link in HTML, or an address in angle
// brackets.
func (w *Writer) tag(i, from, hi int) (next int) {
	n := strings.IndexAny(w.src[i+1:hi], "<>\n")
	if n < 1 || w.src[i+1+n] != '>' {
		return 0
	}
	end := i + n + 2
	body := w.src[i+1 : end-1]
	if url, to := urlAtStart(body); url {
		if to < len(body) {
			return 0
		}
		return w.add(from, token{kind: link, start: i, end: end, lit: body})
	}
	name, attributes, closes := splitTag(body)
	if name == "a" && !closes {
		return w.anchor(i, from, end, hi)
	}
	if strings.Contains(attributes, "://") || attributes != "" && !strings.Contains(attributes, "=") {
		return 0
	}
	return w.knownTag(from, name, closes, token{start: i, end: end})
}

// urlAtStart reports whether a string begins with a URL that has a scheme, and where that
// ends.
func urlAtStart(s string) (ok bool, end int) {
	i := strings.Index(s, "://")
	if i < 1 {
		return false, 0
	}
	start, end := address.At(s, i, 0)
	return end > 0 && start == 0, end
}

// splitTag returns the parts of what stands between angle brackets.
func splitTag(body string) (name, attributes string, closes bool) {
	body, closes = strings.CutPrefix(body, "/")
	body = strings.TrimSuffix(body, "/")
	name, attributes, _ = strings.Cut(body, " ")
	return strings.ToLower(name), strings.TrimSpace(attributes), closes
}

// knownTag adds the token of a tag, or returns 0 for one that is not known.
func (w *Writer) knownTag(from int, name string, closes bool, t token) (next int) {
	if kind, ok := markTag(name); ok {
		return w.tagMark(from, kind, closes, t)
	}
	switch {
	case name == "br":
		t.kind = lineBreak
		if next := t.end; next < len(w.src) && w.src[next] == '\n' {
			t.end++ // the line break in the source is the same one
			w.line++
		}
	case gapTag(name) > 0:
		t.kind, t.n = lineGap, gapTag(name)
		if name == "li" && !closes {
			t.lit = "- "
		}
	case emptyTag(name):
		t.kind = literal
	default:
		return 0
	}
	return w.add(from, t)
}

// tagMark adds a tag that is one half of a pair, and pairs it if it is the second.
func (w *Writer) tagMark(from, kind int, closes bool, t token) (next int) {
	t.kind, t.n, t.lit = delim, 1, w.src[t.start:t.end]
	w.addText(from, t.start)
	t.behind = w.behindURL()
	w.push(t)
	last := len(w.tokens) - 1
	switch head := w.heads[kind]; {
	case !closes:
		w.keep(last, kind)
	case head > 0:
		w.match(head, last)
	}
	return t.end
}

// anchor recognises <a href="address">label</a>.
func (w *Writer) anchor(i, from, end, hi int) (next int) {
	head, rest, ok := strings.Cut(w.src[i:end], `href="`)
	dest, rest, closed := strings.Cut(rest, `"`)
	if !ok || !closed || dest == "" || !address.Is(dest) || strings.Contains(head+rest, "://") || w.noAnchor {
		return 0
	}
	n := strings.Index(w.src[end:hi], "</a>")
	if n < 0 {
		w.noAnchor = true
		return 0
	}
	return w.add(from, token{kind: link, start: i, end: end + n + len("</a>"), lo: end, hi: end + n, lit: dest})
}

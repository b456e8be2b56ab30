package document

import (
	"bytes"
	"fmt"
	"math"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

func (d *decoder) text(v *hujson.Value, path *pointer, target reflect.Value, r *rule) {
	if !isText(v) {
		d.mismatch(v, path, r.text())
		return
	}
	s := unquote(v.Value.(hujson.Literal))
	target.SetString(s)
	if n := utf8.RuneCountInString(strings.TrimSpace(s)); n < r.minLength || (r.maxLength > 0 && n > r.maxLength) {
		what := found(v)
		if n > shown {
			what = fmt.Sprintf("%d characters", n)
		}
		d.report(v, path, Problem{Found: what, Expected: r.text()})
		return
	}
	if (len(r.enum) > 0 && !slices.Contains(r.enum, s)) || (r.pattern != nil && !r.pattern.MatchString(s)) || (r.url && !isHTTPS(s)) {
		hint := ""
		if near, ok := Nearest(s, r.enum); ok {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		d.report(v, path, Problem{Found: found(v), Expected: r.text(), Hint: hint})
	}
}

// isText reports whether a value is a JSON string.
func isText(v *hujson.Value) bool {
	literal, ok := v.Value.(hujson.Literal)
	return ok && literal.Kind() == '"'
}

// unquote is the text of a JSON string. Most have no escapes and need no decoding.
func unquote(literal hujson.Literal) string {
	if bytes.IndexByte(literal, '\\') < 0 {
		return string(literal[1 : len(literal)-1])
	}
	return literal.String()
}

func isHTTPS(s string) bool {
	u, ok := Address(s)
	return ok && u.Scheme == "https" && u.User == nil
}

// Address parses the address of a page or a service as people write it. It is none when
// nothing can be asked for under it: without a host, with white space in it, or with a port
// that there is not.
func Address(text string) (u *url.URL, ok bool) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || strings.ContainsFunc(text, unicode.IsSpace) {
		return nil, false
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return nil, false
		}
	}
	return u, true
}

func (d *decoder) boolean(v *hujson.Value, path *pointer, target reflect.Value, r *rule) {
	literal, ok := v.Value.(hujson.Literal)
	if !ok || (literal.Kind() != 't' && literal.Kind() != 'f') || (len(r.enum) > 0 && !slices.Contains(r.enum, string(literal))) {
		d.mismatch(v, path, r.boolean())
		return
	}
	target.SetBool(literal.Bool())
}

// largest is the biggest whole number that every reader of JSON keeps exactly, 2^53.
const largest = 1 << 53

func (d *decoder) integer(v *hujson.Value, path *pointer, target reflect.Value, r *rule) {
	n, ok := parseNumber(v)
	if !ok || n != math.Trunc(n) || math.Abs(n) > largest || !r.admits(n) {
		d.mismatch(v, path, r.number("a whole number"))
		return
	}
	target.SetInt(int64(n))
}

func (d *decoder) float(v *hujson.Value, path *pointer, target reflect.Value, r *rule) {
	n, ok := parseNumber(v)
	if !ok || !r.admits(n) {
		d.mismatch(v, path, r.number("a number"))
		return
	}
	target.SetFloat(n)
}

func parseNumber(v *hujson.Value) (float64, bool) {
	literal, ok := v.Value.(hujson.Literal)
	if !ok || literal.Kind() != '0' {
		return 0, false
	}
	n, err := strconv.ParseFloat(string(literal), 64)
	return n, err == nil
}

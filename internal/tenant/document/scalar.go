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
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

func (d *decoder) text(v *hujson.Value, path *pointer, target reflect.Value, r *rule) {
	literal, ok := v.Value.(hujson.Literal)
	if !ok || literal.Kind() != '"' {
		d.mismatch(v, path, r.text())
		return
	}
	s := unquote(literal)
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

// unquote is the text of a JSON string. Most have no escapes and need no decoding.
func unquote(literal hujson.Literal) string {
	if bytes.IndexByte(literal, '\\') < 0 {
		return string(literal[1 : len(literal)-1])
	}
	return literal.String()
}

func isHTTPS(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil
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

package body_test

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The rule for bodies that are not JSON, as the package's documentation states it and
// by brute force: every reading is listed. The product's own way is quick instead.

var (
	keyPlace  = regexp.MustCompile(`^[,{][ \t\r\n]*"(subscriber_id|text|ai_token|course|offering|channel|first_name|last_name|locale)"[ \t\r\n]*:[ \t\r\n]*`)
	objectEnd = regexp.MustCompile(`[ \t\r\n]*,?[ \t\r\n]*\}?[ \t\r\n]*$`)
	quoteless = regexp.MustCompile(`^(?:"(?:"[^"]*"|[^"]*)"|[^"]*)$`)
	nameLike  = regexp.MustCompile(`^"[^{}]*"$`)
	weighed   = []string{"subscriber_id", "ai_token", "course", "offering", "channel"}
)

// position is a place where a key can stand.
type position struct {
	key          string
	comma, start int
	near         string // the value that runs to the very next place
	fits         bool   // near looks like a value of the key
}

// picked is a key with the value that a reading gives it.
type picked struct {
	position
	literal string
	end     int // number of the place where it ends
}

func looksLike(key, literal string) bool {
	switch key {
	case "text", "first_name", "last_name":
		return true
	case "course", "offering":
		return quoteless.MatchString(literal) || nameLike.MatchString(literal)
	}
	return quoteless.MatchString(literal)
}

func pinned(key string) bool { return key == "subscriber_id" || key == "ai_token" || key == "channel" }

// positions lists the places of a body, and the offset where its last value ends.
func positions(body string) (found []position, end int) {
	begin := len(body) - len(strings.TrimLeft(strings.TrimPrefix(body, "\ufeff"), " \t\r\n"))
	for i := begin; i < len(body); i++ {
		if m := keyPlace.FindStringSubmatchIndex(body[i:]); m != nil && (body[i] == '{') == (i == begin) {
			found = append(found, position{key: body[i+m[2] : i+m[3]], comma: i, start: i + m[1]})
		}
		if len(found) == 0 {
			break
		}
	}
	end = objectEnd.FindStringIndex(body)[0]
	for i := range found {
		p := &found[i]
		p.near = value(body, found, i, i+1, end)
		p.fits = looksLike(p.key, p.near)
	}
	return found, end
}

// value is what stands between a place and another, or the end.
func value(body string, places []position, from, to, end int) string {
	if to < len(places) {
		end = places[to].comma
	}
	start := places[from].start
	return strings.Trim(body[start:max(start, end)], " \t\r\n")
}

// listReadings lists every reading.
func listReadings(body string) [][]picked {
	places, end := positions(body)
	var all [][]picked
	var list func(i int, before []picked)
	list = func(i int, before []picked) {
		has := func(key string) bool {
			return slices.ContainsFunc(before, func(p picked) bool { return p.key == key })
		}
		if i == len(places) {
			if has("subscriber_id") && has("text") {
				all = append(all, slices.Clone(before))
			}
			return
		}
		if has(places[i].key) {
			return
		}
		for to := i + 1; to <= len(places); to++ {
			p := places[i]
			if !pinned(p.key) || to == i+1 && p.fits {
				list(to, append(before, picked{p, value(body, places, i, to, end), to}))
			}
		}
	}
	if len(places) > 0 {
		list(0, nil)
	}
	return all
}

// compareReadings orders readings from the best to the worst.
func compareReadings(a, b []picked) int {
	count := func(reading []picked) (unfit, keys, open int) {
		for _, p := range reading {
			switch {
			case !p.fits:
				unfit++
			default:
				keys++
			}
			if strings.HasPrefix(p.literal, `"`) && !strings.HasSuffix(p.literal, `"`) {
				open++
			}
		}
		return unfit, keys, open
	}
	unfitA, keysA, openA := count(a)
	unfitB, keysB, openB := count(b)
	return cmp.Or(cmp.Compare(unfitA, unfitB), cmp.Compare(keysB, keysA), cmp.Compare(openA, openB),
		slices.CompareFunc(a, b, func(p, q picked) int { return cmp.Compare(p.end, q.end) }))
}

// reference reads a body that is not JSON: the values by their keys, or the key on which
// the readings differ, or neither if there is no reading.
func reference(body string) (values map[string]string, differ string) {
	all := listReadings(body)
	if len(all) == 0 {
		return nil, ""
	}
	best := map[string]string{}
	for _, p := range slices.MinFunc(all, compareReadings) {
		best[p.key] = mean(p.literal)
	}
	for _, reading := range all {
		for _, p := range reading {
			if slices.Contains(weighed, p.key) && p.fits && matters(p.key, mean(p.near)) != matters(p.key, best[p.key]) {
				return nil, p.key
			}
		}
	}
	return best, ""
}

// absent stands for null.
const absent = "\xff"

// mean is what a value says by the way it is written.
func mean(literal string) string {
	if literal == "null" {
		return absent
	}
	inner := literal
	if len(literal) > 1 && strings.HasPrefix(literal, `"`) && strings.HasSuffix(literal, `"`) {
		inner = literal[1 : len(literal)-1]
	}
	for _, candidate := range []string{literal, inner} {
		var s string
		if strings.HasPrefix(candidate, `"`) && strings.HasSuffix(candidate, `"`) && json.Unmarshal([]byte(candidate), &s) == nil {
			return s
		}
	}
	return inner
}

// matters is what two values of a key have in common that mean the same.
func matters(key, value string) string {
	if key != "subscriber_id" && (value == absent || strings.Contains(value, "{{")) {
		return ""
	}
	if key == "channel" {
		return known(strings.TrimSpace(value))
	}
	if key != "subscriber_id" {
		return strings.TrimSpace(value)
	}
	return strings.TrimPrefix(value, absent)
}

// comparable reports whether the product and the reference both read this body: it is
// text, not JSON, not nested too deep for the one and not too long for the other.
func comparable(data []byte) bool {
	if !utf8.Valid(data) || json.Valid(data) || strings.Count(string(data), "[")+strings.Count(string(data), "{") > 64 {
		return false
	}
	places, _ := positions(string(data))
	return len(places) <= 10
}

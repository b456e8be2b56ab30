// Package jsonpath reads the part of JSONPath that a response mapping needs:
// $.key, $['key'] and $.list[0], in any combination.
package jsonpath

import (
	"fmt"
	"strconv"
	"strings"
)

// Path is a parsed path: string keys and int indexes.
type Path []any

// Parse reads a path.
func Parse(path string) (Path, error) {
	rest, ok := strings.CutPrefix(path, "$")
	if !ok {
		return nil, fmt.Errorf("the JSONPath %q must start with $", path)
	}
	p := Path{}
	for rest != "" {
		step, after, err := next(rest)
		if err != nil {
			return nil, fmt.Errorf("the JSONPath %q: %w", path, err)
		}
		p, rest = append(p, step), after
	}
	return p, nil
}

func next(s string) (step any, rest string, err error) {
	if s[0] == '.' {
		end := strings.IndexAny(s[1:], ".[")
		if end < 0 {
			end = len(s) - 1
		}
		if end == 0 {
			return nil, "", fmt.Errorf("a key is missing at %q", s)
		}
		return s[1 : end+1], s[end+1:], nil
	}
	inner, rest, ok := strings.Cut(s, "]")
	inner, open := strings.CutPrefix(inner, "[")
	if !ok || !open {
		return nil, "", fmt.Errorf("cannot read %q", s)
	}
	if n := len(inner); n >= 2 && inner[0] == inner[n-1] && (inner[0] == '\'' || inner[0] == '"') {
		return inner[1 : n-1], rest, nil
	}
	i, err := strconv.Atoi(inner)
	if err != nil || i < 0 {
		return nil, "", fmt.Errorf("%q is neither an index nor a quoted key", inner)
	}
	return i, rest, nil
}

// Get finds the value in a decoded JSON document; ok is false when nothing is there.
func (p Path) Get(doc any) (value any, ok bool) {
	for _, step := range p {
		switch step := step.(type) {
		case string:
			object, isObject := doc.(map[string]any)
			if doc, ok = object[step]; !isObject || !ok {
				return nil, false
			}
		case int:
			list, isList := doc.([]any)
			if !isList || step >= len(list) {
				return nil, false
			}
			doc = list[step]
		}
	}
	return doc, true
}

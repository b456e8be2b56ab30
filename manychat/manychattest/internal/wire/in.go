package wire

import (
	"encoding/json"
	"strconv"
	"strings"
)

// In reads parameters and keeps the first problem, which becomes the answer.
type In struct {
	Values  map[string]json.RawMessage
	Problem *Result
}

// Stop notes a problem; only the first one counts.
func (p *In) Stop(r Result) {
	if p.Problem == nil {
		p.Problem = &r
	}
}

// Failed reports whether there is a problem.
func (p *In) Failed() bool { return p.Problem != nil }

// Has reports whether the parameter is there and not null.
func (p *In) Has(key string) bool {
	v, ok := p.Values[key]
	return ok && string(v) != "null"
}

// Text is a required string.
func (p *In) Text(key string) string {
	if !p.Has(key) {
		p.Stop(Invalid(key + " is required"))
		return ""
	}
	return p.Optional(key)
}

// Optional is a string, empty when it is missing.
func (p *In) Optional(key string) string {
	if !p.Has(key) {
		return ""
	}
	var s string
	if json.Unmarshal(p.Values[key], &s) != nil {
		p.Stop(Invalid(key + " must be a string"))
	}
	return s
}

// OptionalPointer is a string, nil when it is missing.
func (p *In) OptionalPointer(key string) *string {
	if !p.Has(key) {
		return nil
	}
	s := p.Optional(key)
	return &s
}

// Flag is an optional boolean.
func (p *In) Flag(key string) bool {
	if !p.Has(key) {
		return false
	}
	var b bool
	if json.Unmarshal(p.Values[key], &b) != nil {
		p.Stop(Invalid(key + " must be a boolean"))
	}
	return b
}

// ID is a required id, as a number or as a string of one (2.4).
func (p *In) ID(key string) int64 {
	n, err := strconv.ParseInt(IDText(p.Values[key]), 10, 64)
	if err != nil {
		p.Stop(Invalid(key + " must be an integer"))
	}
	return n
}

// Value is a required field value as JSON; null is a value.
func (p *In) Value(key string) json.RawMessage {
	v, ok := p.Values[key]
	if !ok {
		p.Stop(Invalid(key + " is required"))
	}
	return v
}

// Records is an array of objects, at most 20 (2.2).
func (p *In) Records(key string) []In {
	const limit = 20
	var list []map[string]json.RawMessage
	if json.Unmarshal(p.Values[key], &list) != nil || len(list) == 0 {
		p.Stop(Invalid(key + " must be an array of objects"))
		return nil
	}
	if len(list) > limit {
		p.Stop(Invalid(key + " must hold at most 20 elements"))
		return nil
	}
	records := make([]In, len(list))
	for i, values := range list {
		records[i].Values = values
	}
	return records
}

// IDText is a JSON number or string as its text, every digit kept.
func IDText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	text := strings.TrimSpace(string(raw))
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return text
	}
	return ""
}

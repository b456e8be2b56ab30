package api

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
)

// in reads parameters and keeps the first problem, which becomes the answer.
type in struct {
	values  map[string]json.RawMessage
	problem *result
}

func (p *in) stop(r result) {
	if p.problem == nil {
		p.problem = &r
	}
}

func (p *in) failed() bool { return p.problem != nil }

func (p *in) has(key string) bool {
	v, ok := p.values[key]
	return ok && string(v) != "null"
}

// text is a required string.
func (p *in) text(key string) string {
	if !p.has(key) {
		p.stop(invalid(key + " is required"))
		return ""
	}
	return p.optional(key)
}

func (p *in) optional(key string) string {
	if !p.has(key) {
		return ""
	}
	var s string
	if json.Unmarshal(p.values[key], &s) != nil {
		p.stop(invalid(key + " must be a string"))
	}
	return s
}

func (p *in) optionalPointer(key string) *string {
	if !p.has(key) {
		return nil
	}
	s := p.optional(key)
	return &s
}

func (p *in) flag(key string) bool {
	if !p.has(key) {
		return false
	}
	var b bool
	if json.Unmarshal(p.values[key], &b) != nil {
		p.stop(invalid(key + " must be a boolean"))
	}
	return b
}

// id is a required id, as a number or as a string of one (2.4).
func (p *in) id(key string) int64 {
	n, err := strconv.ParseInt(idText(p.values[key]), 10, 64)
	if err != nil {
		p.stop(invalid(key + " must be an integer"))
	}
	return n
}

// value is a required field value as JSON; null is a value.
func (p *in) value(key string) json.RawMessage {
	v, ok := p.values[key]
	if !ok {
		p.stop(invalid(key + " is required"))
	}
	return v
}

// records is an array of objects, at most 20 (2.2).
func (p *in) records(key string) []in {
	const limit = 20
	var list []map[string]json.RawMessage
	if json.Unmarshal(p.values[key], &list) != nil || len(list) == 0 {
		p.stop(invalid(key + " must be an array of objects"))
		return nil
	}
	if len(list) > limit {
		p.stop(invalid(key + " must hold at most 20 elements"))
		return nil
	}
	records := make([]in, len(list))
	for i, values := range list {
		records[i].values = values
	}
	return records
}

// subscriber finds the contact that the call is about.
func (p *in) subscriber(s *account.State) *account.Contact {
	id := idText(p.values["subscriber_id"])
	if id == "" {
		p.stop(invalid("subscriber_id is required"))
		return nil
	}
	c, err := s.Contact(id)
	switch {
	case err != nil:
		p.stop(noSubscriber())
		return nil
	case c.Inactive:
		p.stop(refuse("Subscriber is not active"))
		return nil
	}
	return c
}

// names are the fields and flows that the call names, for the faults that hide one.
func (c *call) names() []string {
	var names []string
	for _, key := range []string{"field_name", "flow_ns"} {
		if n := idText(c.values[key]); n != "" {
			names = append(names, n)
		}
	}
	var fields []map[string]json.RawMessage
	if json.Unmarshal(c.values["fields"], &fields) == nil {
		for _, f := range fields {
			names = append(names, idText(f["field_name"]))
		}
	}
	return names
}

// idText is a JSON number or string as its text, every digit kept.
func idText(raw json.RawMessage) string {
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

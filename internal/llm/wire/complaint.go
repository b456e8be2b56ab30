package wire

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Complaint is what a server says is wrong, in whatever shape it says so. Param is the part
// of the request that it names; Code and Type are its words for what it is, of which a
// server has one, the other, or both.
type Complaint struct{ Message, Param, Code, Type string }

// Is reports whether the code, or the type, is one of these.
func (c Complaint) Is(words ...string) bool {
	return slices.Contains(words, c.Code) || slices.Contains(words, c.Type)
}

// ComplaintIn reads {error: {message, type, param, code}} and what gateways make of it: an
// error that is a text, one with nothing round it, {detail} with a text or a list of
// {loc, msg}, {object: "error", message}, and a list of one of these.
func ComplaintIn(body []byte) Complaint {
	var v any
	if Read(body, &v) != nil {
		return Complaint{}
	}
	return complaintOf(v)
}

func complaintOf(v any) Complaint {
	var c Complaint
	switch v := v.(type) {
	case string:
		c.Message = v
	case []any:
		if len(v) > 0 {
			return complaintOf(v[0])
		}
	case map[string]any:
		for _, inner := range []string{"error", "detail", "message", "msg"} {
			if v[inner] != nil {
				c = complaintOf(v[inner])
				break
			}
		}
		c.fill(v)
	}
	return c
}

// fill takes what the text inside did not say from the object round it.
func (c *Complaint) fill(v map[string]any) {
	c.Param = word(c.Param, v["param"])
	c.Code = word(c.Code, v["code"])
	c.Type = word(c.Type, v["type"])
	if loc, ok := v["loc"].([]any); ok && c.Param == "" { // ["body", "temperature"]
		var path []string
		for _, p := range loc {
			if s := word("", p); s != "" && s != "body" {
				path = append(path, s)
			}
		}
		c.Param = strings.Join(path, ".")
	}
	if metadata, ok := v["metadata"].(map[string]any); ok { // OpenRouter's, of the server behind it
		if raw, ok := metadata["raw"].(string); ok {
			behind := ComplaintIn([]byte(raw))
			c.Message += ": " + word(behind.Message, raw)
			c.Param = word(c.Param, behind.Param)
		}
	}
}

// word is s, or else v as a word.
func word(s string, v any) string {
	if s != "" {
		return s
	}
	switch v := v.(type) {
	case string:
		return v
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e6 {
			return strconv.Itoa(int(v))
		}
	}
	return ""
}

// Has reports whether a text holds one of some words, given in lower case, in any case.
func Has(text string, words ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

package wire

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// Text is s as every provider can read it: without bytes that are no UTF-8, and without
// NUL, which JSON can hold and many a server behind it cannot.
func Text(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}

// Arguments is what a model gave a tool, as JSON text: a string holds it already, and
// nothing at all is an empty object. It need not be valid.
func Arguments(raw jsontext.Value) []byte {
	var text string
	switch raw.Kind() {
	case '"':
		if err := Read(raw, &text); err == nil {
			text = strings.TrimSpace(text)
		}
	case '{', '[', '0', 't', 'f':
		text = rewritten(raw)
	}
	if text == "" || text == "null" {
		text = "{}"
	}
	return []byte(text)
}

// rewritten is a value in valid text and without white space, its members in their order
// and its numbers as they were; empty: it is broken.
func rewritten(raw jsontext.Value) string {
	var out strings.Builder
	enc := jsontext.NewEncoder(&out, lenient)
	for dec := jsontext.NewDecoder(bytes.NewReader(raw), lenient); ; {
		token, err := dec.ReadToken()
		switch {
		case err == io.EOF:
			return strings.TrimSpace(out.String())
		case err == nil && token.Kind() == '"':
			token = jsontext.String(strings.ToValidUTF8(token.String(), "\uFFFD"))
		}
		if err != nil || enc.WriteToken(token) != nil {
			return ""
		}
	}
}

// ArgumentsObject is the arguments of an earlier call for a provider that takes nothing but
// an object. Of what cannot be read as one nothing is left: the call's result says what was
// wrong with it.
func ArgumentsObject(arguments []byte) jsontext.Value {
	v := jsontext.Value(arguments)
	if v.Kind() == '{' && v.IsValid() {
		return v
	}
	var members map[string]any
	if Read(arguments, &members) != nil || members == nil {
		return jsontext.Value(`{}`)
	}
	repaired, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		return jsontext.Value(`{}`)
	}
	return repaired
}

// FunctionName is what a model called, in the characters that the name of a function may
// have, and no more of them than most: a conversation in which the model made up others is
// refused.
func FunctionName(name string, most int) string {
	name = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "_"
	}
	return name[:min(len(name), most)]
}

// Pack is the [llm.Response.State] of what a provider wants back; nil: it cannot be
// written.
func Pack(provider string, kept any) []byte {
	data, err := json.Marshal(kept)
	if err != nil {
		return nil
	}
	return append([]byte(provider+":"), data...)
}

// Unpack reads what [Pack] wrote, and reports whether it is this provider's.
func Unpack(provider string, state []byte, into any) bool {
	data, own := bytes.CutPrefix(state, []byte(provider+":"))
	return own && json.Unmarshal(data, into) == nil
}

// Identify gives an id of its own to every call that has none, or one that an earlier
// call has.
func Identify(calls []llm.ToolCall) {
	taken := map[string]bool{}
	for _, c := range calls {
		taken[c.ID] = true
	}
	seen := map[string]bool{"": true}
	next := 1
	for i := range calls {
		if seen[calls[i].ID] {
			for taken["call_"+strconv.Itoa(next)] {
				next++
			}
			calls[i].ID = "call_" + strconv.Itoa(next)
			taken[calls[i].ID] = true
		}
		seen[calls[i].ID] = true
	}
}

// Unthought is a text without the reasoning that a server of open models left in front of
// it, in <think> tags; of the opening one some prompts make a part of themselves. A text
// that ends before its reasoning does is empty.
func Unthought(text string) string {
	answer := strings.TrimSpace(text)
	for _, tag := range []string{"think>", "thinking>"} {
		_, after, closed := strings.Cut(answer, "</"+tag)
		switch {
		case strings.HasPrefix(answer, "<"+tag):
			return strings.TrimSpace(after)
		case closed && !strings.HasPrefix(answer, "{") && !strings.HasPrefix(answer, "```"):
			return strings.TrimSpace(after)
		}
	}
	return text
}

// UniqueIDs are the messages with no id of a call twice: ids that an adapter made up, and
// those of some servers, begin anew in every step. The results follow the calls that stand
// before them.
func UniqueIDs(messages []llm.Message) []llm.Message {
	taken, renamed := map[string]bool{}, map[string]string{}
	var out []llm.Message
	for i, m := range messages {
		if m.Role == llm.Assistant {
			clear(renamed)
			for _, c := range m.Calls {
				id := c.ID
				for n := 2; taken[id]; n++ {
					id = c.ID + "_" + strconv.Itoa(n)
				}
				if taken[id] = true; id != c.ID {
					renamed[c.ID] = id
				}
			}
		}
		if len(renamed) == 0 {
			continue
		}
		if out == nil {
			out = slices.Clone(messages)
		}
		out[i].Calls, out[i].Results = slices.Clone(m.Calls), slices.Clone(m.Results)
		for j, c := range m.Calls {
			out[i].Calls[j].ID = cmp.Or(renamed[c.ID], c.ID)
		}
		for j, r := range m.Results {
			out[i].Results[j].CallID = cmp.Or(renamed[r.CallID], r.CallID)
		}
	}
	if out == nil {
		return messages
	}
	return out
}

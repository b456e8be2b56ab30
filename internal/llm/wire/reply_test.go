package wire_test

import (
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// Holds docs/spec/04-agent.md, "Models": what a contact writes never makes a request that
// no provider can read.
func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"":                   "",
		"你好 👩‍👩‍👧\u2028":     "你好 👩‍👩‍👧\u2028",
		"a\x00b":             "a\uFFFDb",
		"a\xff\xfeb":         "a\uFFFDb",
		"\xed\xa0\xbd half":  "\uFFFD half",
		"\\u0000 as written": "\\u0000 as written",
	} {
		if got := wire.Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

// Holds docs/spec/04-agent.md, "Loop": arguments come as JSON text, however a provider
// wraps them, and whoever runs the tool judges them.
func TestArguments(t *testing.T) {
	for in, want := range map[string]string{
		``:                        `{}`,
		`null`:                    `{}`,
		`""`:                      `{}`,
		`" "`:                     `{}`,
		`"null"`:                  `{}`,
		`{}`:                      `{}`,
		`{"b": 1, "a": [1,  2]}`:  `{"b":1,"a":[1,2]}`,
		`"{\"b\": 1}"`:            `{"b": 1}`,
		`"{\"b\": "`:              `{"b":`,
		`"look it up"`:            `look it up`,
		`[1]`:                     `[1]`,
		`7`:                       `7`,
		`12345678901234567890.5`:  `12345678901234567890.5`,
		`{"a":1,"a":2}`:           `{"a":1,"a":2}`,
		"{\"a\":\"\xff\"}":        "{\"a\":\"\uFFFD\"}",
		`"{\"a\":\"\ud83d\"}"`:    "{\"a\":\"\uFFFD\"}",
		`{"a":"\ud83d\ude00 &<"}`: `{"a":"😀 &<"}`,
	} {
		if got := string(wire.Arguments(jsontext.Value(in))); got != want {
			t.Errorf("Arguments(%s) = %s, want %s", in, got, want)
		}
	}
}

// Holds docs/spec/04-agent.md, "Loop": every call can be answered by its id.
func TestIdentify(t *testing.T) {
	tests := []struct{ in, want []string }{
		{nil, nil},
		{[]string{"a", "b"}, []string{"a", "b"}},
		{[]string{"", ""}, []string{"call_1", "call_2"}},
		{[]string{"a", "a", "a"}, []string{"a", "call_1", "call_2"}},
		{[]string{"", "call_1", ""}, []string{"call_2", "call_1", "call_3"}},
		{[]string{"call_2", "call_2", "", "call_1"}, []string{"call_2", "call_3", "call_4", "call_1"}},
	}
	for _, tt := range tests {
		var calls []llm.ToolCall
		for _, id := range tt.in {
			calls = append(calls, llm.ToolCall{ID: id})
		}
		wire.Identify(calls)
		var got []string
		for _, c := range calls {
			got = append(got, c.ID)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%q (-want +got):\n%s", tt.in, d)
		}
	}
}

// Holds docs/spec/04-agent.md, "Models": reasoning never becomes a reply.
func TestUnthought(t *testing.T) {
	for in, want := range map[string]string{
		"":                                    "",
		"Yes":                                 "Yes",
		" Yes \n":                             " Yes \n",
		"<think>hm</think>Yes":                "Yes",
		"\n<think>\nhm\n</think>\n\nYes\n":    "Yes",
		"<think></think>":                     "",
		"<think>hm":                           "",
		"hm</think>\nYes":                     "Yes",
		"hm</think>a</think>b":                "a</think>b",
		"<thinking>hm</thinking> Yes":         "Yes",
		"<think>{\"a\":1}</think>{\"a\":2}":   `{"a":2}`,
		`{"a":"</think>"}`:                    `{"a":"</think>"}`,
		"```json\n{\"a\":\"</think>\"}\n```":  "```json\n{\"a\":\"</think>\"}\n```",
		"Say <think>a</think> as it is meant": "as it is meant", // no reply begins so; what is before goes
	} {
		if got := wire.Unthought(in); got != want {
			t.Errorf("Unthought(%q) = %q, want %q", in, got, want)
		}
	}
}

// Holds docs/spec/04-agent.md, "Loop": earlier calls go back to a provider that takes
// nothing but objects, whatever the model wrote.
func TestArgumentsObject(t *testing.T) {
	for in, want := range map[string]string{
		``: `{}`, `{}`: `{}`, `null`: `{}`, `[1]`: `{}`, `"{}"`: `{}`, `7`: `{}`, `{"a":`: `{}`, `look`: `{}`,
		`{"b": 12345678901234567890, "a":1}`: `{"b": 12345678901234567890, "a":1}`,
		`{"a":1,"a":2}`:                      `{"a":2}`,
		"{\"a\":\"\xff\"}":                   "{\"a\":\"\uFFFD\"}",
		`{"a":"\ud83d"}`:                     "{\"a\":\"\uFFFD\"}",
	} {
		if got := string(wire.ArgumentsObject([]byte(in))); got != want {
			t.Errorf("ArgumentsObject(%s) = %s, want %s", in, got, want)
		}
	}
}

// Holds docs/spec/04-agent.md, "Loop": a call of a tool that there is not can be told of.
func TestFunctionName(t *testing.T) {
	for in, want := range map[string]string{
		"set_note": "set_note", "Get-7": "Get-7", "": "_", "list offerings!": "list_offerings_", "naïve\xff": "na_ve_", "0123456789ab": "0123456789",
	} {
		if got := wire.FunctionName(in, 10); got != want[:min(len(want), 10)] {
			t.Errorf("FunctionName(%q) = %q, want %q", in, got, want)
		}
	}
}

// Holds docs/spec/04-agent.md, "Loop": what a provider wants back comes back to it alone.
func TestPack(t *testing.T) {
	type kept struct {
		A string `json:"a"`
	}
	packed := wire.Pack("p", kept{"x"})
	if got := string(packed); got != `p:{"a":"x"}` {
		t.Errorf("Pack = %s", got)
	}
	var got kept
	if !wire.Unpack("p", packed, &got) || got.A != "x" {
		t.Errorf("Unpack = %+v", got)
	}
	for _, foreign := range []string{"", "p", "p:", "q:{}", "pp:{}", "p:{", `p:[]`, `{"a":"x"}`} {
		if wire.Unpack("p", []byte(foreign), &kept{}) {
			t.Errorf("%q is taken for its own", foreign)
		}
	}
	if wire.Pack("p", func() {}) != nil || wire.Pack("p", kept{"\xff"}) != nil {
		t.Error("what cannot be written is packed")
	}
}

// Holds docs/spec/04-agent.md, "Loop": the calls of a turn's steps stay apart, and each
// result with its call.
func TestUniqueIDs(t *testing.T) {
	step := func(ids ...string) []llm.Message {
		calls, results := llm.Message{Role: llm.Assistant}, llm.Message{Role: llm.ToolResult}
		for _, id := range ids {
			calls.Calls = append(calls.Calls, llm.ToolCall{ID: id, Name: "n"})
			results.Results = append(results.Results, llm.Result{CallID: id, Name: "n"})
		}
		return []llm.Message{calls, results}
	}
	given := slices.Concat(step("call_1", "a"), step("call_1"), []llm.Message{{Role: llm.User, Text: "hi"}}, step("call_1", "call_1_2", "b"))
	want := slices.Concat(step("call_1", "a"), step("call_1_2"), []llm.Message{{Role: llm.User, Text: "hi"}}, step("call_1_3", "call_1_2_2", "b"))
	before := slices.Concat(step("call_1", "a"), step("call_1"), []llm.Message{{Role: llm.User, Text: "hi"}}, step("call_1", "call_1_2", "b"))
	if d := cmp.Diff(want, wire.UniqueIDs(given)); d != "" {
		t.Errorf("ids (-want +got):\n%s", d)
	}
	if d := cmp.Diff(before, given); d != "" {
		t.Errorf("the caller's messages changed:\n%s", d)
	}
}

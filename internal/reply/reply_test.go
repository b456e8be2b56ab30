package reply_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/reply"
)

const plain = `{"messages":["Yes"],"escalate":false,"escalation_reason":null,"confidence":0.9,"closing_question":null}`

// answer is plain with one of its parts replaced.
func answer(old, replacement string) string { return strings.Replace(plain, old, replacement, 1) }

// Holds docs/spec/04-agent.md, "Reply contract": what models really send is accepted.
func TestDecodeAccepts(t *testing.T) {
	yes := reply.Reply{Messages: []string{"Yes"}, Confidence: 0.9}
	with := func(change func(*reply.Reply)) reply.Reply {
		r := reply.Reply{Messages: []string{"Yes"}, Confidence: 0.9}
		change(&r)
		return r
	}
	long := strings.Repeat("é", 1500)
	tests := []struct {
		name, text string
		want       reply.Reply
	}{
		{"plain", plain, yes},
		{"code fence", "```json\n" + plain + "\n```", yes},
		{"code fence without a language", "```\n" + plain + "\n```\n", yes},
		{"text before", "Here is my answer:\n\n" + plain, yes},
		{"placeholder in the text before", "Using {name} and { 1 }: " + plain, yes},
		{"text and fence before", "Sure!\n```json\n" + plain + "\n```", yes},
		{"optional fields missing", `{"messages":["Yes"],"escalate":false,"confidence":0.9}`, yes},
		{"the word null", answer(`"escalation_reason":null`, `"escalation_reason":"null"`), yes},
		{"the word null as closing question", answer(`"closing_question":null`, `"closing_question":" null "`), yes},
		{"the word None", answer(`"escalation_reason":null`, `"escalation_reason":"None"`), yes},
		{"the word NULL", answer(`"escalation_reason":null`, `"escalation_reason":"NULL"`), yes},
		{"the word none as closing question", answer(`"closing_question":null`, `"closing_question":"none"`), yes},
		{"None as a message", answer("Yes", "None"), with(func(r *reply.Reply) { r.Messages = []string{"None"} })},
		{"blank optional field", answer(`"closing_question":null`, `"closing_question":" "`), yes},
		{"white space", answer(`"Yes"`, `" \n Yes\u200b "`), yes},
		{"closing question", answer(`"closing_question":null`, `"closing_question":" Which day? "`),
			with(func(r *reply.Reply) { r.ClosingQuestion = "Which day?" })},
		{"four messages", answer(`["Yes"]`, `["a","b","c","d","e"]`),
			with(func(r *reply.Reply) { r.Messages = []string{"a", "b", "c\nd\ne"} })},
		{"fifty messages", answer(`["Yes"]`, `["a"`+strings.Repeat(`,"b"`, 49)+`]`),
			with(func(r *reply.Reply) { r.Messages = []string{"a", "b", strings.Repeat("b\n", 47) + "b"} })},
		{"control characters", answer("Yes", `\u0000Y\u0001e\u009fs\u007f`), yes},
		{"line breaks of every kind", answer("Yes", `a\r\nb\rc\u000bd\u0085e\tf`),
			with(func(r *reply.Reply) { r.Messages = []string{"a\nb\nc\nd\ne\tf"} })},
		{"a closing question that shows nothing", answer(`"closing_question":null`, `"closing_question":"\u3164"`), yes},
		{"a face", answer("Yes", ":-)"), with(func(r *reply.Reply) { r.Messages = []string{":-)"} })},
		{"long message", answer("Yes", long), with(func(r *reply.Reply) { r.Messages = []string{long} })},
		{"escalation", answer(`false,"escalation_reason":null`, `true,"escalation_reason":"complaint"`),
			with(func(r *reply.Reply) { r.Escalate, r.EscalationReason = true, conversation.Complaint })},
		{"whole confidence", answer("0.9", "1"), with(func(r *reply.Reply) { r.Confidence = 1 })},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := reply.Decode(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("reply differs (-want +got):\n%s", d)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Reply contract": nothing that changes meaning is accepted.
func TestDecodeRefuses(t *testing.T) {
	tests := []struct{ name, text, field string }{
		{"nothing", "", ""},
		{"only words", "We open at nine.", ""},
		{"cut off", plain[:40], ""},
		{"cut off inside another object", `{"draft":` + plain + `,"final":{"messages":["N`, ""},
		{"wrapped", `{"reply":` + plain + `}`, ""},
		{"text after", plain + " I hope that helps.", ""},
		{"two objects", plain + plain, ""},
		{"list", "[" + plain + "]", ""},
		{"unknown key", answer(`"escalate"`, `"discount":5,"escalate"`), ""},
		{"repeated key", answer(`"escalate"`, `"confidence":0.1,"escalate"`), ""},
		{"key of another case", answer(`"escalate"`, `"Escalate"`), ""},
		{"escalate missing", answer(`"escalate":false,`, ""), "escalate"},
		{"escalate null", answer("false", "null"), "escalate"},
		{"escalate as a word", answer("false", `"false"`), ""},
		{"confidence missing", answer(`,"confidence":0.9`, ""), "confidence"},
		{"confidence as a word", answer("0.9", `"0.9"`), ""},
		{"confidence in percent", answer("0.9", "90"), "confidence"},
		{"negative confidence", answer("0.9", "-0.1"), "confidence"},
		{"messages missing", answer(`"messages":["Yes"],`, ""), "messages"},
		{"no messages", answer(`["Yes"]`, `[]`), "messages"},
		{"blank message", answer(`"Yes"`, `"Yes"," \u200b"`), "messages"},
		{"a message of letters that do not show", answer("Yes", `\u3164\u115f\uffa0`), "messages"},
		{"a message of a blank braille cell", answer("Yes", `\u2800`), "messages"},
		{"a message of control characters", answer("Yes", `\u0000\u0001`), "messages"},
		{"a message of marks", answer("Yes", `\u0301\ufe0f\u200d`), "messages"},
		{"a message of markup", answer("Yes", `** - **`), "messages"},
		{"a message of a comment", answer("Yes", `<!-- -->`), "messages"},
		{"more than fifty messages", answer(`["Yes"]`, `["a"`+strings.Repeat(`,"b"`, 50)+`]`), "messages"},
		{"null message", answer(`"Yes"`, `null`), "messages"},
		{"the word null as message", answer(`"Yes"`, `"null"`), "messages"},
		{"messages as text", answer(`["Yes"]`, `"Yes"`), ""},
		{"number as message", answer(`"Yes"`, `5`), ""},
		{"reason without escalating", answer(`"escalation_reason":null`, `"escalation_reason":"complaint"`), "escalation_reason"},
		{"escalating with the reason none", answer(`false,"escalation_reason":null`, `true,"escalation_reason":"none"`), "escalation_reason"},
		{"escalating without reason", answer("false", "true"), "escalation_reason"},
		{"invented reason", answer(`false,"escalation_reason":null`, `true,"escalation_reason":"bored"`), "escalation_reason"},
		{"the server's reason", answer(`false,"escalation_reason":null`, `true,"escalation_reason":"budget"`), "escalation_reason"},
		{"broken UTF-8", answer("Yes", "Y\xffs"), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := reply.Decode(tt.text)
			var contract *reply.Error
			if !errors.As(err, &contract) {
				t.Fatalf("Decode = %+v, %v; want a *reply.Error", got, err)
			}
			if contract.Field != tt.field {
				t.Errorf("field = %q, want %q (%v)", contract.Field, tt.field, err)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Reply contract": one type is the source of the schema.
func TestSchema(t *testing.T) {
	raw, err := reply.Schema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("reply.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("reply.json")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, text string
		valid      bool
	}{
		{"plain", plain, true},
		{"escalation", answer(`false,"escalation_reason":null`, `true,"escalation_reason":"complaint"`), true},
		{"closing question", answer(`"closing_question":null`, `"closing_question":"When?"`), true},
		{"invented reason", answer(`false,"escalation_reason":null`, `true,"escalation_reason":"bored"`), false},
		{"every property is required", `{"messages":["Yes"],"escalate":false,"confidence":0.9}`, false},
		{"unknown key", answer(`"escalate"`, `"discount":5,"escalate"`), false},
		{"four messages", answer(`["Yes"]`, `["a","b","c","d"]`), false},
		{"confidence in percent", answer("0.9", "90"), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if err := schema.Validate(v); (err == nil) != tt.valid {
				t.Errorf("valid = %t, want %t (%v)\n%s", err == nil, tt.valid, err, raw)
			}
		})
	}
}

// Holds docs/spec/17-quality.md, "Reliability": every decoder is fuzzed.
func FuzzDecode(f *testing.F) {
	f.Add(plain)
	f.Add("```json\n" + plain + "\n```")
	f.Add("{x} " + plain)
	f.Add(answer(`["Yes"]`, `["a","b","c","d"]`))
	f.Add(answer(`false,"escalation_reason":null`, `true,"escalation_reason":"complaint"`))
	f.Fuzz(func(t *testing.T, text string) {
		r, err := reply.Decode(text)
		if err != nil {
			return
		}
		if err := r.Validate(); err != nil {
			t.Fatalf("decoded an invalid reply: %v", err)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		again, err := reply.Decode(string(b))
		if err != nil {
			t.Fatalf("a decoded reply does not decode again: %v", err)
		}
		if d := cmp.Diff(r, again); d != "" {
			t.Fatalf("decoding again differs:\n%s", d)
		}
	})
}

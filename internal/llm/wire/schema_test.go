package wire_test

import (
	"errors"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// upper is a fit that can be seen, and that refuses a schema that is false.
func upper(schema jsontext.Value) (jsontext.Value, error) {
	if string(schema) == "false" {
		return nil, errors.New("false is refused")
	}
	return jsontext.Value(strings.ToUpper(string(schema))), nil
}

// Holds docs/spec/04-agent.md, "Reply contract": a schema that comes with every request is
// fitted once, and one that is refused is refused again.
func TestOnce(t *testing.T) {
	made := 0
	once := wire.Once(func(schema jsontext.Value) (jsontext.Value, error) {
		made++
		return upper(schema)
	})
	for _, step := range []struct {
		schema, want string
		made         int
	}{
		{`"a"`, `"A"`, 1}, {`"b"`, `"B"`, 2}, {`"a"`, `"A"`, 2}, {`"b"`, `"B"`, 2},
		{`false`, ``, 3}, {`false`, ``, 4}, {``, ``, 5}, {``, ``, 5},
	} {
		got, err := once(jsontext.Value(step.schema))
		if string(got) != step.want || (err != nil) != (step.schema == "false") || made != step.made {
			t.Errorf("%s = %s, %v after %d fits, want %d", step.schema, got, err, made, step.made)
		}
	}
	for i := range 1000 {
		want := `"A` + strconv.Itoa(i) + `"`
		for range 2 {
			if got, err := once(jsontext.Value(strings.ToLower(want))); string(got) != want || err != nil {
				t.Fatalf("%s = %s, %v", want, got, err)
			}
		}
	}
	if made != 1005 {
		t.Errorf("%d fits, want 1 005", made)
	}
	if _, err := once(jsontext.Value(`"a0"`)); err != nil || made != 1006 { // so many are not kept
		t.Errorf("%d fits, want one more; %v", made, err)
	}
}

// Holds docs/spec/04-agent.md, "Reply contract": turns at once share what was fitted.
func TestOnceTogether(t *testing.T) {
	once := wire.Once(upper)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 200 {
				in := `"a` + strconv.Itoa((i+j)%100) + `"`
				if got, err := once(jsontext.Value(in)); string(got) != strings.ToUpper(in) || err != nil {
					t.Errorf("%s = %s, %v", in, got, err)
				}
			}
		})
	}
	all.Wait()
}

// Holds docs/spec/04-agent.md, "Reply contract": schemas within a schema are fitted in
// their order, and what is no schema is refused.
func TestFitEach(t *testing.T) {
	each := func(v jsontext.Value) (jsontext.Value, error) { return wire.FitEach(v, upper) }
	all := func(v jsontext.Value) (jsontext.Value, error) { return wire.FitAll(v, upper) }
	for _, tt := range []struct {
		fit      wire.Fit
		in, want string // want empty: an error
	}{
		{each, `{}`, `{}`},
		{each, ` { "z" : "b" , "a" : ["c"] }`, `{"z":"B","a":["C"]}`},
		{each, `{"a \"\u00e9":"b"}`, `{"a \"é":"B"}`},
		{each, `{"a":false}`, ``}, {each, `["a"]`, ``}, {each, `"a"`, ``}, {each, ``, ``}, {each, `{"a":1`, ``}, {each, `{"a":1,"a":2}`, ``},
		{all, `[]`, `[]`},
		{all, ` [ "b" , {"a":"c"} ]`, `["B",{"A":"C"}]`},
		{all, `[false]`, ``}, {all, `{}`, ``}, {all, ``, ``}, {all, `["a"`, ``},
	} {
		if got, err := tt.fit(jsontext.Value(tt.in)); string(got) != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%s = %s, %v, want %s", tt.in, got, err, tt.want)
		}
	}
}

// Holds docs/spec/04-agent.md, "Reply contract": strict mode takes what is sent of a schema.
func TestStrict(t *testing.T) {
	const closed = `"required":[],"additionalProperties":false`
	for _, tt := range []struct {
		name            string
		in, loose, want string // with bounds, and without; empty: an error
	}{
		{"order", `{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"null"}},"required":["a","z"]}`,
			`{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"null"}},"required":["z","a"],"additionalProperties":false}`, "same"},
		{"optional", `{"properties":{"a":{"enum":[1]}}}`,
			`{"properties":{"a":{"anyOf":[{"enum":[1]},{"type":"null"}]}},"required":["a"],"additionalProperties":false}`, "same"},
		{"bounds", `{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":1,"maxItems":3}`,
			`{"type":"array","items":{"type":"number","minimum":0,"maximum":1},"minItems":1,"maxItems":3}`, `{"type":"array","items":{"type":"number"}}`},
		{"choice", `{"oneOf":[{"const":"a","title":"A"},{"$ref":"#/$defs/b"}],"$defs":{"b":{"type":"string","pattern":"b"}}}`,
			`{"anyOf":[{"const":"a"},{"$ref":"#/$defs/b"}],"$defs":{"b":{"type":"string"}}}`, "same"},
		{"object of anything", `{"type":"object","additionalProperties":true}`, `{"type":"object","properties":{},` + closed + `}`, "same"},
		{"object of nothing", `{"type":"object","properties":{}}`, `{"type":"object","properties":{},` + closed + `}`, "same"},
		{"property with a keyword's name", `{"properties":{"minimum":{"type":"number"}},"required":["minimum"]}`,
			`{"properties":{"minimum":{"type":"number"}},"required":["minimum"],"additionalProperties":false}`, "same"},
		{"anything", `true`, ``, ``},
		{"anything inside", `{"items":true}`, ``, ``},
		{"no object of properties", `{"properties":[]}`, ``, ``},
		{"half", `{"type":"object"`, ``, ``},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == "same" {
				tt.want = tt.loose
			}
			for bounds, want := range map[bool]string{true: tt.loose, false: tt.want} {
				if got, err := wire.Strict(bounds)(jsontext.Value(tt.in)); string(got) != want || (err == nil) != (want != "") {
					t.Errorf("bounds %t: %s, %v, want %s", bounds, got, err, want)
				}
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Loop": a tool keeps the schema it has, and has one.
func TestParameters(t *testing.T) {
	for in, want := range map[string]string{
		``:                  `{"type":"object","properties":{}}`,
		`{"type":"object"}`: `{"type":"object","properties":{}}`,
		`{"type":"object","properties":{"b":{"maxLength":2},"a":{}},"required":["b"]}`: `{"type":"object","properties":{"b":{"maxLength":2},"a":{}},"required":["b"]}`,
		`true`: ``, // an error
		`{"a"`: ``,
	} {
		if got, err := wire.Parameters(jsontext.Value(in)); string(got) != want || (err == nil) != (want != "") {
			t.Errorf("Parameters(%s) = %s, %v, want %s", in, got, err, want)
		}
	}
}

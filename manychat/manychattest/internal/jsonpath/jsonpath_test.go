package jsonpath_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/jsonpath"
)

// Holds docs/reference/manychat-platform.md, 4.1: "Response mapping: JSONPath ->
// custom field. A non-matching answer maps nothing."
func TestGet(t *testing.T) {
	var doc any
	if err := json.Unmarshal([]byte(`{"a":{"b c":[1,{"d":"x"}]},"n":null,"":2}`), &doc); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		path string
		want any
		ok   bool
	}{
		{"$", doc, true}, {"$.a['b c'][0]", 1.0, true}, {`$["a"]['b c'][1].d`, "x", true}, {"$.n", nil, true}, {"$['']", 2.0, true},
		{"$.x", nil, false}, {"$.a.b", nil, false}, {"$.a[0]", nil, false}, {"$.a['b c'][2]", nil, false}, {"$.n.x", nil, false},
	}
	for _, tt := range tests {
		p, err := jsonpath.Parse(tt.path)
		if err != nil {
			t.Errorf("%s: %v", tt.path, err)
			continue
		}
		got, ok := p.Get(doc)
		if diff := cmp.Diff(tt.want, got); diff != "" || ok != tt.ok {
			t.Errorf("%s: got %v, %v", tt.path, got, ok)
		}
	}
	for _, bad := range []string{"", "a", "$a", "$.", "$..a", "$[", "$[]", "$[-1]", "$[x]", "$['a"} {
		if _, err := jsonpath.Parse(bad); err == nil {
			t.Errorf("%q must be refused", bad)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"$.a['b'][0]", "$[\"x\"].y", "$.", "$['", "$[']"} {
		f.Add(seed)
	}
	f.Fuzz(func(_ *testing.T, path string) {
		if p, err := jsonpath.Parse(path); err == nil {
			p.Get(map[string]any{"a": []any{map[string]any{}}})
		}
	})
}

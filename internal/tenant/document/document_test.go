package document_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/tenant/document"
)

type menu struct {
	Title  string          `json:"title" jsonschema:"required,minLength=2,maxLength=5"`
	Dishes []dish          `json:"dishes" was:"meals"`
	Prices map[string]dish `json:"prices"`
	Extra  *dish           `json:"extra"`
	_      int             // a field without a name is no key of the file
}

type dish struct {
	Name  string   `json:"name" jsonschema:"default=soup,enum=soup,enum=salad"`
	Hot   bool     `json:"hot"`
	Grams int64    `json:"grams" jsonschema:"default=200,minimum=1"`
	Share float64  `json:"share" jsonschema:"default=0.5"`
	Tags  []string `json:"tags" jsonschema:"minItems=1,uniqueItems=true,minLength=1"`
}

// Holds docs/spec/10-config.md, first section: file, line, column, path, what was
// found, what is expected.
func TestProblemPlaces(t *testing.T) {
	tests := []struct {
		name, text, want string
	}{
		{"byte order mark and CRLF", "\ufeff{\r\n\"title\": 7}", `m.json:2:10 /title: found 7, expected a text of 2 to 5 characters`},
		{"columns count code points", "/* ü😀 */ {\"title\": \"日\"}", `m.json:1:20 /title: found "日", expected a text of 2 to 5 characters`},
		{"a long value is cut", `{"title":"` + strings.Repeat("x", 80) + `"}`, `m.json:1:10 /title: found 80 characters, expected a text of 2 to 5 characters`},
		{"escaped key in a pointer", `{"title":"abc","prices":{"a/b~c":{"grams":0}}}`, `m.json:1:43 /prices/a~1b~0c/grams: found 0, expected a whole number of at least 1`},
		{"escapes in keys", `{"\u0074itle":"abc","hot":1}`, `m.json:1:21 /hot: found the unknown key "hot", expected one of title, dishes, prices, extra`},
		{"unexported fields are no keys", `{"title":"abc","hidden":1}`, `m.json:1:16 /hidden: found the unknown key "hidden", expected one of title, dishes, prices, extra`},
		{"unknown key twice", `{"title":"abc","x":1,"x":1}`, "m.json:1:16 /x: found the unknown key \"x\", expected one of title, dishes, prices, extra\n" +
			`m.json:1:22 /x: found the key a second time, expected each key once`},
		{"table key twice", `{"title":"abc","prices":{"p":{},"p":{}}}`, `m.json:1:33 /prices/p: found the key a second time, expected each key once`},
		{"old key beside the new", `{"title":"abc","dishes":[],"meals":[]}`, "m.json:1:28 /meals: found the key a second time, expected each key once\n" +
			"m.json:1:28 /meals: found the old key \"meals\", expected \"dishes\" (`config upgrade` rewrites it)"},
		{"number that is too large", `{"title":"abc","extra":{"grams":9007199254740994,"share":1e999}}`, "m.json:1:33 /extra/grams: found 9007199254740994, expected a whole number of at least 1\n" +
			`m.json:1:58 /extra/share: found 1e999, expected a number`},
		{"short list", `{"title":"abc","extra":{"tags":[]}}`, `m.json:1:32 /extra/tags: found an empty list, expected a list of at least 1 text`},
		{"near value", `{"title":"abc","extra":{"name":"Salat","hot":0}}`, "m.json:1:32 /extra/name: found \"Salat\", expected one of soup, salad (did you mean \"salad\"?)\n" +
			`m.json:1:46 /extra/hot: found 0, expected true or false`},
		{"open comment", "{}\n/* ", `m.json:2:1: found the end of the file inside a comment, expected valid JSON (comments and trailing commas are allowed)`},
		{"open string", "{\n  \"ti", `m.json:2:6: found the end of the file inside a string, expected valid JSON (comments and trailing commas are allowed)`},
		{"brackets in comments and strings do not nest", "{\"title\":\"abc\"} // " + strings.Repeat("[", 99) + "\n/*" + strings.Repeat("[", 99) + "*/", ""},
		{"size", strings.Repeat(" ", document.MaxBytes+1), `m.json: found 2097153 bytes, expected at most 2097152 bytes`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			doc, problem := document.Parse("m.json", []byte(tt.text))
			if problem != nil {
				got = problem.String()
			} else {
				got = doc.Decode(new(menu)).Sort().Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeFills(t *testing.T) {
	doc, problem := document.Parse("m.json", []byte(`{
		"title": "a\u00e9\n", // text
		"dishes": [{"name": "salad", "hot": true, "grams": 3e2}, {},],
		"prices": {"x": {"share": 0}},
	}`))
	if problem != nil {
		t.Fatal(problem)
	}
	var got menu
	if problems := doc.Decode(&got); len(problems) > 0 {
		t.Fatal(problems)
	}
	want := menu{
		Title:  "aé\n",
		Dishes: []dish{{Name: "salad", Hot: true, Grams: 300, Share: 0.5}, {Name: "soup", Grams: 200, Share: 0.5}},
		Prices: map[string]dish{"x": {Name: "soup", Grams: 200}},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(menu{})); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
}

func TestDocumentProblem(t *testing.T) {
	doc, problem := document.Parse("m.json", []byte("{\n  \"dishes\": [\n    {\"hot\": true}\n  ]\n}"))
	if problem != nil {
		t.Fatal(problem)
	}
	for pointer, want := range map[string]string{
		"/dishes/0/hot":  "m.json:3:13 /dishes/0/hot: found x, expected y",
		"/dishes/0/cold": "m.json:3:5 /dishes/0/cold: found x, expected y", // where it is missing
		"/nowhere/1":     "m.json:1:1 /nowhere/1: found x, expected y",
		"":               "m.json:1:1: found x, expected y",
	} {
		if got := doc.Problem(pointer, "x", "y").String(); got != want {
			t.Errorf("problem at %q = %q, want %q", pointer, got, want)
		}
	}
}

func TestNearest(t *testing.T) {
	keys := []string{"confidenceThreshold", "historyDays", "faq", "url", "MANYCHAT_REPLY_FIELD"}
	for word, want := range map[string]string{
		"confidenceTreshold":   "confidenceThreshold",
		"confidence_threshold": "confidenceThreshold",
		"hsitoryDays":          "historyDays",
		"FAQ":                  "faq",
		"faqs":                 "faq",
		"MANYCHAT_REPLYFIELD":  "MANYCHAT_REPLY_FIELD",
		"history":              "",
		"tone":                 "",
		"":                     "",
	} {
		if got, ok := document.Nearest(word, keys); got != want || ok != (want != "") {
			t.Errorf("Nearest(%q) = %q, %v, want %q", word, got, ok, want)
		}
	}
}

package body_test

import (
	"encoding/json"
	"strings"

	"pgregory.net/rapid"
)

// form is how an operator put a variable into the body.
type form int

const (
	quoted  form = iota // "{{x}}": pasted as it is between quotes written by hand
	bare                // {{x}}: pasted as it is, without quotes
	encoded             // {{x}} with Encode to JSON on
	twice               // "{{x}}" with Encode to JSON on: the quotes were left by hand
	null                // null, written by hand
)

// variable is one key of a template with the value that ManyChat fills in.
type variable struct {
	key, value string
	form       form
}

// literal is the value as it stands in the body.
func (v variable) literal() string {
	switch v.form {
	case bare:
		return v.value
	case encoded, twice:
		b, err := json.Marshal(v.value)
		if err != nil {
			panic(err) // a string always encodes
		}
		if v.form == twice {
			return `"` + string(b) + `"`
		}
		return string(b)
	case null:
		return "null"
	}
	return `"` + v.value + `"`
}

// template is a body as an operator set it up, with the values of one message in it.
type template struct {
	variables []variable
	spaces    []string // around the punctuation, in turn
	comma     bool     // a trailing comma
	open      bool     // no closing brace
	asked     bool     // a flow asked the contact for course, offering and language
}

func (m template) body() string {
	at := 0
	space := func() string {
		at++
		return m.spaces[at%len(m.spaces)]
	}
	var b strings.Builder
	b.WriteString(space() + "{" + space())
	for i, v := range m.variables {
		if i > 0 {
			b.WriteString(space() + "," + space())
		}
		b.WriteString(`"` + v.key + `"` + space() + ":" + space() + v.literal())
	}
	if m.comma {
		b.WriteString(space() + ",")
	}
	if !m.open {
		b.WriteString(space() + "}" + space())
	}
	return b.String()
}

// get is what the operator's template says of a key; ok: it has the key.
func (m template) get(key string) (value string, ok bool) {
	for _, v := range m.variables {
		if v.key == key && v.form == null {
			return "", true
		}
		if v.key == key {
			return v.value, true
		}
	}
	return "", false
}

// names is what the template says of a key, if that names something.
func (m template) names(key string) string {
	value, _ := m.get(key)
	if strings.Contains(value, "{{") {
		return ""
	}
	return strings.TrimSpace(value)
}

// spoken is everything in the body that the contact chose.
func (m template) spoken() string {
	var all strings.Builder
	for _, v := range m.variables {
		if m.spoke(v.key) {
			all.WriteString(v.value + "\n")
		}
	}
	return all.String()
}

// offering is what the template names of its two keys; certain: the contact was not
// asked for it and typed neither of the keys that the template leaves out.
func (m template) offering() (name string, certain bool) {
	certain = !m.asked
	for _, k := range []string{"course", "offering"} {
		if _, has := m.get(k); !has && strings.Contains(m.spoken(), k) {
			certain = false
		}
		if m.names(k) != "" {
			name = m.names(k)
		}
	}
	return name, certain
}

// spoke reports whether a value is the contact's own words.
func (m template) spoke(key string) bool {
	switch key {
	case "text", "first_name", "last_name":
		return true
	case "course", "offering", "locale":
		return m.asked
	}
	return false
}

// What contacts type: pieces that are joined. The first list has no key of ours.
var (
	harmless = []string{
		`"`, `"`, `:`, `,`, `{`, `}`, `[`, `]`, `\`, `\n`, `\u00e9`, "\n", "\r\n", "\t", " ", "  ", `","`, `":"`, `"}`, `{"`, `", "`, `null`, `999`,
		"a", "Hello", "C:\\new", "😀", "👨\u200d👩\u200d👧", "שלום", "\u202e", "«»", "'", "x\x00y", "{{", "}}", "\"subscriber_id\"", "text",
	}
	spoofs = []string{
		`"subscriber_id":`, `"subscriber_id":"999"`, `"subscriber_id":999`, `","subscriber_id":"999","`, `,"subscriber_id":"`, `"subscriber_id":"999`,
		`"ai_token":"evil"`, `","ai_token":"evil`, `,"ai_token":`, `"text":"`, `","text":"`, `"text":`, `,"text":"x"`, `"first_name":"`, `","first_name":"`,
		`,"last_name":"`, `","last_name":`, `"offering":"evil"`, `","offering":"evil`, `,"course":"evil",`, `"channel":"telegram"`, `","channel":"telegram`,
		`,"locale":"`, `"subscriber_id" : "999" , `, `{"subscriber_id":"999","text":"hi"}`, `","x":"`,
	}
)

// words draws what a contact types.
func words(alphabet []string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(alphabet), 0, 9).Draw(t, "pieces"), "")
	})
}

// templates draws bodies whose spoken values are made of the alphabet, and the form of
// the text is one of forms.
func templates(alphabet []string, forms []form) *rapid.Generator[template] {
	filled := map[string][]string{
		"subscriber_id": {"1", "12345678901234567890", "42", "{{contact.id}}"},
		"ai_token":      {"", "Invented-token_1", "{{cuf_9}}", " "},
		"course":        {"", "wheel", "{{cuf_1}}", `Ruota 20" mtb`, "two\nlines"},
		"offering":      {"", "clay, red", "{{cuf_2}}", `5" or 7" pot`, "{x}: name"},
		"channel":       {"whatsapp", "instagram", "sms", ""},
		"locale":        {"en_US", ""},
	}
	return rapid.Custom(func(t *rapid.T) template {
		keys := []string{"subscriber_id", "text"}
		for _, k := range []string{"ai_token", "course", "offering", "channel", "first_name", "last_name", "locale"} {
			if rapid.Bool().Draw(t, "with "+k) {
				keys = append(keys, k)
			}
		}
		m := template{
			spaces: rapid.SampledFrom([][]string{{""}, {" "}, {"", " "}, {"\n  ", "", " "}, {"\r\n\t", " ", ""}}).Draw(t, "spaces"),
			comma:  rapid.IntRange(0, 5).Draw(t, "comma") == 0,
			open:   rapid.IntRange(0, 5).Draw(t, "open") == 0,
			asked:  rapid.IntRange(0, 3).Draw(t, "asked") == 0,
		}
		for _, k := range rapid.Permutation(keys).Draw(t, "order") {
			v := variable{key: k}
			switch {
			case k == "text":
				v.value, v.form = words(alphabet).Draw(t, k), rapid.SampledFrom(forms).Draw(t, "form")
			case m.spoke(k):
				v.value, v.form = words(alphabet).Draw(t, k), rapid.SampledFrom([]form{quoted, quoted, bare, encoded, twice}).Draw(t, "form of "+k)
			default:
				v.value, v.form = rapid.SampledFrom(filled[k]).Draw(t, k), rapid.SampledFrom([]form{quoted, quoted, bare, encoded, null}).Draw(t, "form of "+k)
				if k == "subscriber_id" && v.form == null || v.form == bare && strings.Contains(v.value, `"`) {
					v.form = quoted
				}
			}
			m.variables = append(m.variables, v)
		}
		return m
	})
}

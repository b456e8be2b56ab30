package body_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/inbound/body"
)

// Holds docs/spec/02-inbound.md, "Request body": a long text is cut and not refused, at a
// character; nothing else is cut.
func TestLongTexts(t *testing.T) {
	tests := []struct {
		name, text string // the text as it stands in the body
		want       string
		left       []string
	}{
		{"at the limit", strings.Repeat("😀", 4096), strings.Repeat("😀", 4096), nil},
		{"above it", strings.Repeat("😀", 4097), strings.Repeat("😀", 4096), []string{body.TextTruncated}},
		{"escapes count as what they stand for", strings.Repeat(`\n`, 4096), strings.Repeat("\n", 4096), nil},
		{"so does a pair of surrogates", strings.Repeat(`\ud83d\ude00`, 4097), strings.Repeat("😀", 4096), []string{body.TextTruncated}},
		{"NUL becomes longer in bytes and not in characters", strings.Repeat(`\u0000`, 4096), strings.Repeat("\uFFFD", 4096), nil},
		{"not JSON", `"` + strings.Repeat("é", 4095), `"` + strings.Repeat("é", 4095), []string{body.BodyRepaired}},
		{"not JSON and too long", `"` + strings.Repeat("é", 4096), `"` + strings.Repeat("é", 4095), []string{body.TextTruncated, body.BodyRepaired}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, bad := body.Message([]byte(`{"text":"` + tt.text + `","subscriber_id":"1"}`))
			if bad != nil || r.Text != tt.want || !cmp.Equal(r.Interventions, tt.left) {
				t.Errorf("read %d characters with %v, %+v", utf8.RuneCountInString(r.Text), r.Interventions, bad)
			}
		})
	}
	r, bad := body.FullContact([]byte(`{"last_input_text":"`+strings.Repeat("é", 5000)+`","id":1}`), body.Fields{})
	if bad != nil || r.Text != strings.Repeat("é", 4096) || !cmp.Equal(r.Interventions, []string{body.TextTruncated}) {
		t.Errorf("of Full Contact Data are read %d characters with %v, %+v", utf8.RuneCountInString(r.Text), r.Interventions, bad)
	}
}

// Holds docs/spec/02-inbound.md, "Request body": a name of any length loses nobody, and
// the other fields have their limit in characters.
func TestLongFields(t *testing.T) {
	long := strings.Repeat("n", 60_000)
	r, bad := body.Message([]byte(`{"subscriber_id":"1","text":"hello","first_name":"` + long + `","last_name":"` + long[:2000] + `","locale":"` + long[:2000] + `"}`))
	if bad != nil || r.FirstName != long {
		t.Errorf("of a long name are read %d characters, %+v", len(r.FirstName), bad)
	}
	for _, key := range []string{"ai_token", "course", "offering"} {
		const start = `{"subscriber_id":"1","text":"hello","`
		if _, bad := body.Message([]byte(start + key + `":"` + strings.Repeat("é", 256) + `"}`)); bad != nil {
			t.Errorf("%s of 256 characters is refused with %+v", key, bad)
		}
		_, bad := body.Message([]byte(start + key + `":"` + strings.Repeat("é", 257) + `"}`))
		if want := (body.Problem{Status: 400, Key: key, Message: "longer than 256 characters", Event: body.RefusedBody}); bad == nil || *bad != want {
			t.Errorf("%s of 257 characters: the problem is %+v", key, bad)
		}
	}
}

// Holds docs/spec/02-inbound.md, "Request body": what is nested is refused before it is
// read, however deep it goes.
func TestDeepNestingCostsNothing(t *testing.T) {
	lists, objects := strings.Repeat("[", 64<<10), strings.Repeat(`{"a":`, 13_000)
	for name, data := range map[string]string{
		"lists": lists, "objects": objects, "a text of lists": `{"text":` + lists[:65_000], "a text of objects": `{"text":` + objects,
		"an id of lists": `{"subscriber_id":` + lists[:65_000], "an unknown key": `{"x":` + objects, "closed": lists[:32<<10] + strings.Repeat("]", 32<<10),
	} {
		t.Run(name, func(t *testing.T) {
			sent := []byte(data)
			for route, read := range map[string]func([]byte) (body.Read, *body.Problem){"message": body.Message, "contact": fullContact} {
				if _, bad := read(sent); bad == nil || bad.Status != 400 {
					t.Errorf("%s: the problem is %+v", route, bad)
				}
				if n := testing.AllocsPerRun(10, func() { read(sent) }); n > 40 {
					t.Errorf("%s: refusing takes %.0f allocations", route, n)
				}
			}
		})
	}
}

// Holds docs/spec/02-inbound.md, "Raw templating": a body full of keys is refused, and the
// longest text that a channel carries has no room for so many.
func TestTooManyKeys(t *testing.T) {
	const start, end = `{"subscriber_id":"1","ai_token":"Invented-token_1","text":"a "b" `, `","channel":null,"locale":null,"first_name":"A","last_name":"E","course":"","offering":""}`
	full := strings.Repeat(`,"text":`, (4096-len(`a "b" `))/len(`,"text":`))
	r, bad := body.Message([]byte(start + full + end))
	if bad != nil || r.Text != `a "b" `+full || r.Token != "Invented-token_1" {
		t.Errorf("a text of 4096 characters is read as %+v, %+v", r, bad)
	}
	_, bad = body.Message([]byte(start + full + full + end))
	if bad == nil || bad.Event != body.AmbiguousBody {
		t.Errorf("twice as much: the problem is %+v", bad)
	}
}

func BenchmarkMessage(b *testing.B) {
	usual := `{"subscriber_id":"900000001","text":"` + strings.Repeat("Is the wheel still free? ", 5)[:120] + `","ai_token":"` + strings.Repeat("Invented-token_1", 3)[:43] + `"}`
	full := strings.Repeat(`,"text":`, 450) + strings.Repeat(`,"first_name":","last_name":","locale":","offering":"`, 9)
	for name, data := range map[string]string{
		"usual":    usual,
		"repaired": strings.Replace(usual, "wheel", `"wheel"`, 1),
		"hostile":  `{"text":"a "b"` + full + `","subscriber_id":"1","ai_token":"t"}`,
	} {
		b.Run(name, func(b *testing.B) {
			sent := []byte(data)
			b.ReportAllocs()
			for b.Loop() {
				if _, bad := body.Message(sent); bad != nil && name != "hostile" {
					b.Fatalf("%+v", bad)
				}
			}
		})
	}
}

func BenchmarkFullContact(b *testing.B) {
	_, cases := corpus(b, "testdata/fullcontact.txtar")
	b.ReportAllocs()
	for b.Loop() {
		if _, bad := fullContact(cases[0].sent); bad != nil {
			b.Fatalf("%+v", bad)
		}
	}
}

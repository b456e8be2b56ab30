package inbound

import (
	"testing"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/contact"
)

// Holds docs/spec/02-inbound.md, "Request body": whatever arrives is a message within
// its limits or a refusal, and never a panic.
func FuzzDecode(f *testing.F) {
	for _, body := range []string{
		`{"subscriber_id":"1","text":"hello"}`,
		`{"subscriber_id":12345678901234567890,"text":"{{last_input_text}}","course":"{{cuf_1}}","offering":"wheel"}`,
		`{"subscriber_id":"1","text":"say "hi"","ai_token":null}`,
		`{"subscriber_id":1e9,"text":"a\u0000\ud800b","locale":"en"}`,
		`[[[[[[[[`, "\ufeff{}", `{"text":1,"text":2}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, bad := decode(body)
		if bad != nil {
			if bad.status != 400 || (bad.Key == "" && bad.Message == "") {
				t.Errorf("the refusal %+v says nothing", bad)
			}
			return
		}
		if _, err := contact.ParseSubscriberID(string(m.Key.SubscriberID)); err != nil {
			t.Errorf("the subscriber id is %q", m.Key.SubscriberID)
		}
		if n := utf8.RuneCountInString(m.Text); n > maxTextRunes || !utf8.ValidString(m.Text) {
			t.Errorf("the text has %d characters, valid: %t", n, utf8.ValidString(m.Text))
		}
	})
}

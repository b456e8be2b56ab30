package body_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/inbound/body"
)

// Holds docs/spec/02-inbound.md, "Request body": whatever a contact types into whatever
// template, their words change neither whom the message is from nor the token, the
// offering and the channel that the template gives.
func TestWordsOfAContactChangeNobody(t *testing.T) {
	alphabet := append(append([]string{}, harmless...), spoofs...)
	rapid.Check(t, func(t *rapid.T) {
		m := templates(alphabet, []form{quoted, quoted, bare, encoded, twice}).Draw(t, "template")
		sent := m.body()
		r, bad := body.Message([]byte(sent))
		if bad != nil {
			if bad.Status != 400 {
				t.Fatalf("the status is %d", bad.Status)
			}
			return
		}
		spoken := m.spoken()
		if id := m.names("subscriber_id"); string(r.SubscriberID) != id {
			t.Fatalf("the id is %s and not %s:\n%s", r.SubscriberID, id, sent)
		}
		if _, has := m.get("ai_token"); (has || !strings.Contains(spoken, "ai_token")) && r.Token != m.names("ai_token") {
			t.Fatalf("the token is %q and not %q:\n%s", r.Token, m.names("ai_token"), sent)
		}
		if _, has := m.get("channel"); (has || !strings.Contains(spoken, "channel")) && string(r.Channel) != known(m.names("channel")) {
			t.Fatalf("the channel is %q and not %q:\n%s", r.Channel, m.names("channel"), sent)
		}
		if want, certain := m.offering(); certain && r.Offering != want {
			t.Fatalf("the offering is %q and not %q:\n%s", r.Offering, want, sent)
		}
	})
}

func known(channel string) string {
	switch contact.Channel(channel) {
	case contact.WhatsApp, contact.Instagram, contact.Messenger, contact.Telegram:
		return channel
	}
	return ""
}

// Holds docs/spec/02-inbound.md, "Request body": a contact who types no key of the route
// is never lost to what they type, and every character of it is read.
func TestWordsOfAContactAreKept(t *testing.T) {
	typed := regexp.MustCompile(`"(subscriber_id|text)"\s*:`)
	templates := templates(harmless, []form{quoted, quoted, encoded, twice}).Filter(func(m template) bool { return !m.asked && !typed.MatchString(m.spoken()) })
	rapid.Check(t, func(t *rapid.T) {
		m := templates.Draw(t, "template")
		sent := m.body()
		r, bad := body.Message([]byte(sent))
		if m.names("subscriber_id") == "" {
			if bad == nil || bad.Event != body.UnrenderedID && !json.Valid([]byte(sent)) {
				t.Fatalf("the problem is %+v:\n%s", bad, sent)
			}
			return
		}
		if bad != nil {
			// Words that turn a body into JSON of other keys cannot be told from a template.
			if json.Valid([]byte(sent)) {
				return
			}
			t.Fatalf("refused with %+v:\n%s", *bad, sent)
		}
		for _, v := range m.variables {
			if v.key == "text" && r.Text != read(v) {
				t.Fatalf("the text is %q and not %q:\n%s", r.Text, read(v), sent)
			}
		}
	})
}

// read is what a text in quotes means by the way it stands in the body: as it is, unless
// it is a JSON string, with or without quotes left around it by hand.
func read(v variable) string {
	value, literal := v.value, v.literal()
	for _, candidate := range []string{literal, literal[1 : len(literal)-1]} {
		var s string
		if strings.HasPrefix(candidate, `"`) && strings.HasSuffix(candidate, `"`) && json.Unmarshal([]byte(candidate), &s) == nil {
			value = s
			break
		}
	}
	return strings.ReplaceAll(value, "\x00", "\uFFFD")
}

// Holds docs/spec/02-inbound.md, "Raw templating": the quick way to judge all readings
// finds what listing them finds.
func TestAllReadingsAreJudged(t *testing.T) {
	alphabet := append(append([]string{}, harmless...), spoofs...)
	rapid.Check(t, func(t *rapid.T) {
		sent := []byte(templates(alphabet, []form{quoted, quoted, bare, encoded, twice}).Draw(t, "template").body())
		if comparable(sent) {
			compareWithReference(t, sent)
		}
	})
}

package manychattest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

func TestNewNamesWhatIsWrong(t *testing.T) {
	tests := []struct {
		want string
		edit func(*manychattest.Config)
	}{
		{"Config.Channel", func(c *manychattest.Config) { c.Channel = "fax" }},
		{"Config.Token", func(c *manychattest.Config) { c.Token = "nonsense" }},
		{"Config.Hosts", func(c *manychattest.Config) { c.Hosts = map[string]string{"a.example.test": "127.0.0.1"} }},
		{"the method", func(c *manychattest.Config) { c.Entry.Method = "PATCH" }},
		{"unknown mode", func(c *manychattest.Config) { c.Entry.Mode = "webhook" }},
		{"either a template", func(c *manychattest.Config) { c.Entry.Body, c.Entry.FullContactData = "{}", true }},
		// Holds docs/reference/manychat-platform.md, 4.1: "the builder refuses a body
		// that does not parse as JSON".
		{"the body is not JSON", func(c *manychattest.Config) { c.Entry.Body = `{"text":{{last_input_text}` }},
		{"the body is not JSON", func(c *manychattest.Config) { c.Entry.Body, c.Entry.EncodeJSON = `{"text":"{{x}}"}`, true }},
		{"JSONPath", func(c *manychattest.Config) { c.Entry.Mapping = map[string]string{"reply": "f"} }},
	}
	for _, tt := range tests {
		cfg := manychattest.Config{Channel: manychat.WhatsApp, Token: token}
		tt.edit(&cfg)
		if _, err := manychattest.New(cfg); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("want %q, got %v", tt.want, err)
		}
	}
}

func TestDefinitionsMayBeRepeated(t *testing.T) {
	a := open(t, nil)
	for range 2 {
		if id := a.field("note", phone.Text); id != 1001 {
			t.Errorf("field id %d", id)
		}
		if id, err := a.DefineBotField("hours", phone.Text); err != nil || id != 1002 {
			t.Errorf("bot field %d, %v", id, err)
		}
		if id, err := a.DefineTag("lead"); err != nil || id != 11 {
			t.Errorf("tag %d, %v", id, err)
		}
		a.DefineFlow(manychattest.Flow{Name: "Reply"})
	}
	if flows := a.Flows(); len(flows) != 1 || !strings.HasPrefix(flows[0].NS, "content20260101000000_") {
		t.Errorf("got %+v", flows)
	}
	_, wrongType := a.DefineField("note", phone.Number)
	_, wrongKind := a.DefineField("x", "list")
	_, noName := a.DefineTag("")
	_, botType := a.DefineBotField("hours", phone.Number)
	for _, err := range []error{wrongType, wrongKind, noName, botType} {
		if err == nil {
			t.Error("a contradicting definition must be refused")
		}
	}
}

// Holds docs/reference/manychat-platform.md, 1.6: the four actions, in an answer.
func TestActionsOfAnAnswer(t *testing.T) {
	actions := `"actions":[{"action":"add_tag","tag_name":"new"},{"action":"remove_tag","tag_name":"old"},` +
		`{"action":"set_field_value","field_name":"set","value":"v"},{"action":"unset_field_value","field_name":"unset"}]`
	a := open(t, reply(whatsapp("x", actions)))
	a.tag("new")
	a.tag("old")
	a.field("set", phone.Text)
	a.field("unset", phone.Text)
	id := a.add(manychattest.Contact{Tags: []string{"old"}, Fields: map[string]any{"unset": "u"}})
	a.send(id, "hi")
	c := a.contact(id)
	if diff := cmp.Diff([]string{"new"}, c.Tags); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"set": "v"}, c.Fields); diff != "" {
		t.Error(diff)
	}
}

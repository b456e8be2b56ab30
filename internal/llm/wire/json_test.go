package wire_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// Holds docs/spec/04-agent.md, "Models": a member that a server gets wrong costs no answer.
func TestRead(t *testing.T) {
	type read struct {
		Text  wire.String `json:"text"`
		Count wire.Count  `json:"count"`
	}
	for in, want := range map[string]read{
		`{}`:                             {},
		`{"text":"a","count":7}`:         {"a", 7},
		`{"text":"a","text":"b"}`:        {"b", 0},
		`{"text":"a","text":7}`:          {},
		`{"count":7,"count":"8"}`:        {},
		`{"text":"\ud83d","count":2.9}`:  {"\uFFFD", 2},
		"{\"text\":\"\xff\"}":            {"\uFFFD", 0},
		`{"text":null,"count":null}`:     {},
		`{"text":["a"],"count":[1]}`:     {},
		`{"text":{"a":1},"count":"7"}`:   {},
		`{"text":true,"count":-1}`:       {},
		`{"count":1e3,"other":"passed"}`: {"", 1000},
		`{"count":1e30}`:                 {"", 1<<31 - 1},
		`{"count":1e400}`:                {},
	} {
		var got read
		if err := wire.Read([]byte(in), &got); err != nil {
			t.Errorf("Read(%s): %v", in, err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("Read(%s) (-want +got):\n%s", in, d)
		}
	}
	for _, broken := range []string{``, `{`, `{"text":"a"`, `{"count":}`, `{}{}`} {
		if err := wire.Read([]byte(broken), &read{}); err == nil {
			t.Errorf("Read(%s) has no error", broken)
		}
	}
}

// Holds docs/spec/04-agent.md, "Models": null says as much as nothing.
func TestIsSet(t *testing.T) {
	for in, want := range map[string]bool{``: false, `null`: false, `0`: true, `""`: true, `{}`: true, `false`: true} {
		if got := wire.IsSet(jsontext.Value(in)); got != want {
			t.Errorf("IsSet(%s) = %t", in, got)
		}
	}
}

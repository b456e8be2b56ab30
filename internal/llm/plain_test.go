package llm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

func called(id, name, arguments string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: name, Arguments: []byte(arguments)}
}

// Holds docs/spec/04-agent.md, "Models": where a provider is offered no tools, what they
// did before is told as text.
func TestWithoutTools(t *testing.T) {
	image := llm.Image{MediaType: "image/png", Data: []byte("x")}
	tests := []struct {
		name     string
		messages []llm.Message
		want     []llm.Message
	}{
		{"nothing", nil, nil},
		{"no calls", []llm.Message{{Role: llm.User, Text: "Hello", Images: []llm.Image{image}}, {Role: llm.Assistant, Text: "Good day"}},
			[]llm.Message{{Role: llm.User, Text: "Hello", Images: []llm.Image{image}}, {Role: llm.Assistant, Text: "Good day"}}},
		{"calls and results", []llm.Message{
			{Role: llm.User, Text: "What do you teach?"},
			{Role: llm.Assistant, State: []byte("anthropic:x"), Calls: []llm.ToolCall{called("a", "list", "{}"), called("b", "note", `{"x":1}`)}},
			{Role: llm.ToolResult, Results: []llm.Result{{CallID: "a", Name: "list", Content: []byte(`["glass"]`)}, {CallID: "b", Name: "note", Content: []byte(`{"ok":true}`)}}},
		}, []llm.Message{
			{Role: llm.User, Text: "What do you teach?"},
			{Role: llm.Assistant, Text: "[called list {}]\n[called note {\"x\":1}]"},
			{Role: llm.User, Text: "[what the tools answered]\nlist: [\"glass\"]\nnote: {\"ok\":true}"},
		}},
		{"words before a call", []llm.Message{{Role: llm.Assistant, Text: "Let me look.", Calls: []llm.ToolCall{called("a", "list", "{}")}}},
			[]llm.Message{{Role: llm.Assistant, Text: "Let me look.\n[called list {}]"}}},
		{"a message behind results", []llm.Message{
			{Role: llm.ToolResult, Results: []llm.Result{{Name: "list", Content: []byte(`[]`)}}},
			{Role: llm.User, Text: "And?", Images: []llm.Image{image}},
		}, []llm.Message{{Role: llm.User, Text: "[what the tools answered]\nlist: []\n\nAnd?", Images: []llm.Image{image}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if d := cmp.Diff(tt.want, llm.WithoutTools(tt.messages)); d != "" {
				t.Errorf("messages differ (-want +got):\n%s", d)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": whatever was called, the two sides alternate, no
// call, result or state is left, and nothing that was said, shown or answered is lost.
func TestWithoutToolsKeepsEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var messages []llm.Message
		var said []string
		word := func() string {
			said = append(said, fmt.Sprintf("{%d}", len(said)))
			return said[len(said)-1]
		}
		images := 0
		for range rapid.IntRange(0, 6).Draw(t, "messages") {
			msg := llm.Message{Role: rapid.SampledFrom([]llm.Role{llm.User, llm.Assistant, llm.ToolResult}).Draw(t, "role")}
			parts := rapid.IntRange(1, 3).Draw(t, "parts")
			switch msg.Role {
			case llm.User:
				msg.Text, msg.Images = word(), make([]llm.Image, parts, parts+1)
				for i := range parts {
					msg.Images[i].MediaType = "image/png"
				}
				images += parts
			case llm.Assistant:
				msg.Text, msg.State = word(), []byte("x:y")
				for range parts {
					msg.Calls = append(msg.Calls, called(word(), word(), word()))
					said = append(said[:len(said)-3], said[len(said)-2:]...) // an id is of no use
				}
			case llm.ToolResult:
				for range parts {
					msg.Results = append(msg.Results, llm.Result{Name: word(), Content: []byte(word())})
				}
			}
			messages = append(messages, msg)
		}
		before := fmt.Sprintf("%+v", messages)
		got := llm.WithoutTools(messages)
		var all strings.Builder
		for i, m := range got {
			if m.Calls != nil || m.Results != nil || m.State != nil || m.Role == llm.ToolResult || i > 0 && m.Role == got[i-1].Role {
				t.Fatalf("messages = %+v", got)
			}
			images -= len(m.Images)
			all.WriteString(m.Text)
		}
		rest := all.String()
		for _, w := range said {
			_, after, found := strings.Cut(rest, w)
			if !found {
				t.Fatalf("%s is not in its place in %q", w, all.String())
			}
			rest = after
		}
		for _, m := range messages {
			if spare := m.Images[:cap(m.Images)]; len(spare) > len(m.Images) && spare[len(m.Images)].MediaType != "" {
				t.Fatal("the room behind a message's images was written to")
			}
		}
		if images != 0 || fmt.Sprintf("%+v", messages) != before {
			t.Fatalf("images left: %d; messages before %s, after %+v", images, before, messages)
		}
	})
}

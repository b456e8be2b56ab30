package openai

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// kept is one item of an answer, as a state holds it: all of a reasoning, and of what the
// message says itself its place alone. Items have no id: it names something that the
// provider would have stored.
type kept struct {
	Type      string         `json:"type"`
	Phase     string         `json:"phase,omitzero"`
	Summary   jsontext.Value `json:"summary,omitzero"` // of a reasoning: required
	Encrypted string         `json:"encrypted_content,omitzero"`
}

// sealed is a reasoning that goes back.
func sealed(encrypted string) kept {
	return kept{Type: "reasoning", Summary: jsontext.Value("[]"), Encrypted: encrypted}
}

// keep writes a state; none when there is nothing in it that the messages do not hold.
func keep(items []kept) []byte {
	for len(items) > 0 && items[len(items)-1].Type == "reasoning" {
		items = items[:len(items)-1] // refused without the item that it led to
	}
	worth := false
	for _, k := range items {
		worth = worth || k.Type == "reasoning" || k.Phase != ""
	}
	if !worth {
		return nil
	}
	return wire.Pack(provider, items)
}

// recall reads what keep wrote. Without one that fits the message, the model spoke first
// and called then.
func recall(msg llm.Message) []kept {
	items := []kept{{Type: "message"}}
	for range msg.Calls {
		items = append(items, kept{Type: "function_call"})
	}
	var held []kept
	if !wire.Unpack(provider, msg.State, &held) {
		return items
	}
	calls := 0
	for i, k := range held {
		switch k.Type {
		case "function_call":
			calls++
		case "reasoning":
			held[i] = sealed(k.Encrypted)
		}
	}
	if calls != len(msg.Calls) {
		return items
	}
	return held
}

package google

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// unsigned stands for the signature of a call that this model did not make, such as one of
// the model before it: https://ai.google.dev/gemini-api/docs/thought-signatures#faqs.
const unsigned = "skip_thought_signature_validator"

// state is what a model wants back with the results of its calls.
type state struct {
	Model string   `json:"model"` // no other can read the signatures
	Text  string   `json:"text,omitzero"`
	Calls []signed `json:"calls"`
}

// signed is one call: the id that the caller knows it by, the one that Google gave it, and
// its signature. Google gives some calls no id, and signs only the first of parallel ones.
type signed struct {
	ID        string `json:"id"`
	Given     string `json:"given,omitzero"`
	Signature string `json:"signature,omitzero"`
}

// pack is the [llm.Response.State] of a state; empty when there is nothing to keep.
func (s state) pack() []byte {
	if len(s.Calls) == 0 {
		return nil
	}
	return wire.Pack(provider, s)
}

// recall reads a state of this very model.
func (m *Model) recall(packed []byte) (s state, own bool) {
	if !wire.Unpack(provider, packed, &s) || s.Model != m.name {
		return state{}, false
	}
	return s, true
}

// contents is the conversation. A message with nothing in it is left out: Google refuses
// empty parts.
func (m *Model) contents(messages []llm.Message) []content {
	out := make([]content, 0, len(messages))
	var given map[string]string // Google's ids of the latest calls by the caller's
	for _, message := range messages {
		var c content
		switch message.Role {
		case llm.Assistant:
			c, given = m.answered(message)
		case llm.ToolResult:
			c = content{Role: "user", Parts: results(message.Results, given)}
		default:
			c = content{Role: "user", Parts: said(message)}
		}
		if len(c.Parts) > 0 {
			out = append(out, c)
		}
	}
	return out
}

func said(message llm.Message) []part {
	parts := make([]part, 0, len(message.Images)+1)
	for _, image := range message.Images {
		parts = append(parts, part{Image: &blob{MediaType: image.MediaType, Data: image.Data}})
	}
	if text := wire.Text(message.Text); text != "" {
		parts = append(parts, part{Text: &text})
	}
	return parts
}

// answered is an answer of the model, and the ids of its calls as Google knows them.
func (m *Model) answered(message llm.Message) (content, map[string]string) {
	c := content{Role: "model"}
	s, own := m.recall(message.State)
	if text := wire.Text(message.Text); text != "" {
		c.Parts = append(c.Parts, part{Text: &text, Signature: s.Text})
	}
	given := make(map[string]string, len(message.Calls))
	signatures := make(map[string]string, len(message.Calls))
	for _, call := range s.Calls {
		given[call.ID], signatures[call.ID] = call.Given, call.Signature
	}
	for i, call := range message.Calls {
		if !own && m.signs() {
			given[call.ID] = wire.Text(call.ID)
		}
		signature := signatures[call.ID]
		if i == 0 && signature == "" && m.signs() {
			signature = unsigned
		}
		c.Parts = append(c.Parts, part{Signature: signature, Call: &functionCall{
			ID: given[call.ID], Name: wire.Text(call.Name), Args: wire.ArgumentsObject(call.Arguments),
		}})
	}
	return c, given
}

func results(results []llm.Result, given map[string]string) []part {
	parts := make([]part, 0, len(results))
	for _, r := range results {
		parts = append(parts, part{Result: &functionResponse{
			ID: given[r.CallID], Name: wire.Text(r.Name), Response: response(r.Content),
		}})
	}
	return parts
}

// response is a tool's result as Google takes it: an object, with anything else under the
// name that Google has for it.
func response(raw []byte) jsontext.Value {
	v := jsontext.Value(raw)
	switch {
	case !v.IsValid():
		quoted, err := jsontext.AppendQuote(nil, wire.Text(string(raw)))
		if err != nil {
			quoted = []byte(`""`) // a clean text can be quoted
		}
		v = quoted
	case v.Kind() == '{':
		return v
	}
	return jsontext.Value(`{"output":` + string(v) + `}`)
}

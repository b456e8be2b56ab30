package anthropic

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// answer is the body of a message that the model wrote. Members that servers get wrong
// are read one by one.
type answer struct {
	Type       wire.String    `json:"type"`
	Content    jsontext.Value `json:"content"`
	StopReason wire.String    `json:"stop_reason"`
	Usage      jsontext.Value `json:"usage"`
}

// written is a block of an answer.
type written struct {
	Type  wire.String    `json:"type"`
	Text  wire.String    `json:"text"`
	ID    wire.String    `json:"id"`
	Name  wire.String    `json:"name"`
	Input jsontext.Value `json:"input"`
}

// usage counts tokens; input_tokens are those beside the cached and the written ones.
type usage struct {
	Input   wire.Count `json:"input_tokens"`
	Written wire.Count `json:"cache_creation_input_tokens"`
	Cached  wire.Count `json:"cache_read_input_tokens"`
	Output  wire.Count `json:"output_tokens"` // reasoning among them
}

// answer reads an answer of status 200.
func (m *Model) answer(a wire.Answer, asked *request) (llm.Response, error) {
	var got answer
	if err := m.client.Decode(a, &got); err != nil {
		return llm.Response{}, err
	}
	if got.Type == "error" {
		return llm.Response{}, m.failed(a, wire.ComplaintIn(a.Body), asked)
	}
	if got.Type != "message" && got.Content == nil {
		return llm.Response{}, &llm.Error{
			Provider: name, Kind: llm.KindProtocol, Status: a.Status,
			Message: "the answer is JSON of another kind: is the address right?",
		}
	}
	var resp llm.Response
	turn := m.blocks(got.Content, &resp)
	resp.Stop = stop(string(got.StopReason), len(resp.Calls) > 0)
	if resp.Stop == llm.StopTools {
		resp.State = turn.state()
	}
	resp.Usage = tokens(got.Usage)
	return resp, nil
}

// turn is what of an answer goes back to the model with the results of its calls.
type turn struct {
	model  string
	calls  []string // their ids
	blocks []jsontext.Value
	thinks bool // there is reasoning, without which the answer is written anew
	broken bool // a call that cannot go back as it came
}

// blocks reads the content of an answer into its response.
func (m *Model) blocks(content jsontext.Value, resp *llm.Response) turn {
	t := turn{model: m.name}
	if content.Kind() == '"' { // not Anthropic's own way, but that of requests
		var words wire.String
		_ = wire.Read(content, &words) // none, if it cannot be read
		resp.Text = string(words)
		return t
	}
	var list []jsontext.Value
	if wire.Read(content, &list) != nil {
		return t
	}
	var words strings.Builder
	for _, raw := range list {
		var b written
		if wire.Read(raw, &b) != nil {
			continue
		}
		switch b.Type {
		case "text":
			words.WriteString(string(b.Text))
			t.keepText(string(b.Text))
		case "thinking", "redacted_thinking":
			t.thinks = true
			t.blocks = append(t.blocks, raw)
		case "tool_use":
			call := llm.ToolCall{ID: string(b.ID), Name: string(b.Name), Arguments: wire.Arguments(b.Input)}
			resp.Calls = append(resp.Calls, call)
			t.keepCall(call, b.Input)
		}
	}
	resp.Text = words.String()
	wire.Identify(resp.Calls)
	t.broken = t.broken || !slices.EqualFunc(t.calls, resp.Calls, isOf)
	return t
}

func (t *turn) keepText(words string) {
	if strings.TrimSpace(words) == "" {
		return // it would be refused
	}
	t.keep(block{Type: "text", Text: wire.Text(words)})
}

func (t *turn) keepCall(call llm.ToolCall, input jsontext.Value) {
	t.calls = append(t.calls, call.ID)
	if callID(call.ID) != call.ID || wire.FunctionName(call.Name, maxName) != call.Name || input.Kind() != '{' {
		t.broken = true
	}
	t.keep(block{Type: "tool_use", ID: call.ID, Name: call.Name, Input: input})
}

func (t *turn) keep(b block) {
	raw, err := json.Marshal(b)
	if err != nil {
		t.broken = true
		return
	}
	t.blocks = append(t.blocks, raw)
}

// state is a turn as it is kept for the next request.
type state struct {
	Model   string         `json:"model"`
	Calls   []string       `json:"calls"`
	Content jsontext.Value `json:"content"`
}

// state is nothing where the calls alone say it all.
func (t turn) state() []byte {
	if !t.thinks || t.broken {
		return nil
	}
	content, err := json.Marshal(t.blocks)
	if err != nil {
		return nil
	}
	return wire.Pack(name, state{Model: t.model, Calls: t.calls, Content: content})
}

// earlier is the content of an earlier answer with its signed reasoning, which must go
// back unchanged; nil when it is another model's, whose reasoning this one does not take,
// or another answer's.
func (m *Model) earlier(msg llm.Message) jsontext.Value {
	var s state
	if !wire.Unpack(name, msg.State, &s) || s.Model != m.name || s.Content.Kind() != '[' {
		return nil
	}
	if !slices.EqualFunc(s.Calls, msg.Calls, isOf) {
		return nil
	}
	return s.Content
}

func isOf(id string, c llm.ToolCall) bool { return id == c.ID }

// stop is why the model stopped. A turn that was paused is one that was cut off: only
// tools of Anthropic's own pause it, and none is offered.
func stop(reason string, calls bool) llm.Stop {
	switch {
	case reason == "max_tokens", reason == "model_context_window_exceeded", reason == "pause_turn":
		return llm.StopLength
	case reason == "refusal":
		return llm.StopRefusal
	case calls:
		return llm.StopTools
	}
	return llm.StopEnd
}

// tokens reads what a call used.
func tokens(counted jsontext.Value) llm.Usage {
	var u usage
	if wire.Read(counted, &u) != nil {
		return llm.Usage{}
	}
	return llm.Usage{
		Input:   int64(u.Input + u.Cached + u.Written),
		Cached:  int64(u.Cached),
		Written: int64(u.Written),
		Output:  int64(u.Output),
	}
}

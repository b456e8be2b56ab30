package anthropic

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// answer is the body of a message that the model wrote. Members that servers get wrong
// are read one by one.
type answer struct {
	Type       string         `json:"type"`
	Content    jsontext.Value `json:"content"`
	StopReason jsontext.Value `json:"stop_reason"`
	Usage      jsontext.Value `json:"usage"`
}

// written is a block of an answer.
type written struct {
	Type  jsontext.Value `json:"type"`
	Text  jsontext.Value `json:"text"`
	ID    jsontext.Value `json:"id"`
	Name  jsontext.Value `json:"name"`
	Input jsontext.Value `json:"input"`
}

// usage counts tokens; input_tokens are those beside the cached and the written ones.
type usage struct {
	Input   jsontext.Value `json:"input_tokens"`
	Written jsontext.Value `json:"cache_creation_input_tokens"`
	Cached  jsontext.Value `json:"cache_read_input_tokens"`
	Output  jsontext.Value `json:"output_tokens"` // reasoning among them
}

// answer reads an answer of status 200.
func (m *Model) answer(a wire.Answer, asked *request) (llm.Response, error) {
	var got answer
	if err := m.client.Decode(a, &got); err != nil {
		return llm.Response{}, err
	}
	if got.Type == "error" {
		return llm.Response{}, m.failed(a, complaintIn(a.Body), asked)
	}
	if got.Type != "message" && got.Content == nil {
		return llm.Response{}, &llm.Error{
			Provider: name, Kind: llm.KindProtocol, Status: a.Status,
			Message: "the answer is JSON of another kind: is the address right?",
		}
	}
	var resp llm.Response
	turn := m.blocks(got.Content, &resp)
	resp.Stop = stop(text(got.StopReason), len(resp.Calls) > 0)
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
		resp.Text = text(content)
		return t
	}
	var list []jsontext.Value
	if lenient(content, &list) != nil {
		return t
	}
	var words strings.Builder
	for _, raw := range list {
		var b written
		if lenient(raw, &b) != nil {
			continue
		}
		switch text(b.Type) {
		case "text":
			words.WriteString(text(b.Text))
			t.keepText(text(b.Text))
		case "thinking", "redacted_thinking":
			t.thinks = true
			t.blocks = append(t.blocks, raw)
		case "tool_use":
			call := llm.ToolCall{ID: text(b.ID), Name: text(b.Name), Arguments: wire.Arguments(b.Input)}
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
	if callID(call.ID) != call.ID || toolName(call.Name) != call.Name || input.Kind() != '{' {
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

const statePrefix = name + ":"

// state is nothing where the calls alone say it all.
func (t turn) state() []byte {
	if !t.thinks || t.broken {
		return nil
	}
	content, err := json.Marshal(t.blocks)
	if err != nil {
		return nil
	}
	s, err := json.Marshal(state{Model: t.model, Calls: t.calls, Content: content})
	if err != nil {
		return nil
	}
	return append([]byte(statePrefix), s...)
}

// earlier is the content of an earlier answer with its signed reasoning, which must go
// back unchanged; nil when it is another model's, whose reasoning this one does not take,
// or another answer's.
func (m *Model) earlier(msg llm.Message) jsontext.Value {
	kept, ours := bytes.CutPrefix(msg.State, []byte(statePrefix))
	if !ours {
		return nil
	}
	var s state
	if json.Unmarshal(kept, &s) != nil || s.Model != m.name || s.Content.Kind() != '[' {
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
	if lenient(counted, &u) != nil {
		return llm.Usage{}
	}
	cached, written := count(u.Cached), count(u.Written)
	return llm.Usage{Input: count(u.Input) + cached + written, Cached: cached, Written: written, Output: count(u.Output)}
}

// maxCount is beyond what any call uses, and small enough to be added up.
const maxCount = math.MaxInt32

// count is a number of tokens; what is none, or less than none, is 0.
func count(v jsontext.Value) int64 {
	n, err := strconv.ParseFloat(string(v), 64)
	if err != nil || !(n > 0) {
		return 0
	}
	return int64(min(n, maxCount))
}

// text is a JSON string; anything else is an empty one.
func text(v jsontext.Value) string {
	var s string
	if v.Kind() != '"' || lenient(v, &s) != nil {
		return ""
	}
	return s
}

// lenient reads JSON as servers write it.
func lenient(v jsontext.Value, into any) error {
	return json.Unmarshal(v, into, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

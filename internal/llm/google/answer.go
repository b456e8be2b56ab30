package google

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

type answer struct {
	Error      jsontext.Value `json:"error"`
	Candidates []candidate    `json:"candidates"`
	Prompt     struct {
		BlockReason string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage usage `json:"usageMetadata"`
}

type candidate struct {
	Content struct {
		Parts []written `json:"parts"`
	} `json:"content"`
	FinishReason string `json:"finishReason"`
}

// written is a part of an answer; of another kind, it has none of these.
type written struct {
	Text      string        `json:"text"`
	Thought   bool          `json:"thought"`
	Call      *functionCall `json:"functionCall"`
	Signature string        `json:"thoughtSignature"`
}

// usage counts tokens: https://ai.google.dev/api/generate-content#UsageMetadata. Prompt
// includes Cached; ToolUse stands beside it, and Thoughts beside Candidates.
type usage struct {
	Prompt     count `json:"promptTokenCount"`
	Cached     count `json:"cachedContentTokenCount"`
	ToolUse    count `json:"toolUsePromptTokenCount"`
	Candidates count `json:"candidatesTokenCount"`
	Thoughts   count `json:"thoughtsTokenCount"`
}

// count is a number of tokens; whatever cannot be one is 0, so that it costs no answer.
type count int64

// mostCount bounds a count, so that sums stay numbers.
const mostCount = 1 << 40

func (c *count) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err != nil || !(f > 0) {
		f = 0
	}
	*c = count(min(f, mostCount))
	return nil
}

func (u usage) tokens() llm.Usage {
	return llm.Usage{
		Input:  int64(u.Prompt + u.ToolUse),
		Cached: int64(min(u.Cached, u.Prompt+u.ToolUse)),
		Output: int64(u.Candidates + u.Thoughts),
	}
}

// read is an answer in the terms of [llm.Response].
func (m *Model) read(a wire.Answer, req llm.Request) (llm.Response, error) {
	var got answer
	if err := m.client.Decode(a, &got); err != nil {
		return llm.Response{}, err
	}
	if wire.IsSet(got.Error) {
		return llm.Response{}, m.refused(a, req)
	}
	resp := llm.Response{Usage: got.Usage.tokens(), Stop: llm.StopEnd}
	if len(got.Candidates) == 0 {
		if got.Prompt.BlockReason != "" {
			resp.Stop = llm.StopRefusal
		}
		return resp, nil
	}
	first := got.Candidates[0]
	kept := state{Model: m.name}
	for _, p := range first.Content.Parts {
		switch {
		case p.Thought:
		case p.Call != nil && p.Call.Name != "":
			resp.Calls = append(resp.Calls, llm.ToolCall{ID: p.Call.ID, Name: p.Call.Name, Arguments: wire.Arguments(p.Call.Args)})
			kept.Calls = append(kept.Calls, signed{Given: p.Call.ID, Signature: p.Signature})
		default:
			resp.Text += p.Text
			kept.Text = cmp.Or(kept.Text, p.Signature)
		}
	}
	wire.Identify(resp.Calls)
	for i, call := range resp.Calls {
		kept.Calls[i].ID = call.ID
	}
	resp.Stop = stopOf(first.FinishReason, len(resp.Calls) > 0)
	resp.State = kept.pack()
	return resp, nil
}

// stopOf is a finish reason, of https://ai.google.dev/api/generate-content#FinishReason.
// Calls that Google found to be malformed, and stops without a name, are ends: what is
// there is the answer.
func stopOf(reason string, called bool) llm.Stop {
	switch reason {
	case "MAX_TOKENS", "CONTINUATION":
		return llm.StopLength
	case "SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "ESCALATION",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR":
		return llm.StopRefusal
	}
	if called {
		return llm.StopTools
	}
	return llm.StopEnd
}

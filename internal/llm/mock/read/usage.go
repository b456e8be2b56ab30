package read

import "github.com/manychat-agent/manychat-agent/internal/llm"

// Usage counts the tokens of a call, and the static part as cached, as a provider with a
// warm prompt cache does.
func Usage(req llm.Request, resp llm.Response) llm.Usage {
	u := llm.Usage{Cached: tokens(req.System), Output: tokens(resp.Text)}
	u.Input = u.Cached + tokens(string(req.Schema))
	for _, msg := range req.Messages {
		u.Input += tokens(msg.Text)
		for _, r := range msg.Results {
			u.Input += tokens(string(r.Content))
		}
	}
	for _, call := range resp.Calls {
		u.Output += tokens(call.Name + string(call.Arguments))
	}
	return u
}

// tokens estimates: four bytes a token, which is four letters of English, two of Greek
// or Cyrillic, and a little more than one of Chinese.
func tokens(s string) int64 { return int64(len(s)+3) / 4 }

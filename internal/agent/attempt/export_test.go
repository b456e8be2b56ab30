package attempt

import "github.com/manychat-agent/manychat-agent/internal/llm"

// Fit is a request as a model of these traits is sent it.
func Fit(traits llm.Traits, effort llm.Effort, req llm.Request) llm.Request {
	return (&candidate{traits: traits, effort: effort}).fit(req)
}

package budget

import (
	"errors"
	"net"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// What a provider may add to a request, in tokens. What is published of it is small:
// the instruction that Anthropic adds for tools is 530 tokens at the most
// (docs.anthropic.com, "Tool use pricing and tokens").
const (
	framing       = 2048 // a request
	framingOfPart = 16   // a message, tool, call or result
	// ofImage is more than a picture counts anywhere: 4 784 at Anthropic, in the largest
	// size it looks at (platform.claude.com, "Vision").
	ofImage = 8192
)

// unboundedReply is how long a reply without a bound may be, in tokens.
const unboundedReply = 65536

// Worst is the most that a request can cost at a price. A tokenizer that works on bytes,
// as all of today's do, makes at most one token of a byte, so what is sent bounds what
// is read; no token is assumed to come from a cache, and each to be written into it. A
// reply is bounded by MaxOutputTokens, and by 65 536 tokens where that is 0: more than any
// provider writes by default. Reasoning has its own bound beside it.
func Worst(req llm.Request, price llm.Price) Amount {
	read := size(req)
	usage := llm.Usage{Input: read, Written: read, Output: int64(req.MaxOutputTokens)}
	if usage.Output <= 0 {
		usage.Output = unboundedReply
	}
	usage.Output += int64(max(req.ReasoningTokens, 0))
	return cost(usage, price)
}

// size bounds the tokens that a provider reads of a request.
func size(req llm.Request) int64 {
	n := framing + len(req.System) + len(req.Schema)
	for _, m := range req.Messages {
		n += framingOfPart + len(m.Text) + len(m.State) + len(m.Images)*ofImage
		for _, c := range m.Calls {
			n += framingOfPart + len(c.ID) + len(c.Name) + len(c.Arguments)
		}
		for _, r := range m.Results {
			n += framingOfPart + len(r.CallID) + len(r.Name) + len(r.Content)
		}
	}
	for _, t := range req.Tools {
		n += framingOfPart + len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	return int64(n)
}

// Spent is what a call is charged that came back with err. What it reported to have used
// counts, error or not. Without a report nothing is charged for a call that was certainly
// not answered: one the provider refused (a status such as 401 or 429, or that it was
// down), or that never reached it. Every other may have been billed, among them those
// that were aborted or timed out, whose answer nobody could read, or that succeeded
// without a report: they are charged their worst case.
func Spent(worst Amount, price llm.Price, u llm.Usage, err error) Amount {
	switch {
	case u != llm.Usage{}:
		return cost(u, price)
	case refused(err):
		return Amount{}
	}
	return worst
}

func cost(u llm.Usage, price llm.Price) Amount {
	tokens := min(max(u.Input, 0), most) + min(max(u.Output, 0), most)
	return Amount{Tokens: tokens, Micros: price.Cost(u)}.clamped()
}

// gatewayTimeout is the one server error behind which a model may have answered.
const gatewayTimeout = 504

func refused(err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Kind {
	case llm.KindRateLimited, llm.KindOverloaded, llm.KindUnauthorized, llm.KindRejected:
		return true
	case llm.KindServer:
		return e.Status != gatewayTimeout
	case llm.KindNetwork:
		var op *net.OpError
		return errors.As(err, &op) && op.Op == "dial"
	}
	return false
}

package mock

import (
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/llm/mock/write"
)

// The escalation reasons of the table that a prompt carries.
const (
	priceNegotiation = "price_negotiation"
	complaint        = "complaint"
	outOfScope       = "out_of_scope"
	explicitRequest  = "explicit_request"
	lowConfidence    = "low_confidence"
	paymentReported  = "payment_reported"
)

// How sure the desk says it is: of what it read in the catalog, and of nothing.
const (
	sure   = 0.95
	unsure = 0.3
)

// answer is a reply in the making.
type answer struct {
	messages []string
	reason   string // escalates when not empty
	closing  string
	doubtful bool // of little confidence

	needsFlow bool // says nothing true unless a flow went out with it
}

func said(messages ...string) answer { return answer{messages: messages} }

// handOff escalates. The contract wants a message, which a handoff replaces; a sign
// speaks no language.
func handOff(reason string) answer { return answer{messages: []string{"🙏"}, reason: reason} }

// encode writes the reply as the contract's JSON.
func (a answer) encode() (string, error) {
	confidence := sure
	if a.reason == lowConfidence || a.doubtful {
		confidence = unsure
	}
	return write.Reply(a.messages, a.reason, a.closing, confidence)
}

// orHandOff leaves out messages for which the catalog had no text.
func (a answer) orHandOff() answer {
	a.messages = slices.DeleteFunc(a.messages, func(m string) bool { return !write.Legible(m) })
	if len(a.messages) == 0 {
		return handOff(outOfScope)
	}
	return a
}

// misbehaved is the answer as a mode spoils it.
func (a answer) misbehaved(d *desk, mode Mode) answer {
	switch mode {
	case Leak:
		return said(d.heading)
	case InventPrice:
		return said(d.inventedPrice())
	case InventLink:
		a.messages = append([]string{inventedLink}, a.messages...)
	case Echo:
		a.messages = append([]string{"confidence: 0.95"}, a.messages...)
	case Unsure:
		a.doubtful = true
	case TooLong:
		a.messages = d.atLength()
	}
	return a.orHandOff()
}

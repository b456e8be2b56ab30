package conversation

// State is where an agent row stands. docs/states.md draws the machine; the
// database's check constraints enforce it.
type State string

// waiting → running → answering → settled, or waiting → merged. A turn whose reply
// does not leave in the response goes from running to settled.
const (
	Waiting   State = "waiting"   // an earlier turn of the contact is unsettled
	Running   State = "running"   // a process works on it
	Answering State = "answering" // settled inline, the response is not known to be written
	Settled   State = "settled"   // final
	Merged    State = "merged"    // final: a later turn answers it
)

// Outcome says how a turn ended.
type Outcome string

// The outcomes of docs/spec/03-turn.md.
const (
	Answered          Outcome = "answered"
	AnsweredScripted  Outcome = "answered_scripted"
	Escalated         Outcome = "escalated"
	EscalatedPrecheck Outcome = "escalated_precheck"
	EscalatedError    Outcome = "escalated_error"
	MediaFallback     Outcome = "media_fallback"
	Paused            Outcome = "paused"
	OptedOut          Outcome = "opted_out"
	MergedAway        Outcome = "merged"
	Duplicate         Outcome = "duplicate"
	NudgeSent         Outcome = "nudge_sent"
	NudgeSkipped      Outcome = "nudge_skipped"
)

// Path says how a turn's reply left.
type Path string

// The paths. A turn's path is fixed by the transaction that settles it.
const (
	Inline Path = "inline" // in the HTTP response
	Outbox Path = "outbox" // deferred to the outbox
	Silent Path = "silent" // nothing was said, on purpose
)

// EscalationReason is why a turn went to a person.
type EscalationReason string

// The first six are the model's to choose; the rest are the server's own.
const (
	PriceNegotiation EscalationReason = "price_negotiation"
	Complaint        EscalationReason = "complaint"
	OutOfScope       EscalationReason = "out_of_scope"
	ExplicitRequest  EscalationReason = "explicit_request"
	LowConfidence    EscalationReason = "low_confidence"
	PaymentReported  EscalationReason = "payment_reported"

	ByKeyword   EscalationReason = "keyword"
	ByRateLimit EscalationReason = "rate_limit"
	ByTurnCap   EscalationReason = "turn_cap"
	ByBudget    EscalationReason = "budget"
	ByMedia     EscalationReason = "media"
	ByOverload  EscalationReason = "overload"
	ByError     EscalationReason = "error"
)

// ModelReasons lists the reasons a model may give.
func ModelReasons() []EscalationReason {
	return []EscalationReason{PriceNegotiation, Complaint, OutOfScope, ExplicitRequest, LowConfidence, PaymentReported}
}

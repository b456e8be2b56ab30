package contact

import "slices"

// Intent is whether the contact means to buy. The zero value is unknown.
type Intent string

// The two values an intent field may hold; they only ever move forward.
const (
	NotProspect Intent = "not_prospect"
	Prospect    Intent = "prospect"
)

// FunnelStage is how far a sale has come. The zero value is unknown.
type FunnelStage string

// The stages, in order.
const (
	New        FunnelStage = "new"
	Qualifying FunnelStage = "qualifying"
	Nurturing  FunnelStage = "nurturing"
	Offered    FunnelStage = "offered"
	Prepared   FunnelStage = "prepared"
	LinkSent   FunnelStage = "link_sent"
)

// FunnelStages lists the stages in the order a sale walks through them.
func FunnelStages() []FunnelStage {
	return []FunnelStage{New, Qualifying, Nurturing, Offered, Prepared, LinkSent}
}

// Intents lists the values of an intent field, in order.
func Intents() []Intent { return []Intent{NotProspect, Prospect} }

// Before reports whether a stage comes before another. Unknown is before all of them.
func (s FunnelStage) Before(other FunnelStage) bool {
	all := FunnelStages()
	return slices.Index(all, s) < slices.Index(all, other)
}

// Before reports whether an intent comes before another. Unknown is before both.
func (i Intent) Before(other Intent) bool {
	all := Intents()
	return slices.Index(all, i) < slices.Index(all, other)
}

// Sale is what is known of a contact who may buy (docs/spec/08-sales.md): what their own action
// records say was performed, and the offering that a request of theirs named.
type Sale struct {
	Intent   Intent
	Stage    FunnelStage
	Offering string // id; empty: none
	// Chosen says that the agent wrote the offering; else a request named it, as one that comes
	// through an offering's advert does.
	Chosen bool
	// OpeningOver says that the opening is not sent any more: the turn that found the contact to
	// be a prospect went to a person.
	OpeningOver bool
}

// Prospect reports whether the contact means to buy. One who is past the first stage without
// a word about it does.
func (s Sale) Prospect() bool {
	return s.Intent == Prospect || s.Intent == "" && New.Before(s.Stage)
}

// Moved is the sale after a marked field was set, which moves no intent and no stage back.
func (s Sale) Moved(m Mark, value string) Sale {
	switch m {
	case MarkIntent:
		if s.Intent.Before(Intent(value)) {
			s.Intent = Intent(value)
		}
	case MarkFunnel:
		if s.Stage.Before(FunnelStage(value)) {
			s.Stage = FunnelStage(value)
		}
	case MarkOffering:
		s.Offering, s.Chosen = value, true
	}
	return s
}

// Mark says which part a field has in the sale; empty: none.
type Mark string

// The marks of docs/spec/08-sales.md, "Markers (each rule is a load failure)".
const (
	MarkIntent   Mark = "intent"
	MarkFunnel   Mark = "funnel"
	MarkOffering Mark = "offering"
)

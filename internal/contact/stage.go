package contact

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

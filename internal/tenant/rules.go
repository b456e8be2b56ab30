package tenant

import "time"

// Rules is rules.json: the copy the service itself sends, thresholds and limits. The
// defaults are those of docs/spec/10-config.md.
type Rules struct {
	Schema                  string          `json:"$schema,omitempty" jsonschema_description:"The editor schema of this file."`
	Messages                Messages        `json:"messages" jsonschema:"required" jsonschema_description:"Texts the service sends without asking the model."`
	ConfidenceThreshold     float64         `json:"confidenceThreshold,omitempty" jsonschema:"default=0.6,minimum=0,maximum=1" jsonschema_description:"A reply the model is less sure of goes to a person."`
	MaxTurnsPerConversation int             `json:"maxTurnsPerConversation,omitempty" jsonschema:"default=25,minimum=1" jsonschema_description:"Messages of one conversation before a person is asked to take over."`
	IdleResetHours          float64         `json:"idleResetHours,omitempty" jsonschema:"default=24,exclusiveMinimum=0" jsonschema_description:"Silence, in hours, after which maxTurnsPerConversation counts anew."`
	HistoryDays             float64         `json:"historyDays,omitempty" jsonschema:"default=30,exclusiveMinimum=0" jsonschema_description:"How far back, in days, the model reads a conversation."`
	EscalationKeywords      []string        `json:"escalationKeywords,omitempty" jsonschema:"minLength=1" jsonschema_description:"Words and phrases that hand the conversation to a person at once. Case, accents and width do not matter."`
	OpeningTrigger          *OpeningTrigger `json:"openingTrigger,omitempty" jsonschema_description:"A scripted answer to the message that an advert or a button fills in."`
	Budget                  Budget          `json:"budget,omitempty" jsonschema_description:"What the model may cost a day (UTC)."`
	RateLimit               RateLimit       `json:"rateLimit,omitempty" jsonschema_description:"How often one contact is answered."`
	PriceGuard              PriceGuard      `json:"priceGuard,omitempty" jsonschema:"default=escalate,enum=escalate,enum=flag,enum=off" jsonschema_description:"What happens to a reply with an amount the catalog does not hold."`
	EscalationQuietMinutes  int             `json:"escalationQuietMinutes,omitempty" jsonschema:"default=0,minimum=0" jsonschema_description:"For how long the escalation text is not repeated to a contact who waits; 0 repeats it always."`
	UseFirstName            bool            `json:"useFirstName,omitempty" jsonschema:"default=false" jsonschema_description:"Whether the model is told the contact's first name."`
	Timezone                string          `json:"timezone,omitempty" jsonschema:"default=UTC,minLength=1" jsonschema_description:"IANA time zone of the prompt's date and of reports."`
	Handoff                 *Handoff        `json:"handoff,omitempty" jsonschema_description:"Who is told of an escalation, and how."`
	OptOutKeywords          []string        `json:"optOutKeywords,omitempty" jsonschema:"minLength=1" jsonschema_description:"Whole messages by which a contact ends all messages."`
	OptInKeywords           []string        `json:"optInKeywords,omitempty" jsonschema:"minLength=1" jsonschema_description:"Whole messages by which a contact takes that back."`
	Audience                Audience        `json:"audience,omitempty" jsonschema_description:"Whom the agent answers."`
	BusinessHours           *BusinessHours  `json:"businessHours,omitempty" jsonschema_description:"When people answer."`
	Learning                *Learning       `json:"learning,omitempty" jsonschema_description:"Proposals learned from paid outcomes; needs a funnel field in tools.json."`
}

// Handover is what a contact reads when a person takes over at an instant: outside of the
// business's hours it is their message, where they have one.
func (r *Rules) Handover(at time.Time) string {
	if h := r.BusinessHours; h != nil && h.OutsideMessage != "" && !h.Open(at) {
		return h.OutsideMessage
	}
	return r.Messages.Escalation
}

// Messages is the copy a contact may read that no model wrote.
type Messages struct {
	Acknowledgement string `json:"acknowledgement" jsonschema:"required,minLength=1" jsonschema_description:"Sent when the answer takes longer than the channel waits."`
	Escalation      string `json:"escalation" jsonschema:"required,minLength=1" jsonschema_description:"Sent when a person takes over."`
	MediaFallback   string `json:"mediaFallback,omitempty" jsonschema:"minLength=1" jsonschema_description:"Sent for media the agent cannot read."`
	Closer          string `json:"closer,omitempty" jsonschema:"minLength=1" jsonschema_description:"Sent instead of a repeated answer to a closing word."`
	OptOut          string `json:"optOut,omitempty" jsonschema:"minLength=1" jsonschema_description:"Sent once to a contact who ends all messages."`
}

// OpeningTrigger is a scripted answer: no model is asked.
type OpeningTrigger struct {
	Keywords []string `json:"keywords" jsonschema:"required,minItems=1,minLength=1" jsonschema_description:"Whole messages that get the answer."`
	Message  string   `json:"message" jsonschema:"required,minLength=1" jsonschema_description:"The answer."`
}

// Budget bounds what the model costs in a UTC day.
type Budget struct {
	DailyTokenCap   int64                 `json:"dailyTokenCap,omitempty" jsonschema:"default=1000000,minimum=1" jsonschema_description:"Tokens a day, in and out."`
	DailyCostCapUSD float64               `json:"dailyCostCapUsd,omitempty" jsonschema:"default=5,exclusiveMinimum=0" jsonschema_description:"US dollars a day."`
	WarnAt          float64               `json:"warnAt,omitempty" jsonschema:"default=0.8,exclusiveMinimum=0,maximum=1" jsonschema_description:"Share of a cap at which a warning is logged."`
	Prices          map[string]ModelPrice `json:"prices,omitempty" jsonschema_description:"Prices of models by provider:model; they win over the built-in ones."`
}

// ModelPrice is in US dollars per million tokens.
type ModelPrice struct {
	Input  float64  `json:"input" jsonschema:"required,minimum=0" jsonschema_description:"US dollars per million tokens read."`
	Output float64  `json:"output" jsonschema:"required,minimum=0" jsonschema_description:"US dollars per million tokens written."`
	Cached *float64 `json:"cached,omitempty" jsonschema:"minimum=0" jsonschema_description:"US dollars per million tokens read from the provider's cache; input's price when left out."`
}

// RateLimit bounds one contact.
type RateLimit struct {
	TurnsPerSubscriberPerHour int `json:"turnsPerSubscriberPerHour,omitempty" jsonschema:"default=60,minimum=1" jsonschema_description:"Messages of one contact answered in an hour."`
}

// PriceGuard says what happens to a reply with an amount that is not in the catalog.
type PriceGuard string

// The settings of the price guard; docs/spec/04-agent.md, "Guardrails".
const (
	PriceGuardEscalate PriceGuard = "escalate"
	PriceGuardFlag     PriceGuard = "flag"
	PriceGuardOff      PriceGuard = "off"
)

// Handoff is what an escalation does besides answering the contact.
type Handoff struct {
	Tag        string  `json:"tag,omitempty" jsonschema:"minLength=1" jsonschema_description:"Name of the ManyChat tag that is added."`
	FlowNs     string  `json:"flowNs,omitempty" jsonschema:"pattern=^[A-Za-z0-9_]+$" expect:"the namespace of a flow, such as content20260101000000_000001, which is the last part of its address in the browser: letters, digits and _ only" jsonschema_description:"Namespace of the ManyChat flow that is triggered."`
	Webhook    string  `json:"webhook,omitempty" jsonschema:"format=uri,pattern=^https://" expect:"an https URL" jsonschema_description:"Address a signed notice is posted to; https."`
	PauseHours float64 `json:"pauseHours,omitempty" jsonschema:"minimum=0,maximum=720" jsonschema_description:"Hours the agent stays silent after an escalation; 0 does not pause it."`
}

// Learning is docs/spec/18-learning.md.
type Learning struct {
	Language      string  `json:"language" jsonschema:"required,minLength=1" jsonschema_description:"Language of the proposals, as the model is told it."`
	ConvertedTag  string  `json:"convertedTag" jsonschema:"required,minLength=1" jsonschema_description:"Name of the ManyChat tag a paying contact carries."`
	MaxRunCostUSD float64 `json:"maxRunCostUsd" jsonschema:"required,exclusiveMinimum=0" jsonschema_description:"Most a weekly run may cost, in US dollars."`
}

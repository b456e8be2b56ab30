package tenant

import (
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
)

// Tools is tools.json: what the agent may do in the tenant's ManyChat account. The
// model sees ids and descriptions; flow namespaces, tag and field names stay here.
type Tools struct {
	Schema   string   `json:"$schema,omitempty" jsonschema_description:"The editor schema of this file."`
	Flows    []Flow   `json:"flows,omitempty" jsonschema_description:"Flows the agent may send."`
	Tags     []Tag    `json:"tags,omitempty" jsonschema_description:"Tags the agent may add and remove."`
	Fields   []Field  `json:"fields,omitempty" jsonschema_description:"Custom fields the agent may set to one of their values."`
	Readable Readable `json:"readable,omitempty" jsonschema_description:"Tags and fields the agent may only read."`
	Notes    []Note   `json:"notes,omitempty" jsonschema_description:"Custom fields the agent may write free text into, for people to read."`
	Nudge    *Nudge   `json:"nudge,omitempty" jsonschema_description:"The one follow-up the agent may schedule for a contact who went quiet."`
	Events   []Event  `json:"events,omitempty" jsonschema_description:"Flows the server fires when a contact reaches a stage."`
}

// Flow is a ManyChat flow that the agent, or a rule of the sale, may send.
type Flow struct {
	ID            string              `json:"id" jsonschema:"required,pattern=^[a-z0-9][a-z0-9_-]*$" expect:"an id of lower-case letters, digits, _ and -" jsonschema_description:"Id, unique among the flows."`
	FlowNs        string              `json:"flowNs" jsonschema:"required,pattern=^[A-Za-z0-9_]+$" expect:"the namespace of a flow, such as content20260101000000_000001, which is the last part of its address in the browser: letters, digits and _ only" jsonschema_description:"The flow's namespace in ManyChat; no other entry has it."`
	Description   string              `json:"description" jsonschema:"required,minLength=1" jsonschema_description:"What it contains and when to send it; the model reads this."`
	SettleSeconds float64             `json:"settleSeconds,omitempty" jsonschema:"default=0,minimum=0,maximum=30" jsonschema_description:"How long it plays, in seconds; the reply waits for it."`
	Role          FlowRole            `json:"role,omitempty" jsonschema:"enum=payment_link,enum=opening" jsonschema_description:"The flow's part in a sale."`
	OnStage       contact.FunnelStage `json:"onStage,omitempty" jsonschema:"enum=qualifying,enum=nurturing,enum=offered,enum=prepared" jsonschema_description:"The stage whose first reaching sends the flow."`
	Offering      string              `json:"offering,omitempty" jsonschema:"minLength=1" jsonschema_description:"Id of the only offering the flow is about."`
	Repeatable    bool                `json:"repeatable,omitempty" jsonschema:"default=false" jsonschema_description:"Whether a contact may get it more than once."`
}

// Settle is how long the flow plays.
func (f Flow) Settle() time.Duration {
	return time.Duration(f.SettleSeconds * float64(time.Second))
}

// Again reports whether a contact may get the flow a second time. The link to pay goes to
// whoever asks for it.
func (f Flow) Again(contactAsked bool) bool {
	return f.Repeatable || f.Role == RolePaymentLink && contactAsked
}

// FlowRole is a flow's part in a sale.
type FlowRole string

// The roles of docs/spec/08-sales.md.
const (
	RolePaymentLink FlowRole = "payment_link"
	RoleOpening     FlowRole = "opening"
)

// Tag is a ManyChat tag that the agent may add and remove.
type Tag struct {
	ID          string `json:"id" jsonschema:"required,pattern=^[a-z0-9][a-z0-9_-]*$" expect:"an id of lower-case letters, digits, _ and -" jsonschema_description:"Id, unique among tags and readable tags."`
	Tag         string `json:"tag" jsonschema:"required,minLength=1" jsonschema_description:"The tag's name in ManyChat; no other entry has it."`
	Description string `json:"description" jsonschema:"required,minLength=1" jsonschema_description:"What it means and when to add or remove it; the model reads this."`
}

// Field is a ManyChat custom field that the agent may set to a configured value.
type Field struct {
	ID          string   `json:"id" jsonschema:"required,pattern=^[a-z0-9][a-z0-9_-]*$" expect:"an id of lower-case letters, digits, _ and -" jsonschema_description:"Id, unique among fields and readable fields."`
	Field       string   `json:"field" jsonschema:"required,minLength=1" jsonschema_description:"The custom field's name in ManyChat."`
	Values      []string `json:"values" jsonschema:"required,minItems=1,uniqueItems=true,minLength=1" jsonschema_description:"The values it may be set to."`
	Description string   `json:"description" jsonschema:"required,minLength=1" jsonschema_description:"What it means and when to set it; the model reads this."`
	Intent      bool     `json:"intent,omitempty" jsonschema:"default=false" jsonschema_description:"Marks the field that says whether the contact means to buy."`
	Funnel      bool     `json:"funnel,omitempty" jsonschema:"default=false" jsonschema_description:"Marks the field that says how far a sale has come."`
	Offering    bool     `json:"offering,omitempty" jsonschema:"default=false" jsonschema_description:"Marks the field that says which offering the contact wants."`
}

// Readable is what get_contact may show besides the writable tags and fields.
type Readable struct {
	Tags   []ReadableTag   `json:"tags,omitempty" jsonschema_description:"Tags the agent may only read."`
	Fields []ReadableField `json:"fields,omitempty" jsonschema_description:"Custom fields the agent may only read."`
}

// ReadableTag is a tag that the agent may only read.
type ReadableTag struct {
	ID          string `json:"id" jsonschema:"required,pattern=^[a-z0-9][a-z0-9_-]*$" expect:"an id of lower-case letters, digits, _ and -" jsonschema_description:"Id, unique among tags and readable tags."`
	Tag         string `json:"tag" jsonschema:"required,minLength=1" jsonschema_description:"The tag's name in ManyChat; no other entry has it."`
	Description string `json:"description,omitempty" jsonschema:"minLength=1" jsonschema_description:"What it means; the model reads this."`
}

// ReadableField is a field that the agent may only read; a value that is not listed
// is shown as "other".
type ReadableField struct {
	ID          string   `json:"id" jsonschema:"required,pattern=^[a-z0-9][a-z0-9_-]*$" expect:"an id of lower-case letters, digits, _ and -" jsonschema_description:"Id, unique among fields and readable fields."`
	Field       string   `json:"field" jsonschema:"required,minLength=1" jsonschema_description:"The custom field's name in ManyChat."`
	Values      []string `json:"values" jsonschema:"required,minItems=1,uniqueItems=true,minLength=1" jsonschema_description:"The values the model is told by name."`
	Description string   `json:"description,omitempty" jsonschema:"minLength=1" jsonschema_description:"What it means; the model reads this."`
}

// Note is a custom field that the agent may write free text into, for people to read.
type Note struct {
	ID            string `json:"id" jsonschema:"required,pattern=^[a-z0-9][a-z0-9_-]*$" expect:"an id of lower-case letters, digits, _ and -" jsonschema_description:"Id, unique among the notes."`
	Field         string `json:"field" jsonschema:"required,minLength=1" jsonschema_description:"The custom field's name in ManyChat."`
	MaxLength     int    `json:"maxLength" jsonschema:"required,minimum=1,maximum=500" jsonschema_description:"Most characters of a note."`
	NeverRendered bool   `json:"neverRendered" jsonschema:"required,enum=true" jsonschema_description:"Literally true: your word that no flow shows this field to a contact."`
	Description   string `json:"description" jsonschema:"required,minLength=1" jsonschema_description:"What belongs in it and when to write it; the model reads this."`
	OnEscalation  bool   `json:"onEscalation,omitempty" jsonschema:"default=false" jsonschema_description:"Whether it is written even when the model hands the conversation over."`
}

// Nudge is the one message the agent may start; docs/spec/09-nudge.md.
type Nudge struct {
	Delays         []Delay `json:"delays" jsonschema:"required,minItems=1" jsonschema_description:"The delays the model may choose from."`
	HumanActiveTag string  `json:"humanActiveTag,omitempty" jsonschema:"minLength=1" jsonschema_description:"Name of the ManyChat tag a contact carries while a person has the conversation."`
}

// Delay is how long after the contact's last message a nudge is due.
type Delay struct {
	ID          string `json:"id" jsonschema:"required,pattern=^[a-z0-9][a-z0-9_-]*$" expect:"an id of lower-case letters, digits, _ and -" jsonschema_description:"Id, unique among the delays."`
	Minutes     int    `json:"minutes" jsonschema:"required,minimum=1,maximum=1380" jsonschema_description:"Minutes after the contact's last message; WhatsApp's window is 1440."`
	Description string `json:"description,omitempty" jsonschema:"minLength=1" jsonschema_description:"When to choose it; the model reads this."`
}

// Event is a flow that the server fires when a contact reaches a stage.
type Event struct {
	ID     string              `json:"id" jsonschema:"required,pattern=^[a-z0-9][a-z0-9_-]*$" expect:"an id of lower-case letters, digits, _ and -" jsonschema_description:"Id, unique among the events."`
	Stage  contact.FunnelStage `json:"stage" jsonschema:"required,enum=qualifying,enum=nurturing,enum=offered,enum=prepared,enum=link_sent" jsonschema_description:"The stage whose reaching fires it."`
	FlowNs string              `json:"flowNs" jsonschema:"required,pattern=^[A-Za-z0-9_]+$" expect:"the namespace of a flow, such as content20260101000000_000001, which is the last part of its address in the browser: letters, digits and _ only" jsonschema_description:"The flow's namespace in ManyChat; no other entry has it."`
}

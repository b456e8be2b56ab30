// Package conversation holds the words for an exchange between a contact and the
// agent: the conversation row, a turn with its states and outcomes, and the entries
// of history that a model reads. It is pure values; nothing here does I/O.
package conversation

import (
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
)

// Conversation is the one row per tenant, channel and contact.
type Conversation struct {
	ID          string
	Key         contact.Key
	LastSentAt  time.Time // when ManyChat last took a text for the contact; zero: never
	PausedUntil time.Time // a person has the conversation until then; zero: nobody
	contact.Sale
	NeedsPerson bool      // a reply was dead-lettered and nobody looked yet
	OptedOutAt  time.Time // when the contact asked not to be written to; zero: they did not, or took it back

	HistoryFrom   int64     // the first place of the contact's order that their history holds
	HandoffSaidAt time.Time // when the contact was last told that a person takes over; zero: never
	NotifiedAt    time.Time // when the business was last told of a handoff; zero: never

	PausedFrom int64     // the first place of the contact's order that a pause holds
	AnsweredAt time.Time // when a person last marked the conversation as answered; zero: never
	TagReadAt  time.Time // when ManyChat was last asked for the tag of an active person; zero: never
	TagActive  bool      // whether the contact carried it then

	// Nudged says that a nudge may be planned, under way or on its way to the contact, whose next
	// message calls it off.
	Nudged bool
}

// Paused reports whether a person has the conversation at now.
func (c Conversation) Paused(now time.Time) bool { return now.Before(c.PausedUntil) }

// Holds reports whether a pause at now holds what has a place in the contact's order.
func (c Conversation) Holds(seq int64, now time.Time) bool {
	return c.Paused(now) && seq >= c.PausedFrom
}

// Taken reports whether a person has what has a place in the contact's order: the conversation
// is paused, or, where the business has a tag for that, the contact carried it last.
func (c Conversation) Taken(seq int64, now time.Time, tagged bool) bool {
	return c.Holds(seq, now) || tagged && c.TagActive
}

// Wish is what a contact's messages say about being written to; zero: nothing.
type Wish struct {
	Out  bool      // they ask not to be, and had not before
	Back time.Time // the opt-out that they take back; zero: none
}

// Mute reports whether nothing may be sent to the contact, with what the messages at hand say
// about that.
func (c Conversation) Mute(w Wish) bool {
	return w.Out || !c.OptedOutAt.IsZero() && !c.OptedOutAt.Equal(w.Back)
}

// Role says who an entry of a turn belongs to.
type Role string

// The two roles of a turn's rows.
const (
	ByContact Role = "contact"
	ByAgent   Role = "agent"
)

// Entry is one entry of history as a model reads it, oldest first.
type Entry struct {
	Role    Role
	Text    string
	At      time.Time
	Actions []action.Record // agent entries: what the turn did besides replying
}

// Repeats reports whether the contact's last message of a history was the same as text.
func Repeats(history []Entry, text string) bool {
	for _, e := range slices.Backward(history) {
		if e.Role == ByContact {
			return e.Text == text
		}
	}
	return false
}

// Turn is the agent row of one exchange together with the text it answers.
type Turn struct {
	ID             string
	ConversationID string
	Key            contact.Key
	Seq            int64 // place in the contact's order
	State          State
	Owner          string // process that works on it; empty: none
	Attempt        int    // starts so far, 1 at the first
	Nudge          bool   // it follows up on a contact who went quiet, and answers no message
	Bound          bool   // it reads and extends history: its request carried the contact's token, or did not have to
	Text           string // what the contact wrote
	FirstName      string // the contact's, only where the tenant's rules use it
	Replies        []string
	Outcome        Outcome
	Path           Path
	Reason         EscalationReason // non-empty exactly when the turn escalated
	Model          string           // provider:model; empty: no model ran
	PromptVersion  string           // hash of the prompt's static part
	Spend          Spend
	Timings        Timings
	Confidence     *float64 // the model's own; nil: no model reply
	Interventions  []string
	Actions        []action.Record // nil: no tool was offered; empty: none was chosen
	Calls          []action.Call   // the trace of the model's tool calls, in their order
	ReceivedAt     time.Time       // the handler's start
	SettledAt      time.Time
	RespondedAt    time.Time // when the response was written; zero: it was not
	MergedInto     string    // the turn that answers the message instead; empty: this one does, or none
}

// Spend is what a turn's model calls used.
type Spend struct {
	TokensIn     int64 `json:"tokensIn"` // cached ones included
	TokensCached int64 `json:"tokensCached"`
	TokensOut    int64 `json:"tokensOut"`
	CostMicros   int64 `json:"costMicros"` // micro-dollars
}

// Timings are the parts of a turn's time, each in microseconds on the wire and in
// the database.
type Timings struct {
	Record Micros   `json:"record"`          // from the handler's start to the recorded message
	Wait   Micros   `json:"wait,omitempty"`  // for the contact's earlier turn
	Steps  []Micros `json:"steps,omitempty"` // each step of the model loop
	Hold   Micros   `json:"hold,omitempty"`  // waiting for the gap after an earlier text
	Total  Micros   `json:"total"`           // from the handler's start to the settled reply
}

// Micros is a duration kept in whole microseconds.
type Micros int64

// Since is the time from start to now in whole microseconds.
func Since(start, now time.Time) Micros { return Micros(now.Sub(start).Microseconds()) }

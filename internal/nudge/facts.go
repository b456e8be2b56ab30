package nudge

import (
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
)

// Window is how long behind the contact's last message a nudge may go out (docs/spec/09-nudge.md):
// a quarter of an hour less than the 24 hours in which WhatsApp takes a text.
const Window = 1425 * time.Minute

// Tag is what is known of the tag that the business's people set while they have a contact.
type Tag int

// A tag was not asked for where the business has none, and before it is.
const (
	TagUnasked Tag = iota
	TagAbsent
	TagCarried
	TagUnread // ManyChat did not say
)

// Facts are what is known of a nudge that is pending or under way, and of its contact.
type Facts struct {
	Now       time.Time
	PlannedAt time.Time
	MessageAt time.Time // the contact's last message when it was planned
	Wrote     bool      // the contact has written since, or a turn of theirs is not over
	HandoffAt time.Time // when the contact was last told that a person takes over; zero: never
	Paused    bool      // a person has the conversation, or the agent does not answer the contact
	OptedOut  bool
	Stage     contact.FunnelStage
	OverCap   bool // of the contact's turns, or of the day's budget
	Tag       Tag
}

// CalledOff is what calls a nudge off, the first reason of the list that holds; ok is false
// when none does.
func (f Facts) CalledOff() (reason Reason, ok bool) {
	for _, r := range rules() {
		if r.holds(f) {
			return r.reason, true
		}
	}
	return "", false
}

// rule is a reason and when it holds.
type rule struct {
	reason Reason
	holds  func(Facts) bool
}

// rules lists the reasons: first what the contact did, then what people did, then what the
// server counts, and last what has to be asked for.
func rules() []rule {
	return []rule{
		{ContactReplied, func(f Facts) bool { return f.Wrote }},
		{OptedOut, func(f Facts) bool { return f.OptedOut }},
		{Paused, func(f Facts) bool { return f.Paused }},
		{Escalated, func(f Facts) bool { return f.HandoffAt.After(f.PlannedAt) }},
		{LinkSent, func(f Facts) bool { return f.Stage == contact.LinkSent }},
		{WindowClosing, func(f Facts) bool { return f.Now.After(f.Until()) }},
		{CapReached, func(f Facts) bool { return f.OverCap }},
		{ReadFailed, func(f Facts) bool { return f.Tag == TagUnread }},
		{HumanActive, func(f Facts) bool { return f.Tag == TagCarried }},
	}
}

// Until is when the nudge may go out at the latest.
func (f Facts) Until() time.Time { return f.MessageAt.Add(Window) }

// Package limit says which of a tenant's limits on a contact's messages a turn is over. It
// is pure: what was read decides.
package limit

import (
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// The windows of docs/spec/06-contact.md, "Caps, all before the model runs, all escalating".
const (
	rateWindow = time.Hour
	capWindow  = 24 * time.Hour // the longest a conversation lasts for its turn cap
)

// Recent is how many of a contact's earlier messages a tenant's limits look at.
func Recent(t *tenant.Tenant) int {
	return max(t.Rules.RateLimit.TurnsPerSubscriberPerHour, t.Rules.MaxTurnsPerConversation)
}

// Over says which limit a turn is over. Bound and unbound turns are counted apart, by what
// was read into recent, the arrivals before it, newest first; the cap is of bound ones, and of
// those since a person answered the contact.
func Over(rules tenant.Rules, t conversation.Turn, recent []time.Time, answered time.Time) (conversation.EscalationReason, bool) {
	at := t.ReceivedAt
	if 1+since(recent, at.Add(-rateWindow), at) > rules.RateLimit.TurnsPerSubscriberPerHour {
		return conversation.ByRateLimit, true
	}
	idle := time.Duration(rules.IdleResetHours * float64(time.Hour))
	if t.Bound && 1+sinceGap(recent, at, answered, idle) > rules.MaxTurnsPerConversation {
		return conversation.ByTurnCap, true
	}
	return "", false
}

// since counts the arrivals after an instant and up to another. What is later is from
// before a clock was set back.
func since(recent []time.Time, after, at time.Time) (n int) {
	for _, t := range recent {
		if t.After(after) && !t.After(at) {
			n++
		}
	}
	return n
}

// sinceGap counts the arrivals of the conversation that goes on at an instant: back to
// a gap of idle or to a person's answer, and no further than [capWindow].
func sinceGap(recent []time.Time, at, answered time.Time, idle time.Duration) (n int) {
	start, later := at.Add(-capWindow), at
	if answered.After(start) {
		start = answered
	}
	for _, t := range recent {
		if t.After(at) {
			continue // from before a clock was set back
		}
		if !t.After(start) || later.Sub(t) >= idle {
			break
		}
		n++
		later = t
	}
	return n
}

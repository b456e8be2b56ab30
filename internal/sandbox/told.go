package sandbox

import (
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// told is a turn as the page tells it, with what the emulated account knows of it besides;
// the newest one is told in full.
type told struct {
	Turn
	Newest  bool
	Acked   time.Time // when the acknowledgement was on the phone; zero: it was not
	Arrived time.Time // when the end of what the outbox delivers was
}

// AckedFirst reports whether the acknowledgement came before the turn was decided.
func (t told) AckedFirst() bool {
	return !t.Acked.IsZero() && (t.SettledAt.IsZero() || !t.Acked.After(t.SettledAt))
}

// AckedLast reports whether it came behind that.
func (t told) AckedLast() bool { return !t.Acked.IsZero() && !t.AckedFirst() }

// Since is an instant as the timeline shows it.
func (t told) Since(at time.Time) string { return t.since(at) }

// onTheWay is how long a request takes to the service at most: one that began earlier is
// another message's.
const onTheWay = 2 * time.Second

// acknowledged is when the response to the turn's message was shown, if that was not the
// reply.
func (t Turn) acknowledged(all []manychattest.Exchange) (at time.Time) {
	var own manychattest.Exchange
	for _, e := range all {
		took := t.ReceivedAt.Sub(e.Started.Truncate(time.Millisecond))
		if took >= 0 && took < onTheWay && e.Started.After(own.Started) {
			own = e
		}
	}
	if t.Path == "inline" || len(own.Shown) == 0 {
		return at
	}
	return own.Shown[0].At
}

// arrived is when the end of a turn's reply came by the reply flow.
func (p *Page) arrived(t Turn, chat []bubble) (at time.Time) {
	for _, b := range chat {
		if t.SettledAt.IsZero() || b.Via != phone.ViaFlow || b.Flow != p.cfg.Account.replyFlow || b.At.Before(t.SettledAt) {
			continue
		}
		if i := slices.Index(t.Replies, b.Text); i >= 0 {
			at = b.At
			if i == len(t.Replies)-1 {
				break
			}
		}
	}
	return at
}

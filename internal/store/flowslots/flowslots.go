// Package flowslots counts the flows that each contact is sent, so that none is sent more
// within an hour than ManyChat allows, whichever process sends them. A flow is counted in
// the transaction that decides about it, before its request.
package flowslots

import (
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
)

const (
	perHour = 100 // flows to one contact, as ManyChat states it
	// slot is how long flows are counted together. Those of a slot that an hour touches count
	// as if all of them were in it.
	slot = 10 * time.Minute
	// late is how long behind its count a flow's request may leave at most: a text waits for
	// its field's write and for its own call, 30 s each.
	late = 2 * time.Minute
	span = time.Hour + late
)

// countFlow locks the contact's slot, so that what is read behind it is whole.
const countFlow = `
INSERT INTO flow_slots (tenant_id, subscriber_id, slot, flows) VALUES ($1, $2, $3, 1)
ON CONFLICT (tenant_id, subscriber_id, slot) DO UPDATE SET flows = flow_slots.flows + 1
RETURNING flows`

// selectSlots takes the first and the last slot. What is later was written before the clock
// was set back, and holds nobody.
const selectSlots = `
SELECT slot, flows FROM flow_slots
WHERE tenant_id = $1 AND subscriber_id = $2 AND slot >= $3 AND slot <= $4 ORDER BY slot`

const deleteOld = `
DELETE FROM flow_slots WHERE tenant_id = $1 AND subscriber_id = $2 AND slot < $3`

const giveBack = `
UPDATE flow_slots SET flows = flows - 1
WHERE tenant_id = $1 AND subscriber_id = $2 AND slot = $3 AND flows > 0`

// Limit is how many flows one contact is sent within an hour at most.
type Limit int

// Scaled is ManyChat's limit times MANYCHAT_RPS_SCALE, and one at least.
func Scaled(scale float64) Limit { return Limit(max(1, perHour*scale)) }

// FullError says that the contact's flows of the hour are used up, and when the next may be
// sent.
type FullError struct{ Until time.Time }

func (e *FullError) Error() string {
	return fmt.Sprintf("the contact's flows of the hour are used up until %s", e.Until.UTC().Format(time.TimeOnly))
}

// Of is the slot of an instant, counted from 1970.
func Of(at time.Time) int64 { return at.UnixMicro() / slot.Microseconds() }

// Count counts a flow that is about to be sent to a contact, whatever the channel, and says
// in which slot. A [FullError] counted nothing.
func (l Limit) Count(tx *groupcommit.Tx, who contact.Key, at time.Time) (in int64, err error) {
	in, first := Of(at), Of(at.Add(-span))
	var flows int64
	if err := tx.QueryRow(countFlow, who.TenantID, string(who.SubscriberID), in).Scan(&flows); err != nil {
		return 0, err
	}
	if flows == 1 {
		if _, err := tx.Exec(deleteOld, who.TenantID, string(who.SubscriberID), first); err != nil {
			return 0, err
		}
	}
	rows, err := tx.Query(selectSlots, who.TenantID, string(who.SubscriberID), first, in+1)
	counted, err := database.Collect(rows, err, scanCounted)
	if err != nil {
		return 0, err
	}
	if until, ok := l.full(counted); ok {
		if err := GiveBack(tx, who, in); err != nil {
			return 0, err
		}
		return 0, &FullError{until}
	}
	return in, nil
}

// GiveBack takes a count back whose flow certainly was not sent.
func GiveBack(tx *groupcommit.Tx, who contact.Key, in int64) error {
	_, err := tx.Exec(giveBack, who.TenantID, string(who.SubscriberID), in)
	return err
}

// counted is how many flows were counted in a slot.
type counted struct{ slot, flows int64 }

func scanCounted(r database.Row) (c counted, err error) {
	err = r.Scan(&c.slot, &c.flows)
	return c, err
}

// full reports whether the last of the flows is one too many, and when there is room for it
// again: when so many slots are over that the rest is inside the limit.
func (l Limit) full(all []counted) (until time.Time, ok bool) {
	over := -int64(l)
	for _, c := range all {
		over += c.flows
	}
	if over <= 0 {
		return until, false
	}
	for _, c := range all {
		until = time.UnixMicro((c.slot + 1) * slot.Microseconds()).Add(span)
		if over -= c.flows; over <= 0 {
			break
		}
	}
	return until, true
}

package acts

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/flowslots"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// claimFlow decides and writes in one statement: of many turns that claim a flow at once,
// one gets it. A limit of NULL lets every send count.
const claimFlow = `
INSERT INTO flow_sends (tenant_id, subscriber_id, flow, turn_id, sent_at)
SELECT tenant_id, subscriber_id, CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS BIGINT) FROM conversations WHERE id = $1
ON CONFLICT (tenant_id, subscriber_id, flow) DO UPDATE
SET turn_id = excluded.turn_id, sent_at = excluded.sent_at, earlier_at = flow_sends.sent_at
WHERE $5 = 1 OR flow_sends.sent_at < $6`

// restoreFlow gives back the right to a flow that the contact was sent before, which stays
// true of it.
const restoreFlow = `
UPDATE flow_sends SET turn_id = NULL, sent_at = earlier_at, earlier_at = NULL
FROM conversations c WHERE c.id = $1 AND ` + theirs + ` AND flow = $2 AND turn_id = $3 AND earlier_at IS NOT NULL`

// theirs are the sends of a conversation's contact.
const theirs = `flow_sends.tenant_id = c.tenant_id AND flow_sends.subscriber_id = c.subscriber_id`

const deleteFlow = `
DELETE FROM flow_sends
WHERE (tenant_id, subscriber_id) = (SELECT tenant_id, subscriber_id FROM conversations WHERE id = $1) AND flow = $2 AND turn_id = $3`

const selectContact = `
SELECT tenant_id, subscriber_id FROM conversations WHERE id = $1`

// selectHeld is the right of a turn to a flow, with its contact.
const selectHeld = `
SELECT flow_sends.tenant_id, flow_sends.subscriber_id, sent_at FROM conversations c JOIN flow_sends ON ` + theirs + `
WHERE c.id = $1 AND flow = $2 AND turn_id = $3`

// selectSent is bounded by how many flows and events a tenant has.
const selectSent = `
SELECT flow, sent_at FROM conversations c JOIN flow_sends ON ` + theirs + `
WHERE c.id = $1 ORDER BY flow`

func claim(tx *groupcommit.Tx, c action.Claim) error {
	taken, err := database.Affected(tx.Exec(claimFlow, c.ConversationID, c.Flow, c.TurnID, column.Micros(c.At),
		column.Flag(c.Repeatable), column.Micros(c.Since)))
	if err == nil && taken == 0 {
		err = action.ErrSent
	}
	return err
}

// CountFlow counts a claimed flow for its contact's limit. [action.ErrFlowLimit] leaves the claim
// to be undone with its transaction.
func (b *Book) CountFlow(tx *groupcommit.Tx, c action.Claim) error {
	var who contact.Key
	if err := tx.QueryRow(selectContact, c.ConversationID).Scan(&who.TenantID, &who.SubscriberID); err != nil {
		return err
	}
	_, err := b.limit.Count(tx, who, c.At)
	if full, ok := errors.AsType[*flowslots.FullError](err); ok {
		return fmt.Errorf("%w: %w", action.ErrFlowLimit, full)
	}
	return err
}

// giveBack may be called again; what is not the turn's to give back stays. What is given back
// was counted when it was claimed.
func giveBack(tx *groupcommit.Tx, c action.Claim) error {
	var who contact.Key
	var sent time.Time
	err := tx.QueryRow(selectHeld, c.ConversationID, c.Flow, c.TurnID).Scan(&who.TenantID, &who.SubscriberID, column.Instant(&sent))
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	given, err := database.Affected(tx.Exec(restoreFlow, c.ConversationID, c.Flow, c.TurnID))
	if err == nil && given == 0 {
		given, err = database.Affected(tx.Exec(deleteFlow, c.ConversationID, c.Flow, c.TurnID))
	}
	if err != nil || given == 0 {
		return err
	}
	return flowslots.GiveBack(tx, who, flowslots.Of(sent))
}

// GiveBack gives back the rights to the flows that a settling turn's record says were not
// sent: the note that should have done it may not have been written.
func GiveBack(tx *groupcommit.Tx, conversationID, turnID string, record []action.Record) error {
	sent := map[string]bool{}
	for _, r := range record {
		sent[r.ID] = sent[r.ID] || r.CountsAsSent()
	}
	for _, r := range record {
		if !certainlyUnsent(r) || sent[r.ID] {
			continue
		}
		if err := giveBack(tx, action.Claim{ConversationID: conversationID, TurnID: turnID, Flow: r.ID}); err != nil {
			return err
		}
	}
	return nil
}

// certainlyUnsent reports whether the record is of a flow that the contact cannot have got.
func certainlyUnsent(r action.Record) bool {
	return r.Tool == action.SendFlow && r.Status == action.Failed && r.Error != action.OutcomeUnknown
}

// Sent are the flows that a contact has, or may have: those of the days that a window's history
// covers, and those that are sent once at any time.
func Sent(tx *groupcommit.Tx, conversationID string, w turn.Window) (flows []string, err error) {
	since := w.HistorySince.UnixMicro() // of a zero time before every send
	found, err := tx.Query(selectSent, conversationID)
	_, err = database.Collect(found, err, func(r database.Row) (none struct{}, err error) {
		var flow string
		var at int64
		err = r.Scan(&flow, &at)
		if (at >= since || slices.Contains(w.Once, flow)) && !strings.HasPrefix(flow, action.EventClaim("")) {
			flows = append(flows, flow)
		}
		return none, err
	})
	return flows, err
}

package queue

import (
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/acts"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
)

// selectUnsent reads the reply rows of a contact that no worker has in hand.
const selectUnsent = `
SELECT ` + Columns + ` FROM outbox
WHERE conversation_id = $1 AND kind = 'reply' AND status IN ('pending', 'delivering') AND status = 'pending'
ORDER BY seq, part`

const keepRowBack = `
UPDATE outbox SET status = $2 WHERE id = $1 AND status = 'pending'`

// Withhold keeps back every reply of a conversation that is pending, with its actions, and
// brings up to date what their turns said. A row that is being delivered is its worker's to
// keep back. The caller has locked the conversation.
func Withhold(tx *groupcommit.Tx, conversationID string) (withheld int, err error) {
	return keepBack(tx, conversationID, outbox.Withheld)
}

// Discard gives the same replies up for good.
func Discard(tx *groupcommit.Tx, conversationID string) (discarded int, err error) {
	return keepBack(tx, conversationID, outbox.Discarded)
}

func keepBack(tx *groupcommit.Tx, conversationID string, as outbox.Status) (kept int, err error) {
	found, err := tx.Query(selectUnsent, conversationID)
	rows, err := database.Collect(found, err, Scan)
	if err != nil {
		return 0, err
	}
	for _, r := range rows {
		changed, err := database.Affected(tx.Exec(keepRowBack, r.ID, string(as)))
		if err != nil {
			return kept, err
		}
		if changed == 0 {
			continue // claimed meanwhile
		}
		kept++
		r.Status = as
		if err := acts.Release(tx, r, nil); err != nil {
			return kept, err
		}
		if err := unsaid(tx, r.TurnID); err != nil {
			return kept, err
		}
	}
	return kept, nil
}

package queue

import (
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
)

// What is here runs where others write at the same time, on PostgreSQL alone: SKIP LOCKED and
// ANY are not in the dialect that both databases share.
//
// Whoever decides about a contact by what it reads locks the contact's conversation first,
// so that one of them after the other decides: locks go conversation, turn, outbox. Two do it the
// other way round and still wait for nobody: a claim skips what is locked, and a row in hand, which
// its worker releases before it locks the conversation, is written by no other transaction.

// lockDue locks due rows and their conversations, without waiting for those that are in
// somebody's hands: another worker's, or a turn's that settles.
const lockDue = `
SELECT o.id` + dueRows + `
ORDER BY o.next_attempt_at, o.seq LIMIT CAST($5 AS BIGINT)
FOR UPDATE OF o SKIP LOCKED FOR NO KEY UPDATE OF c SKIP LOCKED`

// claimLocked looks at the locked rows once more. The statement that locked them saw the
// contact as it was before the locks: another worker may have taken an earlier reply of the
// contact since, and have given up its locks.
const claimLocked = `
WITH due AS (SELECT o.id` + dueRows + ` AND o.id = ANY($5))
UPDATE outbox SET status = 'delivering', owner = $6, attempts = attempts + 1
WHERE id IN (SELECT id FROM due) AND status = 'pending'
RETURNING ` + Columns

// lockConversation locks the conversation of a turn.
const lockConversation = `
SELECT 1 FROM conversations WHERE id = (SELECT conversation_id FROM turns WHERE id = $1) FOR NO KEY UPDATE`

// LockConversation makes others that decide about a turn's contact wait until the transaction
// ends. What is read by the next statement stays true until then. Where nobody else writes
// it does nothing.
func LockConversation(tx *groupcommit.Tx, turnID string) error {
	return tx.Lock(lockConversation, turnID)
}

// lock locks due rows and returns their ids.
func lock(tx *groupcommit.Tx, due []any) ([]string, error) {
	rows, err := tx.Query(lockDue, due...)
	return database.Collect(rows, err, database.ScanString)
}

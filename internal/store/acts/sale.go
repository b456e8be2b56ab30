package acts

import (
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
)

// selectSale is what is known of a turn's contact as a buyer.
const selectSale = `
SELECT c.id, c.intent, c.stage, c.offering, c.offering_chosen, t.seq
FROM turns t JOIN conversations c ON c.id = t.conversation_id
WHERE t.id = $1 AND t.role = 'agent'`

const updateSale = `
UPDATE conversations SET intent = $2, stage = $3, offering = $4, offering_chosen = $5 WHERE id = $1`

const closeOpening = `
UPDATE conversations SET opening_over = 1 WHERE id = $1`

// selectNamed asks whether a message that came after a place named an offering, which is newer
// than what was staged there. It reads the contact's turns from there on, which are few.
const selectNamed = `
SELECT EXISTS (SELECT 1 FROM turns WHERE conversation_id = $1 AND seq > $2 AND role = 'agent' AND bound = 1 AND offering <> '')`

// selectAwaited reads the records of the contact's turns before a place whose replies are still to
// go out, with their actions.
const selectAwaited = `
SELECT o.seq, t.actions FROM outbox o JOIN turns t ON t.id = o.turn_id
WHERE o.conversation_id = $1 AND o.kind = 'reply' AND o.status IN ('pending', 'delivering') AND o.seq < $2 AND t.bound = 1
ORDER BY o.seq, o.part`

// staged is what a turn staged for the sale.
type staged struct {
	seq    int64 // of the turn
	marked []action.Record
}

// marked are the entries of a record in a status that have a part in the sale.
func marked(record []action.Record, status action.Status) []action.Record {
	return slices.DeleteFunc(record, func(r action.Record) bool { return r.Mark == "" || r.Status != status })
}

// advance moves the sale by what a turn's ended actions wrote. Its conversation is locked.
func advance(tx *groupcommit.Tx, turnID string, over []action.Record) error {
	done := staged{marked: marked(over, action.Performed)}
	if len(done.marked) == 0 {
		return nil
	}
	var conversationID string
	var before contact.Sale
	err := tx.QueryRow(selectSale, turnID).
		Scan(&conversationID, &before.Intent, &before.Stage, &before.Offering, &before.Chosen, &done.seq)
	if err != nil {
		return err
	}
	after, err := done.move(tx, conversationID, before)
	if err != nil || after == before {
		return err
	}
	_, err = tx.Exec(updateSale, conversationID, string(after.Intent), string(after.Stage), after.Offering, column.Flag(after.Chosen))
	return err
}

// move is a sale with what was staged. An offering that the contact's request named since stays
// (docs/spec/08-sales.md, "Offerings").
func (s staged) move(tx *groupcommit.Tx, conversationID string, sale contact.Sale) (contact.Sale, error) {
	for _, r := range s.marked {
		if r.Mark == contact.MarkOffering {
			var named bool
			if err := tx.QueryRow(selectNamed, conversationID, s.seq).Scan(&named); err != nil {
				return sale, err
			}
			if named {
				continue
			}
		}
		sale = sale.Moved(r.Mark, r.Value)
	}
	return sale, nil
}

// Awaited is what a turn may take its contact to be: the sale, with what earlier turns staged
// whose actions have not ended.
func Awaited(tx *groupcommit.Tx, t conversation.Turn, sale contact.Sale) (contact.Sale, error) {
	rows, err := tx.Query(selectAwaited, t.ConversationID, t.Seq)
	all, err := database.Collect(rows, err, func(r database.Row) (s staged, err error) {
		err = r.Scan(&s.seq, column.JSON(&s.marked))
		s.marked = marked(s.marked, action.Staged)
		return s, err
	})
	for _, s := range all {
		if err == nil {
			sale, err = s.move(tx, t.ConversationID, sale)
		}
	}
	return sale, err
}

// CloseOpening keeps that a contact is not sent the opening any more.
func CloseOpening(tx *groupcommit.Tx, conversationID string) error {
	_, err := tx.Exec(closeOpening, conversationID)
	return err
}

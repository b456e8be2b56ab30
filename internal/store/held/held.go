// Package held is what the database holds about one person: everything that ManyChat's
// subscriber id leads to, over all channels of a tenant. It shows it and removes it.
package held

import (
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/store/tables"
)

// Who is a contact on all channels.
type Who struct {
	TenantID string
	ID       contact.SubscriberID
}

// rows are the rows of one table that are about a contact.
type rows struct {
	tables.Table
	condition string
	args      [][]any // the condition holds for any of these
}

// theirs are the rows of a table that are about a contact with these conversations; ok is
// false for a table that is about nobody. It follows the table's columns, so that a table of a
// later version is neither kept back nor left behind; where it can, it follows what is indexed.
// Conversations are named by their ids: one that the contact begins meanwhile is another.
func theirs(t tables.Table, who Who, conversations []string) (r rows, ok bool) {
	r.Table = t
	switch {
	case t.Name == "conversations":
		r.condition = `id = $1`
	case t.Name != "turns" && t.Names("turns") && t.Has("turn_id"):
		r.condition = `turn_id IN (SELECT id FROM turns WHERE conversation_id = $1)`
	case t.Has("conversation_id"):
		r.condition = `conversation_id = $1`
	case t.Has("tenant_id", "subscriber_id"):
		r.condition = `tenant_id = $1 AND subscriber_id = $2`
		r.args = [][]any{{who.TenantID, string(who.ID)}}
		return r, true
	default:
		return r, false
	}
	for _, id := range conversations {
		r.args = append(r.args, []any{id})
	}
	return r, true
}

// about are the rows of every table that holds something about contacts, each table behind
// those it names.
func about(every []tables.Table, who Who, conversations []string) (all []rows) {
	for _, t := range every {
		if r, ok := theirs(t, who, conversations); ok {
			all = append(all, r)
		}
	}
	return all
}

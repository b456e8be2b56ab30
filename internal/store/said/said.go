// Package said tells what a turn said, as its history has it: what left in the response,
// and what its outbox rows delivered or still may.
package said

import (
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
)

// Of are the texts of a reply that went out or still may: its response's own, which
// are those that no row carries, and of each row all, or what was sent before it died,
// was withheld or discarded.
func Of(replies []string, rows []outbox.Row) []string {
	texts := slices.Clone(Responded(replies, rows))
	for _, r := range rows {
		carried := r.Payload.Texts
		if r.Status.Final() && r.Status != outbox.Delivered {
			carried = carried[:min(r.Payload.Sent, len(carried))]
		}
		texts = append(texts, carried...)
	}
	return texts
}

// Responded are the texts of a reply that none of its rows carries. Rows carry the end
// of a reply, text for text.
func Responded(replies []string, rows []outbox.Row) []string {
	carried := 0
	for _, r := range rows {
		carried += len(r.Payload.Texts)
	}
	return replies[:max(0, len(replies)-carried)]
}

// Joined is a reply as one entry of history.
func Joined(texts []string) string { return strings.Join(texts, "\n\n") }

// Remembered reports whether a turn of this outcome says anything to later ones.
func Remembered(o conversation.Outcome) bool {
	return o != conversation.MergedAway && o != conversation.Duplicate && o != conversation.NudgeSkipped
}

package turn_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
)

// Holds docs/spec/03-turn.md, "Steps": when the settling commit's fate is unknown, the
// response is the acknowledgement, and the reply follows through the outbox. (Found by
// TestRandom: the next try used to find the race lost, and left the turn answering.)
func TestInlineCommitOfUnknownFate(t *testing.T) {
	faults := map[string]fault{"settle": {lost: errDatabase, times: 1}}
	inBubble(t, answersAfter(deadline-ms), faults, func(r *rig) {
		got := r.exchange(r.t.Context(), "hello", true)
		if want := (response{at: deadline, texts: []string{ackCopy}}); !cmp.Equal(want, got, cmp.AllowUnexported(response{})) {
			t.Errorf("response is %+v, want %+v", got, want)
		}
		turned, rows := r.settled()
		if turned.State != conversation.Settled || turned.Path != conversation.Outbox {
			t.Errorf("turn is %s by %s, want settled by outbox", turned.State, turned.Path)
		}
		if len(rows) != 1 || !cmp.Equal(rows[0].Payload.Texts, []string{answerCopy}) {
			t.Fatalf("outbox rows are %+v, want one with the reply", rows)
		}
		if due := rows[0].NextAttemptAt.Sub(r.start); due != deadline+gap {
			t.Errorf("the row is due after %s, want %s", due, deadline+gap)
		}
	})
}

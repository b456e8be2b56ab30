package turn_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/turn"
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

// Holds docs/spec/07-tools.md, "The action record": one entry per action. (Found by
// TestRandom: what became of a flow was noted behind what it was noted as, so that a turn
// that ran again had it twice, under the cap too.)
func TestFlowIsNotedOnce(t *testing.T) {
	sends := model(func(ctx context.Context, call func(tool, args string) string) (reply.Reply, error) {
		call("send_flow", `{"flow":"map"}`)
		call("send_flow", `{"flow":"film"}`)
		return says, after(ctx, 5*time.Second)
	})
	withTools(t, acting(), sends, func(r *rig) {
		x := r.runner.Begin(turn.Message{Key: key, Text: "where are you?", ReceivedAt: time.Now()})
		time.Sleep(time.Second)
		if d := cmp.Diff([]string{"send_flow map performed", "send_flow film performed"}, statuses(r.newest().Actions)); d != "" {
			t.Errorf("while the model works the record is (-want +got):\n%s", d)
		}
		x.Written(len(x.Wait(r.t.Context()).Texts) > 0)
		r.settled()
	})
}

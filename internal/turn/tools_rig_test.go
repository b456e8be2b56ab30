package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// acting is the fixture tenant with something to do. Its brochure plays for 3 s, its film
// for 20.
func acting() *tenant.Tenant {
	t := *fixture
	t.Tools = &tenant.Tools{
		Flows: []tenant.Flow{
			{ID: "brochure", FlowNs: "content-brochure", Description: "The brochure.", SettleSeconds: 3},
			{ID: "film", FlowNs: "content-film", Description: "The film.", SettleSeconds: 20},
			{ID: "map", FlowNs: "content-map", Description: "The way.", Repeatable: true},
		},
		Tags:   []tenant.Tag{{ID: "gift", Tag: "buys-a-gift", Description: "A gift."}, {ID: "group", Tag: "group-of-five", Description: "A group."}},
		Fields: []tenant.Field{{ID: "shift", Field: "preferred_shift", Values: []string{"morning", "evening"}, Description: "When."}},
		Notes: []tenant.Note{
			{ID: "summary", Field: "agent_summary", MaxLength: 300, NeverRendered: true, Description: "What they want."},
			{ID: "handover", Field: "agent_handover", MaxLength: 300, NeverRendered: true, Description: "Why a person is needed.", OnEscalation: true},
		},
	}
	return &t
}

// model is an agent that does what a test says with the tools it is offered.
type model func(ctx context.Context, call func(tool, args string) string) (reply.Reply, error)

func (m model) Run(ctx context.Context, in agent.Input) (result agent.Result, err error) {
	result.Reply, err = m(ctx, func(name, args string) string {
		for _, t := range in.Tools {
			if t.Spec().Name != name {
				continue
			}
			o := t.Call(1, []byte(args))
			if o.Run != nil {
				o.Told = o.Run(ctx)
			}
			b, _ := json.Marshal(o.Told)
			return string(b) + o.Bad
		}
		return "not offered"
	})
	return result, err
}

// after waits for d, unless the turn is aborted.
func after(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var (
	says      = reply.Reply{Messages: []string{answerCopy}, Confidence: 1}
	handsOff  = reply.Reply{Messages: []string{answerCopy}, Confidence: 1, Escalate: true, EscalationReason: conversation.Complaint}
	isUnsure  = reply.Reply{Messages: []string{answerCopy}, Confidence: 0.1}
	errBroken = errors.New("the model's connection broke")
)

// with runs a test with a model and a tenant that can do something.
func withTools(t *testing.T, business *tenant.Tenant, m model, test func(*rig)) {
	t.Helper()
	inBubble(t, m, nil, func(r *rig) {
		r.runner = newRunnerFor(t, business, &faultyStore{Store: r.db}, m, r, deadline)
		test(r)
	})
}

// statuses are what became of a record's entries, by tool and id.
func statuses(record []action.Record) (all []string) {
	for _, r := range record {
		line := string(r.Tool) + " " + r.ID + " " + string(r.Status)
		if r.Error != "" {
			line += ": " + r.Error
		}
		all = append(all, line)
	}
	return all
}

// due is when a row may leave, since the start.
func (r *rig) due(row outbox.Row) time.Duration { return row.NextAttemptAt.Sub(r.start) }

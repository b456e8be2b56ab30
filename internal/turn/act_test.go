package turn_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// stages is a model that stages two tags, a field and both notes, and then ends as told.
func stages(takes time.Duration, r reply.Reply, err error) model {
	return func(ctx context.Context, call func(tool, args string) string) (reply.Reply, error) {
		call("add_tag", `{"tag":"gift"}`)
		call("set_field", `{"field":"shift","value":"evening"}`)
		call("write_note", `{"note":"summary","text":"Wants a gift."}`)
		call("write_note", `{"note":"handover","text":"Asks for a person."}`)
		call("remove_tag", `{"tag":"group"}`)
		if err := after(ctx, takes); err != nil {
			return reply.Reply{}, err
		}
		return r, err
	}
}

// Holds the seed's verification 6, and docs/spec/07-tools.md, "Performing": nothing is
// asked of ManyChat before the response is written; then everything, in the order staged.
func TestActionsFollowTheResponse(t *testing.T) {
	withTools(t, acting(), stages(time.Second, says, nil), func(r *rig) {
		r.at.takes = time.Second
		x := r.runner.Begin(turn.Message{Key: key, Text: "a gift please", ReceivedAt: time.Now()})
		if a := x.Wait(r.t.Context()); a.Texts[0] != answerCopy {
			t.Fatalf("response %q", a.Texts)
		}
		time.Sleep(3 * time.Second)
		if got := r.at.seen(); len(got) != 0 {
			t.Errorf("before the response was written ManyChat was asked for %q", got)
		}
		x.Written(true)
		time.Sleep(1500 * ms)
		if got := r.newest(); got.State != conversation.Answering {
			t.Errorf("while its actions run the turn is %s", got.State)
		}
		turned, rows := r.settled()
		want := []string{"4s act add_tag gift", "5s act set_field shift", "6s act write_note summary", "7s act write_note handover", "8s act remove_tag group"}
		if d := cmp.Diff(want, r.at.seen()); d != "" {
			t.Errorf("requests (-want +got):\n%s", d)
		}
		record := []string{"add_tag gift performed", "set_field shift performed", "write_note summary performed", "write_note handover performed", "remove_tag group performed"}
		if d := cmp.Diff(record, statuses(turned.Actions)); d != "" {
			t.Errorf("record (-want +got):\n%s", d)
		}
		if turned.State != conversation.Settled || len(rows) != 0 {
			t.Errorf("turn is %s with %d rows", turned.State, len(rows))
		}
	})
}

// newest is the contact's newest turn as it stands.
func (r *rig) newest() conversation.Turn {
	r.t.Helper()
	turns, err := r.db.RecentTurns(context.Background(), key.TenantID, key.SubscriberID, 1)
	if err != nil || len(turns) != 1 {
		r.t.Fatalf("recent turns: %d, %v", len(turns), err)
	}
	return turns[0].Turn
}

// Holds docs/spec/07-tools.md, "Performing": a failure is recorded with its reason, and
// the next action still runs; docs/spec/03-turn.md, "Steps": ten seconds for all of them.
func TestActionsThatFail(t *testing.T) {
	withTools(t, acting(), stages(0, says, nil), func(r *rig) {
		r.at.faults = map[string]action.Ended{"shift": {Status: action.Failed, Error: "rejected (400)"}}
		r.exchange(r.t.Context(), "a gift please", true)
		turned, _ := r.settled()
		want := []string{"add_tag gift performed", "set_field shift failed: rejected (400)", "write_note summary performed", "write_note handover performed", "remove_tag group performed"}
		if d := cmp.Diff(want, statuses(turned.Actions)); d != "" {
			t.Errorf("record (-want +got):\n%s", d)
		}
	})
	withTools(t, acting(), stages(0, says, nil), func(r *rig) {
		r.at.takes = 6 * time.Second
		r.exchange(r.t.Context(), "a gift please", true)
		turned, _ := r.settled()
		want := []string{"add_tag gift performed", "set_field shift failed: outcome unknown"}
		if d := cmp.Diff(want, statuses(turned.Actions)[:2]); d != "" || time.Since(r.start) != 10*time.Second {
			t.Errorf("after %s the record is (-want +got):\n%s", time.Since(r.start), d)
		}
	})
}

// Holds the seed's "Actions follow the text, on both delivery paths": what is staged rides
// with the reply on whichever row carries its last text.
func TestActionsRideWithTheReply(t *testing.T) {
	long := reply.Reply{Messages: []string{strings.Repeat("Word after word of it. ", 200)}, Confidence: 1}
	tests := []struct {
		name    string
		takes   time.Duration
		reply   reply.Reply
		written bool
		parts   []int // of the reply rows, the last with the actions
	}{
		{"the race is lost", 10 * time.Second, says, true, []int{0}},
		{"the response is not written", 0, says, false, []int{0}},
		{"the response cannot carry it all", 0, long, true, []int{1}},
		{"and is not written", 0, long, false, []int{0, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			withTools(t, acting(), stages(tt.takes, tt.reply, nil), func(r *rig) {
				r.exchange(r.t.Context(), "a gift please", tt.written)
				turned, rows := r.settled()
				slices.SortFunc(rows, func(a, b outbox.Row) int { return a.Part - b.Part })
				if len(r.at.seen()) != 0 || turned.State != conversation.Settled {
					t.Errorf("turn is %s, ManyChat was asked for %q", turned.State, r.at.seen())
				}
				var parts []int
				for i, row := range rows {
					parts = append(parts, row.Part)
					want := 0
					if i == len(rows)-1 {
						want = 5
					}
					if len(row.Payload.Actions) != want {
						t.Errorf("part %d carries %d actions, want %d", row.Part, len(row.Payload.Actions), want)
					}
				}
				if !cmp.Equal(tt.parts, parts) {
					t.Errorf("parts %v, want %v", parts, tt.parts)
					return
				}
				if got := rows[len(rows)-1].Payload.Actions[2]; got != (action.Pending{Place: 2, Tool: action.WriteNote, ID: "summary", Text: "Wants a gift."}) {
					t.Errorf("the note waits as %+v", got)
				}
			})
		})
	}
}

// Holds the seed's "Guardrails run before any action is performed", verification 3: every
// way to a handoff discards what was staged, but for the note that is meant for one when
// the model or its confidence handed off.
func TestHandoffsDiscard(t *testing.T) {
	leak := reply.Reply{Messages: []string{"It is in content-brochure."}, Confidence: 1}
	price := reply.Reply{Messages: []string{"It is 17 EUR."}, Confidence: 1}
	tests := []struct {
		name    string
		takes   time.Duration
		reply   reply.Reply
		err     error
		outcome conversation.Outcome
		note    bool
	}{
		{"the model", 0, handsOff, nil, conversation.Escalated, true},
		{"the threshold", 0, isUnsure, nil, conversation.Escalated, true},
		{"a wrong price", 0, price, nil, conversation.EscalatedError, false},
		{"a leak", 0, leak, nil, conversation.EscalatedError, false},
		{"the contract", 0, reply.Reply{}, &agent.Error{Class: agent.Schema}, conversation.EscalatedError, false},
		{"a throw", 0, reply.Reply{}, errBroken, conversation.EscalatedError, false},
		{"the abort", time.Hour, says, nil, conversation.EscalatedError, false},
		{"the budget", 0, reply.Reply{}, &agent.Error{Class: agent.OverBudget}, conversation.EscalatedPrecheck, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			withTools(t, acting(), stages(tt.takes, tt.reply, tt.err), func(r *rig) {
				r.exchange(r.t.Context(), "a gift please", true)
				turned, rows := r.settled()
				if turned.Outcome != tt.outcome {
					t.Errorf("turn is %s, want %s", turned.Outcome, tt.outcome)
				}
				want := []string{"add_tag gift discarded", "set_field shift discarded", "write_note summary discarded", "write_note handover discarded", "remove_tag group discarded"}
				asked := []string(nil)
				if tt.note {
					want[3], asked = "write_note handover performed", []string{"0s act write_note handover"}
				}
				if d := cmp.Diff(want, statuses(turned.Actions)); d != "" {
					t.Errorf("record (-want +got):\n%s", d)
				}
				if d := cmp.Diff(asked, r.at.seen()); d != "" {
					t.Errorf("requests (-want +got):\n%s", d)
				}
				for _, row := range rows {
					if len(row.Payload.Actions) > 0 {
						t.Errorf("row %+v", row)
					}
				}
			})
		})
	}
}

// Holds the seed's "Guardrails run before any action is performed": where no model runs
// nothing is staged, and the record says that nothing was offered.
func TestNoModelNoActions(t *testing.T) {
	withTools(t, acting(), stages(0, says, nil), func(r *rig) {
		for _, text := range []string{"start", "I want a refund", "{{last_input_text}}"} {
			r.exchange(r.t.Context(), text, true)
			if turned, _ := r.settled(); turned.Actions != nil || len(r.at.seen()) != 0 {
				t.Errorf("%q: record %+v, requests %q", text, turned.Actions, r.at.seen())
			}
			time.Sleep(time.Minute)
		}
	})
}

// Holds docs/spec/07-tools.md, "The action record": null where no tool was offered, empty
// where none was chosen.
func TestRecordOfNothing(t *testing.T) {
	none := model(func(context.Context, func(string, string) string) (reply.Reply, error) { return says, nil })
	withTools(t, acting(), none, func(r *rig) {
		r.exchange(r.t.Context(), "hello", true)
		if turned, _ := r.settled(); turned.Actions == nil || len(turned.Actions) != 0 {
			t.Errorf("record %+v, want an empty one", turned.Actions)
		}
	})
	withTools(t, fixture, none, func(r *rig) {
		r.exchange(r.t.Context(), "hello", true)
		if turned, _ := r.settled(); turned.Actions != nil {
			t.Errorf("record %+v, want none", turned.Actions)
		}
	})
}

// notified is a tenant whose handoffs are made known in every way.
func notified() *tenant.Tenant {
	t := acting()
	t.Rules.Handoff = &tenant.Handoff{Tag: "needs-a-person", FlowNs: "content-handoff", Webhook: "https://desk.example/hook"}
	return t
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": the handoff notice, on every path to
// a handoff, once, a gap behind the reply, and on the record.
func TestHandoffNotice(t *testing.T) {
	tests := []struct {
		name string
		text string
		m    model
		due  time.Duration
		note string
	}{
		{"the model", "hello", stages(0, handsOff, nil), gap, "Asks for a person."},
		{"the threshold", "hello", stages(0, isUnsure, nil), gap, "Asks for a person."},
		{"a throw", "hello", stages(0, reply.Reply{}, errBroken), gap, ""},
		{"a keyword", "refund", stages(0, says, nil), gap, ""},
		{"an unreadable message without a fallback", "", stages(0, says, nil), gap, ""},
		{"through the outbox", "hello", stages(20*time.Second, handsOff, nil), 20*time.Second + gap, "Asks for a person."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			business := notified()
			business.Rules.Messages.MediaFallback = ""
			withTools(t, business, tt.m, func(r *rig) {
				r.exchange(r.t.Context(), tt.text, true)
				turned, _ := r.settled()
				notices := r.notices()
				var parts []action.Pending
				for i, n := range notices {
					if r.due(n) != tt.due || n.TurnID != turned.ID || n.Part != i || n.Seq != turned.Seq {
						t.Errorf("notice %+v, want part %d due after %s", n, i, tt.due)
					}
					parts = append(parts, n.Payload.Actions...)
				}
				first := len(turned.Actions) - 3
				want := []action.Pending{
					{Place: first, Tool: action.NotifyHandoff, ID: action.NoticeTag},
					{Place: first + 1, Tool: action.NotifyHandoff, ID: action.NoticeFlow},
					{Place: first + 2, Tool: action.NotifyHandoff, ID: action.NoticeWebhook, Text: tt.note},
				}
				if d := cmp.Diff(want, parts); d != "" || len(notices) != 3 {
					t.Errorf("%d rows of a notice (-want +got):\n%s", len(notices), d)
				}
				record := []string{"notify_handoff tag staged", "notify_handoff flow staged", "notify_handoff webhook staged"}
				if d := cmp.Diff(record, statuses(turned.Actions)[first:]); d != "" {
					t.Errorf("record (-want +got):\n%s", d)
				}
			})
		})
	}
}

// notices are the rows that tell the business of handoffs.
func (r *rig) notices() (all []outbox.Row) {
	r.t.Helper()
	rows, err := r.db.ListOutbox(context.Background(), store.OutboxFilter{})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, row := range rows {
		if row.Kind == outbox.HandoffNotice {
			all = append(all, row)
		}
	}
	return all
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": nothing where nothing is configured,
// and nothing of a turn that was answered.
func TestNoHandoffNotice(t *testing.T) {
	withTools(t, acting(), stages(0, handsOff, nil), func(r *rig) {
		r.exchange(r.t.Context(), "hello", true)
		if r.settled(); len(r.notices()) != 0 {
			t.Errorf("notices %+v although none is configured", r.notices())
		}
	})
	withTools(t, notified(), stages(0, says, nil), func(r *rig) {
		r.exchange(r.t.Context(), "hello", true)
		if r.settled(); len(r.notices()) != 0 {
			t.Errorf("notices %+v of an answered turn", r.notices())
		}
	})
}

// Holds docs/spec/06-contact.md, "Caps, all before the model runs, all escalating": within
// the quiet minutes the contact reads nothing again, so that no flow speaks to them; the
// people of the business are told, and the note is written.
func TestQuietHandoff(t *testing.T) {
	business := notified()
	business.Rules.EscalationQuietMinutes = 30
	withTools(t, business, stages(0, handsOff, nil), func(r *rig) {
		r.exchange(r.t.Context(), "hello", true)
		r.settled()
		time.Sleep(time.Minute)
		if got := r.exchange(r.t.Context(), "hello?", true); len(got.texts) != 0 {
			t.Errorf("the contact is told %q", got.texts)
		}
		turned, rows := r.settled()
		if turned.Path != conversation.Silent || len(rows) != 1 || len(rows[0].Payload.Texts) != 0 || len(rows[0].Payload.Actions) != 1 {
			t.Errorf("turn went by %s with rows %+v, want one that writes the note", turned.Path, rows)
		}
		notices := r.notices()
		var parts []string
		for _, n := range notices {
			parts = append(parts, fmt.Sprint(n.Part, " ", n.Payload.Actions[0].ID))
		}
		if d := cmp.Diff([]string{"0 tag", "1 flow", "2 webhook", "0 tag", "2 webhook"}, parts); d != "" {
			t.Errorf("notices, the second without the flow (-want +got):\n%s", d)
		}
	})
}

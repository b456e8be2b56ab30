package turn_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// selling is that tenant, and sells: its opening plays for 3 s, and reaching offered sends a tour.
func selling() *tenant.Tenant {
	t := acting()
	tools := *t.Tools
	tools.Flows = append(slices.Clip(tools.Flows),
		tenant.Flow{ID: "hello", FlowNs: "content-hello", Description: "Hello.", Role: tenant.RoleOpening, SettleSeconds: 3},
		tenant.Flow{ID: "tour", FlowNs: "content-tour", Description: "The tour.", OnStage: contact.Offered},
		tenant.Flow{ID: "link", FlowNs: "content-link", Description: "The link to pay.", Role: tenant.RolePaymentLink})
	tools.Fields = append(slices.Clip(tools.Fields),
		tenant.Field{ID: "intent", Field: "is_prospect", Values: []string{"not_prospect", "prospect"}, Description: "Intent.", Intent: true},
		tenant.Field{ID: "stage", Field: "sale_stage", Values: []string{"new", "qualifying", "nurturing", "offered", "prepared", "link_sent"}, Description: "Stage.", Funnel: true})
	tools.Events = []tenant.Event{{ID: "offer", Stage: contact.Offered, FlowNs: "content-e1"}, {ID: "bought", Stage: contact.LinkSent, FlowNs: "content-e2"}}
	t.Tools = &tools
	return t
}

// Calls of a model that sells.
const (
	prospect = `set_field {"field":"intent","value":"prospect"}`
	offered  = `set_field {"field":"stage","value":"offered"}`
	prepared = `set_field {"field":"stage","value":"prepared"}`
	sendsMap = `send_flow {"flow":"map"}`
	link     = `send_flow {"flow":"link","contactAsked":true}`
)

// calls is a model that makes calls, and then ends as told.
func calls(takes time.Duration, r reply.Reply, err error, made ...string) model {
	return func(ctx context.Context, call func(tool, args string) string) (reply.Reply, error) {
		for _, c := range made {
			name, args, _ := strings.Cut(c, " ")
			call(name, args)
		}
		if err := after(ctx, takes); err != nil {
			return reply.Reply{}, err
		}
		return r, err
	}
}

// sale is what the conversation keeps of the contact as a buyer.
func (r *rig) sale() contact.Sale {
	r.t.Helper()
	c, err := r.db.Conversation(context.Background(), key)
	if err != nil {
		r.t.Fatal(err)
	}
	return c.Sale
}

// Holds docs/spec/08-sales.md, "Opening" and "Stage flows", and docs/spec/07-tools.md, "Flows go out
// before the reply": the opening goes out just before the first flow of the turn that finds a prospect,
// or before its reply, which waits for it, also when the race is lost by then.
func TestOpeningBeforeTheReply(t *testing.T) {
	tests := []struct {
		name   string
		calls  []string
		model  time.Duration
		plays  float64 // the opening, in seconds; 0: as the tenant has it
		at     time.Duration
		says   []string
		due    time.Duration // of the outbox row
		record []string
		seen   []string
	}{
		{name: "the reply waits", calls: []string{prospect}, model: time.Second, at: 5 * time.Second, says: []string{answerCopy},
			record: []string{"set_field intent performed", "send_flow hello performed"}, seen: []string{"1s flow hello", "5s act set_field intent"}},
		{name: "past the deadline", calls: []string{prospect}, model: time.Second, plays: 20, at: 2 * time.Second, due: 22 * time.Second,
			record: []string{"set_field intent staged", "send_flow hello performed"}, seen: []string{"1s flow hello"}},
		{name: "the race is lost before it goes out", calls: []string{prospect}, model: 12 * time.Second, at: deadline, says: []string{ackCopy}, due: 16 * time.Second,
			record: []string{"set_field intent staged", "send_flow hello performed"}, seen: []string{"12s flow hello"}},
		{name: "the race is lost while it is on its way", calls: []string{prospect}, model: 7500 * ms, at: deadline, says: []string{ackCopy}, due: 11500 * ms,
			record: []string{"set_field intent staged", "send_flow hello performed"}, seen: []string{"7.5s flow hello"}},
		{name: "before the first flow", calls: []string{prospect, sendsMap}, at: 4 * time.Second, says: []string{answerCopy},
			record: []string{"set_field intent performed", "send_flow hello performed", "send_flow map performed"},
			seen:   []string{"0s flow hello", "1s flow map", "4s act set_field intent"}},
		{name: "before a stage's flow", calls: []string{prospect, offered}, at: 4 * time.Second, says: []string{answerCopy},
			record: []string{"set_field intent performed", "set_field stage performed", "send_event offer performed", "send_flow hello performed", "send_flow tour performed"},
			seen:   []string{"0s flow hello", "1s flow tour", "4s act set_field intent", "5s act set_field stage", "6s act send_event offer"}},
		{name: "no prospect", calls: []string{`set_field {"field":"intent","value":"not_prospect"}`}, says: []string{answerCopy},
			record: []string{"set_field intent performed"}, seen: []string{"0s act set_field intent"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			business := selling()
			if hello := slices.IndexFunc(business.Tools.Flows, func(f tenant.Flow) bool { return f.ID == "hello" }); tt.plays > 0 {
				business.Tools.Flows[hello].SettleSeconds = tt.plays
			}
			withTools(t, business, calls(tt.model, says, nil, tt.calls...), func(r *rig) {
				r.at.takes = time.Second
				got := r.exchange(r.t.Context(), "hello", true)
				if want := (response{at: tt.at, texts: tt.says}); !cmp.Equal(want, got, cmp.AllowUnexported(response{})) {
					t.Errorf("response %+v, want %+v", got, want)
				}
				turned, rows := r.settled()
				if turned.Outcome != conversation.Answered {
					t.Errorf("turn is %s", turned.Outcome)
				}
				if d := cmp.Diff(tt.record, statuses(turned.Actions)); d != "" {
					t.Errorf("record (-want +got):\n%s", d)
				}
				if d := cmp.Diff(tt.seen, r.at.seen()); d != "" {
					t.Errorf("requests (-want +got):\n%s", d)
				}
				if tt.due == 0 && len(rows) > 0 || tt.due > 0 && (len(rows) != 1 || r.due(rows[0]) != tt.due) {
					t.Errorf("rows %+v, want one due after %s", rows, tt.due)
				}
			})
		})
	}
}

// Holds docs/spec/08-sales.md, "Opening": never twice; and the whole of it goes out inside the abort.
// A reply that was ready goes out whatever became of the opening.
func TestOpeningOnce(t *testing.T) {
	withTools(t, selling(), calls(0, says, nil, prospect), func(r *rig) {
		for range 2 {
			r.exchange(r.t.Context(), "hello", true)
			r.settled()
			time.Sleep(time.Hour)
		}
		if d := cmp.Diff([]string{"0s flow hello", "3s act set_field intent", "1h0m3s act set_field intent"}, r.at.seen()); d != "" {
			t.Errorf("requests (-want +got):\n%s", d)
		}
	})
	withTools(t, selling(), calls(abort-time.Second, says, nil, prospect), func(r *rig) {
		r.at.takes = 5 * time.Second
		r.exchange(r.t.Context(), "hello", true)
		turned, rows := r.settled()
		want := []string{"set_field intent staged", "send_flow hello failed: outcome unknown"}
		if d := cmp.Diff(want, statuses(turned.Actions)); d != "" || turned.Outcome != conversation.Answered || len(rows) != 1 || r.due(rows[0]) != abort {
			t.Errorf("turn is %s, rows %+v, record (-want +got):\n%s", turned.Outcome, rows, d)
		}
	})
}

// Holds docs/spec/08-sales.md, "Opening": it goes with a reply, and so not with a handoff, nor on any
// turn after one that found the prospect and went to a person, whatever sent it there.
func TestNoOpeningAfterAHandoff(t *testing.T) {
	tests := []struct {
		name  string
		first model
		over  bool
	}{
		{"the model", calls(0, handsOff, nil, prospect), true},
		{"the threshold", calls(0, isUnsure, nil, prospect), true},
		{"a throw", calls(0, reply.Reply{}, errBroken, prospect), true},
		{"the abort", calls(time.Hour, says, nil, prospect), true},
		{"the budget", calls(0, reply.Reply{}, &agent.Error{Class: agent.OverBudget}, prospect), true},
		{"a defect", func(_ context.Context, call func(tool, args string) string) (reply.Reply, error) {
			call("set_field", `{"field":"intent","value":"prospect"}`)
			panic("a defect")
		}, true},
		{"a turn that found no prospect", calls(0, handsOff, nil), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			turns := 0
			m := func(ctx context.Context, call func(tool, args string) string) (reply.Reply, error) {
				if turns++; turns == 1 {
					return tt.first(ctx, call)
				}
				return calls(0, says, nil, prospect, prospect)(ctx, call)
			}
			withTools(t, selling(), m, func(r *rig) {
				r.exchange(r.t.Context(), "hello", true)
				if turned, _ := r.settled(); turned.Reason == "" || len(r.at.seen()) != 0 {
					t.Errorf("the first turn is %s, ManyChat was asked for %q", turned.Outcome, r.at.seen())
				}
				if want := (contact.Sale{OpeningOver: tt.over}); r.sale() != want {
					t.Errorf("sale %+v, want %+v", r.sale(), want)
				}
				r.discard()
				time.Sleep(time.Minute)
				r.at.start = time.Now()
				r.exchange(r.t.Context(), "hello again", true)
				turned, _ := r.settled()
				want := []string{"0s act set_field intent"}
				if !tt.over {
					want = []string{"0s flow hello", "3s act set_field intent"}
				}
				if d := cmp.Diff(want, r.at.seen()); d != "" || turned.Outcome != conversation.Answered {
					t.Errorf("the second turn is %s, requests (-want +got):\n%s", turned.Outcome, d)
				}
			})
		})
	}
}

// discard gives the contact's queued replies up.
func (r *rig) discard() {
	r.t.Helper()
	_, rows := r.settled()
	for _, row := range rows {
		if err := r.db.DiscardOutbox(context.Background(), row.ID); err != nil {
			r.t.Fatal(err)
		}
	}
}

// Holds docs/spec/07-tools.md, "Flows go out before the reply": behind a queued reply the opening
// follows its own text, and the rule that sends it goes with it.
func TestOpeningBehindAQueuedReply(t *testing.T) {
	turns := 0
	m := func(ctx context.Context, call func(tool, args string) string) (reply.Reply, error) {
		if turns++; turns == 1 {
			return says, after(ctx, 9*time.Second)
		}
		return calls(0, says, nil, prospect, offered)(ctx, call)
	}
	withTools(t, selling(), m, func(r *rig) {
		r.exchange(r.t.Context(), "one", true)
		r.settled()
		rows, err := r.db.Claim(r.t.Context(), outbox.Claim{Owner: "p1/1", Now: time.Now().Add(time.Minute), Room: map[outbox.Kind]int{outbox.Reply: 1}})
		if err != nil || len(rows) != 1 {
			t.Fatalf("claimed %d rows, %v", len(rows), err)
		}
		r.exchange(r.t.Context(), "two", true)
		_, rows = r.settled()
		want := []action.Pending{
			{Place: 0, Tool: action.SetField, ID: "intent", Value: "prospect"}, {Place: 1, Tool: action.SetField, ID: "stage", Value: "offered"},
			{Place: 2, Tool: action.SendEvent, ID: "offer", FollowOn: true},
			{Place: 3, Tool: action.SendFlow, ID: "hello", Origin: action.FromOpening}, {Place: 4, Tool: action.SendFlow, ID: "tour", Origin: action.FromStage},
		}
		if len(rows) != 1 || len(r.at.seen()) != 0 {
			t.Fatalf("%d rows, requests %q", len(rows), r.at.seen())
		}
		if d := cmp.Diff(want, rows[0].Payload.Actions); d != "" {
			t.Errorf("actions of the row (-want +got):\n%s", d)
		}
	})
}

// paid are the requests behind a link to pay that went out.
func paid(at string) []string {
	return []string{at + " act set_field stage", at + " act send_event bought"}
}

// Holds docs/spec/08-sales.md, "Payment link", and docs/spec/07-tools.md, "Performing": what follows
// the link to pay runs whatever the outcome of its turn, and the sale moves by what was performed.
func TestFollowOnsOfTheLink(t *testing.T) {
	linkSent := contact.Sale{Stage: contact.LinkSent, OpeningOver: true}
	tests := []struct {
		name    string
		m       model
		refuses bool // the database, the turn's values, once
		path    conversation.Path
		record  []string // behind the link
		seen    []string // behind the flows
		sale    contact.Sale
	}{
		{"answered", calls(0, says, nil, prospect, link), false, conversation.Inline,
			[]string{"set_field intent performed", "send_flow hello performed", "send_flow link performed", "set_field stage performed", "send_event bought performed"},
			append([]string{"3s act set_field intent"}, paid("3s")...), contact.Sale{Intent: contact.Prospect, Stage: contact.LinkSent}},
		{"the model hands off", calls(0, handsOff, nil, prospect, link), false, conversation.Inline,
			[]string{"set_field intent discarded", "send_flow hello performed", "send_flow link performed", "set_field stage performed", "send_event bought performed"}, paid("3s"), linkSent},
		{"a throw", calls(0, reply.Reply{}, errBroken, prospect, link), false, conversation.Inline,
			[]string{"set_field intent discarded", "send_flow hello performed", "send_flow link performed", "set_field stage performed", "send_event bought performed"}, paid("3s"), linkSent},
		{"the budget", calls(0, reply.Reply{}, &agent.Error{Class: agent.OverBudget}, prospect, link), false, conversation.Inline,
			[]string{"set_field intent discarded", "send_flow hello performed", "send_flow link performed", "set_field stage performed", "send_event bought performed"}, paid("3s"), linkSent},
		{"a defect", func(ctx context.Context, call func(tool, args string) string) (reply.Reply, error) {
			_, _ = calls(0, says, nil, prospect, link)(ctx, call)
			panic("a defect")
		}, false, conversation.Inline,
			[]string{"set_field intent discarded", "send_flow hello performed", "send_flow link performed", "set_field stage performed", "send_event bought performed"}, paid("3s"), linkSent},
		{"values that the database refuses", calls(0, says, nil, prospect, link), true, conversation.Inline,
			[]string{"set_field intent discarded", "send_flow hello performed", "send_flow link performed", "set_field stage performed", "send_event bought performed"}, paid("3s"), linkSent},
		{"answered late", calls(9*time.Second, says, nil, prospect, link), false, conversation.Outbox,
			[]string{"set_field intent staged", "send_flow hello performed", "send_flow link performed", "set_field stage staged", "send_event bought staged"}, nil, contact.Sale{}},
		{"handed off late", calls(9*time.Second, handsOff, nil, prospect, link), false, conversation.Outbox,
			[]string{"set_field intent discarded", "send_flow hello performed", "send_flow link performed", "set_field stage staged", "send_event bought staged"}, nil, contact.Sale{OpeningOver: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			withTools(t, selling(), tt.m, func(r *rig) {
				if tt.refuses {
					r.runner = newRunnerFor(t, selling(), &faultyStore{Store: &refusesOnce{Store: r.db}}, tt.m, r, deadline)
				}
				r.exchange(r.t.Context(), "I want to pay", true)
				turned, rows := r.settled()
				if d := cmp.Diff(tt.record, statuses(turned.Actions)); d != "" || turned.Path != tt.path {
					t.Errorf("by %s, record (-want +got):\n%s", turned.Path, d)
				}
				if d := cmp.Diff(append([]string{"0s flow hello", "0s flow link"}, tt.seen...), r.at.seen()); d != "" {
					t.Errorf("requests (-want +got):\n%s", d)
				}
				if r.sale() != tt.sale {
					t.Errorf("sale %+v, want %+v", r.sale(), tt.sale)
				}
				if tt.path == conversation.Outbox {
					r.rides(turned, rows)
				}
			})
		})
	}
}

// rides fails unless the one row of a turn has exactly what stands in its record as staged, and the
// chain behind the link.
func (r *rig) rides(turned conversation.Turn, rows []outbox.Row) {
	r.t.Helper()
	if len(rows) != 1 {
		r.t.Fatalf("%d rows, want 1", len(rows))
	}
	var staged, riding []int
	for place, e := range turned.Actions {
		if e.Status == action.Staged {
			staged = append(staged, place)
		}
	}
	for _, p := range rows[0].Payload.Actions {
		riding = append(riding, p.Place)
		if follows := p.Place > 2; p.FollowOn != follows {
			r.t.Errorf("%s %s follows: %v", p.Tool, p.ID, p.FollowOn)
		}
	}
	if d := cmp.Diff(staged, riding); d != "" {
		r.t.Errorf("actions of the row (-staged +riding):\n%s", d)
	}
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": a person who takes the conversation while a
// turn runs is left alone, by what follows a link too.
func TestFollowOnsOfAPausedTurn(t *testing.T) {
	var of *rig
	m := func(ctx context.Context, call func(tool, args string) string) (reply.Reply, error) {
		r, err := calls(time.Second, says, nil, prospect, link)(ctx, call)
		if _, err := of.db.Pause(context.Background(), key, time.Now().Add(time.Hour)); err != nil {
			of.t.Error(err)
		}
		return r, err
	}
	withTools(t, selling(), m, func(r *rig) {
		of = r
		r.exchange(r.t.Context(), "I want to pay", true)
		turned, rows := r.settled()
		want := []string{"set_field intent discarded", "send_flow hello performed", "send_flow link performed", "set_field stage discarded", "send_event bought discarded"}
		if d := cmp.Diff(want, statuses(turned.Actions)); d != "" || turned.Outcome != conversation.Paused || len(rows) != 0 {
			t.Errorf("turn is %s with %d rows, record (-want +got):\n%s", turned.Outcome, len(rows), d)
		}
		if r.sale() != (contact.Sale{}) {
			t.Errorf("sale %+v", r.sale())
		}
	})
}

// Holds docs/spec/08-sales.md, "Payment link": an answer to the link that comes as the model is aborted
// is written down, and what follows it follows.
func TestAbortWhileTheLinkIsNoted(t *testing.T) {
	m := model(func(ctx context.Context, call func(tool, args string) string) (reply.Reply, error) {
		call("set_field", `{"field":"intent","value":"prospect"}`)
		call("send_flow", `{"flow":"map"}`) // behind the opening
		_ = after(ctx, abort-4*time.Second)
		call("send_flow", `{"flow":"link","contactAsked":true}`)
		return says, nil
	})
	faults := map[string]fault{"note": {after: 700 * time.Millisecond}}
	inBubble(t, m, nil, func(r *rig) {
		r.runner = newRunnerFor(t, selling(), &faultyStore{Store: r.db, faults: faults}, m, r, deadline)
		r.exchange(r.t.Context(), "hello", true)
		turned, rows := r.settled()
		want := []string{
			"set_field intent discarded", "send_flow hello performed", "send_flow map performed", "send_flow link performed", "set_field stage staged", "send_event bought staged",
		}
		if d := cmp.Diff(want, statuses(turned.Actions)); d != "" || turned.Outcome != conversation.EscalatedError {
			t.Errorf("turn is %s, record (-want +got):\n%s", turned.Outcome, d)
		}
		r.rides(turned, rows)
	})
}

// Holds docs/spec/03-turn.md, "Crash recovery": a payment link that the first attempt performed still
// gets its follow-ons, once, also when no model is asked any more.
func TestLinkOfAnEarlierTry(t *testing.T) {
	tests := []struct {
		name     string
		attempts int // before this one
		outcome  conversation.Outcome
		link     action.Status
		record   []string
	}{
		{"it answers", 1, conversation.Answered, action.Performed, []string{"send_flow link performed", "set_field stage staged", "send_event bought staged", "set_field intent staged"}},
		{"it is handed off", 2, conversation.EscalatedError, action.Performed, []string{"send_flow link performed", "set_field stage staged", "send_event bought staged"}},
		{"the link may not have arrived", 1, conversation.Answered, action.Sending, []string{"send_flow link failed: outcome unknown", "set_field intent staged"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var told []string
			m := func(_ context.Context, call func(tool, args string) string) (reply.Reply, error) {
				told = append(told, call("set_field", `{"field":"intent","value":"prospect"}`), call("send_flow", `{"flow":"link","contactAsked":true}`))
				return says, nil
			}
			withTools(t, withoutOpening(), m, func(r *rig) {
				rec, err := r.db.Record(r.t.Context(), turn.Arrival{TurnID: "t-1", Key: key, Owner: "dead", Text: "hello", ReceivedAt: r.start, Window: turn.Window{HistoryLimit: 10}})
				if err != nil {
					t.Fatal(err)
				}
				note := func(attempt int, e action.Record) {
					t.Helper()
					if err := r.db.NoteFlow(r.t.Context(), turn.FlowNote{
						TurnID: "t-1", Owner: rec.Turn.Owner, Attempt: attempt, Actions: []action.Record{e},
						Claim: action.Claim{ConversationID: rec.Turn.ConversationID, TurnID: "t-1", Flow: e.ID, At: r.start},
					}); err != nil {
						t.Fatal(err)
					}
				}
				e := action.Record{Tool: action.SendFlow, ID: "link", Status: action.Sending, ContactAsked: true}
				note(1, e)
				if tt.link == action.Performed {
					e.Status, e.At = action.Performed, r.start
					note(1, e)
				}
				for n := range tt.attempts {
					orphans, err := takeOver(r.t.Context(), r.db, []string{"p0", "p1"}[n+2-tt.attempts])
					if err != nil || len(orphans) != 1 {
						t.Fatalf("take over: %d orphans, %v", len(orphans), err)
					}
					rec = orphans[0]
				}
				r.runner.Resume(rec)
				turned, rows := r.settled()
				if d := cmp.Diff(tt.record, statuses(turned.Actions)); d != "" || turned.Outcome != tt.outcome {
					t.Errorf("turn is %s, told %q, record (-want +got):\n%s", turned.Outcome, told, d)
				}
				if len(r.at.seen()) != 0 {
					t.Errorf("ManyChat was asked for %q", r.at.seen())
				}
				var riding []string
				for _, p := range rows[0].Payload.Actions {
					riding = append(riding, string(p.Tool)+" "+p.ID+" staged")
				}
				if d := cmp.Diff(tt.record[1:], riding); d != "" {
					t.Errorf("actions of the row (-want +got):\n%s", d)
				}
			})
		})
	}
}

// withoutOpening is a tenant that sells without one.
func withoutOpening() *tenant.Tenant {
	t := selling()
	t.Tools.Flows = slices.DeleteFunc(t.Tools.Flows, func(f tenant.Flow) bool { return f.Role == tenant.RoleOpening })
	return t
}

// watched is a model whose turns are told what is known of the contact as a buyer.
type watched struct {
	model
	told *[]contact.Sale
}

func (w watched) Run(ctx context.Context, in agent.Input) (agent.Result, error) {
	*w.told = append(*w.told, in.Sale)
	return w.model.Run(ctx, in)
}

// Holds docs/spec/08-sales.md, "Intent", and docs/spec/07-tools.md, "Bounds": a turn knows what was
// performed, and what earlier turns staged whose actions have not ended; of what was discarded nothing.
// Its tools know the same.
func TestTurnsKnowTheSale(t *testing.T) {
	var told []contact.Sale
	var answers []string
	turns := 0
	m := func(ctx context.Context, call func(tool, args string) string) (reply.Reply, error) {
		if turns++; turns > 2 {
			answers = append(answers, call("set_field", `{"field":"stage","value":"qualifying"}`))
		}
		return map[int]model{
			1: calls(0, says, nil, prospect),
			2: calls(9*time.Second, says, nil, offered), // its reply stays queued
			3: calls(0, handsOff, nil, prepared),
			4: calls(0, says, nil),
		}[turns](ctx, call)
	}
	inBubble(t, model(m), nil, func(r *rig) {
		r.runner = newRunnerFor(t, withoutOpening(), &faultyStore{Store: r.db}, watched{m, &told}, r, deadline)
		for range 4 {
			r.exchange(r.t.Context(), "hello", true)
			r.settled()
			time.Sleep(time.Minute)
		}
		known := contact.Sale{Intent: contact.Prospect}
		waits := contact.Sale{Intent: contact.Prospect, Stage: contact.Offered}
		if d := cmp.Diff([]contact.Sale{{}, known, waits, waits}, told); d != "" {
			t.Errorf("told (-want +got):\n%s", d)
		}
		const earlier = `{"staged":false,"reason":"earlier_stage"}`
		if d := cmp.Diff([]string{earlier, earlier}, answers); d != "" {
			t.Errorf("the tools answer (-want +got):\n%s", d)
		}
	})
}

// Holds docs/spec/07-tools.md, "Performing": what follows the link runs also when the contact is not told
// of the handoff again.
func TestFollowOnsOfAQuietHandoff(t *testing.T) {
	business := withoutOpening()
	business.Rules.EscalationQuietMinutes = 30
	turns := 0
	m := func(ctx context.Context, call func(tool, args string) string) (reply.Reply, error) {
		if turns++; turns == 1 {
			return handsOff, nil
		}
		return calls(0, handsOff, nil, prospect, link)(ctx, call)
	}
	withTools(t, business, m, func(r *rig) {
		r.exchange(r.t.Context(), "hello", true)
		r.settled()
		time.Sleep(time.Minute)
		r.exchange(r.t.Context(), "I want to pay", true)
		turned, rows := r.settled()
		want := []string{"set_field intent discarded", "send_flow link performed", "set_field stage staged", "send_event bought staged"}
		if d := cmp.Diff(want, statuses(turned.Actions)); d != "" || turned.Path != conversation.Silent {
			t.Errorf("by %s, record (-want +got):\n%s", turned.Path, d)
		}
		if len(rows) != 1 || len(rows[0].Payload.Texts) != 0 || len(rows[0].Payload.Actions) != 2 {
			t.Errorf("rows %+v, want one that writes what follows", rows)
		}
	})
}

package tool_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Holds docs/spec/07-tools.md, "Flows go out before the reply" and "Performing": what became
// of a flow, as the model is told, as it is recorded and as it is traced.
func TestFlowSent(t *testing.T) {
	had := func(_ context.Context, r action.Record) (action.Record, error) { return r, action.ErrSent }
	status := func(s action.Status) func(context.Context, action.Record) (action.Record, error) {
		return func(_ context.Context, r action.Record) (action.Record, error) { r.Status = s; return r, nil }
	}
	entry := func(s action.Status, why string) []action.Record {
		return []action.Record{{Tool: action.SendFlow, ID: "map", Status: s, Error: why}}
	}
	tests := []struct {
		name    string
		send    func(context.Context, action.Record) (action.Record, error)
		want    string
		record  []action.Record
		pending []action.Pending
	}{
		{"performed", performed, sent, []action.Record{{Tool: action.SendFlow, ID: "map", Status: action.Performed, At: at}}, nil},
		{"failed", failed("refused"), failure, entry(action.Failed, "refused"), nil},
		{"unknown", failed(action.OutcomeUnknown), unknown, entry(action.Failed, action.OutcomeUnknown), nil},
		{"to follow the reply", status(action.Staged), staged, entry(action.Staged, ""), []action.Pending{{Tool: action.SendFlow, ID: "map"}}},
		{"had before", had, sentBefore, []action.Record{}, nil},
		{"breaks off", func(_ context.Context, r action.Record) (action.Record, error) { return r, errors.New("HIDDEN") }, unknown, entry(action.Failed, action.OutcomeUnknown), nil},
		{"panics", func(context.Context, action.Record) (action.Record, error) { panic("HIDDEN") }, unknown, entry(action.Failed, action.OutcomeUnknown), nil},
		{"says nothing", status(""), unknown, entry(action.Failed, action.OutcomeUnknown), nil},
		{"still sends", status(action.Sending), unknown, entry(action.Failed, action.OutcomeUnknown), nil},
		{"names another", func(_ context.Context, r action.Record) (action.Record, error) {
			return action.Record{Tool: action.AddTag, ID: "HIDDEN", Value: "HIDDEN", Status: action.Performed, At: at}, nil
		}, sent, []action.Record{{Tool: action.SendFlow, ID: "map", Status: action.Performed, At: at}}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &account{send: tt.send}
			d := desk(a)
			same(t, "told", tt.want+"\n"+tt.want, each(t, d, `send_flow {"flow":"map"}`, `send_flow {"flow":"map","contactAsked":true}`))
			result := d.Close()
			same(t, "record", tt.record, result.Record)
			same(t, "pending", tt.pending, result.Pending)
			same(t, "asked", []action.Record{{Tool: action.SendFlow, ID: "map", Status: action.Sending}}, a.saw)
			for _, c := range result.Calls {
				told := map[action.Answer]string{action.AnsweredSent: sent, action.AnsweredStaged: staged, action.AnsweredNotSent: `{"sent":false,"reason":"` + c.Reason + `"}`}[c.Answer]
				if told != tt.want || c.ContactAsked {
					t.Errorf("traced %+v", c)
				}
			}
		})
	}
}

// Holds docs/spec/08-sales.md, "Flows once": what was sent leaves the enum, unless it is
// repeatable; the link to pay stays in it and may be sent again with contactAsked.
func TestFlowsOnce(t *testing.T) {
	a := &account{}
	turn := inbound(a)
	turn.Sent = []string{"hello", "map", "folder", "pay", "gone"}
	d := tool.NewDesk(turn)
	if got := string(find(d, "send_flow").Spec().Parameters); !strings.Contains(got, `"enum":["map","film","pay"]`) {
		t.Errorf("offered %s", got)
	}
	same(t, "told", strings.Join([]string{sent, sentBefore, sentBefore, sentBefore, sentBefore, sent, sent}, "\n"), each(t, d,
		`send_flow {"flow":"map"}`, `send_flow {"flow":"folder"}`, `send_flow {"flow":"folder","contactAsked":true}`, `send_flow {"flow":"pay"}`, `send_flow {"flow":"pay","contactAsked":false}`,
		`send_flow {"flow":"pay","contactAsked":true}`, `send_flow {"flow":"pay"}`))
	same(t, "told of the opening", "bad: flow must be one of: map, film, pay", call(t, d, `send_flow {"flow":"hello"}`))
	same(t, "asked", []action.Record{
		{Tool: action.SendFlow, ID: "map", Status: action.Sending}, {Tool: action.SendFlow, ID: "pay", Status: action.Sending, ContactAsked: true},
	}, a.saw)
	result := d.Close()
	same(t, "record", []action.Record{
		{Tool: action.SendFlow, ID: "map", Status: action.Performed, At: at}, {Tool: action.SendFlow, ID: "pay", Status: action.Performed, ContactAsked: true, At: at},
	}, result.Record)
	same(t, "traced", action.Call{Step: 1, Tool: action.SendFlow, ID: "folder", Answer: action.AnsweredNotSent, Reason: "already_sent"}, result.Calls[2])
	same(t, "traced", action.Call{Step: 1, Tool: action.SendFlow, ID: "pay", ContactAsked: true, Answer: action.AnsweredSent}, result.Calls[5])

	turn.Flows = nil
	same(t, "told on a nudge turn", `{"staged":false,"reason":"already_sent"}`, call(t, tool.NewDesk(turn), `send_flow {"flow":"folder"}`))

	turn.Tools.Flows = turn.Tools.Flows[:4]
	d = tool.NewDesk(turn)
	if got := string(find(d, "send_flow").Spec().Parameters); strings.Contains(got, "contactAsked") {
		t.Errorf("contactAsked is offered without a link to pay: %s", got)
	}
	same(t, "told", staged, call(t, d, `send_flow {"flow":"film","contactAsked":"dropped"}`))
}

// Holds docs/spec/08-sales.md, "Flows once": the link to pay that the contact turned out to
// have is sent when they asked for it, and no flow is sent twice in a turn.
func TestFlowsOnceByTheDatabase(t *testing.T) {
	a := &account{send: func(ctx context.Context, r action.Record) (action.Record, error) {
		if !r.ContactAsked {
			return r, action.ErrSent
		}
		return performed(ctx, r)
	}}
	d := desk(a)
	asked := `send_flow {"flow":"pay","contactAsked":true}`
	same(t, "told", strings.Join([]string{sentBefore, sentBefore, sent, sent, sent}, "\n"), each(t, d,
		`send_flow {"flow":"pay"}`, `send_flow {"flow":"pay"}`, asked, asked, `send_flow {"flow":"pay"}`))
	same(t, "told", sentBefore+"\n"+sentBefore, each(t, d, `send_flow {"flow":"film"}`, `send_flow {"flow":"film","contactAsked":true}`))
	if len(a.saw) != 3 {
		t.Errorf("asked for %+v", a.saw)
	}
	same(t, "record", []action.Record{{Tool: action.SendFlow, ID: "pay", Status: action.Performed, ContactAsked: true, At: at}}, d.Close().Record)
}

// Holds docs/spec/07-tools.md, "Bounds": slots are given in call order before anything runs;
// a flow that the contact had gives its own back.
func TestSlotOfAFlowThatTheContactHad(t *testing.T) {
	a := &account{send: func(_ context.Context, r action.Record) (action.Record, error) { return r, action.ErrSent }}
	d := desk(a)
	flow := begin(t, d, 1, `send_flow {"flow":"map"}`)
	for _, text := range strings.Fields("a b c d e f g") {
		same(t, text, staged, call(t, d, `write_note {"note":"summary","text":"`+text+`"}`))
	}
	same(t, "while it is sent", overCap, call(t, d, `add_tag {"tag":"gift"}`))
	same(t, "flow", sentBefore, finish(t, flow))
	same(t, "when it was not", staged+"\n"+overCap+"\n"+overCap, each(t, d, `add_tag {"tag":"group"}`, `add_tag {"tag":"gift"}`, `remove_tag {"tag":"gift"}`))
	result := d.Close()
	same(t, "statuses", "sssssssdsd", statuses(result.Record))
	if last := result.Pending[len(result.Pending)-1]; last.Place != 8 || last.ID != "group" {
		t.Errorf("the last pending is %+v", last)
	}
}

// Holds docs/spec/07-tools.md, "Performing": an earlier try's flows keep what became of
// them, and are not sent again in the same turn.
func TestEarlier(t *testing.T) {
	at := at.Add(-time.Minute)
	earlier := []action.Record{
		{Tool: action.SendFlow, ID: "map", Status: action.Performed, At: at},
		{Tool: action.SendFlow, ID: "folder", Status: action.Sending},
		{Tool: action.SendFlow, ID: "film", Status: action.Failed, Error: "refused", At: at},
	}
	a := &account{}
	turn := inbound(a)
	turn.Earlier, turn.Sent = earlier, []string{"map", "folder"}
	d := tool.NewDesk(turn)
	same(t, "told", sent+"\n"+unknown+"\n"+failure+"\n"+staged, each(t, d, `send_flow {"flow":"map"}`, `send_flow {"flow":"folder"}`, `send_flow {"flow":"film"}`, `add_tag {"tag":"gift"}`))
	result := d.Close()
	want := slices.Clone(earlier)
	want[1].Status, want[1].Error = action.Failed, action.OutcomeUnknown
	same(t, "record", append(want, action.Record{Tool: action.AddTag, ID: "gift", Status: action.Staged}), result.Record)
	same(t, "pending", []action.Pending{{Place: 3, Tool: action.AddTag, ID: "gift"}}, result.Pending)
	if len(a.saw) > 0 || earlier[1].Status != action.Sending {
		t.Errorf("asked for %+v, earlier %+v", a.saw, earlier)
	}
	same(t, "without tools", tool.Result{Record: want}, tool.NewDesk(tool.Turn{Earlier: earlier}).Close())
}

// Holds docs/spec/07-tools.md, "Flows go out before the reply": flows go out strictly one
// after the other, in the order called, each within its time; a repeat waits for the first.
func TestFlowsGoOutInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &account{send: func(ctx context.Context, r action.Record) (action.Record, error) {
			if r.ID == "map" {
				<-ctx.Done() // 10 s
				return failed(action.OutcomeUnknown)(ctx, r)
			}
			time.Sleep(2 * time.Second)
			return performed(ctx, r)
		}}
		d, began := desk(a), time.Now()
		var outcomes []tool.Outcome
		for _, c := range []string{`send_flow {"flow":"film"}`, `send_flow {"flow":"map"}`, `send_flow {"flow":"film"}`, `send_flow {"flow":"pay"}`, `send_flow {"flow":"folder"}`} {
			outcomes = append(outcomes, begin(t, d, 1, c))
		}
		waits := make([]func() string, len(outcomes))
		for i := len(outcomes) - 1; i >= 0; i-- { // whatever starts first
			waits[i] = goes(t, outcomes[i])
			synctest.Wait()
		}
		for i, want := range []struct {
			told string
			took time.Duration
		}{{sent, 2 * time.Second}, {unknown, 12 * time.Second}, {sent, 12 * time.Second}, {sent, 14 * time.Second}, {sent, 16 * time.Second}} {
			same(t, "told", want.told, waits[i]())
			if took := time.Since(began); took != want.took {
				t.Errorf("call %d took %v, want %v", i+1, took, want.took)
			}
		}
		var order []string
		for _, r := range a.saw {
			order = append(order, r.ID)
		}
		same(t, "order", "film map pay folder", strings.Join(order, " "))
		if a.crossed {
			t.Error("two were sent at a time")
		}
	})
}

// Holds docs/spec/07-tools.md, "Bounds": the loop's end ends everything. A flow that had not
// begun is not sent; one under way may have arrived.
func TestFlowsWhenTheLoopEnds(t *testing.T) {
	for _, how := range []string{"aborted", "closed"} {
		t.Run(how, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				release := make(chan struct{})
				a := &account{send: func(ctx context.Context, r action.Record) (action.Record, error) {
					if how == "closed" {
						<-release // returns when all is over
						return performed(ctx, r)
					}
					<-ctx.Done()
					return failed(action.OutcomeUnknown)(ctx, r)
				}}
				d := desk(a)
				told := make(chan string)
				for _, id := range []string{"film", "map", "film", "folder"} {
					o := begin(t, d, 1, `send_flow {"flow":"`+id+`"}`)
					go func() { told <- id + " " + written(o.Run(ctx)) }()
					synctest.Wait()
				}
				var result tool.Result
				if how == "closed" {
					result = d.Close()
					close(release)
				}
				cancel()
				got := []string{<-told, <-told, <-told, <-told}
				slices.Sort(got)
				same(t, "told", []string{"film " + unknown, "film " + unknown, "folder " + failure, "map " + failure}, got)
				if how != "closed" {
					result = d.Close()
				}
				f, why := action.Failed, "not started in time"
				same(t, "record", []action.Record{
					{Tool: action.SendFlow, ID: "film", Status: f, Error: action.OutcomeUnknown}, {Tool: action.SendFlow, ID: "map", Status: f, Error: why}, {Tool: action.SendFlow, ID: "folder", Status: f, Error: why},
				}, result.Record)
				same(t, "after", result, d.Close())
				if len(a.saw) != 1 {
					t.Errorf("asked for %+v", a.saw)
				}
			})
		})
	}
}

// Holds docs/spec/07-tools.md, "Flows go out before the reply": an aborted turn begins no flow.
func TestFlowOfAnAbortedTurn(t *testing.T) {
	a := &account{}
	d := desk(a)
	o := begin(t, d, 1, `send_flow {"flow":"map"}`)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	same(t, "told", failure, written(o.Run(ctx)))
	if len(a.saw) > 0 {
		t.Errorf("asked for %+v", a.saw)
	}
	same(t, "statuses", "f", statuses(d.Close().Record))
}

// Holds docs/spec/07-tools.md, "Bounds": the desk takes calls from anywhere at any time.
func TestDeskIsSafeForConcurrentUse(t *testing.T) {
	a := &account{read: reads(profile)}
	turn := inbound(a)
	turn.Tools.Flows = append(turn.Tools.Flows, tenant.Flow{ID: "more", FlowNs: "HIDDEN_ns_7"})
	d := tool.NewDesk(turn)
	calls := []string{`send_flow {"flow":"map"}`, `send_flow {"flow":"more"}`, `send_flow {"flow":"map"}`, `add_tag {"tag":"gift"}`, `get_contact`, `set_field {"field":"mood","value":"new"}`, `write_note {"note":"summary","text":"a"}`, `schedule_nudge {"delay":"soon"}`}
	done := make(chan struct{})
	for range 4 {
		for _, c := range calls {
			go func() {
				name, arguments, _ := strings.Cut(c, " ")
				if o := find(d, name).Call(1, []byte(arguments)); o.Run != nil {
					o.Run(t.Context())
				}
				d.SoFar()
				done <- struct{}{}
			}()
		}
	}
	for range 4 * len(calls) {
		<-done
	}
	result := d.Close()
	if len(result.Record) != 6 || len(result.Pending) != 4 || len(result.Calls) != 4*len(calls) || len(a.saw) != 2 || a.reads != 2 || a.crossed {
		t.Errorf("result %+v, saw %v, read %d times", result, a.saw, a.reads)
	}
}

package tool_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
)

// Holds docs/spec/07-tools.md, "A tool stages an action; the server performs it": no request
// is made inside the model call.
func TestStagingAsksNothing(t *testing.T) {
	a := &account{}
	turn := inbound(a)
	turn.Flows = nil // as on a nudge turn
	d := tool.NewDesk(turn)
	told := each(t, d, `send_flow {"flow":"map"}`, `add_tag {"tag":"gift"}`, `remove_tag {"tag":"group"}`,
		`set_field {"field":"shift","value":"evening"}`, `write_note {"note":"summary","text":"Wants a bowl."}`, `schedule_nudge {"delay":"later"}`)
	same(t, "told", strings.TrimSpace(strings.Repeat(staged+"\n", 6)), told)
	s := action.Staged
	same(t, "result", tool.Result{
		Record: []action.Record{
			{Tool: action.SendFlow, ID: "map", Status: s}, {Tool: action.AddTag, ID: "gift", Status: s}, {Tool: action.RemoveTag, ID: "group", Status: s},
			{Tool: action.SetField, ID: "shift", Value: "evening", Status: s}, {Tool: action.WriteNote, ID: "summary", Length: 13, Status: s},
			{Tool: action.ScheduleNudge, ID: "later", Status: s},
		},
		Pending: []action.Pending{
			{Place: 0, Tool: action.SendFlow, ID: "map"}, {Place: 1, Tool: action.AddTag, ID: "gift"}, {Place: 2, Tool: action.RemoveTag, ID: "group"},
			{Place: 3, Tool: action.SetField, ID: "shift", Value: "evening"}, {Place: 4, Tool: action.WriteNote, ID: "summary", Text: "Wants a bowl."},
			{Place: 5, Tool: action.ScheduleNudge, ID: "later"},
		},
		Calls: []action.Call{
			{Step: 1, Tool: action.SendFlow, ID: "map", Answer: action.AnsweredStaged}, {Step: 1, Tool: action.AddTag, ID: "gift", Answer: action.AnsweredStaged},
			{Step: 1, Tool: action.RemoveTag, ID: "group", Answer: action.AnsweredStaged},
			{Step: 1, Tool: action.SetField, ID: "shift", Value: "evening", Answer: action.AnsweredStaged},
			{Step: 1, Tool: action.WriteNote, ID: "summary", Length: 13, Answer: action.AnsweredStaged},
			{Step: 1, Tool: action.ScheduleNudge, ID: "later", Answer: action.AnsweredStaged},
		},
	}, d.Close())
	if len(a.saw)+a.reads > 0 {
		t.Errorf("asked for %v, read %d times", a.saw, a.reads)
	}
}

// statuses writes down what became of the actions of a record, by their first letters.
func statuses(record []action.Record) (all string) {
	for _, r := range record {
		all += string(r.Status)[:1]
	}
	return all
}

// Holds docs/spec/07-tools.md, "Bounds": 8 staged or sent actions a turn, beyond it
// dropped_over_cap; identical actions are one, the repeat answers like the first.
func TestBounds(t *testing.T) {
	var eight []string
	for i := range 8 {
		eight = append(eight, fmt.Sprintf(`write_note {"note":"summary","text":"Bowl %d."}`, i))
	}
	lines := func(n int, answer string) string { return strings.Repeat(answer+"\n", n) }
	tests := []struct {
		name  string
		turn  func(*tool.Turn)
		calls []string
		want  string
		kept  string // statuses
	}{
		{"eight", nil, eight, lines(8, staged), "ssssssss"},
		{"the ninth is dropped", nil, append(eight[:8:8], `add_tag {"tag":"gift"}`, `add_tag {"tag":"group"}`), lines(8, staged) + lines(2, overCap), "ssssssssdd"},
		{"a repeat of a dropped one", nil, append(eight[:8:8], `add_tag {"tag":"gift"}`, `add_tag {"tag":"gift"}`), lines(8, staged) + lines(2, overCap), "ssssssssd"},
		{"a repeat of a staged one", nil, append(eight[:8:8], eight[3], `add_tag {"tag":"gift"}`), lines(9, staged) + lines(1, overCap), "ssssssssd"},
		{"refused ones take no slot", nil, append([]string{`add_tag {"tag":"zzz"}`, `write_note {"note":"summary","text":" "}`}, eight...),
			"bad: tag must be one of: gift, group\n" + `{"staged":false,"reason":"empty"}` + "\n" + lines(8, staged), "ssssssss"},
		{"a flow over the cap", nil, append(eight[:8:8], `send_flow {"flow":"map"}`, `send_flow {"flow":"map"}`), lines(8, staged) + lines(2, unsentCap), "ssssssssd"},
		{"a flow over the cap that would be staged", func(turn *tool.Turn) { turn.Flows = nil }, append(eight[:8:8], `send_flow {"flow":"map"}`), lines(8, staged) + lines(1, overCap), "ssssssssd"},
		{"a flow takes a slot", nil, append([]string{`send_flow {"flow":"map"}`}, eight...), lines(1, sent) + lines(7, staged) + lines(1, overCap), "psssssssd"},
		{"one that the contact has takes none", func(turn *tool.Turn) { turn.Sent = []string{"film"} }, append([]string{`send_flow {"flow":"film"}`}, eight...), lines(1, sentBefore) + lines(8, staged), "ssssssss"},
		{"an earlier try's flows take theirs", func(turn *tool.Turn) {
			turn.Earlier = []action.Record{{Tool: action.SendFlow, ID: "map", Status: action.Performed}, {Tool: action.SendFlow, ID: "film", Status: action.Sending}}
		}, eight, lines(6, staged) + lines(2, overCap), "pfssssssdd"},
		{"an opening takes none", func(turn *tool.Turn) {
			turn.Earlier = []action.Record{{Tool: action.SendFlow, ID: "hello", Status: action.Performed, Origin: action.FromOpening}}
		}, eight, lines(8, staged), "pssssssss"},
		{"to and fro", nil, []string{`add_tag {"tag":"gift"}`, `remove_tag {"tag":"gift"}`, `add_tag {"tag":"gift"}`}, lines(3, staged), "ss"},
		{"one field, two values", nil, []string{`set_field {"field":"shift","value":"morning"}`, `set_field {"field":"shift","value":"evening"}`}, lines(2, staged), "ss"},
		{"two fields, one value", nil, []string{`set_field {"field":"stage","value":"new"}`, `set_field {"field":"mood","value":"new"}`, `set_field {"value":"new","field":"mood","x":1}`}, lines(3, staged), "ss"},
		{"notes that are the same once they are cleaned", nil, []string{`write_note {"note":"summary","text":"A  bowl "}`, `write_note {"note":"summary","text":"A\nbowl"}`, `write_note {"note":"handover","text":"A bowl"}`}, lines(3, staged), "ss"},
		{"one nudge", nil, []string{`schedule_nudge {"delay":"soon"}`, `schedule_nudge {"delay":"later"}`, `schedule_nudge {"delay":"soon"}`}, lines(1, staged) + `{"staged":false,"reason":"already_scheduled"}` + "\n" + lines(1, staged), "s"},
		{"a nudge over the cap", nil, append(eight[:8:8], `schedule_nudge {"delay":"soon"}`, `schedule_nudge {"delay":"later"}`, `schedule_nudge {"delay":"soon"}`), lines(8, staged) + lines(3, overCap), "ssssssssdd"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			turn := inbound(&account{})
			if tt.turn != nil {
				tt.turn(&turn)
			}
			d := tool.NewDesk(turn)
			same(t, "told", strings.TrimSpace(tt.want), each(t, d, tt.calls...))
			result := d.Close()
			same(t, "statuses", tt.kept, statuses(result.Record))
			if len(result.Calls) != len(tt.calls) {
				t.Errorf("%d calls traced of %d", len(result.Calls), len(tt.calls))
			}
			for _, p := range result.Pending {
				if r := result.Record[p.Place]; r.Status != action.Staged || r.Tool != p.Tool || r.ID != p.ID {
					t.Errorf("pending %+v is %+v in the record", p, r)
				}
			}
			if n := strings.Count(tt.kept, "s"); n != len(result.Pending) {
				t.Errorf("%d pending of %d staged", len(result.Pending), n)
			}
		})
	}
}

// Holds docs/spec/07-tools.md, "Bounds": what the calls came to is told in words.
func TestSoFar(t *testing.T) {
	a := &account{read: reads(profile)}
	turn := inbound(a)
	turn.Sent = []string{"folder"}
	d := tool.NewDesk(turn)
	if d.SoFar() != "" {
		t.Errorf("before any call: %q", d.SoFar())
	}
	each(t, d, `send_flow {"flow":"map"}`, `send_flow {"flow":"folder"}`, `send_flow {"flow":"zzz"}`, `add_tag {"tag":"gift"}`, `add_tag {"tag":"gift"}`,
		`set_field {"field":"mood","value":"good"}`, `write_note {"note":"summary","text":"private words"}`, `write_note {"note":"handover","text":""}`, `get_contact`)
	a.read, a.send = nil, failed(action.OutcomeUnknown)
	each(t, d, `get_contact`, `send_flow {"flow":"film"}`)
	want := `send_flow map: sent, the person sees it before your reply
send_flow folder: not sent (already_sent)
send_flow: not made (flow)
add_tag gift: staged, not done yet
set_field mood good: staged, not done yet
write_note summary: staged, not done yet
write_note handover: not staged (empty)
send_flow film: not sent (unknown)
get_contact read: ` + profileTold
	same(t, "so far", want, d.SoFar())
}

// Holds docs/spec/07-tools.md, "Bounds": a closed desk takes no call, and says the same again.
func TestCloseTakesNoMore(t *testing.T) {
	d := desk(&account{})
	call(t, d, `add_tag {"tag":"gift"}`)
	first := d.Close()
	for _, c := range []string{`add_tag {"tag":"group"}`, `add_tag {"tag":"gift"}`, `send_flow {"flow":"map"}`, `get_contact`, `add_tag [`} {
		same(t, c, "bad: no tool can be called any more", call(t, d, c))
	}
	same(t, "the second time", first, d.Close())
	first.Record[0].ID, first.Calls[0].ID, first.Pending[0].ID = "x", "x", "x"
	if second := d.Close(); second.Record[0].ID != "gift" || second.Calls[0].ID != "gift" || second.Pending[0].ID != "gift" {
		t.Errorf("the result can be changed: %+v", second)
	}
}

// Holds docs/spec/08-sales.md, "Funnel": link_sent is absent from the model's enum of the
// funnel field, and of that field alone.
func TestLinkSentIsTheServersInTheFunnelAlone(t *testing.T) {
	turn := inbound(&account{})
	turn.Tools.Fields[2].Values = []string{"good", "link_sent"}
	d := tool.NewDesk(turn)
	if got := string(find(d, "set_field").Spec().Parameters); !strings.Contains(got, `"enum":["morning","evening","new","offered","good","link_sent"]`) {
		t.Errorf("offered %s", got)
	}
	same(t, "told", staged+"\nbad: value of stage must be one of: new, offered", each(t, d, `set_field {"field":"mood","value":"link_sent"}`, `set_field {"field":"stage","value":"link_sent"}`))
}

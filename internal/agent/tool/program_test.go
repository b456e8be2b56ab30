package tool_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/contact"
)

// program is a turn as a random test plays it: steps of calls, how the account behaves,
// and when the turn ends.
type program struct {
	Staged  bool // flows are staged, as on a nudge turn
	Sent    []string
	Earlier []action.Record
	Steps   [][]request
	Flows   map[string]behaviour // by id
	Reads   behaviour
	// Cut is the step in which the turn is cut off, from 1, and After how long after its
	// beginning; 0: it is not. Closed says that the desk closes then, else the context ends.
	Cut    int
	After  time.Duration
	Closed bool
}

// request is one call, in what it asks for and as the model writes it.
type request struct {
	Tool                  action.Kind
	ID, Value, Text, Wish string // Wish: of contactAsked; Text: as it is kept
	Wrong                 string // what is bad about it; empty: nothing
	Written               string
}

// behaviour is what becomes of a flow or a read, and when.
type behaviour struct {
	How   string
	Takes time.Duration // even milliseconds
}

var ways = []string{"performed", "performed", "refused", "unknown", "had", "staged", "hangs", "panics", "breaks"}

// send does what a behaviour says. All but a hanging one heed nothing.
func (b behaviour) send(ctx context.Context, r action.Record) (action.Record, error) {
	if b.How == "hangs" {
		<-ctx.Done()
		return failed(action.OutcomeUnknown)(ctx, r)
	}
	select {
	case <-time.After(b.Takes):
	case <-ctx.Done():
		return failed(action.OutcomeUnknown)(ctx, r)
	}
	switch b.How {
	case "performed":
		return performed(ctx, r)
	case "refused":
		return failed("refused")(ctx, r)
	case "had":
		if !r.ContactAsked {
			return r, action.ErrSent
		}
		return performed(ctx, r)
	case "staged":
		r.Status = action.Staged
		return r, nil
	case "panics":
		panic("HIDDEN")
	case "breaks":
		return r, errors.New("HIDDEN")
	}
	return failed(action.OutcomeUnknown)(ctx, r)
}

func (b behaviour) read(ctx context.Context) (contact.Profile, error) {
	select {
	case <-time.After(b.Takes):
		return profile, nil
	case <-ctx.Done():
		return contact.Profile{}, ctx.Err()
	}
}

var (
	ids = map[action.Kind][]string{
		action.SendFlow: {"map", "folder", "film", "pay"}, action.AddTag: {"gift", "group"}, action.RemoveTag: {"gift", "group"},
		action.SetField: {"shift", "stage", "mood"}, action.WriteNote: {"summary", "handover"}, action.ScheduleNudge: {"soon", "later"}, action.GetContact: {""},
	}
	arguments = map[action.Kind]string{
		action.SendFlow: "flow", action.AddTag: "tag", action.RemoveTag: "tag", action.SetField: "field", action.WriteNote: "note", action.ScheduleNudge: "delay",
	}
	values = map[string][]string{"shift": {"morning", "evening"}, "stage": {"new", "offered"}, "mood": {"good", "new"}}
	// texts are what a model writes, and what is kept of it in a note of 12 characters.
	texts = [][2]string{{"a bowl", "a bowl"}, {"a  bowl", "a bowl"}, {"private77", "private77"}, {"\u200b ", ""}, {"0170 1234567", "[removed]"}, {"private88 words", "private88"}}
)

// draw makes up a program.
func draw(t *rapid.T) program {
	kinds := []action.Kind{action.SendFlow, action.SendFlow, action.SendFlow, action.AddTag, action.RemoveTag, action.SetField, action.WriteNote, action.WriteNote, action.ScheduleNudge, action.GetContact}
	even := rapid.Custom(func(t *rapid.T) time.Duration {
		return 2 * time.Duration(rapid.IntRange(0, 1500).Draw(t, "ms")) * time.Millisecond
	})
	acts := rapid.Custom(func(t *rapid.T) behaviour {
		return behaviour{rapid.SampledFrom(ways).Draw(t, "how"), even.Draw(t, "takes")}
	})
	p := program{
		Staged: rapid.IntRange(0, 4).Draw(t, "staged") == 0, Reads: behaviour{"", even.Draw(t, "read")},
		Sent:  rapid.SliceOfN(rapid.SampledFrom([]string{"map", "folder", "film", "pay", "gone"}), 0, 2).Draw(t, "sent"),
		Flows: map[string]behaviour{},
	}
	for _, id := range ids[action.SendFlow] {
		p.Flows[id] = acts.Draw(t, id)
		if how := rapid.SampledFrom([]string{"", "", "", "performed", "sending", "refused"}).Draw(t, "earlier"); how != "" {
			p.Earlier = append(p.Earlier, map[string]action.Record{
				"performed": {Tool: action.SendFlow, ID: id, Status: action.Performed, At: at},
				"sending":   {Tool: action.SendFlow, ID: id, Status: action.Sending},
				"refused":   {Tool: action.SendFlow, ID: id, Status: action.Failed, Error: "refused", At: at},
			}[how])
		}
	}
	p.Steps = rapid.SliceOfN(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) request {
		return drawRequest(t, rapid.SampledFrom(kinds).Draw(t, "kind"))
	}), 1, 8), 1, 3).Draw(t, "steps")
	if p.Cut = rapid.IntRange(0, len(p.Steps)).Draw(t, "cut"); p.Cut > 0 {
		p.After, p.Closed = even.Draw(t, "after")+time.Millisecond, rapid.Bool().Draw(t, "closed")
	}
	return p
}

func drawRequest(t *rapid.T, kind action.Kind) request {
	r := request{Tool: kind, ID: rapid.SampledFrom(ids[kind]).Draw(t, "id")}
	body := `"subscriber_id":"777000777"`
	if name := arguments[kind]; name != "" {
		body += fmt.Sprintf(`,%q:%q`, name, r.ID)
	}
	switch kind {
	case action.SendFlow:
		r.Wish = rapid.SampledFrom([]string{"", "", "true", "false"}).Draw(t, "asked")
		if r.Wish != "" {
			body += `,"contactAsked":` + r.Wish
		}
	case action.SetField:
		r.Value = rapid.SampledFrom(values[r.ID]).Draw(t, "value")
		body += fmt.Sprintf(`,"value":%q`, r.Value)
	case action.WriteNote:
		text := rapid.SampledFrom(texts).Draw(t, "text")
		r.Text = text[1]
		if r.ID == "summary" && text[0] == "private88 words" {
			r.Text = text[0] // it has room
		}
		body += fmt.Sprintf(`,"text":%q`, text[0])
	}
	r.Written = "{" + body + "}"
	switch rapid.IntRange(0, 9).Draw(t, "wrong") {
	case 0:
		r.Wrong, r.Written = "arguments", `{"subscriber_id":"777000777"`
	case 1:
		if kind != action.GetContact {
			r.Wrong, r.Written = arguments[kind], fmt.Sprintf(`{%q:"invented777"}`, arguments[kind])
		}
	}
	return r
}

// turn is the program's turn at an account that behaves as it says.
func (p program) turn(a *account) tool.Turn {
	a.send = func(ctx context.Context, r action.Record) (action.Record, error) { return p.Flows[r.ID].send(ctx, r) }
	a.read = p.Reads.read
	turn := inbound(a)
	turn.Sent, turn.Earlier = p.Sent, p.Earlier
	if p.Staged {
		turn.Flows = nil
	}
	return turn
}

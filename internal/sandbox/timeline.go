package sandbox

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/sandbox/label"
)

// act is something that a turn did or was asked to do, as the timeline shows it.
type act struct {
	Tool   string // empty: what was called does not exist
	Object string // which one, in configured ids
	Badge  label.Badge
	When   string   // since the turn's arrival; empty: not known
	Notes  []string // why
}

// step is one step of the model, and what it called.
type step struct {
	Number int
	Took   string // empty: not recorded
	Calls  []act
}

// maxSteps bounds the steps that are shown: the loop has fewer.
const maxSteps = 16

// Steps are the model's steps.
func (t Turn) Steps() []step {
	count := len(t.Micros.Steps)
	for _, c := range t.Calls {
		count = max(count, c.Step)
	}
	count = min(count, maxSteps)
	steps := make([]step, count)
	for i := range steps {
		steps[i].Number = i + 1
		if i < len(t.Micros.Steps) {
			steps[i].Took = micros(t.Micros.Steps[i])
		}
	}
	for _, c := range t.Calls {
		if c.Step < 1 || c.Step > count {
			continue
		}
		s := &steps[c.Step-1]
		s.Calls = append(s.Calls, act{
			Tool: c.Tool, Object: object(c.ID, c.Value, c.Length), Badge: label.BadgeOf(label.Answers(), c.Answer),
			Notes: notes(c.Reason, "", c.ContactAsked),
		})
	}
	return steps
}

// Flows are the flows that went out before the reply.
func (t Turn) Flows() []act { return t.acts(true) }

// Following are the actions that follow the reply.
func (t Turn) Following() []act { return t.acts(false) }

func (t Turn) acts(early bool) (all []act) {
	for _, a := range t.Actions {
		if t.early(a) != early {
			continue
		}
		shown := act{
			Tool: a.Tool, Object: object(a.ID, a.Value, a.Length), Badge: label.BadgeOf(label.Statuses(), a.Status),
			Notes: notes(a.Error, a.Origin, a.ContactAsked),
		}
		if hint := a.hint(); hint != "" {
			shown.Notes = append(shown.Notes, hint)
		}
		if !a.At.IsZero() {
			shown.When = t.since(a.At)
		}
		all = append(all, shown)
	}
	return all
}

// early reports whether an action is a flow of the turn itself: ManyChat answered it before
// the turn was settled, or it was never asked to wait.
func (t Turn) early(a Action) bool {
	if a.Tool != "send_flow" || a.Status == "staged" || a.Status == "discarded" || a.Status == "dead_lettered" {
		return false
	}
	if !a.At.IsZero() {
		return t.SettledAt.IsZero() || !a.At.After(t.SettledAt)
	}
	staged := func(c Call) bool { return c.Tool == a.Tool && c.ID == a.ID && c.Answer == "staged" }
	return !slices.ContainsFunc(t.Calls, staged)
}

// hint is a question to a person whose account refused an action; empty: there is none.
func (a Action) hint() string {
	what := map[string]string{
		"add_tag": "tag", "remove_tag": "tag", "send_flow": "flow", "set_field": "field", "write_note": "field",
		"notify_handoff tag": "tag", "notify_handoff flow": "flow",
	}
	thing, known := what[a.Tool]
	if !known {
		thing, known = what[a.Tool+" "+a.ID]
	}
	if !known || !strings.HasPrefix(a.Error, "rejected (4") {
		return ""
	}
	return "does the " + thing + " exist in the account?"
}

// Waited says what the reply was held for.
func (t Turn) Waited() string {
	played := func(a act) bool { return a.Badge.Tone != "bad" }
	if slices.ContainsFunc(t.Flows(), played) {
		return "The reply waited for the flow to end"
	}
	return "The reply waited for the gap behind the text before it"
}

// since is an instant as the timeline shows it.
func (t Turn) since(at time.Time) string { return "+" + rounded(at.Sub(t.ReceivedAt)) }

// Decided is when the turn was settled; empty: it is not yet.
func (t Turn) Decided() string {
	if t.SettledAt.IsZero() {
		return ""
	}
	return t.since(t.SettledAt)
}

// Left says in words how the reply left; empty: it did not yet.
func (t Turn) Left() string {
	switch t.Outcome {
	case "merged", "duplicate":
		return "nothing was said for it alone"
	}
	switch t.Path {
	case "inline":
		return "left in the response"
	case "outbox":
		return "left by the outbox"
	case "silent":
		return "nothing was said"
	}
	return ""
}

// Ended is the turn's outcome in words, or its state.
func (t Turn) Ended() label.Badge {
	if t.Outcome == "" {
		return label.BadgeOf(label.States(), t.State)
	}
	return label.BadgeOf(label.Outcomes(), t.Outcome)
}

// Why is the reason of a handoff, in words.
func (t Turn) Why() string { return label.Words(t.Reason) }

// Rows are where the turn's outbox rows stand.
func (t Turn) Rows() (all []label.Badge) {
	for _, d := range t.Deliveries {
		all = append(all, label.BadgeOf(label.Rows(), d))
	}
	return all
}

// Did counts the turn's actions for the summary; empty: there are none.
func (t Turn) Did() label.Badge {
	done := 0
	for _, a := range t.Actions {
		if a.Status == "performed" {
			done++
		}
	}
	switch all := len(t.Actions); {
	case all == 0:
		return label.Badge{}
	case done == all && all == 1:
		return label.Badge{Text: "1 action done", Tone: "good"}
	case done == all:
		return label.Badge{Text: fmt.Sprintf("%d actions done", all), Tone: "good"}
	default:
		return label.Badge{Text: fmt.Sprintf("%d of %d actions done", done, all), Tone: "wait"}
	}
}

func object(id, value string, length int) string {
	if value != "" {
		id += " = " + value
	}
	if length > 0 {
		id += fmt.Sprintf(" (%d characters)", length)
	}
	return id
}

// notes are why an act is in the record, and what became of it.
func notes(why, origin string, asked bool) (all []string) {
	if why != "" {
		all = append(all, why)
	}
	if origin != "" {
		all = append(all, "by the rule of the "+origin)
	}
	if asked {
		all = append(all, "the contact asked for it")
	}
	return all
}

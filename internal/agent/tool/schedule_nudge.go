package tool

import (
	_ "embed" // the description
	"fmt"
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool/form"
)

//go:embed schedule_nudge.md
var scheduleNudgeText string

func (d *Desk) scheduleNudge() *offered {
	if !d.turn.Nudges || d.turn.Tools.Nudge == nil {
		return nil
	}
	var options []form.Option
	for _, delay := range d.turn.Tools.Nudge.Delays {
		options = append(options, form.Option{ID: delay.ID, Description: fmt.Sprintf("%s (%d minutes after the person's last message)", delay.Description, delay.Minutes)})
	}
	if len(options) == 0 {
		return nil
	}
	allowed := form.IDs(options)
	describe := func() (string, []form.Property) {
		return scheduleNudgeText, []form.Property{form.Enum("delay", options)}
	}
	return d.offer(sheet{kind: action.ScheduleNudge, describe: describe}, func(c action.Call, a form.Arguments) Outcome {
		id, ok := a.Text("delay")
		if !ok || !slices.Contains(allowed, id) {
			return d.bad(c, "delay", notOneOf("delay", allowed))
		}
		c.ID = id
		if d.nudged && d.known[key{tool: action.ScheduleNudge, id: id}] == nil {
			return d.refuse(c, answer{action.AnsweredNotStaged, alreadyScheduled})
		}
		out := d.stage(c, action.Record{Tool: action.ScheduleNudge, ID: id}, "")
		d.nudged = d.nudged || out.Told == any(stagedTold{Staged: true})
		return out
	})
}

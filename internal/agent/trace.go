package agent

import (
	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
)

// Trace is the calls of a turn in their order: those that its desk took, and between them
// those that the loop answered itself. Of a step with too many only the first are in it.
func (r Result) Trace(atDesk []action.Call, offered []tool.Tool) (all []action.Call) {
	names := map[string]bool{}
	for _, t := range offered {
		names[t.Spec().Name] = true
	}
	for i, s := range r.Steps {
		for _, call := range s.Calls {
			switch {
			case s.Asked > len(s.Calls):
				all = append(all, action.Call{Step: i + 1, Tool: known(names, call), Answer: action.AnsweredBad, Reason: "too many calls in one step"})
			case !names[call]:
				all = append(all, action.Call{Step: i + 1, Answer: action.AnsweredBad, Reason: "no tool has this name"})
			case len(atDesk) > 0 && atDesk[0].Step == i+1 && string(atDesk[0].Tool) == call:
				all, atDesk = append(all, atDesk[0]), atDesk[1:]
			default:
				all = append(all, action.Call{Step: i + 1, Tool: action.Kind(call), Answer: action.AnsweredBad, Reason: "not taken"})
			}
		}
	}
	return append(all, atDesk...) // of a loop that ended without a result
}

// known is the name of a tool, or nothing for one that a model made up.
func known(names map[string]bool, called string) action.Kind {
	if names[called] {
		return action.Kind(called)
	}
	return ""
}

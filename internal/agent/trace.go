package agent

import (
	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
)

// Trace is the calls of a turn in their order: those that its desk took, and between them
// those that the loop answered itself.
func (r Result) Trace(atDesk []action.Call, offered []tool.Tool) (all []action.Call) {
	names := map[string]bool{}
	for _, t := range offered {
		names[t.Spec().Name] = true
	}
	for i, s := range r.Steps {
		for _, call := range s.Calls {
			switch {
			case !names[call.Name]:
				all = append(all, action.Call{Step: i + 1, Answer: action.AnsweredBad, Reason: "no tool has this name"})
			case len(atDesk) > 0 && atDesk[0].Step == i+1 && string(atDesk[0].Tool) == call.Name:
				all, atDesk = append(all, atDesk[0]), atDesk[1:]
			default:
				all = append(all, action.Call{Step: i + 1, Tool: action.Kind(call.Name), Answer: action.AnsweredBad, Reason: "not taken"})
			}
		}
	}
	return append(all, atDesk...) // of a loop that ended without a result
}

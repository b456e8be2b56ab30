package delivery

import (
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// once reports whether a contact gets a flow once, however long ago that was: what a rule of the
// sale sends (docs/spec/08-sales.md, "Opening" and "Stage flows").
func once(f tenant.Flow) bool { return f.Role == tenant.RoleOpening || f.OnStage != "" }

// Once are the ids of the flows that a contact gets once, however long ago that was.
func Once(tools *tenant.Tools) (ids []string) {
	if tools == nil {
		return nil
	}
	for _, f := range tools.Flows {
		if once(f) {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// Sent is a flow as it is sent: which, by which rule of the server, and whether the contact asked
// for the link to pay.
type Sent struct {
	Flow   tenant.Flow
	Origin action.Origin
	Asked  bool
}

// Right is the claim of the right to send it, of the claims of its turn.
func (s Sent) Right(of action.Claim) action.Claim {
	of.Flow, of.Repeatable = s.Flow.ID, s.Origin == "" && s.Flow.Again(s.Asked)
	if s.Origin != "" || once(s.Flow) {
		of.Since = time.Time{}
	}
	return of
}

// event is the event with an id.
func event(tools *tenant.Tools, id string) (tenant.Event, bool) {
	if tools == nil {
		return tenant.Event{}, false
	}
	i := slices.IndexFunc(tools.Events, func(e tenant.Event) bool { return e.ID == id })
	if i < 0 {
		return tenant.Event{}, false
	}
	return tools.Events[i], true
}

package tool_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/tenant/tenanttest"
)

// Holds docs/spec/07-tools.md, "The tools": what is offered is what is configured now and the
// contact may get, whatever was offered before.
func TestMenuTellsWhatADeskTells(t *testing.T) {
	equipped := tenanttest.Equipped().Tools
	reloaded := *equipped
	reloaded.Tags = append([]tenant.Tag{{ID: "new", Tag: "new", Description: "New."}}, equipped.Tags...)
	var flows []string
	for _, f := range equipped.Flows {
		flows = append(flows, f.ID)
	}
	menu := &tool.Menu{}
	for range 2 {
		for _, turn := range []tool.Turn{
			{Tools: equipped, Contact: &account{}},
			{Tools: equipped, Contact: &account{}, Sent: flows[:1]},
			{Tools: equipped, Sent: flows},
			{Tools: &reloaded, Flows: &account{}},
			{Tools: equipped, Nudges: true},
			{},
		} {
			want := told(tool.NewDesk(turn))
			turn.Menu = menu
			if d := cmp.Diff(want, told(tool.NewDesk(turn))); d != "" {
				t.Errorf("with a menu (-without +with):\n%s", d)
			}
		}
	}
}

func told(d *tool.Desk) (all []llm.Tool) {
	for _, offered := range d.Tools() {
		all = append(all, offered.Spec())
	}
	return all
}

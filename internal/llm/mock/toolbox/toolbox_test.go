package toolbox_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/toolbox"
)

// Holds docs/spec/07-tools.md, "The tools": ids come with a description each, and a field
// with its values. What cannot be read is not used, and nothing is when none may be called.
func TestOpen(t *testing.T) {
	tools := []llm.Tool{
		{Name: toolbox.SendFlow, Parameters: []byte(`{"properties":{"flow":{"enum":["map","map_2","gone"],"description":"One of:\n- map_2: Second map: by car\nmap: The map"},"contactAsked":{"type":"boolean"}}}`)},
		{Name: toolbox.SetField, Parameters: []byte(`{"properties":{"field":{"enum":["shift"],"description":"shift (morning | late evening): When (roughly): it suits"},"value":{"enum":["morning","late evening"]}}}`)},
		{Name: toolbox.AddTag, Parameters: []byte(`{"properties":7}`)},
		{Name: toolbox.GetContact, Parameters: []byte(`{}`)},
		{Name: "another", Parameters: []byte(`{}`)},
	}
	box, open := toolbox.Open(llm.Request{Tools: tools})
	want := toolbox.Box{
		Flows: []toolbox.Thing{
			{ID: "map", AllWords: []string{"map", "the", "map"}},
			{ID: "map_2", AllWords: []string{"map", "2", "second", "map", "by", "car"}},
		},
		Fields: []toolbox.Thing{
			{ID: "shift", Values: []string{"morning", "late evening"}, AllWords: []string{"shift", "when", "roughly", "it", "suits"}},
		},
		Contact: true, Asked: true,
	}
	if diff := cmp.Diff(want, box, cmpopts.IgnoreFields(toolbox.Thing{}, "IDWords", "Padded")); diff != "" || !open {
		t.Errorf("open: %t (-want +got):\n%s", open, diff)
	}
	for name, req := range map[string]llm.Request{"none": {}, "no choice": {Tools: tools, ToolChoice: llm.ToolsNone}} {
		if box, open := toolbox.Open(req); open || len(box.Flows) > 0 {
			t.Errorf("%s: %+v can be called", name, box)
		}
	}
}

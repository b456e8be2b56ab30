package tool_test

import (
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/tenant/tenanttest"
)

// BenchmarkDesk is what every turn pays for the tools that it is offered.
func BenchmarkDesk(b *testing.B) {
	tools := tenanttest.Equipped().Tools
	menu := &tool.Menu{}
	for b.Loop() {
		if len(tool.NewDesk(tool.Turn{Tools: tools, Flows: &account{}, Contact: &account{}, Menu: menu}).Tools()) == 0 {
			b.Fatal("no tool is offered")
		}
	}
}

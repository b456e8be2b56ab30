package tool

import (
	"strings"
	"sync"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool/form"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Menu keeps what models are told of a tenant's tools, which is the same for most turns. It is
// safe for concurrent use; the zero value is empty.
type Menu struct {
	mu    sync.Mutex
	of    *tenant.Tools // that was asked for last
	specs map[string]llm.Tool
}

// mostSpecs bounds the menu: contacts differ in the flows that they were sent.
const mostSpecs = 256

// sheet is what a tool's spec is made from.
type sheet struct {
	kind     action.Kind
	variant  string // what tells its specs of one tenant apart
	describe func() (text string, properties []form.Property)
}

// spec makes a tool's spec, or takes the one that was made before. A nil menu keeps none.
func (m *Menu) spec(tools *tenant.Tools, s sheet) llm.Tool {
	if m == nil {
		return s.spec()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of != tools || len(m.specs) >= mostSpecs {
		m.of, m.specs = tools, map[string]llm.Tool{}
	}
	key := string(s.kind) + " " + s.variant
	spec, found := m.specs[key]
	if !found {
		spec = s.spec()
		m.specs[key] = spec
	}
	return spec
}

// spec writes it. A tool's name is its kind.
func (s sheet) spec() llm.Tool {
	text, properties := s.describe()
	return llm.Tool{Name: string(s.kind), Description: strings.TrimSpace(text), Parameters: form.Parameters(properties)}
}

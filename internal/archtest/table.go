package archtest

import "strings"

// Layer is a kind of package; it says what a package may import by default.
type Layer string

// The layers, from the outside world's contract to the program that is built from all.
const (
	Public  Layer = "public"  // usable without this program: never imports internal
	Word    Layer = "word"    // pure values: words above it in the table
	Room    Layer = "room"    // the work: words, and rooms below it in the table
	Adapter Layer = "adapter" // one outside thing: words, and what it fills
	Edge    Layer = "edge"    // where the world comes in: words and rooms
	Wiring  Layer = "wiring"  // puts the rest together: only what is named
)

// Row is a package of the house. It holds for the packages below it too, unless they
// have a row of their own.
type Row struct {
	Path  string
	Layer Layer
	Also  []string // rows it may import besides what its layer allows; "*": all
	Tests []string // rows that its tests may import too
	// Outside is an edge that sees the program over HTTP only, and imports no room.
	Outside bool
}

// Table is the house, in order: words from the first to the last, rooms as a message
// walks through them. A new package gets a row here and a line in ARCHITECTURE.md.
func Table() []Row {
	return []Row{
		{Path: "manychat", Layer: Public},
		{Path: "manychat/manychattest", Layer: Public, Also: []string{"manychat"}},

		{Path: "internal/redact", Layer: Word},
		{Path: "internal/contact", Layer: Word},
		{Path: "internal/action", Layer: Word},
		{Path: "internal/conversation", Layer: Word},
		{Path: "internal/reply", Layer: Word},
		{Path: "internal/tenant", Layer: Word},
		{Path: "internal/llm", Layer: Word},

		{Path: "internal/turn", Layer: Room},
		{Path: "internal/agent", Layer: Room},
		{Path: "internal/agent/tool", Layer: Room},
		{Path: "internal/sales", Layer: Room},
		{Path: "internal/sales/measure", Layer: Word},
		{Path: "internal/guardrail", Layer: Room},
		{Path: "internal/delivery", Layer: Room, Also: []string{"manychat"}},
		{Path: "internal/outbox", Layer: Room, Also: []string{"manychat"}, Tests: []string{"internal/turn"}}, // a row needs its turn
		{Path: "internal/budget", Layer: Room},
		{Path: "internal/nudge", Layer: Room},
		{Path: "internal/token", Layer: Room},
		{Path: "internal/learning", Layer: Room},

		{Path: "internal/llm/mock", Layer: Adapter, Tests: []string{"internal/agent", "internal/agent/tool", "internal/budget", "internal/guardrail"}}, // it reads the real prompt
		{Path: "internal/llm/llmtest", Layer: Adapter},
		{Path: "internal/llm/wire", Layer: Adapter},
		{Path: "internal/llm/anthropic", Layer: Adapter, Also: []string{"internal/llm/wire"}},
		{Path: "internal/llm/google", Layer: Adapter, Also: []string{"internal/llm/wire"}},
		{Path: "internal/llm/openai", Layer: Adapter, Also: []string{"internal/llm/wire"}},
		{Path: "internal/llm/compatible", Layer: Adapter, Also: []string{"internal/llm/wire"}},
		{Path: "internal/llm/ollama", Layer: Adapter, Also: []string{"internal/llm/wire"}},
		{Path: "internal/store", Layer: Adapter, Also: []string{"internal/turn", "internal/outbox", "internal/budget", "internal/nudge", "internal/token", "internal/learning"}},
		{Path: "internal/webhook", Layer: Adapter},
		{Path: "internal/media", Layer: Adapter, Also: []string{"internal/turn"}},

		{Path: "internal/inbound", Layer: Edge, Also: []string{"manychat"}},
		{Path: "internal/console", Layer: Edge},
		{Path: "internal/sandbox", Layer: Edge, Outside: true, Also: []string{"manychat", "manychat/manychattest"}},
		{Path: "internal/eval", Layer: Edge, Also: []string{"manychat/manychattest"}},

		{Path: "config", Layer: Wiring},
		{Path: "internal/config", Layer: Wiring, Also: []string{"internal/contact", "internal/tenant", "internal/llm"}},
		{Path: "internal/telemetry", Layer: Wiring, Also: []string{"internal/redact", "internal/contact"}},
		{Path: "internal/app", Layer: Wiring, Also: []string{"*"}},
		{Path: "internal/simtest", Layer: Wiring, Also: []string{"*"}},
		{Path: "internal/cli", Layer: Wiring, Also: []string{"internal/app", "internal/turn", "internal/agent", "internal/agent/tool", "internal/llm", "internal/contact", "internal/action", "internal/conversation", "internal/config", "internal/telemetry", "internal/tenant", "internal/outbox", "internal/sales/measure", "internal/store", "internal/sandbox", "manychat"}},
		{Path: "cmd/manychat-agent", Layer: Wiring, Also: []string{"internal/cli"}, Tests: []string{"internal/tenant"}},
		{Path: "internal/archtest", Layer: Wiring},
	}
}

// inTests lists the rows that any test may import: the products that stand for the
// outside parties, the real database, and the committed demo tenant.
func inTests() []string {
	return []string{"manychat", "manychat/manychattest", "internal/llm/mock", "internal/llm/llmtest", "internal/store", "internal/telemetry", "config"}
}

// A library with one home is imported there and nowhere else, so that it can be
// replaced in one place. Home "" means tests only.
type confined struct{ Library, Home string }

// confinement lists them. The first block is C2: one door to models.
func confinement() []confined {
	return []confined{
		{"github.com/anthropics/anthropic-sdk-go", "internal/llm/anthropic"},
		{"google.golang.org/genai", "internal/llm/google"},
		{"github.com/sashabaranov/go-openai", "internal/llm/openai"},
		{"github.com/openai/openai-go", "internal/llm/openai"},

		{"modernc.org/sqlite", "internal/store"},
		{"github.com/jackc/pgx", "internal/store"},
		{"github.com/pressly/goose", "internal/store"},
		{"github.com/alecthomas/kong", "internal/cli"},
		{"github.com/prometheus/client_golang", "internal/telemetry"},
		{"github.com/joho/godotenv", "internal/config"},
		{"github.com/tailscale/hujson", "internal/tenant"},

		{"github.com/chromedp/chromedp", ""},
		{"github.com/getkin/kin-openapi", ""},
		{"github.com/google/go-cmp", ""},
		{"github.com/rogpeppe/go-internal", ""},
		{"pgregory.net/rapid", ""},
		{"go.uber.org/goleak", ""},
	}
}

// rowOf finds the row with the longest path at or above a package directory, and its
// place in the table; ok is false for a package that has none.
func rowOf(table []Row, dir string) (row Row, place int, ok bool) {
	for i, r := range table {
		if within(dir, r.Path) && len(r.Path) > len(row.Path) {
			row, place, ok = r, i, true
		}
	}
	return row, place, ok
}

// within reports whether a slash-separated path is root or below it.
func within(p, root string) bool { return p == root || strings.HasPrefix(p, root+"/") }

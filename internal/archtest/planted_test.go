package archtest_test

import "strings"

// planting is a violation, the rule that must find it, and what it must say.
type planting struct {
	rule, name string
	files      map[string]string
	want       string
}

// sound is a small repository that breaks no rule.
func sound() map[string]string {
	return map[string]string{
		".gitignore":                       "/.env\n/.env.*\n!/.env.example\n/config/*\n!/config/*.example\n!/config/*.go\n/data/\n*.db\n*.db-wal\n",
		"ARCHITECTURE.md":                  "# Map\n\n`internal/contact`, `internal/turn`, `internal/outbox`\nheld by `TestRace`, see [the turn](docs/spec/03-turn.md#the-race)\n",
		"docs/spec/03-turn.md":             "# A turn\n\n## The race\n\n**Won.** Inline.\n\n| C7 | ten seconds |\n",
		"config/catalog.json.example":      "{}\n",
		"config/catalog.json":              "{} // ignored: a deployment's own\n",
		"internal/contact/contact.go":      "// Package contact is words.\npackage contact\n",
		"internal/turn/turn.go":            "// Package turn is a room.\npackage turn\n\nimport _ \"" + module + "internal/contact\"\n",
		"internal/turn/turn_test.go":       "package turn_test\n\nimport _ \"" + module + "manychat\"\n\n// Holds docs/spec/03-turn.md, \"The race\",\n// \"Won\" and C7.\nfunc TestRace() {}\n",
		"internal/outbox/outbox.go":        "// Package outbox is a room.\npackage outbox\n",
		"internal/outbox/testdata/bad.go":  "this is not Go and need not be",
		"internal/outbox/testdata/note.md": "[inside](outbox)\n",
	}
}

const module = "github.com/manychat-agent/manychat-agent/"

func importing(pkg string) string { return "\n\nimport _ \"" + module + pkg + "\"\n" }

func planted() []planting {
	all := [][]planting{plantedImports(), plantedLibraries(), plantedNames(), plantedVagueNames(), plantedSizes(), plantedState(), plantedTests(), plantedDocs(), plantedTenantData()}
	var flat []planting
	for _, some := range all {
		flat = append(flat, some...)
	}
	return flat
}

// one plants a single file.
func one(rule, name, path, text, want string) planting {
	return planting{rule, name, map[string]string{path: text}, want}
}

func plantedImports() []planting {
	return []planting{
		one("imports", "package without a row", "internal/parlour/parlour.go", "// Package parlour is new.\npackage parlour\n",
			"internal/parlour: the package has no row in the import table: decide which layer it is, add it to Table in internal/archtest/table.go and to ARCHITECTURE.md"),
		one("imports", "unknown target", "internal/turn/x.go", "package turn"+importing("internal/cellar"),
			"internal/turn/x.go:3: imports internal/cellar, which has no row in the import table"),
		one("imports", "public imports internal", "manychat/manychat.go", "// Package manychat is public.\npackage manychat"+importing("internal/contact"),
			"manychat/manychat.go:4: manychat (public) may not import internal/contact (word); public packages never import the program"),
		one("imports", "word imports one below", "internal/contact/x.go", "package contact"+importing("internal/llm"),
			"internal/contact/x.go:3: internal/contact (word) may not import internal/llm (word); a word imports the words above it"),
		one("imports", "room upstream", "internal/outbox/x.go", "package outbox"+importing("internal/turn"),
			"internal/outbox/x.go:3: internal/outbox (room) may not import internal/turn (room); a room imports words and the rooms downstream of it"),
		one("imports", "sub-package inherits", "internal/outbox/deep/x.go", "// Package deep is below.\npackage deep"+importing("internal/turn"),
			"internal/outbox/deep/x.go:4: internal/outbox (room) may not import internal/turn (room); a room imports words and the rooms downstream of it"),
		one("imports", "room imports adapter", "internal/turn/x.go", "package turn"+importing("internal/store"),
			"internal/turn/x.go:3: internal/turn (room) may not import internal/store (adapter); a room imports words and the rooms downstream of it"),
		one("imports", "room calls ManyChat", "internal/turn/x.go", "package turn"+importing("manychat"),
			"internal/turn/x.go:3: internal/turn (room) may not import manychat (public); a room imports words and the rooms downstream of it"),
		one("imports", "tools act", "internal/agent/tool/x.go", "// Package tool stages.\npackage tool"+importing("manychat"),
			"internal/agent/tool/x.go:4: internal/agent/tool (room) may not import manychat (public); a room imports words and the rooms downstream of it"),
		one("imports", "adapter imports a room it does not fill", "internal/media/x.go", "// Package media downloads.\npackage media"+importing("internal/outbox"),
			"internal/media/x.go:4: internal/media (adapter) may not import internal/outbox (room); an adapter imports words and the rooms whose interfaces it fills"),
		one("imports", "edge imports edge", "internal/console/x.go", "// Package console is pages.\npackage console"+importing("internal/inbound"),
			"internal/console/x.go:4: internal/console (edge) may not import internal/inbound (edge); an edge imports words and rooms, never another edge or the store"),
		one("imports", "the sandbox imports a room", "internal/sandbox/x.go", "// Package sandbox is outside.\npackage sandbox"+importing("internal/turn"),
			"internal/sandbox/x.go:4: internal/sandbox (edge) may not import internal/turn (room); an edge imports words and rooms, never another edge or the store"),
		one("imports", "edge imports store", "internal/inbound/x.go", "// Package inbound answers.\npackage inbound"+importing("internal/store"),
			"internal/inbound/x.go:4: internal/inbound (edge) may not import internal/store (adapter); an edge imports words and rooms, never another edge or the store"),
		one("imports", "command imports more than the CLI", "cmd/manychat-agent/main.go", "// Command manychat-agent runs.\npackage main"+importing("internal/app"),
			"cmd/manychat-agent/main.go:4: cmd/manychat-agent (wiring) may not import internal/app (wiring); wiring imports what its row names"),
		one("imports", "test imports upstream", "internal/outbox/x_test.go", "package outbox_test"+importing("internal/agent"),
			"internal/outbox/x_test.go:3: internal/outbox (room) may not import internal/agent (room); a room imports words and the rooms downstream of it"),
		one("libraries", "provider outside its adapter", "internal/turn/x.go", "package turn\n\nimport _ \"google.golang.org/genai\"\n",
			"internal/turn/x.go:3: imports google.golang.org/genai, whose only home is internal/llm/google"),
		one("libraries", "test library in the program", "internal/turn/x.go", "package turn\n\nimport _ \"github.com/google/go-cmp/cmp\"\n",
			"internal/turn/x.go:3: imports github.com/google/go-cmp/cmp, whose only home is tests"),
		one("words", "network", "internal/contact/x.go", "package contact\n\nimport _ \"net/http\"\n",
			"internal/contact/x.go:3: a word imports net/http; words are pure values"),
		one("words", "files", "internal/contact/x.go", "package contact\n\nimport _ \"os\"\n",
			"internal/contact/x.go:3: a word imports os; words are pure values"),
		one("words", "goroutine", "internal/contact/x.go", "package contact\n\nfunc f() { go f() }\n",
			"internal/contact/x.go:3: a word starts a goroutine; words are pure values"),
		one("words", "clock", "internal/contact/x.go", "package contact\n\nimport \"time\"\n\nfunc f() { time.Now() }\n",
			"internal/contact/x.go:5: a word reads the clock; take the time as a value"),
	}
}

func plantedNames() []planting {
	return []planting{
		one("names", "directory", "internal/turn/util/util.go", "// Package util is vague.\npackage util\n",
			`internal/turn/util: a package named "util" says nothing; name it after what it does`),
		one("names", "package clause", "internal/turn/aid/aid.go", "// Package helper is vague.\npackage helper\n",
			`internal/turn/aid: a package named "helper" says nothing; name it after what it does`),
		one("comments", "none", "internal/sales/sales.go", "package sales\n",
			"internal/sales: 0 package comments; every package has one: []"),
		one("comments", "two", "internal/turn/x.go", "// Package turn says it again.\npackage turn\n",
			"internal/turn: 2 package comments; every package has one: [internal/turn/turn.go internal/turn/x.go]"),
		one("comments", "form", "internal/sales/sales.go", "// Sales sell.\npackage sales\n",
			`internal/sales/sales.go: the package comment must start with "Package sales "`),
	}
}

func plantedSizes() []planting {
	lines := func(n int) string { return strings.Repeat("\n", n) }
	return []planting{
		one("sizes", "file", "internal/turn/x.go", "package turn"+lines(501),
			"internal/turn/x.go: 501 lines; a file of more than 500 is split"),
		one("sizes", "test file", "internal/turn/x_test.go", "package turn_test"+lines(1001),
			"internal/turn/x_test.go: 1001 lines; a file of more than 1000 is split"),
		{"sizes", "package", map[string]string{
			"internal/turn/a.go": "package turn" + lines(499), "internal/turn/b.go": "package turn" + lines(499), "internal/turn/c.go": "package turn" + lines(499),
		}, "internal/turn: 1501 lines without tests; a package of more than 1500 is split"},
		one("sizes", "function", "internal/turn/x.go", "package turn\n\nfunc f() {"+lines(80)+"}\n",
			"internal/turn/x.go:3: f has 81 lines; a function of more than 80 is split"),
		one("sizes", "parameters", "internal/turn/x.go", "package turn\n\nimport \"context\"\n\nfunc f(ctx context.Context, a, b, c, d, e int) {}\n",
			"internal/turn/x.go:5: f has 5 parameters; more than 4 become a struct"),
		one("sizes", "interface", "internal/turn/x.go", "package turn\n\ntype i interface {\n\tA()\n\tB()\n\tC()\n\tD()\n\terror\n}\n",
			"internal/turn/x.go:3: an interface of 5 methods; more than 4 are several"),
	}
}

func plantedState() []planting {
	const written = "writes a package variable; make it a field"
	const changing = "a package variable that is there to change; make it a field"
	return []planting{
		one("state", "init", "internal/turn/x.go", "package turn\n\nfunc init() {}\n",
			"internal/turn/x.go:3: an init function; do the work in New, or declare the value"),
		one("state", "assigned", "internal/turn/x.go", "package turn\n\nvar n int\n\nfunc f() { n = 1 }\n", "internal/turn/x.go:5: "+written),
		one("state", "assigned elsewhere in the package", "internal/turn/x.go", "package turn\n\nfunc f() { table[0].n++ }\n\nvar table = []struct{ n int }{{1}}\n", "internal/turn/x.go:3: "+written),
		one("state", "deleted from", "internal/turn/x.go", "package turn\n\nvar m = map[int]int{}\n\nfunc f() { delete(m, 1) }\n", "internal/turn/x.go:5: "+written),
		one("state", "another package's", "internal/turn/x.go", "package turn\n\nimport \"net/http\"\n\nfunc f() { http.DefaultClient = nil }\n", "internal/turn/x.go:5: "+written),
		one("state", "lock", "internal/turn/x.go", "package turn\n\nimport \"sync\"\n\nvar mu sync.Mutex\n", "internal/turn/x.go:5: "+changing),
		one("state", "empty map", "internal/turn/x.go", "package turn\n\nvar seen = make(map[string]bool)\n", "internal/turn/x.go:3: "+changing),
		one("state", "context value", "internal/turn/x.go", "package turn\n\nimport \"context\"\n\nfunc f() { context.WithValue(nil, 1, 2) }\n",
			"internal/turn/x.go:5: context.WithValue; pass the value as an argument"),
	}
}

func plantedTests() []planting {
	return []planting{
		one("tests", "sleep", "internal/turn/x_test.go", "package turn_test\n\nimport \"time\"\n\nfunc f() { time.Sleep(1) }\n",
			"internal/turn/x_test.go:5: a test sleeps; wait for the event, or use testing/synctest"),
		one("tests", "skip", "internal/turn/x_test.go", "package turn_test\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) { t.Skip() }\n",
			"internal/turn/x_test.go:5: a test skips itself; what it needs is set up or is a failure"),
	}
}

func plantedDocs() []planting {
	citing := func(what string) string { return "package turn_test\n\n// Holds " + what + ".\nfunc f() {}\n" }
	return []planting{
		one("map", "unnamed package", "internal/sales/sales.go", "// Package sales sells.\npackage sales\n",
			"ARCHITECTURE.md: does not name the package internal/sales"),
		one("map", "missing path", "ARCHITECTURE.md", sound()["ARCHITECTURE.md"]+"`internal/attic/`\n",
			"ARCHITECTURE.md: names a path that does not exist: internal/attic"),
		one("map", "missing test", "ARCHITECTURE.md", sound()["ARCHITECTURE.md"]+"`TestNothing`\n",
			"ARCHITECTURE.md: names a test that does not exist: TestNothing"),
		one("links", "missing page", "docs/a.md", "[gone](gone.md)\n",
			"docs/a.md: links to gone.md, which does not exist"),
		one("links", "missing heading", "docs/a.md", "[gone](spec/03-turn.md#the-walk)\n",
			"docs/a.md: links to spec/03-turn.md#the-walk, but docs/spec/03-turn.md has no such heading"),
		one("citations", "missing page", "internal/turn/x_test.go", citing(`docs/spec/99-none.md, "The race"`),
			"internal/turn/x_test.go:3: cites docs/spec/99-none.md, which does not exist"),
		one("citations", "missing heading", "internal/turn/x_test.go", citing(`docs/spec/03-turn.md, "The race" and "The walk"`),
			`internal/turn/x_test.go:3: cites docs/spec/03-turn.md, "The walk", but the page has no such heading`),
		one("citations", "missing rule", "internal/turn/x_test.go", citing(`docs/spec/03-turn.md, C9`),
			"internal/turn/x_test.go:3: cites docs/spec/03-turn.md, C9, but the page has no such rule"),
	}
}

func plantedTenantData() []planting {
	return []planting{
		{"tenant data", "catalog", map[string]string{".gitignore": sound()[".gitignore"] + "!/config/prices.json\n", "config/prices.json": "{}\n"},
			"config/prices.json: a tenant's own data in the repository; name it in .gitignore"},
		one("tenant data", "dotenv in a folder", "docs/.env", "SECRET=1\n",
			"docs/.env: a tenant's own data in the repository; name it in .gitignore"),
		one("tenant data", "rules forget the environment", ".gitignore", sound()[".gitignore"]+"!/.env\n",
			".gitignore: does not ignore .env, which holds a tenant's own data"),
	}
}

// plantedLibraries imports every library that has one home into a room that is not it.
func plantedLibraries() (all []planting) {
	for library, home := range map[string]string{
		"github.com/anthropics/anthropic-sdk-go": "internal/llm/anthropic", "google.golang.org/genai": "internal/llm/google",
		"github.com/sashabaranov/go-openai": "internal/llm/openai", "github.com/openai/openai-go": "internal/llm/openai",
		"modernc.org/sqlite": "internal/store", "github.com/jackc/pgx": "internal/store", "github.com/pressly/goose": "internal/store",
		"github.com/alecthomas/kong": "internal/cli", "github.com/joho/godotenv": "internal/config", "github.com/tailscale/hujson": "internal/tenant",
		"github.com/chromedp/chromedp": "tests", "github.com/google/go-cmp": "tests", "github.com/rogpeppe/go-internal": "tests",
		"pgregory.net/rapid": "tests", "go.uber.org/goleak": "tests",
	} {
		all = append(all, one("libraries", library, "internal/turn/x.go", "package turn\n\nimport _ \""+library+"\"\n",
			"internal/turn/x.go:3: imports "+library+", whose only home is "+home))
	}
	return all
}

// plantedVagueNames makes a package of every name that says nothing.
func plantedVagueNames() (all []planting) {
	for _, name := range []string{"util", "common", "helper", "misc", "types", "models", "service", "manager"} {
		all = append(all, one("names", name, "internal/turn/"+name+"/x.go", "// Package "+name+" is vague.\npackage "+name+"\n",
			"internal/turn/"+name+": a package named \""+name+"\" says nothing; name it after what it does"))
	}
	return all
}

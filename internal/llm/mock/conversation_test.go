package mock_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/agent/prompt"
	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// How a turn of a transcript may end, beside an escalation's reason.
const (
	answered = "answered"
	closer   = "closer" // answered with a sign that holds no word
	either   = "any"    // answered or handed off
)

// exchange is one turn of a transcript: "> text", "= outcome", "+ must hold", "- must not hold".
type exchange struct {
	text, outcome string
	holds, lacks  []string
}

// transcript reads a file of testdata/conversations.
func transcript(t *testing.T, path string) (business string, turns []exchange) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		key, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch key {
		case ">":
			turns = append(turns, exchange{text: value})
		case "=":
			turns[len(turns)-1].outcome = value
		case "+":
			turns[len(turns)-1].holds = append(turns[len(turns)-1].holds, value)
		case "-":
			turns[len(turns)-1].lacks = append(turns[len(turns)-1].lacks, value)
		case "tenant:":
			business = value
		case "#", "":
		default:
			t.Fatalf("%s: line %q", path, line)
		}
	}
	if len(turns) < 10 {
		t.Fatalf("%s has %d turns, want 10 at least", path, len(turns))
	}
	return business, turns
}

// chat is a conversation with a tenant's desk: each turn through the prompt, the mock,
// the decoder and the guardrails, with the history that the turns before it left.
type chat struct {
	tenant  *tenant.Tenant
	agent   *agent.Agent
	guard   *guardrail.Guard
	history []conversation.Entry
}

func newChat(t testing.TB, tn *tenant.Tenant) *chat {
	t.Helper()
	a, err := agent.New(agent.Config{Models: []attempt.Model{{Name: "mock:demo", Model: mock.New()}}, Jitter: attempt.Jitter, Log: slog.New(slog.DiscardHandler), Budget: budget.Unlimited{}, MaxOutputTokens: 800,
		Now: func() time.Time { return time.Date(2026, 3, 4, 9, 30, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	return &chat{tenant: tn, agent: a, guard: guardrail.New(guardrail.Config{Markers: prompt.Markers()})}
}

func (c *chat) says(t testing.TB, text string) guardrail.Verdict {
	t.Helper()
	result, err := c.agent.Run(t.Context(), agent.Input{Tenant: c.tenant, Text: text, History: c.history})
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	v := c.guard.Apply(guardrail.Input{Tenant: c.tenant, Reply: result.Reply})
	c.history = append(c.history,
		conversation.Entry{Role: conversation.ByContact, Text: text},
		conversation.Entry{Role: conversation.ByAgent, Text: strings.Join(v.Messages, "\n")})
	return v
}

// Holds docs/spec/04-agent.md, "The mock": whole conversations, in any tenant's words,
// escalated by the table; and docs/spec/01-principles.md, C4: what a contact writes
// changes no instruction.
func TestConversations(t *testing.T) {
	tenants := map[string]func() *tenant.Tenant{"academy": func() *tenant.Tenant { return academy(t) }, "repairs": repairs, "music": music}
	paths, err := filepath.Glob("testdata/conversations/*.txt")
	if err != nil || len(paths) < 17 {
		t.Fatalf("%d transcripts, %v; want 17 at least", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			business, turns := transcript(t, path)
			c := newChat(t, tenants[business]())
			said := map[string]string{}
			for _, turn := range turns {
				v := c.says(t, turn.text)
				text := strings.Join(v.Messages, "\n")
				turn.check(t, v, text)
				checkSource(t, c.tenant, turn.text, v)
				if before, again := said[text]; again && v.Outcome == conversation.Answered && !isSign(text) && before != turn.text {
					t.Errorf("%q gets the answer of %q: %q", turn.text, before, text)
				}
				said[text] = turn.text
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": the mock follows up in the tenant's own words, with the
// question of the persona if there is one.
func TestFollowsUp(t *testing.T) {
	for _, tt := range []struct {
		of   *tenant.Tenant
		want []string
	}{
		{academy(t), []string{"Is there anything about the course that I can still answer for you?"}},
		{frontDesk(t), []string{"🙂 Kilnbrook Clay Academy"}}, {repairs(), []string{"🙂 Oficina Vagalume", "Quer deixar o aparelho hoje?"}},
	} {
		c := newChat(t, tt.of)
		c.says(t, "quanto custa a troca de tela?")
		result, err := c.agent.Run(t.Context(), agent.Input{Tenant: c.tenant, History: c.history, FirstName: "Ada", Quiet: 3 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if v := c.guard.Apply(guardrail.Input{Tenant: c.tenant, Reply: result.Reply}); v.Outcome != conversation.Answered || !slices.Equal(v.Messages, tt.want) {
			t.Errorf("it is %s and says %q, want %q", v.Outcome, v.Messages, tt.want)
		}
	}
}

// check compares a verdict with what the transcript says.
func (e exchange) check(t *testing.T, v guardrail.Verdict, text string) {
	t.Helper()
	got := string(v.Reason)
	switch {
	case got == "" && isSign(text):
		got = closer
	case got == "":
		got = answered
	}
	if got != e.outcome && e.outcome != either {
		t.Errorf("%q: %s, want %s (%q)", e.text, got, e.outcome, text)
		return
	}
	for _, want := range e.holds {
		if !strings.Contains(text, want) {
			t.Errorf("%q: %q lacks %q", e.text, text, want)
		}
	}
	for _, bad := range e.lacks {
		if strings.Contains(text, bad) {
			t.Errorf("%q: %q holds %q", e.text, text, bad)
		}
	}
}

var (
	signOnly = regexp.MustCompile(`^[^\p{L}\p{N}]{1,4}$`)
	quoted   = regexp.MustCompile(`"[^"]+"`)
	number   = regexp.MustCompile(`\d+(?:[.,:]\d+)*`)
)

func isSign(text string) bool { return signOnly.MatchString(text) }

// checkSource holds an answer against the tenant's files: its lines are made of what
// they state, its numbers are theirs, and no guardrail had anything to do.
func checkSource(t *testing.T, tn *tenant.Tenant, asked string, v guardrail.Verdict) {
	t.Helper()
	if len(v.Interventions) > 0 {
		t.Errorf("%q: interventions %v", asked, v.Interventions)
	}
	if v.Outcome != conversation.Answered {
		return
	}
	known := stated(tn)
	for _, n := range number.FindAllString(strings.Join(v.Messages, "\n"), -1) {
		if !slices.Contains(number.FindAllString(known, -1), n) {
			t.Errorf("%q: %q is no number of the catalog", asked, n)
		}
	}
	for line := range strings.SplitSeq(strings.Join(v.Messages, "\n"), "\n") {
		line = strings.TrimPrefix(line, "🤖 ")
		for _, o := range tn.Catalog.Offerings {
			line = strings.TrimPrefix(line, o.Name+": ")
		}
		if !strings.Contains(known, line) && !isSign(line) && !isFacts(known, line) {
			t.Errorf("%q: %q is no text of the catalog", asked, line)
		}
	}
}

// isFacts reports whether a line is a list of facts of the catalog.
func isFacts(known, line string) bool {
	for len(line) > 0 {
		i := len(line)
		for i > 0 && !strings.Contains(known, line[:i]) {
			i = strings.LastIndex(line[:i], ", ")
		}
		if i <= 0 {
			return false
		}
		line = strings.TrimPrefix(line[i:], ", ")
	}
	return true
}

// stated is everything that a tenant's files let the desk say: the catalog, and what the
// persona quotes.
func stated(tn *tenant.Tenant) string {
	p, err := prompt.New(tn)
	if err != nil {
		return ""
	}
	_, catalog, _ := strings.Cut(p.System, "\n## CATALOG\n")
	return catalog + "\n" + strings.Join(quoted.FindAllString(tn.Prompt, -1), "\n")
}

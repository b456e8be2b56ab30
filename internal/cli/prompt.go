package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	agentprompt "github.com/manychat-agent/manychat-agent/internal/agent/prompt"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

type promptCommands struct {
	Show promptShow `cmd:"" help:"Print what a model reads for a message, and how long it is."`
}

// Help shows examples.
func (promptCommands) Help() string {
	return `Examples:

    manychat-agent prompt show
    manychat-agent prompt show --dev --message "how much is it?" --history 4
    manychat-agent prompt show --json | jq -r .system`
}

type promptShow struct {
	mode
	Message string `help:"What the contact writes; an example of the catalog when left out." placeholder:"TEXT"`
	History int    `help:"How many questions and answers came before it: examples of the catalog." default:"0" placeholder:"N"`
	JSON    bool   `help:"As a JSON object."`
}

// mostHistory bounds the examples: more than a conversation ever shows a model.
const mostHistory = 100

// shownPrompt is a prompt as JSON. Tokens are estimates.
type shownPrompt struct {
	Version  string         `json:"version"`
	Bytes    int            `json:"bytes"`
	Tokens   int            `json:"tokens"`
	Parts    []shownPart    `json:"parts"`
	System   string         `json:"system"`
	Tools    []shownTool    `json:"tools"`
	Messages []shownMessage `json:"messages"`
}

type shownPart struct {
	Name   string `json:"name"`
	Bytes  int    `json:"bytes"`
	Tokens int    `json:"tokens"`
}

// shownTool is a tool as a model is told of it on a contact's first turn.
type shownTool struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
}

type shownMessage struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

// Run prints the prompt with its sizes: a table behind it in a terminal, and JSON
// elsewhere or when asked for.
func (ps promptShow) Run(std Streams) error {
	if ps.History < 0 || ps.History > mostHistory {
		return usageError{fmt.Errorf("--history is %d: give a number from 0 to %d", ps.History, mostHistory)}
	}
	_, t, err := configured(ps.mode.mode(), std)
	if err != nil {
		return err
	}
	p, err := agentprompt.New(t)
	if err != nil {
		return err
	}
	shown := showPrompt(p, ps.turn(t, time.Now()))
	shown.add(tool.Specs(t.Tools))
	if ps.JSON || !terminal(std.Out) {
		out := json.NewEncoder(std.Out)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		return out.Encode(shown)
	}
	return printPrompt(std.Out, shown)
}

// turn is the example: what the catalog answers, asked by a contact.
func (ps promptShow) turn(t *tenant.Tenant, now time.Time) agentprompt.Turn {
	turn := agentprompt.Turn{Text: ps.Message, Now: now}
	asked := examples(&t.Catalog)
	for i := range ps.History {
		q := asked[i%len(asked)]
		turn.History = append(turn.History,
			conversation.Entry{Role: conversation.ByContact, Text: q.Question},
			conversation.Entry{Role: conversation.ByAgent, Text: q.Answer})
	}
	if turn.Text == "" {
		turn.Text = asked[ps.History%len(asked)].Question
	}
	return turn
}

// examples are the catalog's questions, or its offerings when it has none.
func examples(c *tenant.Catalog) []tenant.Question {
	if len(c.FAQ) > 0 {
		return c.FAQ
	}
	var asked []tenant.Question
	for _, o := range c.Offerings {
		asked = append(asked, tenant.Question{Question: o.Name, Answer: o.Description})
	}
	return asked
}

func showPrompt(p *agentprompt.Prompt, turn agentprompt.Turn) shownPrompt {
	shown := shownPrompt{Version: p.Version, System: p.System, Bytes: len(p.System), Tokens: agentprompt.Tokens(p.System)}
	for _, m := range p.Messages(turn) {
		shown.Messages = append(shown.Messages, shownMessage{string(m.Role), m.Text})
		shown.Bytes += len(m.Text)
		shown.Tokens += agentprompt.Tokens(m.Text)
	}
	for _, part := range p.Parts(turn) {
		shown.Parts = append(shown.Parts, shownPart{part.Name, len(part.Text), agentprompt.Tokens(part.Text)})
	}
	return shown
}

// add shows tools beside the prompt.
func (p *shownPrompt) add(tools []llm.Tool) {
	p.Tools = []shownTool{}
	part := shownPart{Name: "tools"}
	for _, t := range tools {
		text := agentprompt.ToolText(t)
		part.Bytes, part.Tokens = part.Bytes+len(text), part.Tokens+agentprompt.Tokens(text)
		p.Tools = append(p.Tools, shownTool{t.Name, t.Description, t.Parameters})
	}
	if len(tools) == 0 {
		return
	}
	p.Parts = append(p.Parts, part)
	p.Bytes, p.Tokens = p.Bytes+part.Bytes, p.Tokens+part.Tokens
}

// printPrompt writes a prompt for a person to read.
func printPrompt(w io.Writer, p shownPrompt) error {
	var b strings.Builder
	b.WriteString("=== system ===\n" + p.System + "\n")
	for _, m := range p.Messages {
		b.WriteString("\n=== " + m.Role + " ===\n" + m.Text + "\n")
	}
	for _, t := range p.Tools {
		b.WriteString("\n=== tool " + t.Name + " ===\n" + t.Description + "\n" + string(t.Parameters) + "\n")
	}
	b.WriteString("\nPrompt version " + p.Version + ". Tokens are an estimate; every model counts in its own way.\n\n")
	if _, err := io.WriteString(w, b.String()); err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "PART\tBYTES\tTOKENS\t")
	for _, part := range p.Parts {
		fmt.Fprintf(table, "%s\t%d\t%d\t\n", part.Name, part.Bytes, part.Tokens)
	}
	fmt.Fprintf(table, "in all\t%d\t%d\t\n", p.Bytes, p.Tokens)
	return table.Flush()
}

// Package guardrail decides whether a model's reply may reach a contact. Its checks run
// in a fixed order over the final reply; each passes it, mends it or hands the
// conversation to a person, and whatever a check did is recorded by its name.
package guardrail

import (
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/guardrail/money"
	"github.com/manychat-agent/manychat-agent/internal/guardrail/visible"
	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Config is what the checks need beside the tenant. All of it may be empty.
type Config struct {
	Markers []string // strings that only a prompt holds
	Secrets []string // configured credentials; empty ones are passed over
	Rules   string   // the static rules of the prompt and what describes the tools, which no reply may quote
	Names   []string // ManyChat fields that the service itself writes: reply field, token field
	Flows   []string // namespaces of ManyChat flows that the service itself triggers
}

// Guard applies the checks. It is safe for concurrent use.
type Guard struct {
	checks []check
}

// New arranges the checks in the order of docs/spec/04-agent.md, "Guardrails".
func New(c Config) *Guard {
	facts := &factCache{config: c}
	return &Guard{checks: []check{
		{"contract", contract},
		{"escalate", escalate},
		{"field_echo", echoes{facts}.run},
		{"leak", newLeak(c, facts).run},
		{"confidence", confidence},
		{"price_guard", priceGuard{facts}.run},
		{"links", links{facts}.run},
		{"repetition", repetition},
		{"closing_question", closingQuestion},
	}}
}

// Input is what a model's loop came to.
type Input struct {
	Tenant *tenant.Tenant
	// Reply is the model's final answer. It is read only when Failure is empty.
	Reply reply.Reply
	// Style turns texts of a model into what the contact would read, and drops those of
	// which nothing is left; nil: they are read as they are. The checks judge what goes
	// out, since a mark that is taken away can put together an amount or a link.
	Style func(texts []string) []string
	// LastReply are the texts of the agent's last reply to this contact as they went out,
	// oldest first; nil: there is none.
	LastReply []string
	Message   string    // what the contact wrote, as plain text
	Again     bool      // the contact's message before it was the same
	Token     string    // the contact's token that came with this turn; empty: none
	At        time.Time // now, which decides what a handoff says
	// Failure names why there is no reply, as a log class; empty: there is one.
	Failure string
}

// Verdict is what may go out.
type Verdict struct {
	Messages      []string // what the contact gets: the reply, or the tenant's handover text
	Outcome       conversation.Outcome
	Reason        conversation.EscalationReason // non-empty exactly when it escalates
	Interventions []string                      // names of the checks that did something, or the failure; in order
}

// Apply runs the checks over a reply. A failure, and any check that says so, replaces
// the whole text by what the tenant says when a person takes over.
func (g *Guard) Apply(in Input) Verdict {
	if in.Failure != "" {
		return handOff(in, broken(), []string{in.Failure})
	}
	d := newDraft(in)
	var interventions []string
	for _, c := range g.checks {
		f := c.run(d)
		if f.noted {
			interventions = append(interventions, c.name)
		}
		if f.outcome != "" {
			return handOff(in, f, interventions)
		}
	}
	return Verdict{Messages: d.messages, Outcome: conversation.Answered, Interventions: interventions}
}

func handOff(in Input, f finding, interventions []string) Verdict {
	return Verdict{
		Messages:      []string{in.Tenant.Rules.Handover(in.At)},
		Outcome:       f.outcome,
		Reason:        f.reason,
		Interventions: interventions,
	}
}

// check is one guardrail: it may mend the draft, and says what it found.
type check struct {
	name string
	run  func(*draft) finding
}

// newDraft is a reply as it would go out.
func newDraft(in Input) *draft {
	d := &draft{
		tenant: in.Tenant, reply: in.Reply, messages: in.Reply.Messages, closing: in.Reply.ClosingQuestion,
		last: in.LastReply, message: in.Message, again: in.Again, token: in.Token,
	}
	d.written = d.texts()
	if in.Style != nil {
		d.messages = in.Style(d.messages)
		d.closing = strings.Join(in.Style([]string{d.closing}), "")
	}
	d.rewrite(func(text string) string { return text })
	return d
}

// draft is a reply on its way through the checks. The reply stays as the model wrote
// it, and so do the texts of written; messages and closing are what would go out.
type draft struct {
	tenant   *tenant.Tenant
	reply    reply.Reply
	written  []string
	messages []string
	closing  string // empty: none
	left     *rest  // see [draft.leftover]; nil: not read yet

	last           []string // see [Input]
	message, token string
	again          bool
}

// texts lists everything that would go out.
func (d *draft) texts() []string { return withClosing(d.messages, d.closing) }

func withClosing(messages []string, closing string) []string {
	if closing == "" {
		return messages
	}
	return append(messages[:len(messages):len(messages)], closing)
}

// rewrite replaces every text by what mend makes of it, drops those that show nothing,
// and reports whether anything changed.
func (d *draft) rewrite(mend func(string) string) bool {
	r := d.mended(mend)
	d.messages, d.closing = r.messages, r.closing
	return r.changed
}

func (d *draft) mended(mend func(string) string) rest {
	var r rest
	for _, m := range d.messages {
		mended := shown(mend(m))
		r.changed = r.changed || mended != m
		if mended != "" {
			r.messages = append(r.messages, mended)
		}
	}
	r.closing = shown(mend(d.closing))
	r.changed = r.changed || r.closing != d.closing
	return r
}

// rest is what is left of a draft's texts.
type rest struct {
	messages []string
	closing  string
	changed  bool // it is not what the draft holds
}

func (r *rest) texts() []string { return withClosing(r.messages, r.closing) }

// leftover is the draft without links and echoes, as it will go out. It is read once: the
// checks between the echoes and the links only look.
func (d *draft) leftover(allowed map[string]bool) *rest {
	if d.left == nil {
		left := d.mended(func(text string) string { return withoutLinksAndEchoes(text, allowed) })
		d.left = &left
	}
	return d.left
}

// A part of a link that is no answer.
var bareScheme = regexp.MustCompile(`(?i)^[\pP\pS\s]*(?:https?|www)[\pP\pS\s]*$`)

// shown is the text, or nothing where it shows a contact nothing.
func shown(text string) string {
	if reply.Blank(text) || !visible.Any(text) || bareScheme.MatchString(text) {
		return ""
	}
	return text
}

// finding is what a check concluded; the zero value is that all is well.
type finding struct {
	noted   bool                 // the check did something worth recording
	outcome conversation.Outcome // hands off when not empty
	reason  conversation.EscalationReason
}

// broken is a reply that must not go out: the turn fails closed.
func broken() finding {
	return finding{noted: true, outcome: conversation.EscalatedError, reason: conversation.ByError}
}

// factCache keeps what the checks read out of the tenant that came last.
type factCache struct {
	config Config
	last   atomic.Pointer[facts]
}

// facts are what a tenant's own texts hold, and what is none of a contact's business.
type facts struct {
	tenant  *tenant.Tenant
	money   money.Facts
	allowed map[string]bool // links, as linkKey writes them
	names   accountNames
	tools   accountNames // names of tools, where the model is offered some
	rules   rulePassages
}

func (c *factCache) of(t *tenant.Tenant) *facts {
	if f := c.last.Load(); f != nil && f.tenant == t {
		return f
	}
	f := &facts{
		tenant: t, money: money.Read(&t.Catalog, catalogTexts(&t.Catalog)), allowed: allowedLinks(t),
		names: readNames(c.config, t), tools: readToolNames(t), rules: readRules(c.config.Rules, t),
	}
	c.last.Store(f)
	return f
}

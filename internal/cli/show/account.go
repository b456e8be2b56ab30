package show

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
)

// Turns prints a table of turns.
func Turns(w io.Writer, turns []TurnLine) error {
	table := columns(w)
	fmt.Fprintln(table, "ID\tRECEIVED\tOUTCOME\tPATH\tACTIONS")
	for _, t := range turns {
		outcome := cmp.Or(string(t.Outcome), string(t.State))
		if t.Reason != "" {
			outcome += ": " + string(t.Reason)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%d\n", t.ID, Local(t.ReceivedAt), outcome, cmp.Or(string(t.Path), "-"), t.Actions)
	}
	return table.Flush()
}

// Turn prints an account of one turn, in the order in which things happened.
func Turn(w io.Writer, told Told) error {
	var b strings.Builder
	t, rows := told.Turn, told.Rows
	facts(&b, t)
	section(&b, "the contact wrote", texts(told))
	steps(&b, t)
	section(&b, "guardrails and checks", t.Interventions)
	section(&b, "the agent replied", t.Replies)
	actions(&b, t)
	if len(rows) > 0 {
		var table strings.Builder
		_ = Rows(&table, rows) // a Builder takes everything
		section(&b, "outbox", linesOf(table.String()))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// texts are the messages that a turn answers, oldest first; each but its own with its turn.
func texts(told Told) (all []string) {
	for _, m := range told.Merged {
		all = append(all, m.Text+"\n(turn "+m.ID+", answered together with this one)")
	}
	return append(all, told.Turn.Text)
}

// facts are what a turn has one of.
func facts(b *strings.Builder, t conversation.Turn) {
	table := columns(b)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(table, "%s\t%s\n", name, value)
		}
	}
	line("turn", t.ID)
	line("subscriber", fmt.Sprintf("%s on %s", t.Key.SubscriberID, t.Key.Channel))
	line("received", Local(t.ReceivedAt))
	line("took", took(t.Timings))
	line("state", state(t))
	line("outcome", string(t.Outcome))
	line("handed off for", string(t.Reason))
	line("answered by", t.MergedInto)
	line("left", left(t))
	line("model", cmp.Or(t.Model, "none ran"))
	line("prompt", t.PromptVersion)
	if t.Confidence != nil {
		line("confidence", fmt.Sprint(*t.Confidence))
	}
	line("spend", spend(t.Spend))
	_ = table.Flush()
}

func took(t conversation.Timings) string {
	if t.Total == 0 {
		return ""
	}
	said := Took(t.Total) + ", recorded after " + Took(t.Record)
	if t.Wait > 0 {
		said += ", waited " + Took(t.Wait) + " for an earlier turn"
	}
	if t.Hold > 0 {
		said += ", held for " + Took(t.Hold)
	}
	return said
}

// Took is a duration for a person to read.
func Took(m conversation.Micros) string {
	d := time.Duration(m) * time.Microsecond
	if d >= time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return fmt.Sprintf("%.1fms", float64(m)/1000)
}

func state(t conversation.Turn) string {
	said := string(t.State)
	if t.Attempt > 1 {
		said += fmt.Sprintf(", start %d", t.Attempt)
	}
	if !t.Bound {
		said += ", without the contact's token"
	}
	return said
}

// left says how the reply left.
func left(t conversation.Turn) string {
	switch t.Outcome {
	case conversation.MergedAway:
		return "not at all: a later turn answered the message with its own"
	case conversation.Duplicate:
		return "not at all: the contact had just sent the same, which the turn before this one answers"
	}
	switch t.Path {
	case conversation.Inline:
		if t.RespondedAt.IsZero() {
			return "in the response, which is not known to be written"
		}
		return "in the response"
	case conversation.Outbox:
		return "by the outbox"
	case conversation.Silent:
		return "not at all: nothing was to be said"
	}
	return ""
}

func spend(s conversation.Spend) string {
	if s == (conversation.Spend{}) {
		return ""
	}
	return fmt.Sprintf("%d tokens in (%d of them cached), %d out, %.6f USD", s.TokensIn, s.TokensCached, s.TokensOut, float64(s.CostMicros)/1e6)
}

// section prints lines under their head, and nothing when there are none.
func section(b *strings.Builder, head string, lines []string) {
	if len(lines) == 0 {
		return
	}
	b.WriteString("\n" + head + "\n")
	for _, l := range lines {
		b.WriteString("  " + strings.ReplaceAll(printable(l), "\n", "\n  ") + "\n")
	}
}

// linesOf are the lines of a table, without the spaces behind them.
func linesOf(table string) []string {
	lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return lines
}

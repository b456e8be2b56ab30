package talk

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/cli/show"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/store"
)

// view is a conversation as JSON.
type view struct {
	ID            string          `json:"id"`
	Subscriber    string          `json:"subscriber"`
	Channel       contact.Channel `json:"channel"`
	LastMessageAt *time.Time      `json:"lastMessageAt,omitempty"` // or when it was made; in a list
	PausedUntil   *time.Time      `json:"pausedUntil"`             // null: it is not paused
	Tagged        bool            `json:"tagged"`                  // the contact carried the tag of an active person when ManyChat was last asked
	OptedOutAt    *time.Time      `json:"optedOutAt"`              // when the contact asked for an end to all messages; null: they did not
	NeedsPerson   bool            `json:"needsPerson"`
	AnsweredAt    *time.Time      `json:"answeredAt"`       // by a person; null: never
	LastSentAt    *time.Time      `json:"lastSentAt"`       // when ManyChat last took a text; null: never
	Turns         []show.TurnLine `json:"turns,omitempty"`  // newest first
	OnTheirWay    []show.RowView  `json:"outbox,omitempty"` // what is not delivered, or never will be by itself
}

func viewOf(c conversation.Conversation, now time.Time) view {
	v := view{
		ID: c.ID, Subscriber: string(c.Key.SubscriberID), Channel: c.Key.Channel, Tagged: c.TagActive, NeedsPerson: c.NeedsPerson,
		OptedOutAt: instant(c.OptedOutAt), AnsweredAt: instant(c.AnsweredAt), LastSentAt: instant(c.LastSentAt),
	}
	if c.Paused(now) {
		v.PausedUntil = instant(c.PausedUntil)
	}
	return v
}

func linesOf(found []store.ListedTalk, now time.Time) []view {
	views := make([]view, len(found))
	for i, l := range found {
		views[i] = viewOf(l.Conversation, now)
		views[i].LastMessageAt = instant(l.ActiveAt)
	}
	return views
}

func viewsOf(accounts []account, now time.Time) []view {
	views := make([]view, len(accounts))
	for i, a := range accounts {
		views[i] = viewOf(a.Talk, now)
		views[i].Turns, views[i].OnTheirWay = a.Turns, show.RowsOf(a.Rows)
	}
	return views
}

func instant(at time.Time) *time.Time {
	if at.IsZero() {
		return nil
	}
	return &at
}

func columns(w io.Writer) *tabwriter.Writer { return tabwriter.NewWriter(w, 0, 0, 2, ' ', 0) }

// printList prints a table of conversations.
func printList(w io.Writer, found []store.ListedTalk, now time.Time) error {
	table := columns(w)
	fmt.Fprintln(table, "ID\tSUBSCRIBER\tCHANNEL\tLAST MESSAGE\tWHO ANSWERS\tNEEDS A PERSON")
	for _, l := range found {
		needs := "-"
		if l.NeedsPerson {
			needs = "yes"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", l.ID, l.Key.SubscriberID, l.Key.Channel, show.Local(l.ActiveAt), who(l.Conversation, now), needs)
	}
	return table.Flush()
}

// who answers a contact.
func who(c conversation.Conversation, now time.Time) string {
	switch {
	case c.Mute(conversation.Wish{}):
		return "nobody: opted out " + show.Local(c.OptedOutAt)
	case c.Paused(now):
		return "a person until " + show.Local(c.PausedUntil)
	case c.TagActive:
		return "a person, by the tag at ManyChat"
	}
	return "the agent"
}

// printAccounts prints conversations one after the other.
func printAccounts(w io.Writer, accounts []account, now time.Time) error {
	for i, a := range accounts {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if err := printAccount(w, a, now); err != nil {
			return err
		}
	}
	return nil
}

func printAccount(w io.Writer, a account, now time.Time) error {
	table := columns(w)
	line := func(name, value string) { fmt.Fprintf(table, "%s\t%s\n", name, value) }
	line("conversation", a.Talk.ID)
	line("subscriber", fmt.Sprintf("%s on %s", a.Talk.Key.SubscriberID, a.Talk.Key.Channel))
	line("who answers", who(a.Talk, now))
	if a.Talk.NeedsPerson {
		line("needs a person", "yes: a reply was not delivered")
	}
	if !a.Talk.AnsweredAt.IsZero() {
		line("answered", show.Local(a.Talk.AnsweredAt)+", by a person")
	}
	if !a.Talk.LastSentAt.IsZero() {
		line("last text", show.Local(a.Talk.LastSentAt))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(a.Turns) > 0 {
		section(w, "last turns", func(w io.Writer) error { return show.Turns(w, a.Turns) })
	}
	if len(a.Rows) > 0 {
		section(w, "not delivered", func(w io.Writer) error { return show.Rows(w, a.Rows) })
	}
	return nil
}

// section prints a table under its head.
func section(w io.Writer, head string, print func(io.Writer) error) {
	var b strings.Builder
	_ = print(&b) // a Builder takes everything
	fmt.Fprintf(w, "\n%s\n  %s\n", head, strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", "\n  "))
}

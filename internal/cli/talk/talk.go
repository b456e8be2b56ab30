// Package talk is what the command conversation does: who has a contact, the agent, a person or
// nobody, and giving them from one to the other.
package talk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/cli/show"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
)

// Shell is where a command runs.
type Shell struct {
	Out, Err io.Writer
	Table    bool              // a person reads the output
	Watched  bool              // a person reads the output or the errors
	Usage    func(error) error // makes an error one of the command line
	Database func(ctx context.Context, use func(context.Context, *store.DB, config.Config) error) error
}

// Commands are the subcommands, in the order of the help.
type Commands struct {
	List     list     `cmd:"" help:"List conversations, the latest message first."`
	Show     shown    `cmd:"" help:"Show who has a conversation, its last turns and what is on its way."`
	Pause    pause    `cmd:"" help:"Give a contact to a person: the agent records their messages and says nothing."`
	Resume   resume   `cmd:"" help:"Give a contact back to the agent."`
	Optout   optout   `cmd:"" help:"Note that a contact asked for an end to all messages."`
	Optin    optin    `cmd:"" help:"Let the agent answer a contact again who had asked for an end to all messages."`
	Answered answered `cmd:"" help:"Say that a person has answered: nobody is needed any more, and the turn cap counts anew."`
}

// Help shows examples.
func (Commands) Help() string {
	return `ID is that of a conversation, or of the contact at ManyChat. What is done holds for the contact on every channel,
and a running service sees it at once.

Examples:

    manychat-agent conversation list --needs-person
    manychat-agent conversation list --paused
    manychat-agent conversation show 900000001
    manychat-agent conversation pause 900000001 --hours 4
    manychat-agent conversation resume 900000001
    manychat-agent conversation optout 900000001
    manychat-agent conversation optin 900000001
    manychat-agent conversation answered 900000001`
}

type list struct {
	Paused      bool   `help:"Only those that a person has."`
	NeedsPerson bool   `help:"Only those with a reply that was not delivered, and that nobody has answered since."`
	Limit       int    `help:"At most so many." default:"20"`
	After       string `help:"Only conversations behind this one: the last id of the page before." placeholder:"ID"`
	JSON        bool   `help:"One JSON object a line."`
}

// Run prints a table in a terminal, and JSON elsewhere or when asked for.
func (l list) Run(ctx context.Context, sh Shell) error {
	if l.Limit < 1 {
		return sh.Usage(fmt.Errorf("--limit is %d: give a number of at least 1", l.Limit))
	}
	return sh.Database(ctx, func(ctx context.Context, db *store.DB, c config.Config) error {
		found, err := db.ListTalks(ctx, store.TalkFilter{
			TenantID: c.Tenant.ID, Paused: l.Paused, NeedsPerson: l.NeedsPerson, Limit: l.Limit, After: l.After,
		})
		if errors.Is(err, store.ErrNoTalk) {
			return unknown(l.After)
		}
		if err != nil {
			return err
		}
		if len(found) == 0 && sh.Watched {
			fmt.Fprintln(sh.Err, "No conversations.")
		}
		if len(found) == 0 || l.JSON || !sh.Table {
			return show.Lines(sh.Out, linesOf(found, db.Now()))
		}
		return printList(sh.Out, found, db.Now())
	})
}

type shown struct {
	ID    string `arg:"" help:"The conversation's id, or the contact's at ManyChat."`
	Turns int    `help:"How many of the last turns." default:"5"`
	JSON  bool   `help:"As JSON: one object a line, one for each channel."`
}

// Run prints an account in a terminal, and JSON elsewhere or when asked for.
func (s shown) Run(ctx context.Context, sh Shell) error {
	if s.Turns < 1 {
		return sh.Usage(fmt.Errorf("--turns is %d: give a number of at least 1", s.Turns))
	}
	return sh.Database(ctx, func(ctx context.Context, db *store.DB, c config.Config) error {
		who, talks, err := resolve(ctx, db, c, s.ID)
		if err != nil {
			return err
		}
		turns, err := db.RecentTurns(ctx, who.TenantID, who.SubscriberID, s.Turns)
		if err != nil {
			return err
		}
		var accounts []account
		for _, talk := range talks {
			a := account{Talk: talk}
			for _, t := range turns {
				if t.ConversationID == talk.ID {
					a.Turns = append(a.Turns, show.TurnLineOf(t.Turn))
				}
			}
			if a.Rows, err = db.OnTheirWay(ctx, talk.ID); err != nil {
				return err
			}
			accounts = append(accounts, a)
		}
		if s.JSON || !sh.Table {
			return show.Lines(sh.Out, viewsOf(accounts, db.Now()))
		}
		return printAccounts(sh.Out, accounts, db.Now())
	})
}

// account is what is shown of a conversation.
type account struct {
	Talk  conversation.Conversation
	Turns []show.TurnLine
	Rows  []outbox.Row
}

type pause struct {
	ID    string  `arg:"" help:"The conversation's id, or the contact's at ManyChat."`
	Hours float64 `help:"For how long, up to 720." default:"24"`
}

// Run pauses, and says until when.
func (p pause) Run(ctx context.Context, sh Shell) error {
	if !(p.Hours > 0 && p.Hours <= 720) {
		return sh.Usage(fmt.Errorf("--hours is %v: give a number above 0 and up to 720; conversation resume ends a pause", p.Hours))
	}
	return sh.Database(ctx, func(ctx context.Context, db *store.DB, c config.Config) error {
		who, talks, err := resolve(ctx, db, c, p.ID)
		if errors.Is(err, errUnwritten) {
			err = nil // a person may start the talk
		}
		if err != nil {
			return err
		}
		until := db.Now().Add(time.Duration(p.Hours * float64(time.Hour))).Truncate(time.Second)
		paused, err := db.Pause(ctx, who, until)
		if err != nil {
			return err
		}
		if len(talks) == 0 {
			fmt.Fprintf(sh.Err, "No message of %s is known: check the id; the pause holds from their first message on.\n", who.SubscriberID)
		}
		_, err = fmt.Fprintf(sh.Out, "The contact %s is a person's until %s.%s\n", who.SubscriberID, show.Local(until), withheld(paused.Withheld))
		return err
	})
}

// withheld says what a pause kept back.
func withheld(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " 1 reply that was on its way is withheld; outbox list --status withheld shows it."
	}
	return fmt.Sprintf(" %d replies that were on their way are withheld; outbox list --status withheld shows them.", n)
}

type resume struct {
	ID string `arg:"" help:"The conversation's id, or the contact's at ManyChat."`
}

// Run ends a pause. It sends nothing.
func (r resume) Run(ctx context.Context, sh Shell) error {
	return sh.Database(ctx, func(ctx context.Context, db *store.DB, c config.Config) error {
		who, before, err := resolve(ctx, db, c, r.ID)
		if err != nil {
			return err
		}
		talks, err := db.Resume(ctx, who)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(sh.Out, "The agent answers the contact %s again.\n", who.SubscriberID); err != nil {
			return err
		}
		for _, talk := range before {
			if talk.TagActive {
				fmt.Fprintln(sh.Err, "The contact carried the tag of nudge.humanActiveTag in tools.json when ManyChat was last asked. While they do, the agent stays silent: remove the tag in ManyChat.")
				break
			}
		}
		return tellWithheld(ctx, sh, db, talks)
	})
}

// tellWithheld says what a pause has kept back, and that nobody sends it.
func tellWithheld(ctx context.Context, sh Shell, db *store.DB, talks []conversation.Conversation) error {
	for _, talk := range talks {
		rows, err := db.OnTheirWay(ctx, talk.ID)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row.Status == outbox.Withheld {
				fmt.Fprintf(sh.Err, "A %s is withheld, and is not sent by itself: outbox retry %s sends it, outbox discard %s gives it up.\n", show.Name(row), row.ID, row.ID)
			}
		}
	}
	return nil
}

// TellTaken says of a row that was queued again when a person has its contact, or the contact
// opted out, so that it will not go out.
func TellTaken(ctx context.Context, sh Shell, db *store.DB, rowID string) error {
	row, err := db.OutboxRow(ctx, rowID)
	if err != nil {
		return err
	}
	talk, err := db.Talk(ctx, row.ConversationID)
	if err != nil {
		return err
	}
	switch {
	case row.Kind == outbox.Reply && talk.Mute(conversation.Wish{}):
		fmt.Fprintf(sh.Err, "The contact opted out, and the %s is discarded before it goes out.\n", show.Name(row))
	case row.Kind == outbox.Reply && talk.Holds(row.Seq, db.Now()):
		fmt.Fprintf(sh.Err, "The contact is a person's until %s, and the %s is withheld again before it goes out. conversation resume %s ends that; then retry it once more.\n",
			show.Local(talk.PausedUntil), show.Name(row), talk.ID)
	}
	return nil
}

type answered struct {
	ID string `arg:"" help:"The conversation's id, or the contact's at ManyChat."`
}

// Run marks a conversation as answered.
func (a answered) Run(ctx context.Context, sh Shell) error {
	return sh.Database(ctx, func(ctx context.Context, db *store.DB, c config.Config) error {
		who, _, err := resolve(ctx, db, c, a.ID)
		if err != nil {
			return err
		}
		talks, err := db.MarkAnswered(ctx, who)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(sh.Out, "The contact %s is answered.\n", who.SubscriberID); err != nil {
			return err
		}
		for _, talk := range talks {
			if talk.Paused(db.Now()) {
				fmt.Fprintf(sh.Err, "The agent stays silent until %s; conversation resume %s ends that.\n", show.Local(talk.PausedUntil), a.ID)
				break
			}
		}
		return nil
	})
}

var subscriberForm = regexp.MustCompile(`^[0-9]{1,32}$`)

// errUnwritten says that a contact has written no message yet.
var errUnwritten = errors.New("has not written yet, as far as is known; conversation list shows who has")

func unknown(id string) error {
	return fmt.Errorf("no conversation has the id %q; conversation list shows them", id)
}

// resolve finds a contact and their conversations by an id of either. An error that is
// errUnwritten comes with the contact.
func resolve(ctx context.Context, db *store.DB, c config.Config, id string) (contact.Key, []conversation.Conversation, error) {
	who := contact.Key{TenantID: c.Tenant.ID, Channel: c.Tenant.Channel, SubscriberID: contact.SubscriberID(id)}
	talk, err := db.Talk(ctx, id)
	switch {
	case err == nil && talk.Key.TenantID == c.Tenant.ID:
		who = talk.Key
	case err != nil && !errors.Is(err, store.ErrNoTalk):
		return who, nil, err
	case !subscriberForm.MatchString(id):
		return who, nil, unknown(id)
	}
	talks, err := db.TalksOf(ctx, who.TenantID, who.SubscriberID)
	if err == nil && len(talks) == 0 {
		err = fmt.Errorf("the contact %s %w", id, errUnwritten)
	}
	return who, talks, err
}

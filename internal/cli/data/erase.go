package data

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/store/held"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// beyond is what no erase reaches.
const beyond = `Not reached, and yours to see to: backups of the database; what ManyChat itself keeps, such as the chat, the profile, tags and other fields; what the provider of the model keeps of its prompts.`

type erase struct {
	Subscriber string `arg:"" help:"The contact's id at ManyChat."`
	Yes        bool   `help:"Do not ask."`
}

// Run erases a contact here first: from then on nothing is written about them, whatever
// ManyChat says to its part.
func (e erase) Run(ctx context.Context, sh Shell) error {
	c, who, err := who(sh, e.Subscriber)
	if err != nil {
		return err
	}
	business, err := app.Business(c, 0)
	if err != nil {
		return err
	}
	if err := e.ask(sh); err != nil {
		return err
	}
	return sh.Database(ctx, func(ctx context.Context, db *store.DB) error {
		done, remains := held.Erase(ctx, db.DB, who)
		if done.Rows == nil {
			return remains
		}
		if err := tell(sh, done); err != nil {
			return err
		}
		cleared, failed := clearFields(ctx, c, e.Subscriber, fieldsOf(c, business))
		if len(cleared) > 0 {
			fmt.Fprintf(sh.Out, "Cleared at ManyChat: %s.\n", strings.Join(cleared, ", "))
		}
		fmt.Fprintln(sh.Err, beyond)
		return errors.Join(remains, failed)
	})
}

// ask has a person type the id again.
func (e erase) ask(sh Shell) error {
	if e.Yes {
		return nil
	}
	if !sh.Terminal(sh.In) {
		return sh.Usage(errors.New("nobody can be asked here: give --yes to erase the contact"))
	}
	fmt.Fprintf(sh.Err, "Everything held about contact %s is erased, and cannot be brought back. Type the id to go on: ", e.Subscriber)
	typed, _ := bufio.NewReader(sh.In).ReadString('\n') // what was not typed is not the id
	if strings.TrimSpace(typed) != e.Subscriber {
		return errors.New("nothing was erased, because the id was not typed")
	}
	return nil
}

// tell says how much was erased, and names nobody.
func tell(sh Shell, done held.Erased) error {
	var tables []string
	for _, name := range slices.Sorted(maps.Keys(done.Rows)) {
		if n := done.Rows[name]; n > 0 {
			tables = append(tables, fmt.Sprintf("%s %d", name, n))
		}
	}
	if len(tables) == 0 {
		tables = []string{"nothing was held"}
	}
	if _, err := fmt.Fprintf(sh.Out, "Erased rows: %d (%s).\n", done.Total(), strings.Join(tables, ", ")); err != nil {
		return err
	}
	if n := done.Outbox[outbox.Pending] + done.Outbox[outbox.Withheld] + done.Outbox[outbox.Dead]; n > 0 {
		fmt.Fprintf(sh.Out, "Cancelled deliveries: %d.\n", n)
	}
	if n := done.Outbox[outbox.Delivering] + done.Running; n > 0 {
		fmt.Fprintf(sh.Err, "Under way at this moment: %d. They may still reach the contact and leave a text in ManyChat's fields; run the command again in a minute.\n", n)
	}
	return nil
}

// fieldsOf are the fields that the agent writes what was said into, and the token's.
func fieldsOf(c config.Config, business *tenant.Tenant) []string {
	fields := []string{c.ManyChat.ReplyField, c.ManyChat.TokenField}
	for _, n := range business.Tools.Notes {
		if !slices.Contains(fields, n.Field) { // two notes may share one
			fields = append(fields, n.Field)
		}
	}
	return fields
}

// clearFields empties fields of a contact at ManyChat. Its error names those which were
// not, and why.
func clearFields(ctx context.Context, c config.Config, subscriber string, fields []string) (cleared []string, err error) {
	const again = "the contact is erased here, and not at ManyChat"
	if c.ManyChat.APIToken == "" {
		return nil, fmt.Errorf("%s: MANYCHAT_API_TOKEN is not set; set it and run the command again, or clear %s there", again, strings.Join(fields, ", "))
	}
	client, err := manychat.NewClient(manychat.ClientConfig{
		Token: c.ManyChat.APIToken.Reveal(), BaseURL: c.ManyChat.APIBase.Reveal(), RPSScale: c.ManyChat.RPSScale,
	})
	if err != nil {
		return nil, err
	}
	var left, reasons []string
	for _, field := range fields {
		err := client.SetCustomFieldByName(ctx, subscriber, field, nil) // an empty text clears no field
		if err == nil {
			cleared = append(cleared, field)
			continue
		}
		left = append(left, field)
		reasons = append(reasons, err.Error())
	}
	if len(left) > 0 {
		err = fmt.Errorf("%s: not cleared is %s; run the command again, or clear it there\n%s", again, strings.Join(left, ", "), strings.Join(reasons, "\n"))
	}
	return cleared, err
}

// Package data is the commands about the database as a whole, and about everything that is
// held of one contact.
package data

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
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/held"
	"github.com/manychat-agent/manychat-agent/internal/store/transfer"
)

// Shell is what the commands need of the program around them.
type Shell struct {
	In       io.Reader
	Out, Err io.Writer
	Terminal func(stream any) bool
	Config   func() (config.Config, error) // of a command that ends by itself
	Database func(ctx context.Context, use func(context.Context, *store.DB) error) error
	Usage    func(error) error // marks a mistake in the command line
}

// DB is the commands about the database.
type DB struct {
	Backup backup `cmd:"" help:"Copy a SQLite database to a file, while the service runs."`
	Copy   copyTo `cmd:"" help:"Copy everything into another database, such as from SQLite to PostgreSQL."`
}

// Help shows examples.
func (DB) Help() string {
	return `Examples:

    manychat-agent db backup backups/agent-monday.db
    manychat-agent db copy --from sqlite:data/agent.db --to postgres://agent@db.internal/agent

To restore a backup: stop the service, put the file in the database's place, delete the
files beside it that end in -wal and -shm, start the service.`
}

// Contact is the commands about one contact.
type Contact struct {
	Export export `cmd:"" help:"Print everything held about a contact, as JSON."`
	Erase  erase  `cmd:"" help:"Erase everything held about a contact, and clear the agent's fields at ManyChat."`
}

// Help shows examples.
func (Contact) Help() string {
	return `SUBSCRIBER is the contact's id at ManyChat. All channels of the tenant are meant.

Examples:

    manychat-agent contact export 900000001 > contact.json
    manychat-agent contact erase 900000001`
}

type backup struct {
	File string `arg:"" help:"The file to write; there must be none of this name."`
}

// Run makes a backup.
func (b backup) Run(ctx context.Context, sh Shell) error {
	c, err := sh.Config()
	if err != nil {
		return err
	}
	made, err := database.Backup(ctx, c.Tenant.Database.Reveal(), b.File)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(sh.Out, "%s holds the whole database: %d bytes, version %d, checked.\n", b.File, made.Bytes, made.Version)
	return err
}

type copyTo struct {
	From string `help:"The address to copy from." required:"" placeholder:"sqlite:PATH"`
	To   string `help:"The address to copy to: migrated, and empty." required:"" placeholder:"postgres://…"`
	JSON bool   `help:"One JSON object a line."`
}

// copied is a table as JSON shows it.
type copied struct {
	Table string `json:"table"`
	Rows  int64  `json:"rows"`
	Hash  string `json:"sha256"`
}

// Run copies a database, and prints what arrived.
func (c copyTo) Run(ctx context.Context, sh Shell) error {
	done, err := transfer.Copy(ctx, transfer.Options{From: c.From, To: c.To, Now: time.Now})
	if errors.Is(err, transfer.ErrSame) {
		err = sh.Usage(err)
	}
	if err != nil {
		return err
	}
	tables := make([]copied, len(done))
	for i, t := range done {
		tables[i] = copied(t)
	}
	if c.JSON || !sh.Terminal(sh.Out) {
		err = show.Lines(sh.Out, tables)
	} else {
		err = show.Table(sh.Out, "TABLE\tROWS\tHASH", tables, func(t copied) string { return fmt.Sprintf("%s\t%d\t%s", t.Table, t.Rows, t.Hash[:16]) })
	}
	fmt.Fprintln(sh.Err, "Everything arrived: rows and hashes of both databases are the same. Set DATABASE_URL to the new one before the service starts.")
	return err
}

// subscriberForm is a ManyChat id (docs/spec/02-inbound.md).
var subscriberForm = regexp.MustCompile(`^[0-9]{1,32}$`)

// who is a contact of the configured tenant.
func who(sh Shell, subscriber string) (config.Config, held.Who, error) {
	if !subscriberForm.MatchString(subscriber) {
		return config.Config{}, held.Who{}, sh.Usage(fmt.Errorf("the subscriber is %q: give the id of a contact, 1 to 32 digits", subscriber))
	}
	c, err := sh.Config()
	return c, held.Who{TenantID: c.Tenant.ID, ID: contact.SubscriberID(subscriber)}, err
}

type export struct {
	Subscriber string `arg:"" help:"The contact's id at ManyChat."`
}

// exported is the document that an export prints.
type exported struct {
	Tenant     string                `json:"tenant"`
	Subscriber contact.SubscriberID  `json:"subscriber"`
	ExportedAt time.Time             `json:"exportedAt"`
	Held       map[string][]held.Row `json:"held"` // by table
}

// Run prints everything held about a contact.
func (e export) Run(ctx context.Context, sh Shell) error {
	_, who, err := who(sh, e.Subscriber)
	if err != nil {
		return err
	}
	return sh.Database(ctx, func(ctx context.Context, db *store.DB) error {
		rows, err := held.Export(ctx, db.DB, who)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			fmt.Fprintln(sh.Err, "Nothing is held about this contact.")
		}
		return show.Object(sh.Out, exported{who.TenantID, who.ID, time.Now().UTC(), rows})
	})
}

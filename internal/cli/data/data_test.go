package data_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/cli/data"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

const (
	subscriber = "900000001"
	apiToken   = "1234567:invented"
)

// errUsage marks a mistake in the command line.
var errUsage = errors.New("usage")

// desk is where an operator types: an emulated account, a database and a terminal that is none.
type desk struct {
	t        *testing.T
	account  *manychattest.Server
	config   config.Config
	out, err bytes.Buffer
	in       string
	person   bool
}

// fields are those of the account, and what the contact has in each.
func fields() map[string]string {
	return map[string]string{
		"ai_message": "the last reply", "ai_token": "a-token", "agent_summary": "what they want", "agent_handoff_note": "call back",
		"preferred_shift": "evening",
	}
}

func open(t *testing.T) *desk {
	t.Helper()
	account, err := manychattest.New(manychattest.Config{Channel: manychat.WhatsApp, Token: apiToken})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(account.Close)
	server := httptest.NewServer(account)
	t.Cleanup(server.Close)
	for name := range fields() {
		if _, err := account.DefineField(name, phone.Text); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := account.AddContact(phone.Contact{ID: subscriber, LastInteraction: time.Now()}); err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, account: account}
	for name, value := range fields() {
		if err := d.client(server.URL).SetCustomFieldByName(t.Context(), subscriber, name, value); err != nil {
			t.Fatal(err)
		}
	}
	d.config, err = config.Load(config.Source{Mode: config.Once, Environ: []string{
		"DATABASE_URL=sqlite:" + filepath.Join(t.TempDir(), "agent.db"), "MANYCHAT_API_TOKEN=" + apiToken, "MANYCHAT_API_BASE=" + server.URL,
		"CONFIG_DIR=" + t.TempDir(),
	}})
	if err != nil {
		t.Fatal(err)
	}
	d.write()
	return d
}

func (d *desk) client(url string) *manychat.Client {
	d.t.Helper()
	c, err := manychat.NewClient(manychat.ClientConfig{Token: apiToken, BaseURL: url})
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

// write has the contact write a message.
func (d *desk) write() {
	d.t.Helper()
	err := d.database(d.t.Context(), func(ctx context.Context, db *store.DB) error {
		_, err := db.Record(ctx, turn.Arrival{
			TurnID: "turn", Owner: "process", Text: "hello", ReceivedAt: time.Now(),
			Key: contact.Key{TenantID: "demo", Channel: contact.WhatsApp, SubscriberID: subscriber},
		})
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) database(ctx context.Context, use func(context.Context, *store.DB) error) error {
	db, err := store.Open(ctx, store.Options{URL: d.config.Tenant.Database.Reveal(), Now: time.Now})
	if err != nil {
		return err
	}
	return errors.Join(use(ctx, db), db.Close())
}

// run runs a command line.
func (d *desk) run(args ...string) error {
	d.t.Helper()
	d.out.Reset()
	d.err.Reset()
	var commands struct {
		Contact data.Contact `cmd:""`
		DB      data.DB      `cmd:"" name:"db"`
	}
	in := strings.NewReader(d.in)
	parser, err := kong.New(&commands, kong.BindTo(d.t.Context(), (*context.Context)(nil)), kong.Bind(data.Shell{
		In: in, Out: &d.out, Err: &d.err,
		Terminal: func(any) bool { return d.person },
		Config:   func() (config.Config, error) { return d.config, nil },
		Database: d.database,
		Usage:    func(err error) error { return errors.Join(errUsage, err) },
	}))
	if err != nil {
		d.t.Fatal(err)
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		d.t.Fatal(err)
	}
	return parsed.Run()
}

// at is what the contact has in each field that is not empty.
func (d *desk) at() map[string]string {
	d.t.Helper()
	c, err := d.account.Contact(subscriber)
	if err != nil {
		d.t.Fatal(err)
	}
	got := map[string]string{}
	for name, value := range c.Fields {
		if text, ok := value.(string); ok && text != "" {
			got[name] = text
		}
	}
	return got
}

// held is how many tables have rows of the contact.
func (d *desk) held() int {
	d.t.Helper()
	if err := d.run("contact", "export", subscriber); err != nil {
		d.t.Fatal(err)
	}
	var export struct{ Held map[string][]any }
	if err := json.Unmarshal(d.out.Bytes(), &export); err != nil {
		d.t.Fatal(err)
	}
	return len(export.Held)
}

// Holds docs/spec/15-storage.md, "Storage and scale": erase clears the reply, token and note
// fields at ManyChat, and says what it cannot reach.
func TestEraseClearsFields(t *testing.T) {
	d := open(t)
	if err := d.run("contact", "erase", subscriber, "--yes"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"preferred_shift": "evening"}, d.at()); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
	for _, want := range []string{"Erased rows: 4 (contacts 1, conversations 1, turns 2).\n", "Cleared at ManyChat: ai_message, ai_token, agent_summary, agent_handoff_note.\n"} {
		if !strings.Contains(d.out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, d.out.String())
		}
	}
	for _, want := range []string{"Under way at this moment: 1. ", "backups of the database", "what ManyChat itself keeps", "the provider of the model"} {
		if !strings.Contains(d.err.String(), want) {
			t.Errorf("standard error lacks %q:\n%s", want, d.err.String())
		}
	}
	if n := d.held(); n > 0 {
		t.Errorf("%d tables still hold the contact", n)
	}
}

// Holds docs/spec/15-storage.md, "Storage and scale": when ManyChat refuses, the contact is
// erased here all the same, and the fields that were not cleared are named.
func TestEraseWhenManyChatRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		change func(d *desk)
		want   []string // in the error
		left   map[string]string
	}{
		"one field": {func(d *desk) {
			d.fault(fault.Fault{Kind: fault.ServerError, Path: "/fb/subscriber/setCustomFieldByName", Times: 1})
		},
			[]string{"not at ManyChat: not cleared is ai_message; run the command again", `"ai_message": server`}, map[string]string{"ai_message": "the last reply"}},
		"a note that was renamed": {func(d *desk) { d.fault(fault.Fault{Kind: fault.MissingField, Name: "agent_summary"}) },
			[]string{"not at ManyChat: not cleared is agent_summary; ", `"agent_summary": rejected`}, map[string]string{"agent_summary": "what they want"}},
		"every field": {func(d *desk) {
			d.fault(fault.Fault{Kind: fault.ServerError, Path: "/fb/subscriber/setCustomFieldByName"})
		},
			[]string{"not cleared is ai_message, ai_token, agent_summary, agent_handoff_note; "}, fields()},
		"no account": {func(d *desk) { d.config.ManyChat.APIToken = "" },
			[]string{"MANYCHAT_API_TOKEN is not set; set it and run the command again, or clear ai_message, ai_token, agent_summary, agent_handoff_note there"}, fields()},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			c.change(d)
			err := d.run("contact", "erase", subscriber, "--yes")
			if err == nil || errors.Is(err, errUsage) {
				t.Fatalf("erase returned %v", err)
			}
			for _, want := range append(c.want, "the contact is erased here") {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error lacks %q: %v", want, err)
				}
			}
			if strings.Contains(err.Error()+d.out.String()+d.err.String(), subscriber) {
				t.Error("the contact is named")
			}
			got := d.at()
			delete(got, "preferred_shift")
			delete(c.left, "preferred_shift")
			if diff := cmp.Diff(c.left, got); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
			if n := d.held(); n > 0 {
				t.Errorf("%d tables still hold the contact", n)
			}
		})
	}
}

func (d *desk) fault(f fault.Fault) {
	d.t.Helper()
	if err := d.account.SetFaults(fault.Set{Faults: []fault.Fault{f}}); err != nil {
		d.t.Fatal(err)
	}
}

// Holds docs/spec/16-operations.md, "Operations": nobody is erased by mistake.
func TestEraseAsks(t *testing.T) {
	for name, c := range map[string]struct {
		person bool
		in     string
		erased bool
		usage  bool
	}{
		"typed":          {person: true, in: subscriber + "\n", erased: true},
		"something else": {person: true, in: "yes\n"},
		"nothing":        {person: true},
		"nobody there":   {in: subscriber + "\n", usage: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			d.person, d.in = c.person, c.in
			err := d.run("contact", "erase", subscriber)
			if (err == nil) != c.erased || errors.Is(err, errUsage) != c.usage {
				t.Errorf("erase returned %v", err)
			}
			if (d.held() == 0) != c.erased || (len(d.at()) == 1) != c.erased {
				t.Errorf("erased is not %v", c.erased)
			}
		})
	}
}

// Holds docs/spec/15-storage.md, "Storage and scale": db backup is of SQLite; of the other
// database it says what to do instead.
func TestBackupOfPostgreSQL(t *testing.T) {
	d := open(t)
	d.config.Tenant.Database = "postgres://agent:hush@db/agent"
	err := d.run("db", "backup", filepath.Join(t.TempDir(), "copy"))
	if !errors.Is(err, database.ErrDump) || !strings.Contains(err.Error(), "pg_dump") || strings.Contains(err.Error(), "hush") {
		t.Errorf("db backup returned %v", err)
	}
}

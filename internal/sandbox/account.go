// Package sandbox is the local stand-in for a business's ManyChat account and its
// contacts' phones: an emulated account that survives restarts, and a page on which
// a person writes as a contact and sees what the contact would see. It knows the
// service only over HTTP, as ManyChat does.
package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/sandbox/flow"
	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// PublicHost is the host under which the emulated account knows the service; it
// exists nowhere else.
const PublicHost = "agent.sandbox.example"

// latencyMS is how late a slow ManyChat answers, in milliseconds: well within the ten
// seconds that the client waits.
const latencyMS = 3000

// AccountConfig describes the emulated account. Every field but File and what the account
// has besides is required.
type AccountConfig struct {
	Channel    manychat.Channel
	Service    string // base URL of the service, as this machine reaches it
	Path       string // of the service's message endpoint
	Secret     string // MANYCHAT_SHARED_SECRET
	APIToken   string // MANYCHAT_API_TOKEN, of the shape <account>:<secret>
	ReplyField string
	ReplyFlow  string // namespace
	TokenField string
	File       string // where contacts and chats are kept; empty: nowhere

	Inventory // what the account has besides

	Client *http.Client
	Now    func() time.Time
	Log    *slog.Logger
}

// Inventory is what a business's files name, and its account has.
type Inventory struct {
	Flows  []flow.Flow
	Tags   []string // names
	Fields []string // names of text fields
}

// Account is an emulated ManyChat account.
type Account struct {
	*manychattest.Server
	replyField, replyFlow, tokenField string

	changed chan struct{}
	stop    chan struct{}
	saved   chan struct{} // closed when the keeper has ended
}

// OpenAccount builds the account and brings back the contacts and chats that File
// holds. A file that cannot be read is an error that says what to do.
func OpenAccount(c AccountConfig) (*Account, error) {
	a := &Account{
		replyField: c.ReplyField, replyFlow: c.ReplyFlow, tokenField: c.TokenField,
		changed: make(chan struct{}, 1), stop: make(chan struct{}), saved: make(chan struct{}),
	}
	server, err := manychattest.New(manychattest.Config{
		Channel: c.Channel,
		Token:   c.APIToken,
		Hosts:   map[string]string{PublicHost: c.Service},
		Client:  c.Client,
		Now:     c.Now,
		Entry: manychattest.Entry{
			URL:        "https://" + PublicHost + c.Path,
			Header:     map[string]string{"Authorization": "Bearer " + c.Secret, "Content-Type": "application/json"},
			Body:       fmt.Sprintf(`{"subscriber_id": {{user_id}}, "text": {{last_input_text}}, "ai_token": {{%s}}}`, c.TokenField),
			EncodeJSON: true,
		},
		OnChange: a.touch,
	})
	if err != nil {
		return nil, fmt.Errorf("emulated account: %w", err)
	}
	a.Server = server
	if c.File != "" {
		if err := a.restore(c.File); err != nil {
			return nil, err
		}
	}
	if err := a.Furnish(c.Inventory); err != nil {
		return nil, err
	}
	go a.keep(c.File, c.Log)
	return a, nil
}

// Furnish adds what the account lacks of an inventory; a flow that is there shows what the
// inventory says from now on. Nothing is taken away. The reply flow comes last: nothing can
// stand in for it.
func (a *Account) Furnish(with Inventory) error {
	for _, field := range append([]string{a.replyField, a.tokenField}, with.Fields...) {
		if _, err := a.DefineField(field, phone.Text); err != nil {
			return fmt.Errorf("emulated account: %w", err)
		}
	}
	for _, tag := range with.Tags {
		if _, err := a.DefineTag(tag); err != nil {
			return fmt.Errorf("emulated account: %w", err)
		}
	}
	for _, f := range with.Flows {
		a.DefineFlow(manychattest.Flow{Name: f.ID, NS: f.NS, Steps: f.Play()})
	}
	a.DefineFlow(manychattest.Flow{
		Name: "AI reply", NS: a.replyFlow,
		Steps: []manychattest.Step{{Text: "{{" + a.replyField + "}}"}},
	})
	return nil
}

// Close stops the account's flows and writes its last state.
func (a *Account) Close() {
	a.Server.Close()
	close(a.stop)
	<-a.saved
}

// touch notes that there is something new to keep. It is called under the emulator's
// locks and never waits.
func (a *Account) touch() {
	select {
	case a.changed <- struct{}{}:
	default:
	}
}

// keep writes the account down after every change, so that a killed process loses
// nothing that a contact saw.
func (a *Account) keep(file string, log *slog.Logger) {
	defer close(a.saved)
	save := func() {
		if file == "" {
			return
		}
		if err := a.save(file); err != nil {
			log.Error("the sandbox's chats were not saved", "file", file, "error", err)
		}
	}
	for {
		select {
		case <-a.changed:
			save()
		case <-a.stop:
			save()
			return
		}
	}
}

// save replaces the file in one step, so that no crash leaves half of it.
func (a *Account) save(file string) error {
	data, err := a.Snapshot()
	if err != nil {
		return err
	}
	temp := file + ".new"
	if err := os.WriteFile(temp, data, 0o600); err != nil {
		return err
	}
	return os.Rename(temp, file)
}

func (a *Account) restore(file string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("the folder of the sandbox's chats cannot be made: %w; choose another with DATABASE_URL", err)
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = a.Restore(data)
	}
	if err != nil {
		return fmt.Errorf("the sandbox's chats in %s cannot be read: %w; delete the file to start without them", file, err)
	}
	return nil
}

// Break makes ManyChat go wrong in one way from now on: on the calls of a family, or on
// all of them when path is empty, and for the next so many, or until [Account.Mend]
// when times is 0. A missing field or flow is that of the replies.
func (a *Account) Break(kind fault.Kind, path string, times int) error {
	f := fault.Fault{Kind: kind, Path: path, Times: times}
	switch kind {
	case fault.Latency:
		f.DelayMS = latencyMS
	case fault.MissingField:
		f.Name = a.replyField
	case fault.MissingFlow:
		f.Name = a.replyFlow
	}
	return a.SetFaults(manychattest.Faults{Faults: []fault.Fault{f}})
}

// Mend makes ManyChat work again.
func (a *Account) Mend() error { return a.SetFaults(manychattest.Faults{}) }

// Ensure returns the id of the first contact, made with the given first name when
// there is none yet.
func (a *Account) Ensure(firstName string) (string, error) {
	if all := a.Contacts(); len(all) > 0 {
		return all[0].ID, nil
	}
	return a.AddContact(manychattest.Contact{FirstName: firstName})
}

// Write sends a text as a contact and waits for what ManyChat makes of it.
func (a *Account) Write(ctx context.Context, id, text string) (manychattest.Exchange, error) {
	return a.Send(ctx, id, manychattest.Input{Text: text})
}

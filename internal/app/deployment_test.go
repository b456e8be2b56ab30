package app_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/inbound"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/internal/telemetry"
	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// The credentials of a deployment.
const (
	newSecret = "the-secret-after-the-rotation"
	oldSecret = "the-secret-before-the-rotation"
	apiToken  = "200000000000002:deployed"
)

// deployment is the service as an operator runs it, with a ManyChat account of its own,
// in a synctest bubble.
type deployment struct {
	rig
	account *manychattest.Server
	service *app.Service
}

// deployed runs a test against a service in serve mode. entry changes how ManyChat calls
// it; by default ManyChat builds the body, Full Contact Data.
func deployed(t *testing.T, s setup, entry func(*manychattest.Entry), test func(*deployment)) {
	t.Helper()
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d := deploy(t, folder, s, entry)
		test(d)
		d.stop()
	})
}

// serving is the environment of a deployment whose database is in a folder.
func serving(folder string) []string {
	return []string{
		"DATABASE_URL=sqlite:" + filepath.Join(folder, "agent.db"), "AGENT_MODEL=mock:demo", "PUBLIC_BASE_URL=https://agent.example",
		"MANYCHAT_SHARED_SECRET=" + newSecret + "," + oldSecret, "MANYCHAT_API_TOKEN=" + apiToken, "MANYCHAT_REPLY_FLOW_NS=content20260101000000_000002",
	}
}

func deploy(t *testing.T, folder string, s setup, change func(*manychattest.Entry)) *deployment {
	t.Helper()
	c, business := load(t, config.Serve, serving(folder), s)
	network := newPipes()
	client := &http.Client{Transport: &http.Transport{DialContext: network.dial}}
	d := &deployment{rig: rig{t: t, base: "http://127.0.0.1:3000", network: network, start: time.Now(), folder: folder, http: client, log: &safeBuffer{}}}
	d.account = newAccount(t, manychat.Channel(c.Tenant.Channel), client, change)
	models := s.models(c)
	if models == nil {
		models = []attempt.Model{{Name: c.Agent.Model.String(), Model: mock.New()}}
	}
	var err error
	d.service, err = app.New(t.Context(), app.Options{
		Config: c, Tenant: business, Models: models, Now: time.Now, Transport: manychattest.Transport(d.account),
		Log: telemetry.NewLogger(io.MultiWriter(d.log, &captured), slog.LevelDebug, telemetry.JSON),
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	d.service.Register(mux)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- d.service.Serve(ctx, app.Front{Listener: network, Handler: mux}) }()
	d.stop = func() {
		for _, secret := range []string{newSecret, oldSecret, apiToken, "content20260101000000_000002"} {
			captured.keep("secret", secret)
		}
		keepContacts(d.account)
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		client.CloseIdleConnections()
		if err := d.service.Close(); err != nil {
			t.Error(err)
		}
		d.account.Close()
	}
	return d
}

// newAccount is a ManyChat account as the guide sets it up.
func newAccount(t *testing.T, channel manychat.Channel, client *http.Client, change func(*manychattest.Entry)) *manychattest.Server {
	t.Helper()
	entry := manychattest.Entry{
		URL:    "https://agent.example" + inbound.ContactPath,
		Header: map[string]string{"Authorization": "Bearer " + newSecret, "Content-Type": "application/json"}, FullContactData: true,
	}
	if change != nil {
		change(&entry)
	}
	account, err := manychattest.New(manychattest.Config{
		Channel: channel, Token: apiToken, Now: time.Now, Client: client, Entry: entry,
		Hosts: map[string]string{"agent.example": "http://127.0.0.1:3000"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"ai_message", "ai_token", "agent_course"} {
		if _, err := account.DefineField(field, phone.Text); err != nil {
			t.Fatal(err)
		}
	}
	account.DefineFlow(manychattest.Flow{NS: "content20260101000000_000002", Name: "AI reply", Steps: []manychattest.Step{
		{Text: "{{ai_message}}"},
	}})
	return account
}

// raw makes ManyChat paste variables unescaped into a body of the operator's own.
func raw(body string) func(*manychattest.Entry) {
	return func(e *manychattest.Entry) {
		e.URL, e.FullContactData, e.Body = "https://agent.example"+inbound.MessagePath, false, body
	}
}

// contact adds a contact to the account.
func (d *deployment) contact(id string) string {
	d.t.Helper()
	return addContact(d.t, d.account, id)
}

// write sends a text as a contact.
func (d *deployment) write(id, text string) manychattest.Exchange {
	d.t.Helper()
	return sendAs(d.t, d.account, id, text)
}

// from makes every connection from now on come from an address.
func (d *deployment) from(address string) {
	d.network.from = net.TCPAddrFromAddrPort(netip.MustParseAddrPort(address))
}

// get reads a page of the service.
func (d *deployment) get(path string) (status int, body string) {
	d.t.Helper()
	resp, err := d.http.Get(d.base + path)
	if err != nil {
		d.t.Fatal(err)
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(resp.Body)
	if err != nil {
		d.t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(content))
}

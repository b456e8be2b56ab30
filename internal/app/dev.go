package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/console"
	"github.com/manychat-agent/manychat-agent/internal/inbound"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/internal/sandbox"
	"github.com/manychat-agent/manychat-agent/internal/sandbox/desk"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// The sandbox's credentials. They open nothing but the emulated account of a process
// that listens on this machine, and stay the same so that a callback that ManyChat
// holds outlives a restart.
const (
	sandboxSecret   = "sandbox-shared-secret"
	sandboxAPIToken = "100000000000001:sandbox"
	sandboxKey      = "sandbox-console-key"
	sandboxFlow     = "content20260101000000_000001"
	sandboxWebhook  = "sandbox-webhook-secret"
)

// DevOptions are what a [Dev] is built from; every field but the last three is required.
type DevOptions struct {
	Config   config.Config
	Tenant   *tenant.Tenant
	Listener net.Listener
	Log      *slog.Logger
	Now      func() time.Time

	Transport http.RoundTripper // between the parts; nil: the network
	ToModels  http.RoundTripper // to the models' providers; nil: the network
	Models    []attempt.Model   // nil: those of the configuration
}

// Dev is the service together with an emulated ManyChat account, an emulated desk for the
// handoff notices and a phone page, in one process that reaches nothing outside of this
// machine but the provider of a model that was configured. The parts talk over HTTP, as
// they would on the internet.
type Dev struct {
	Account *sandbox.Account
	Turns   sandbox.Turns
	Desk    *desk.Desk  // gets the handoff notices
	Model   *mock.Model // answers unless another model is configured
	URL     string      // of the process, without a trailing slash

	mocked   bool // the mock is one of the models
	service  *Service
	page     *sandbox.Page
	listener net.Listener
	welcome  welcome
}

// NewDev builds the parts. The configuration's ManyChat account, public address, console
// key and webhook secret are replaced by the sandbox's: a real account and a real desk are
// never touched. The caller closes the result.
func NewDev(ctx context.Context, o DevOptions) (*Dev, error) {
	d := &Dev{Model: mock.New(), listener: o.Listener, URL: "http://" + o.Listener.Addr().String(), welcome: newWelcome(o), Desk: desk.New(o.Now)}
	c := o.Config
	c.ManyChat.SharedSecrets = config.Secrets{sandboxSecret}
	c.ManyChat.APIToken = sandboxAPIToken
	c.ManyChat.APIBase = config.URL(d.URL + sandbox.ManyChatPath)
	c.ManyChat.ReplyFlowNs = sandboxFlow
	c.Public.HandoffWebhookSecret = sandboxWebhook
	c.Public.BaseURL = "https://" + sandbox.PublicHost
	c.Console.APIKey = sandboxKey
	var err error
	if o.Models == nil {
		if o.Models, err = modelsBeside(d.Model, c, o.ToModels); err != nil {
			return nil, err
		}
	}
	d.mocked = slices.ContainsFunc(o.Models, func(m attempt.Model) bool { return m.Model == d.Model })
	if d.service, err = New(ctx, Options{
		Config: c, Tenant: o.Tenant, Models: o.Models, Log: o.Log, Now: o.Now, Transport: o.Transport, ToWebhook: d.Desk,
	}); err != nil {
		return nil, err
	}
	if err := d.buildSandbox(c, o); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

func (d *Dev) buildSandbox(c config.Config, o DevOptions) (err error) {
	client := &http.Client{Transport: o.Transport}
	account := sandbox.AccountConfig{
		Channel:    manychat.Channel(c.Tenant.Channel),
		Service:    d.URL,
		Path:       inbound.MessagePath,
		Secret:     sandboxSecret,
		APIToken:   sandboxAPIToken,
		ReplyField: c.ManyChat.ReplyField,
		ReplyFlow:  c.ManyChat.ReplyFlowNs,
		TokenField: c.ManyChat.TokenField,
		File:       chatsFile(c.Tenant.Database),
		Client:     client,
		Now:        o.Now,
		Log:        o.Log,
	}
	if account.Inventory, err = inventory(c, o.Tenant); err != nil {
		return err
	}
	if d.Account, err = sandbox.OpenAccount(account); err != nil {
		return err
	}
	d.Turns = TurnsAt(d.URL, sandboxSecret, client)
	page := sandbox.PageConfig{Account: d.Account, Turns: d.Turns, Desk: d.Desk, Example: d.welcome.question, Log: o.Log}
	if d.mocked {
		page.Model = switches{d.Model}
	}
	d.page, err = sandbox.NewPage(page)
	return err
}

// Reload adds to the emulated account what the files on disk name now, and then puts them
// in force; see [Service.Reload]. What flows show is reloaded with them, and is refused
// with them.
func (d *Dev) Reload() error {
	c := d.service.opts.Config
	t, err := Business(c, 0)
	var has sandbox.Inventory
	if err == nil {
		has, err = inventory(c, t)
	}
	if err == nil {
		err = d.Account.Furnish(has)
	}
	if err != nil {
		d.service.refuse(err)
		return err
	}
	d.service.enforce(t)
	return nil
}

// TurnsAt reads what the service at a base URL recorded, if it is a dev: whoever has the one
// of the sandbox's credentials may have the other. Of any other service nothing is read.
func TurnsAt(base, secret string, client *http.Client) sandbox.Turns {
	turns := sandbox.Turns{Service: strings.TrimRight(base, "/"), Path: console.TurnsPath, Client: client}
	if secret == sandboxSecret {
		turns.Key = sandboxKey
	}
	return turns
}

// Serve answers until ctx ends.
func (d *Dev) Serve(ctx context.Context) error {
	mux := http.NewServeMux()
	d.service.Register(mux)
	d.page.Register(mux)
	mux.Handle("GET /{$}", http.RedirectHandler(sandbox.Path, http.StatusSeeOther))
	return d.service.Serve(ctx, Front{Listener: d.listener, Handler: loopbackOnly(mux), OnStop: d.page.Close})
}

// SetLatency makes the mock model answer after a while. It is an error when another model
// answers.
func (d *Dev) SetLatency(latency time.Duration) error {
	if !d.mocked && latency > 0 {
		return errors.New("only the mock model can be slowed down: set AGENT_MODEL to mock:demo, or leave the latency out")
	}
	return d.Model.Control(mock.Directive{Latency: latency})
}

// Close releases what the parts hold.
func (d *Dev) Close() error {
	if d.page != nil {
		d.page.Close()
	}
	if d.Account != nil {
		d.Account.Close()
	}
	return d.service.Close()
}

// chatsFile is where the phones' chats are kept, beside the database.
func chatsFile(d config.Database) string {
	file, ok := d.SQLiteFile()
	if !ok {
		return ""
	}
	return filepath.Join(filepath.Dir(file), "sandbox.json")
}

// loopbackOnly refuses requests that were not addressed to this machine, so that no
// page on the internet can reach the sandbox by a name that it points here.
func loopbackOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip := net.ParseIP(host); host != "localhost" && host != sandbox.PublicHost && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "The sandbox answers only under localhost or a loopback address.", http.StatusMisdirectedRequest)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// switches are the mock model's, as the page shows them.
type switches struct{ model *mock.Model }

func (s switches) Behaviour() (time.Duration, string) {
	d := s.model.Directive()
	if d.Mode == "" {
		d.Mode = mock.OK
	}
	return d.Latency, string(d.Mode)
}

func (s switches) Behave(latency time.Duration, mode string) error {
	return s.model.Control(mock.Directive{Latency: latency, Mode: mock.Mode(mode)})
}

func (s switches) Modes() (all []string) {
	for _, m := range mock.Modes() {
		all = append(all, string(m))
	}
	return all
}

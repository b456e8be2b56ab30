package app_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/internal/sandbox"
	"github.com/manychat-agent/manychat-agent/internal/telemetry"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// pipes is a network of one listener whose connections are joined in memory, so that
// a whole program runs in a synctest bubble.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
	from   net.Addr // of the connections that are dialled from now on; nil: none
}

// addressed is a connection from an address.
type addressed struct {
	net.Conn
	from net.Addr
}

func (a addressed) RemoteAddr() net.Addr { return a.from }

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error { p.once.Do(func() { close(p.closed) }); return nil }

func (*pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 3000} }

func (p *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	if p.from != nil {
		theirs = addressed{theirs, p.from}
	}
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-p.closed:
		return nil, errors.New("connection refused")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// rig is the whole program, with an emulated ManyChat and the demo tenant, in a
// synctest bubble.
type rig struct {
	*app.Dev
	t       *testing.T
	base    string // URL of the program
	network *pipes
	start   time.Time
	folder  string
	http    *http.Client // as whoever is on the internet
	log     *safeBuffer
	stop    func()
}

// setup is what a test changes of the program.
type setup struct {
	env   []string // NAME=value
	rules func(*tenant.Rules)
	model llm.Model // nil: the configured one

	provider http.RoundTripper     // to the model's provider; nil: the network
	business func() *tenant.Tenant // nil: the demo academy
}

// models is the one that a test brings, under the name that is configured.
func (s setup) models(c config.Config) []attempt.Model {
	if s.model == nil {
		return nil
	}
	return []attempt.Model{{Name: c.Agent.Model.String(), Model: s.model}}
}

// inBubble runs a test with a started rig in a fresh folder.
func inBubble(t *testing.T, test func(*rig), changes ...setup) {
	t.Helper()
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := start(t, folder, changes...)
		test(r)
		r.stop()
	})
}

// load reads an environment and the demo tenant, as the setups change them.
func load(t *testing.T, mode config.Mode, environ []string, changes ...setup) (config.Config, *tenant.Tenant) {
	t.Helper()
	for _, change := range changes {
		environ = append(environ, change.env...)
	}
	c, err := config.Load(config.Source{Mode: mode, Environ: environ})
	if err != nil {
		t.Fatal(err)
	}
	business := academy(t, c.Tenant.ID)
	for _, change := range changes {
		if change.business != nil {
			business = change.business()
		}
		if change.rules != nil {
			change.rules(&business.Rules)
		}
	}
	return c, business
}

// academy is the demo tenant, but what a test's model repeats goes out as it is, a handoff
// reads the same at any hour, no contact's tags are read before the model is asked, and it has the
// front desk only: what a sale refuses is for tests of the sale.
func academy(t *testing.T, id string) *tenant.Tenant {
	t.Helper()
	business, err := tenant.Load(demo.FS(), tenant.Options{ID: id})
	if err != nil {
		t.Fatal(err)
	}
	business.Rules.Messages.Closer, business.Rules.BusinessHours = "", nil
	business.Tools.Nudge.HumanActiveTag = ""
	for i := range business.Tools.Fields {
		business.Tools.Fields[i].Intent, business.Tools.Fields[i].Funnel = false, false
	}
	return business
}

// start starts the program on a folder, as often as a test needs.
func start(t *testing.T, folder string, changes ...setup) *rig {
	t.Helper()
	c, business := load(t, config.Dev, []string{"DATABASE_URL=sqlite:" + filepath.Join(folder, "agent.db")}, changes...)
	var last setup
	for _, change := range changes {
		last = change
	}
	network := newPipes()
	transport := &http.Transport{DialContext: network.dial}
	r := &rig{t: t, network: network, start: time.Now(), folder: folder, http: &http.Client{Transport: transport}, log: &safeBuffer{}}
	ctx, cancel := context.WithCancel(context.Background())
	var err error
	r.Dev, err = app.NewDev(ctx, app.DevOptions{
		Config: c, Tenant: business, Listener: network, Now: time.Now, Transport: transport, Models: last.models(c), ToModels: last.provider,
		Log: telemetry.NewLogger(io.MultiWriter(r.log, &captured), slog.LevelDebug, telemetry.JSON),
	})
	if err != nil {
		t.Fatal(err)
	}
	r.base = r.URL
	served := make(chan error, 1)
	go func() { served <- r.Serve(ctx) }()
	r.stop = func() {
		r.keepAll()
		r.calls("") // whatever a test was about, only these paths are ever called
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		transport.CloseIdleConnections()
		if err := r.Dev.Close(); err != nil {
			t.Error(err)
		}
	}
	return r
}

// contact adds a contact.
func (r *rig) contact(id string) string {
	r.t.Helper()
	return addContact(r.t, r.Account.Server, id)
}

// addContact adds a contact to an account.
func addContact(t *testing.T, account *manychattest.Server, id string) string {
	t.Helper()
	id, err := account.AddContact(somebody(id))
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// sendAs sends a text as a contact of an account, and returns what ManyChat made of the
// answer.
func sendAs(t *testing.T, account *manychattest.Server, id, text string) manychattest.Exchange {
	t.Helper()
	exchange, err := account.Send(context.Background(), id, manychattest.Input{Text: text})
	if err != nil {
		t.Error(err)
	}
	return exchange
}

// write sends a text and returns what ManyChat made of it.
func (r *rig) write(id, text string) manychattest.Exchange {
	r.t.Helper()
	return sendAs(r.t, r.Account.Server, id, text)
}

// model sets how the mock model behaves.
func (r *rig) model(latency time.Duration, mode mock.Mode) {
	r.t.Helper()
	if err := r.Model.Control(mock.Directive{Latency: latency, Mode: mode}); err != nil {
		r.t.Fatal(err)
	}
}

// faults sets what goes wrong at ManyChat.
func (r *rig) faults(all ...manychattest.Fault) {
	r.t.Helper()
	if err := r.Account.SetFaults(manychattest.Faults{Faults: all}); err != nil {
		r.t.Fatal(err)
	}
}

// shown is a bubble of the business on a phone.
type shown struct {
	At   time.Duration // since the start
	Via  phone.Via
	Text string
}

// phone lets time pass and returns what the business wrote to a contact.
func (r *rig) phone(id string, after time.Duration) (all []shown) {
	time.Sleep(after)
	synctest.Wait()
	for _, item := range r.Account.Chat(id) {
		if item.From == phone.FromBusiness {
			all = append(all, shown{item.At.Sub(r.start), item.Via, item.Text})
		}
	}
	return all
}

// calls returns the API calls that name a contact, token writes and notices of a handoff
// aside, and fails on every call that delivery must never make.
func (r *rig) calls(id string) (own []manychattest.Call) {
	r.t.Helper()
	for _, c := range r.Account.Calls() {
		if !strings.HasPrefix(c.Path, "/fb/subscriber/") && c.Path != "/fb/sending/sendFlow" {
			r.t.Errorf("the service called %s", c.Path)
		}
		if c.Contact == id && !writesToken(c) && !givesNotice(c) {
			own = append(own, c)
		}
	}
	return own
}

// givesNotice reports whether a call tells the demo's studio who waits for a person.
func givesNotice(c manychattest.Call) bool {
	return strings.Contains(c.Body, `"tag_name":"needs-a-person"`)
}

func writesToken(c manychattest.Call) bool {
	return strings.Contains(c.Body, `"field_name":"ai_token"`)
}

// tokenWrites counts the writes of a contact's token field.
func (r *rig) tokenWrites(id string) (n int) {
	for _, c := range r.Account.Calls() {
		if c.Contact == id && writesToken(c) {
			n++
		}
	}
	return n
}

// safeBuffer is a buffer that a log may be written to from any goroutine.
type safeBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

var _ io.Writer = (*safeBuffer)(nil)

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// newest is the contact's newest recorded turn, as the console's API tells it.
func (r *rig) newest(id string) sandbox.Turn {
	r.t.Helper()
	turns, err := r.Turns.Recent(context.Background(), id, 1)
	if err != nil || len(turns) != 1 {
		r.t.Fatalf("recorded turns: %d, %v", len(turns), err)
	}
	return turns[0]
}

package manychattest

import (
	"context"
	"net/http"
	"strings"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/api"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/block"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/broadcast"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/operation"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/outbound"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/player"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/rate"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Server is one ManyChat account. It is an http.Handler for the public API, and
// its methods are what contacts and the account's operator do. All of them may be
// called at any time from any goroutine.
type Server struct {
	cfg     Config
	pageID  string
	client  outbound.Client
	account *account.Account
	player  *player.Player
	flows   player.Book
	faults  fault.Injector
	events  broadcast.Hub[Event]
	calls   callLog
	api     *api.Handler

	life context.Context // ends with Close
	end  context.CancelFunc
}

// New makes an account without contacts. The error names the field of cfg that is
// wrong.
func New(cfg Config) (*Server, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	pageID, _, _ := strings.Cut(cfg.Token, ":")
	s := &Server{cfg: cfg, pageID: pageID, client: outbound.Client{
		HTTP: outbound.NewHTTP(cfg.Client), Hosts: cfg.Hosts, OmitContentType: cfg.Settings.OmitContentType,
	}}
	s.life, s.end = context.WithCancel(context.Background())
	s.calls.limit = cfg.CallLog
	s.account = account.New(cfg.Now, account.Hooks{Changed: s.changed, Flush: s.events.Flush})
	s.player = player.New(player.Config{
		Account: s.account, Notify: s.emit, Now: cfg.Now,
		PlayFlow: player.PlayFlow{ByName: !cfg.Settings.PickerOnly, AnyTextSize: cfg.Settings.LongFlowTexts},
	})
	s.flows.Play = s.player.Play
	s.api = s.newAPI()
	if cfg.OnChange != nil {
		s.events.Subscribe(func(e Event) {
			if e.Type == phone.EventItem || e.Type == phone.EventContact {
				cfg.OnChange()
			}
		})
	}
	return s, nil
}

func (s *Server) newAPI() *api.Handler {
	cfg := api.Config{
		Config: operation.Config{
			Account: s.account, PageID: s.pageID, Page: s.cfg.Page, Flows: &s.flows,
			Rules: func(st *account.State, c *account.Contact, ch manychat.Channel) block.Rules {
				return s.rules(st, c, ch, false)
			},
		},
		Token: s.cfg.Token, Faults: &s.faults, Record: s.record, Now: s.cfg.Now, Done: s.life.Done(),
	}
	if !s.cfg.Unlimited {
		cfg.Limiter = rate.New(s.cfg.Now, s.cfg.Settings.BlockAfterLimit)
	}
	return api.New(cfg)
}

// ServeHTTP is the public API, https://api.manychat.com on the real thing: paths
// begin with /fb/.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.api.ServeHTTP(w, r) }

// Close stops flows, delayed answers and requests, and waits for the flows.
// Afterwards the account can still be looked at.
func (s *Server) Close() {
	s.end()
	s.player.Close()
	if s.cfg.Client == nil {
		s.client.HTTP.CloseIdleConnections()
	}
}

// WaitIdle returns as soon as no flow is playing, or with the error of ctx.
func (s *Server) WaitIdle(ctx context.Context) error { return s.player.WaitIdle(ctx) }

// Subscribe calls f with every later [Event], one at a time and in order, until
// cancel is called. f may call the server's methods, but should be quick.
func (s *Server) Subscribe(f func(Event)) (cancel func()) { return s.events.Subscribe(f) }

// SetFaults replaces what goes wrong with calls and messages from now on. The zero
// Faults restore health. The error names the fault that makes no sense; the old
// ones then stay.
func (s *Server) SetFaults(f Faults) error { return s.faults.Set(f) }

// Faults is what goes wrong now.
func (s *Server) Faults() Faults { return s.faults.Current() }

// Calls are the calls of the public API, oldest first, as far as the log reaches.
func (s *Server) Calls() []Call { return s.calls.all() }

// ForgetCalls empties the log of calls.
func (s *Server) ForgetCalls() { s.calls.clear() }

func (s *Server) record(c Call) {
	s.calls.add(c)
	s.emit(Event{Type: phone.EventCall, At: c.At, Contact: c.Contact, Call: &c})
}

// changed is told of account changes, in order.
func (s *Server) changed(c account.Change) {
	e := Event{Type: phone.EventContact, At: s.cfg.Now(), Contact: c.Contact}
	if c.Item != nil {
		e.Type, e.Item = phone.EventItem, c.Item
	}
	s.events.Queue(e)
}

func (s *Server) emit(e Event) {
	s.events.Queue(e)
	s.events.Flush()
}

// rules are those for a block that goes to the contact as one of the channel ch.
func (s *Server) rules(st *account.State, c *account.Contact, ch manychat.Channel, inline bool) block.Rules {
	set := s.cfg.Settings
	r := block.Rules{
		Channel: ch, Account: vocabulary{st, c.ID, s}, Inline: inline,
		Callback: set.callbacks(ch), WhatsAppImages: set.whatsAppImages(inline),
		AnyType: set.AnyContentType, RefuseEmpty: set.RefuseEmpty, RefuseUnknownKeys: set.RefuseUnknownKeys,
	}
	if inline {
		r.Deliver = set.inlineMessages(ch)
	}
	return r
}

// vocabulary is what a block for the contact may name, less what a fault hides.
type vocabulary struct {
	*account.State
	contact string
	server  *Server
}

func (v vocabulary) HasTag(name string) bool {
	_, ok := v.Tag(name)
	return ok
}

func (v vocabulary) FieldType(name string) (phone.FieldType, bool) {
	f, ok := v.Field(name)
	return f.Type, ok && !v.server.faults.Missing(fault.MissingField, v.contact, name)
}

func (v vocabulary) HasFlow(ns string) bool {
	return v.server.flows.Has(ns) && !v.server.faults.Missing(fault.MissingFlow, v.contact, ns)
}

// Package app builds the program out of its rooms and starts and stops it in order.
// It is the only package that sees all of them.
package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/agent/prompt"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/app/joint"
	"github.com/manychat-agent/manychat-agent/internal/app/openapi"
	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/console"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/inbound"
	"github.com/manychat-agent/manychat-agent/internal/inbound/gate"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/expiry"
	"github.com/manychat-agent/manychat-agent/internal/store/ledger"
	"github.com/manychat-agent/manychat-agent/internal/store/rates"
	"github.com/manychat-agent/manychat-agent/internal/telemetry"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/token"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/follow"
	"github.com/manychat-agent/manychat-agent/internal/turn/person"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
	"github.com/manychat-agent/manychat-agent/internal/webhook"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// Options are what a [Service] is built from; every field up to NoWorker is required.
type Options struct {
	Config   config.Config
	Tenant   *tenant.Tenant
	Models   []attempt.Model // in the order in which they are asked
	Log      *slog.Logger
	Now      func() time.Time
	NoWorker bool // answer, and leave deferred replies to another process

	Transport http.RoundTripper // to ManyChat; nil: the network
	ToWebhook http.RoundTripper // to the address of the handoff notice; nil: the network

	// Shared is a database that several services of one test process have open, as if each
	// were a process of its own on a PostgreSQL. nil: the service opens its own.
	Shared *database.DB
	// Jitter spreads the delays of retries; nil: at random.
	Jitter func(time.Duration) time.Duration
}

// Service is one process of the product: the endpoint, the turns and the outbox
// worker over one database.
type Service struct {
	opts      Options
	keeper    *sweep.Keeper
	signals   *joint.Signals
	unlock    func() error
	db        *store.DB
	tokens    *token.Keeper
	budget    *budget.Keeper
	ledger    *ledger.Ledger
	turns     *turn.Runner
	worker    *outbox.Worker
	nudging   *joint.Nudging
	expiry    *expiry.Sweeper
	performer *delivery.Performer
	inbound   *inbound.Handler
	console   *console.Handler // nil without CONSOLE_API_KEY
	api       *openapi.Document

	inForce    atomic.Pointer[tenant.Tenant]
	mistakes   *mistakes
	metrics    *telemetry.Metrics
	background sync.WaitGroup
	stopWorker context.CancelFunc
	stopping   chan struct{}
}

// New takes the database's lock, opens it and builds every room. Its errors say what
// to do. The caller closes the service.
func New(ctx context.Context, o Options) (*Service, error) {
	s := &Service{opts: o, stopping: make(chan struct{}), stopWorker: func() {}}
	s.inForce.Store(o.Tenant)
	s.metrics = telemetry.NewMetrics()
	s.mistakes = &mistakes{log: o.Log, dev: o.Config.Mode == config.Dev}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.build(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Service) open(ctx context.Context) (err error) {
	url := s.opts.Config.Tenant.Database.Reveal()
	if s.opts.Shared != nil {
		s.db = store.On(s.opts.Shared, s.opts.Config.ManyChat.RPSScale)
	} else if s.unlock, err = database.Lock(url); err != nil {
		return err
	} else if s.db, err = store.Open(ctx, store.Options{
		URL: url, Now: s.opts.Now, RPSScale: s.opts.Config.ManyChat.RPSScale,
	}); err != nil {
		return err
	}
	s.signals = joint.NewSignals(s.db)
	s.keeper, err = sweep.New(sweep.Config{
		Store: s.db, TenantID: s.opts.Config.Tenant.ID, Alone: s.alone(), Lease: s.opts.Config.Turn.ProcessLease,
		Window: func() turn.Window { return turn.WindowOf(s.tenant(), s.db.Now()) },
		Buried: s.bury, Wake: s.wake, Now: s.db.Now, Log: s.opts.Log,
	})
	return err
}

// wake makes whoever delivers look for due rows: the worker of this process, or those of
// others.
func (s *Service) wake() {
	if s.opts.NoWorker {
		s.signals.Due()
		return
	}
	s.worker.Wake()
}

// alone reports whether no other process can be on the database.
func (s *Service) alone() bool {
	_, file := s.opts.Config.Tenant.Database.SQLiteFile()
	return file && s.opts.Shared == nil
}

// jitter is [Options.Jitter], or else the usual one.
func (s *Service) jitter(usual func(time.Duration) time.Duration) func(time.Duration) time.Duration {
	if s.opts.Jitter != nil {
		return s.opts.Jitter
	}
	return usual
}

// bury takes back what dead processes had of the budget.
func (s *Service) bury(ctx context.Context, dead []string) error {
	return s.ledger.End(ctx, s.opts.Config.Tenant.ID, dead)
}

// build makes the rooms, from the far end of a message's walk to its beginning.
func (s *Service) build() error {
	c := s.opts.Config
	shapes, err := delivery.ShapesOf(c.Public.WhatsAppJoin)
	if err != nil {
		return err
	}
	if err := s.buildWorker(c); err != nil {
		return err
	}
	if err := s.buildTurns(c, shapes); err != nil {
		return err
	}
	if s.expiry, err = newSweeper(s); err != nil {
		return err
	}
	if err := s.describeAPI(c); err != nil {
		return err
	}
	return s.buildEdges(c, shapes)
}

func (s *Service) buildWorker(c config.Config) error {
	client, err := manychat.NewClient(manychat.ClientConfig{
		Token:     c.ManyChat.APIToken.Reveal(),
		BaseURL:   c.ManyChat.APIBase.Reveal(),
		Transport: joint.WhileAlive{Alive: s.keeper.Alive, To: s.opts.Transport},
		RPSScale:  c.ManyChat.RPSScale,
		Now:       s.db.Now, // what leases are counted by
		Lease:     s.lease(c),
	})
	if err != nil {
		return err
	}
	s.tokens, err = token.NewKeeper(token.Config{
		Store: s.db, Writer: joint.TokenField{Client: client.For(manychat.Tokens), Name: c.ManyChat.TokenField}, Count: s.metrics.Token, Log: s.opts.Log,
	})
	if err != nil {
		return err
	}
	s.performer, err = delivery.New(delivery.Config{
		Account: client, Behind: client.For(manychat.Actions), Profiles: client, Claims: s.db, Now: s.db.Now, Log: s.opts.Log,
		Nudges: joint.Planning{Store: s.db, Nudging: func() *joint.Nudging { return s.nudging }},
	})
	if err != nil {
		return err
	}
	acts := joint.Acting{
		Performer: s.performer, Account: client.For(manychat.Actions), DB: s.db, Tenant: s.tenant, Now: s.db.Now,
		People: &person.Watch{Store: s.db, Tags: s.performer, Now: s.db.Now, Log: s.opts.Log},
	}
	if secret := c.Public.HandoffWebhookSecret.Reveal(); secret != "" {
		if acts.Webhook, err = webhook.New(webhook.Config{Transport: s.opts.ToWebhook, Secret: secret, Now: s.opts.Now}); err != nil {
			return fmt.Errorf("HANDOFF_WEBHOOK_SECRET: %w", err)
		}
	}
	s.worker, err = outbox.NewWorker(outbox.Config{
		Actions:     acts,
		Held:        acts.Held,
		Store:       s.db,
		Sender:      client.For(manychat.Replies),
		Tokens:      s.tokens,
		Owner:       s.keeper.ID,
		Field:       c.ManyChat.ReplyField,
		Flow:        c.ManyChat.ReplyFlowNs,
		Gap:         c.ManyChat.ReplyGap,
		MaxAttempts: c.Outbox.MaxAttempts,
		MaxAge:      c.Outbox.MaxAge,
		Now:         s.db.Now,
		Jitter:      s.jitter(outbox.Jitter),
		Alive:       s.keeper.Alive,
		Refused:     s.metrics.KeyRefused,
		Log:         s.opts.Log,
	})
	return err
}

// lease shares ManyChat's limits a second with the other processes on the database. A file has
// none.
func (s *Service) lease(c config.Config) manychat.Lease {
	if _, alone := c.Tenant.Database.SQLiteFile(); alone {
		return nil
	}
	return rates.In(s.db.DB, c.Tenant.ID).Lease
}

func (s *Service) buildTurns(c config.Config, shapes delivery.Shapes) error {
	s.ledger = ledger.New(s.db.DB)
	var err error
	s.budget, err = budget.New(budget.Config{
		Ledger: s.ledger, TenantID: c.Tenant.ID, Owner: s.keeper.ID(), Now: s.db.Now, Log: s.opts.Log, Count: s.metrics.Budget,
	})
	if err != nil {
		return err
	}
	mind, err := agent.New(agent.Config{
		Models:          s.opts.Models,
		Effort:          llm.Effort(c.Agent.ReasoningEffort),
		Budget:          s.budget,
		MaxOutputTokens: c.Agent.MaxOutputTokens,
		Temperature:     &c.Agent.Temperature,
		Now:             s.opts.Now,
		Jitter:          s.jitter(attempt.Jitter),
		Log:             s.opts.Log,
	})
	if err != nil {
		return err
	}
	guard := guardrail.New(guarded(c))
	s.nudging, err = joint.NewNudging(follow.Config{
		Store: s.db, Tags: s.performer, Agent: mind, Guard: guard, Tenant: s.tenant, Shapes: shapes, Owner: s.keeper.ID, Wake: s.wake,
		Observe: s.observe, Count: s.metrics.Nudge, Room: c.Turn.RaceDeadline, Abort: c.Turn.ModelAbort, Now: s.db.Now, Log: s.opts.Log,
	}, nudge.Config{Store: s.db, TenantID: c.Tenant.ID, Alive: s.keeper.Alive, Jitter: s.jitter(nudge.Jitter), Log: s.opts.Log})
	if err != nil {
		return err
	}
	s.turns, err = turn.New(turn.Config{
		Store:       joint.Recording{Store: s.db, Nudging: func() *joint.Nudging { return s.nudging }},
		Lane:        s.db,
		Acts:        s.db,
		Account:     s.performer,
		People:      s.db,
		Agent:       mind,
		Guard:       guard,
		Tenant:      s.tenant,
		Wake:        s.wake,
		Freed:       s.signals.Freed,
		Tokens:      s.tokens,
		Enforced:    c.Turn.EnforceTokens,
		Observe:     s.observe,
		Shapes:      shapes,
		Owner:       s.keeper.ID,
		Alive:       s.keeper.Alive,
		Merge:       c.Turn.MergeWaiting,
		MaxAge:      c.Outbox.MaxAge,
		Deadline:    c.Turn.RaceDeadline,
		Abort:       c.Turn.ModelAbort,
		Gap:         c.ManyChat.ReplyGap,
		MaxAttempts: c.Turn.MaxAttempts,
		MaxInflight: c.Turn.MaxInFlight,
		Now:         s.db.Now,
		Log:         s.opts.Log,
	})
	return err
}

func (s *Service) buildEdges(c config.Config, shapes delivery.Shapes) (err error) {
	callback := inbound.Callback{ContactID: c.Public.CallbackContactID}
	if c.Public.Callback {
		callback.BaseURL = c.Public.BaseURL.Reveal()
	}
	door, err := gate.New(gate.Config{
		Secrets:   revealed(c.ManyChat.SharedSecrets),
		PerMinute: c.Turn.InboundRPM,
		Trusted:   c.Turn.TrustProxy,
		Now:       s.opts.Now,
	})
	if err != nil {
		return err
	}
	s.inbound, err = inbound.New(inbound.Config{
		Turns:    s.turns,
		Pauses:   joint.Pauses{DB: s.db},
		Tenant:   s.tenant,
		Gate:     door,
		Shapes:   shapes,
		Channel:  c.Tenant.Channel,
		TenantID: c.Tenant.ID,
		Token:    c.ManyChat.TokenField,
		Callback: callback,
		Count:    s.came,
		Plain:    s.camePlain,
		Now:      s.db.Now, // a turn's deadlines count from what it says
		Log:      s.opts.Log,
	})
	if err != nil || c.Console.APIKey == "" {
		return err
	}
	s.console, err = console.New(console.Config{
		Turns: recordedTurns{s.db, c.Tenant.ID}, Key: c.Console.APIKey.Reveal(), Log: s.opts.Log,
	})
	return err
}

// tenant is the configuration in force.
func (s *Service) tenant() *tenant.Tenant { return s.inForce.Load() }

// guarded is what of the program no reply may hold.
func guarded(c config.Config) guardrail.Config {
	return guardrail.Config{
		Markers: prompt.Markers(),
		Rules:   prompt.Rules() + "\n" + tool.Rules(),
		Secrets: secrets(c),
		Names:   []string{c.ManyChat.ReplyField, c.ManyChat.TokenField},
		Flows:   []string{c.ManyChat.ReplyFlowNs},
	}
}

// secrets are the configured credentials, none of which a reply may hold.
func secrets(c config.Config) []string {
	all := revealed(c.ManyChat.SharedSecrets)
	for _, s := range []config.Secret{
		c.ManyChat.APIToken, c.Public.HandoffWebhookSecret,
		c.Console.Password, c.Console.PasswordHash, c.Console.APIKey,
		c.Keys.Anthropic, c.Keys.OpenAI, c.Keys.Google, c.Keys.OpenAICompatible,
	} {
		all = append(all, s.Reveal())
	}
	return all
}

func revealed(all config.Secrets) (texts []string) {
	for _, s := range all {
		texts = append(texts, s.Reveal())
	}
	return texts
}

// Register adds the service's routes to a mux.
func (s *Service) Register(mux *http.ServeMux) {
	s.inbound.Register(mux)
	if s.console != nil {
		s.console.Register(mux)
	}
	mux.HandleFunc("GET /health", s.health)
	mux.HandleFunc("GET /ready", s.ready)
	mux.Handle("GET "+openapi.Path, s.api)
}

// Start takes over what an earlier process left on the database, runs its unfinished
// turns again and starts the outbox worker.
func (s *Service) Start(ctx context.Context) error {
	orphans, err := s.keeper.Start(ctx)
	if err != nil {
		return fmt.Errorf("take over what an earlier process left: %w", err)
	}
	if s.alone() {
		if err := s.ledger.TakeOver(ctx, s.opts.Config.Tenant.ID, s.keeper.ID()); err != nil {
			return err
		}
	}
	for _, rec := range orphans {
		s.turns.Resume(rec)
	}
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	s.stopWorker = stop
	if err := s.serveMetrics(work); err != nil {
		return err
	}
	s.background.Go(func() { s.budget.Run(work) })
	s.background.Go(func() { s.keeper.Run(work, s.nudging.Turns(s.turns)) })
	if s.db.Shared() {
		s.background.Go(func() { s.signals.Tell(work) })
		s.background.Go(func() { s.signals.Hear(work, s.turns, s.worker) })
	}
	if !s.opts.NoWorker {
		s.background.Go(func() { s.worker.Run(work) })
		s.background.Go(func() { s.nudging.Run(work) })
		s.background.Go(func() { s.expiry.Run(work) })
	}
	return nil
}

// Drain makes /ready say no, lets no further turn start, waits for those in flight until ctx
// ends, stops the worker behind the text it has in hand, and hands the rest back. Messages
// that still arrive are recorded, for the next process.
func (s *Service) Drain(ctx context.Context) {
	close(s.stopping)
	s.keeper.Rest()
	s.nudging.Stop()
	err := s.turns.Drain(ctx)
	if !s.opts.NoWorker {
		err = errors.Join(err, s.nudging.Drain(ctx))
	}
	if err != nil {
		s.opts.Log.Warn("stopping before every turn has ended; another process or the next start runs them again", "error", err)
	}
	s.stopWorker()
	s.background.Wait()
}

// HandBack gives up what is unfinished. Call it last, behind [Service.Drain], when no message
// arrives any more.
func (s *Service) HandBack(ctx context.Context) {
	if err := s.keeper.Stop(context.WithoutCancel(ctx)); err != nil {
		s.opts.Log.Warn("what is unfinished was not handed back; others take it over when this process is silent for long enough", "error", err)
	}
}

// Close releases the database. Call it after [Service.Drain], or on a service that
// was never started.
func (s *Service) Close() error {
	var errs []error
	if s.db != nil {
		errs = append(errs, s.db.Close())
	}
	if s.unlock != nil {
		errs = append(errs, s.unlock())
	}
	return errors.Join(errs...)
}

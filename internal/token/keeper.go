package token

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/redact"
)

// Writer writes a token into a contact's custom field at ManyChat. An error with a
// method OutcomeUnknown() bool that reports true may have written it all the same.
type Writer interface {
	WriteToken(ctx context.Context, id contact.SubscriberID, token string) error
}

// Store keeps each contact's [State]. Every method is one transaction.
type Store interface {
	// MintToken adds a hash to the state of a contact by [State.Mint], before its token
	// is written.
	MintToken(ctx context.Context, d Delivery, h Hash) (Minted, error)
	// ResolveToken notes what became of a write.
	ResolveToken(ctx context.Context, r Resolution) error
}

// Resolution is what became of writing a token.
type Resolution struct {
	Who    contact.Key // its channel does not matter: the field is one
	Hash   Hash
	Result Result
	// RowID is the outbox row that would deliver another token should this one not be
	// written: it ends with a written one, and is due soon otherwise. Empty: there is
	// none, or it is in the hands of whoever resolves.
	RowID string
}

// Result says whether a token reached the field.
type Result string

// The results.
const (
	Written    Result = "written"
	NotWritten Result = "not_written"
	Unclear    Result = "unclear" // no answer came, or none that can be read
)

// Config is what a [Keeper] needs; every field is required.
type Config struct {
	Store  Store
	Writer Writer
	Count  func(event string) // issued, confirmed, failed, unknown, stuck
	Log    *slog.Logger
}

// Keeper mints tokens and writes them. It is safe for concurrent use.
type Keeper struct {
	cfg    Config
	beside chan struct{} // a slot for each write beside a turn
}

// NewKeeper checks the config.
func NewKeeper(cfg Config) (*Keeper, error) {
	if cfg.Store == nil || cfg.Writer == nil || cfg.Count == nil || cfg.Log == nil {
		return nil, errors.New("token: a collaborator is missing from the keeper's config")
	}
	return &Keeper{cfg: cfg, beside: make(chan struct{}, besideTurns)}, nil
}

const (
	// writeWithin bounds writing a token beside a turn (docs/spec/05-delivery.md,
	// "ManyChat client").
	writeWithin = 10 * time.Second
	// noteWithin bounds writing down what became of it.
	noteWithin = 10 * time.Second
	// besideTurns is how many tokens are written beside turns at the same time: a few
	// seconds of ManyChat's limit of 10 subscriber writes a second.
	besideTurns = 16
)

// Candidate is a token that may be issued. It is never logged.
type Candidate struct {
	Hash  Hash
	token string
}

// LogValue keeps the token out of every log (C5).
func (Candidate) LogValue() slog.Value { return slog.StringValue("[token]") }

// Candidate makes a token.
func (*Keeper) Candidate() Candidate {
	token, h := mint()
	return Candidate{Hash: h, token: token}
}

// Issue is a token that a recorded message made due.
type Issue struct {
	Who       contact.Key
	RowID     string // the outbox row that stands behind it
	Candidate Candidate
}

// Write writes an issued token beside its turn. Whatever fails is left to the row that
// stands behind it, and so is what comes while [besideTurns] others are written: new
// contacts must not hold up the replies to those that are there.
func (k *Keeper) Write(ctx context.Context, i Issue) {
	k.cfg.Count("issued")
	select {
	case k.beside <- struct{}{}:
		defer func() { <-k.beside }()
	default:
		return
	}
	defer func() {
		if p := recover(); p != nil {
			k.cfg.Log.Error("writing a contact's token panicked; its row delivers another", "panic", redact.Panic(p))
		}
	}()
	write, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	result := k.write(write, i.Who.SubscriberID, i.Candidate.token)
	note, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteWithin)
	defer cancel()
	err := k.cfg.Store.ResolveToken(note, Resolution{
		Who: i.Who, Hash: i.Candidate.Hash, Result: resultOf(result), RowID: i.RowID,
	})
	if err != nil {
		k.cfg.Log.Warn("what became of a contact's token was not written down; its row delivers another", "error", err)
	}
}

// Delivery is an outbox row of a token.
type Delivery struct {
	Who        contact.Key
	Generation int64
}

// Deliver mints a fresh token and writes it, unless its state says otherwise. The error
// is the writer's or the store's.
func (k *Keeper) Deliver(ctx context.Context, d Delivery) (Minted, error) {
	token, h := mint()
	minted, err := k.cfg.Store.MintToken(ctx, d, h)
	if err != nil || minted != Fresh {
		if minted == Stuck {
			k.cfg.Count("stuck")
		}
		return minted, err
	}
	err = k.write(ctx, d.Who.SubscriberID, token)
	note, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteWithin)
	defer cancel()
	return minted, errors.Join(err, k.cfg.Store.ResolveToken(note, Resolution{
		Who: d.Who, Hash: h, Result: resultOf(err),
	}))
}

func (k *Keeper) write(ctx context.Context, id contact.SubscriberID, token string) error {
	err := k.cfg.Writer.WriteToken(ctx, id, token)
	switch resultOf(err) {
	case Written:
		k.cfg.Count("confirmed")
	case NotWritten:
		k.cfg.Count("failed")
	default:
		k.cfg.Count("unknown")
	}
	return err
}

// resultOf reads a writer's error.
func resultOf(err error) Result {
	var lost interface{ OutcomeUnknown() bool }
	switch {
	case err == nil:
		return Written
	case errors.As(err, &lost) && !lost.OutcomeUnknown():
		return NotWritten
	}
	return Unclear
}

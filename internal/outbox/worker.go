package outbox

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/token"
)

// Sender is the part of the ManyChat client that a delivery uses. Both calls return
// a [manychat.Error] for whatever ManyChat or the network did; neither retries.
type Sender interface {
	// SetCustomFieldByName writes value to one contact's custom field.
	SetCustomFieldByName(ctx context.Context, subscriberID, field string, value any) error
	// SendFlow starts a flow for one contact.
	SendFlow(ctx context.Context, subscriberID, flowNS string) error
}

// Tokens deliver contacts' tokens.
type Tokens interface {
	// Deliver mints a token and writes it. Anything but [token.Fresh] wrote none, and is
	// final for the row; an error is the store's or the client's, which does not retry.
	Deliver(ctx context.Context, d token.Delivery) (token.Minted, error)
}

// Actions perform what follows a reply, and what tells the business of a handoff.
type Actions interface {
	// Perform makes the requests of a delivered reply's actions, in their order, one attempt
	// each, and says what became of every one. It takes at most the time that ctx leaves;
	// a request that this cuts off has failed with [action.OutcomeUnknown].
	Perform(ctx context.Context, row Row) []action.Ended
	// Notify makes the part of a handoff notice that is the row's. Its error is a [manychat.Error], or one
	// that has the methods Retryable() bool, Brief() string, which says why in words that
	// are safe to keep, and After() time.Duration, how long to wait at least. Any other is
	// tried again.
	Notify(ctx context.Context, row Row, part action.Pending) error
}

// Config is what a [Worker] needs; every field but the last two is required.
type Config struct {
	Store   Store
	Sender  Sender
	Tokens  Tokens
	Actions Actions
	// Held says what becomes of a row that may say and do nothing more: [Withheld] when a
	// person has its conversation, [Discarded] when its contact opted out; empty: it goes out.
	// Its error is the database's.
	Held        func(ctx context.Context, row Row) (Status, error)
	Owner       func() string // this process
	Field       string        // MANYCHAT_REPLY_FIELD
	Flow        string        // MANYCHAT_REPLY_FLOW_NS
	Gap         time.Duration // MANYCHAT_REPLY_GAP_MS; zero is allowed
	MaxAttempts int           // OUTBOX_MAX_ATTEMPTS
	MaxAge      time.Duration // OUTBOX_MAX_AGE_MIN
	Now         func() time.Time
	Jitter      func(time.Duration) time.Duration // spreads a delay; see [Jitter]
	Log         *slog.Logger

	// Alive says whether this process still holds what it claimed: one whose heartbeat is too
	// old may have lost it to another, and begins nothing. Nil: always.
	Alive func() bool
	// Refused is told when ManyChat begins to refuse the API key, and when it takes it again.
	// Nil: nobody is told.
	Refused func(bool)
}

const (
	// callTimeout is the longest a call waits for ManyChat where nobody waits for us:
	// slow successes are common (docs/spec/05-delivery.md, "ManyChat client").
	callTimeout = 30 * time.Second
	// pollEvery bounds how long a row written by another process waits to be seen.
	pollEvery = time.Second
	// inHand is how many replies, each of another contact, one worker delivers at once.
	inHand = 32
	// tokensInHand is how many tokens beside them: the replies need ManyChat's limit of 10
	// subscriber writes a second more.
	tokensInHand = 4
	// noticesInHand is how many parts of handoff notices beside them; see postsInHand.
	noticesInHand = 32
	// actionsInHand is how many actions of replies are performed beside them, one of each reply
	// at a time. So many are through within actWithin with a tenth of ManyChat's 10 subscriber
	// writes a second, which they have at least; the others wait in the database.
	actionsInHand = 60
)

// inHandOf is how many rows of a kind one worker delivers at once. Kinds are counted apart,
// so that none takes another's room.
func inHandOf(k Kind) int {
	switch k {
	case ContactToken:
		return tokensInHand
	case HandoffNotice:
		return noticesInHand
	}
	return inHand
}

// Worker delivers due rows until it is stopped.
type Worker struct {
	cfg    Config
	wake   chan struct{}
	done   chan Kind // a row in hand has given its place back
	acting places    // of replies' actions that are performed
	posts  posts
	key    key
	hands  hands
	holds  int // claims so far; Run's own, as what follows
	busy   map[Kind]int
	unsure bool      // a claim failed, and may have been made
	swept  time.Time // when what nobody works on was last given back
}

// NewWorker checks the config and returns a worker that is not running yet.
func NewWorker(cfg Config) (*Worker, error) {
	switch {
	case cfg.Store == nil, cfg.Sender == nil, cfg.Tokens == nil, cfg.Actions == nil, cfg.Held == nil, cfg.Now == nil, cfg.Jitter == nil, cfg.Owner == nil, cfg.Log == nil:
		return nil, errors.New("outbox: a collaborator is missing from the worker's config")
	case cfg.Field == "", cfg.Flow == "":
		return nil, errors.New("outbox: reply field and reply flow must be set")
	case cfg.MaxAttempts < 1, cfg.MaxAge <= 0, cfg.Gap < 0:
		return nil, errors.New("outbox: attempts, age and gap must be positive")
	}
	if cfg.Alive == nil {
		cfg.Alive = func() bool { return true }
	}
	if cfg.Refused == nil {
		cfg.Refused = func(bool) {}
	}
	return &Worker{
		cfg: cfg, wake: make(chan struct{}, 1), done: make(chan Kind, inHand+tokensInHand+noticesInHand),
		busy: map[Kind]int{},
	}, nil
}

// Wake makes a running worker look for due rows now. It never blocks.
func (w *Worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run delivers until ctx ends; then it finishes the text in hand of every row and the actions
// that have begun, gives the rest back and returns.
func (w *Worker) Run(ctx context.Context) {
	var rows sync.WaitGroup
	defer func() {
		rows.Wait()
		w.giveBackLost(ctx)
	}()
	for ctx.Err() == nil {
		if w.holdOff() > 0 {
			w.rest(ctx)
			continue
		}
		claimed, err := w.claim(ctx)
		if err != nil {
			if ctx.Err() == nil {
				w.cfg.Log.Error("outbox claim failed", "error", err)
			}
			wait(ctx, pollEvery) // reads may work where writes do not
			continue
		}
		for _, row := range claimed {
			w.busy[row.Kind]++
			leave := sync.OnceFunc(func() { w.done <- row.Kind })
			rows.Go(func() {
				defer leave()
				defer w.hands.remove(row)
				w.deliver(ctx, row, leave)
			})
		}
		w.rest(ctx)
	}
}

// room is how many more rows of each kind may be in hand.
func (w *Worker) room() map[Kind]int {
	room := map[Kind]int{}
	for _, k := range Kinds() {
		if n := inHandOf(k) - w.busy[k]; n > 0 {
			room[k] = n
		}
	}
	return room
}

// rest waits until there may be something to claim. With no room only an ended row can
// end the rest.
func (w *Worker) rest(ctx context.Context) {
	for {
		left, due := w.untilDue(ctx)
		timer := time.NewTimer(left)
		select {
		case <-ctx.Done():
		case <-w.wake:
		case kind := <-w.done:
			w.busy[kind]--
		case <-timer.C:
			if !due {
				continue
			}
		}
		timer.Stop()
		w.ended()
		return
	}
}

// ended notes the places that were given back meanwhile.
func (w *Worker) ended() {
	for {
		select {
		case kind := <-w.done:
			w.busy[kind]--
		default:
			return
		}
	}
}

// untilDue is the time to the next look at the database, a millisecond at least and but for
// [Worker.holdOff] pollEvery at most, and whether a row for which there is room may be due then: also when
// that cannot be read, since writes may work where reads do not.
func (w *Worker) untilDue(ctx context.Context) (left time.Duration, due bool) {
	if off := w.holdOff(); off > 0 {
		return off, true
	}
	at, ok, err := w.cfg.Store.NextDue(ctx, w.cfg.Gap, slices.Collect(maps.Keys(w.room())))
	if sweep := w.swept.Add(sweepEvery); !ok || sweep.Before(at) {
		at = sweep
	}
	left = at.Sub(w.cfg.Now())
	return min(pollEvery, max(left, time.Millisecond)), err != nil || left <= pollEvery
}

// wait waits; it ends early when ctx does.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

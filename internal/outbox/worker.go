package outbox

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/redact"
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
	// what that cuts off has failed with [action.OutcomeUnknown].
	Perform(ctx context.Context, row Row) []action.Ended
	// Notify makes one part of a handoff notice. Its error is a [manychat.Error], or one
	// that has a method Retryable() bool.
	Notify(ctx context.Context, row Row, part action.Pending) error
}

// Config is what a [Worker] needs; every field is required.
type Config struct {
	Store       Store
	Sender      Sender
	Tokens      Tokens
	Actions     Actions
	Owner       string        // this process
	Field       string        // MANYCHAT_REPLY_FIELD
	Flow        string        // MANYCHAT_REPLY_FLOW_NS
	Gap         time.Duration // MANYCHAT_REPLY_GAP_MS; zero is allowed
	MaxAttempts int           // OUTBOX_MAX_ATTEMPTS
	MaxAge      time.Duration // OUTBOX_MAX_AGE_MIN
	Now         func() time.Time
	Jitter      func(time.Duration) time.Duration // spreads a delay; see [Jitter]
	Log         *slog.Logger
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
)

// Worker delivers due rows until it is stopped.
type Worker struct {
	cfg   Config
	wake  chan struct{}
	done  chan Kind // a row in hand has ended
	holds int       // claims so far; Run's own
	busy  map[Kind]int
}

// NewWorker checks the config and returns a worker that is not running yet.
func NewWorker(cfg Config) (*Worker, error) {
	switch {
	case cfg.Store == nil, cfg.Sender == nil, cfg.Tokens == nil, cfg.Now == nil, cfg.Jitter == nil, cfg.Log == nil:
		return nil, errors.New("outbox: a collaborator is missing from the worker's config")
	case cfg.Owner == "", cfg.Field == "", cfg.Flow == "":
		return nil, errors.New("outbox: owner, reply field and reply flow must be set")
	case cfg.MaxAttempts < 1, cfg.MaxAge <= 0, cfg.Gap < 0:
		return nil, errors.New("outbox: attempts, age and gap must be positive")
	}
	return &Worker{cfg: cfg, wake: make(chan struct{}, 1), done: make(chan Kind, inHand+tokensInHand), busy: map[Kind]int{}}, nil
}

// Wake makes a running worker look for due rows now. It never blocks.
func (w *Worker) Wake() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Run delivers until ctx ends; then it finishes the text in hand of every row, gives
// the rest back and returns.
func (w *Worker) Run(ctx context.Context) {
	var rows sync.WaitGroup
	defer rows.Wait()
	for ctx.Err() == nil {
		w.holds++
		claimed, err := w.cfg.Store.Claim(ctx, Claim{
			Owner: fmt.Sprintf("%s/%d", w.cfg.Owner, w.holds), Now: w.cfg.Now(), Gap: w.cfg.Gap, Room: w.room(),
		})
		if err != nil {
			if ctx.Err() == nil {
				w.cfg.Log.Error("outbox claim failed", "error", err)
			}
			wait(ctx, pollEvery) // reads may work where writes do not
			continue
		}
		for _, row := range claimed {
			w.busy[row.Kind]++
			rows.Go(func() {
				w.deliver(ctx, row)
				w.done <- row.Kind
			})
		}
		w.rest(ctx)
	}
}

// room is how many more rows of each kind may be in hand. Tokens are counted apart, so that
// they never take the replies' room.
func (w *Worker) room() map[Kind]int {
	room := map[Kind]int{}
	if n := inHand - w.busy[Reply]; n > 0 {
		room[Reply] = n
	}
	if n := tokensInHand - w.busy[ContactToken]; n > 0 {
		room[ContactToken] = n
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

// ended notes the rows that ended meanwhile.
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

// untilDue is the time to the next look at the database, a millisecond at least and
// pollEvery at most, and whether a row for which there is room may be due then: also when
// that cannot be read, since writes may work where reads do not.
func (w *Worker) untilDue(ctx context.Context) (left time.Duration, due bool) {
	at, ok, err := w.cfg.Store.NextDue(ctx, w.cfg.Gap, slices.Collect(maps.Keys(w.room())))
	if err != nil || !ok {
		return pollEvery, err != nil
	}
	left = at.Sub(w.cfg.Now())
	return min(pollEvery, max(left, time.Millisecond)), left <= pollEvery
}

// deliver sends the next text of a row and releases the row, which is due again after
// the gap while texts are left: between them it holds up nobody.
func (w *Worker) deliver(ctx context.Context, row Row) {
	defer func() {
		if p := recover(); p != nil {
			err := errors.New("the delivery panicked: " + redact.Panic(p))
			w.release(ctx, w.retry(row, err, 0), err)
		}
	}()
	if ctx.Err() != nil {
		w.release(ctx, handBack(row), nil)
		return
	}
	if age := w.cfg.Now().Sub(row.CreatedAt); age > w.cfg.MaxAge {
		err := fmt.Errorf("the %s is %s old, and is not sent after %s", row.Kind, age.Round(time.Minute), w.cfg.MaxAge)
		w.release(ctx, dead(row, ReasonStale, err), err)
		return
	}
	if row.Kind == ContactToken {
		w.deliverToken(ctx, row)
		return
	}
	if row.Payload.Sent < len(row.Payload.Texts) { // else a process ended before it could release the row
		if step, err := w.send(ctx, row); err != nil {
			row = w.judge(row, step, err)
			if row.Payload.Unknown > 0 && !w.progress(ctx, row) {
				return
			}
			w.release(ctx, row, err)
			return
		}
		row.Payload.Sent++
		row.Payload.Unknown = 0
		if !w.progress(ctx, row) {
			return
		}
	}
	if row.Payload.Sent < len(row.Payload.Texts) {
		row = handBack(row)
		row.LastError, row.NextAttemptAt = "", w.cfg.Now().Add(w.cfg.Gap)
	} else {
		row.Status, row.LastError, row.DeliveredAt = Delivered, "", w.cfg.Now()
	}
	w.release(ctx, row, nil)
}

// progress writes down that ManyChat took a text now, or may have.
func (w *Worker) progress(ctx context.Context, row Row) bool {
	now := w.cfg.Now()
	return w.persist(ctx, "progress", row, func(ctx context.Context) error { return w.cfg.Store.Progress(ctx, row, now) })
}

// step is one of the two calls of a delivery.
type step int

const (
	writeField step = iota
	trigger
)

// send makes the two calls that deliver the next text. They are not cut short when
// the worker stops: the text in hand is finished.
func (w *Worker) send(ctx context.Context, row Row) (step, error) {
	ctx = context.WithoutCancel(ctx)
	subscriber := string(row.Key.SubscriberID)
	write, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := w.cfg.Sender.SetCustomFieldByName(write, subscriber, w.cfg.Field, row.Payload.Texts[row.Payload.Sent]); err != nil {
		return writeField, err
	}
	start, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return trigger, w.cfg.Sender.SendFlow(start, subscriber, w.cfg.Flow)
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

package turn

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/token"
	"github.com/manychat-agent/manychat-agent/internal/turn/flown"
)

// Errors of a [Store].
var (
	// ErrNotOwner says that the turn is not in the expected state under the expected
	// owner and attempt; nothing was changed.
	ErrNotOwner = flown.ErrNotOwner
	// ErrQueuedAhead says that an earlier reply of the contact is still queued, so
	// that this one cannot go out in a response; nothing was changed.
	ErrQueuedAhead = flown.ErrQueuedAhead
	// ErrRefused says that the database will never take these values: a rule of the
	// schema is broken, which is a defect of this program. Nothing was changed.
	ErrRefused = errors.New("the database refuses the turn's values")
	// ErrQuiet says that the contact was told of the handoff not long ago, so that it is
	// not said again; nothing was changed.
	ErrQuiet = errors.New("the contact was told of the handoff already")
	// ErrWaits says that an earlier turn of the contact is not settled yet; nothing was
	// changed.
	ErrWaits = errors.New("an earlier turn of the contact is not settled yet")
	// ErrMerged says that a later message of the contact was recorded while the turn
	// waited: that one's turn answers both.
	ErrMerged = errors.New("a later turn of the contact answers this message too")
	// ErrPaused says that a person has the conversation, so that the turn may neither say nor
	// do anything; nothing was changed.
	ErrPaused = flown.ErrPaused
	// ErrOptedOut says the same of a contact who asked not to be written to.
	ErrOptedOut = flown.ErrOptedOut
)

// TooSoonError says that a text went out to the contact less than a gap ago, so that
// a response cannot go out yet; nothing was changed.
type TooSoonError struct{ LastSent time.Time }

func (e *TooSoonError) Error() string {
	return "a text went out to the contact at " + e.LastSent.UTC().Format(time.RFC3339Nano) + ", less than a gap ago"
}

// Store is what a turn writes. Every method is one transaction.
type Store interface {
	// Record writes the contact's message and the agent row, in the contact's order, and
	// judges what its request proves about the contact. A token that this makes due is known
	// from then on, with an outbox row behind it that delivers another one should its write
	// fail. Whatever nudge the contact has is called off, and the turn of one is over. The turn is
	//   - settled, with outcome duplicate, when the contact wrote the same text, as bound as
	//     this one, less than DuplicateWithin ago and has no answer to it yet,
	//   - waiting when it is bound and an earlier bound turn of the contact is not settled, or
	//     when nobody owns it: turns that waited before it are merged into it, if Merge says so,
	//   - running otherwise; only then what it starts from is read.
	Record(ctx context.Context, a Arrival) (Recorded, error)
	// Settle writes the agent row's end together with its outbox row, if it has one.
	// The turn must be running under its owner and attempt, else [ErrNotOwner]. An
	// inline turn becomes answering, and fails with [ErrQueuedAhead] when the reply rows of
	// the contact that are pending or delivering are others than those it carries, or with a
	// [*TooSoonError] when a text went out less than Gap before SettledAt; every other turn
	// becomes settled. The rows that it carries are delivering, under the turn's name. A
	// bound handoff fails with [ErrQuiet] when the contact was told of one less than
	// Quiet before SettledAt. A turn that is not silent fails with [ErrPaused] while a person
	// has its conversation, and with [ErrOptedOut] when its contact opted out, but for what
	// answers the opt-out that it is the first to settle. That discards what is queued for
	// the contact, on every channel. A handoff pauses the conversation behind itself until PauseUntil,
	// and calls off whatever nudge the contact has. The
	// conversation keeps that its opening is over, when it is from now on.
	Settle(ctx context.Context, s Settlement) error
	// Stamp notes that a response was written at the given time: the answering turn
	// whose reply it carried becomes settled, and unless the response was silent the
	// conversation's last-sent time moves to it, never back, and never for an unbound
	// turn. Rows that it carried are delivered, and those with actions pending, with every
	// text sent. Stamping twice changes nothing.
	Stamp(ctx context.Context, s Stamp) error
	// Reroute turns an answering turn whose response was not written into a settled
	// one on the outbox path, with the given row; rows that it carried are pending again.
	// [ErrNotOwner] when it is not answering without a stamp.
	Reroute(ctx context.Context, turnID string, row outbox.Row) error
}

// Lane lets one turn of a contact run at a time.
type Lane interface {
	// Start makes a waiting turn run, its attempt counted, and reads what it starts from. It
	// fails with [ErrWaits] while an earlier bound turn of the contact is not settled, with
	// [ErrMerged] when another turn answers its message, and with [ErrNotOwner] when it is not
	// waiting under the owner.
	Start(ctx context.Context, s Start) (Recorded, error)
	// Ahead are the reply rows of a conversation that are pending or delivering, in the
	// contact's order, without those of unbound turns.
	Ahead(ctx context.Context, conversationID string) ([]outbox.Row, error)
}

// Start are the terms of [Lane.Start].
type Start struct {
	TurnID         string
	ConversationID string
	Owner          string
	Window         Window
}

// Window is how much of a contact's past a turn reads.
type Window struct {
	HistorySince time.Time
	HistoryLimit int      // entries
	RecentLimit  int      // messages
	Once         []string // ids of the flows that a contact is sent once, however long ago
}

// DuplicateWithin is how long the same text once more is the same message
// (docs/spec/03-turn.md, "One turn at a time per contact").
const DuplicateWithin = 3 * time.Second

// Acts writes down what a turn does besides replying. Every method is one transaction.
type Acts interface {
	// NoteFlow writes the record of a running turn, which says of one flow that it is about
	// to be sent or what became of it. While it is about to be sent, the contact's right to
	// it is claimed: [action.ErrSent] when it was sent before, [ErrQueuedAhead] when a reply
	// row of the contact is pending or delivering, so that the flow must follow the turn's
	// own reply, [ErrPaused] when a person has the conversation, and [ErrOptedOut] when its
	// contact opted out. A claim whose flow has
	// failed, its outcome known, is given back. The turn
	// must be running under its owner and attempt, else [ErrNotOwner]. After an error
	// nothing was changed.
	NoteFlow(ctx context.Context, n FlowNote) error
	// Acted writes what became of the actions behind a response, and settles the turn, which
	// must be answering with a stamp, else [ErrNotOwner]. What a performed write of a marked
	// field says moves the conversation's sale, in the same transaction.
	Acted(ctx context.Context, turnID string, ended []action.Ended) error
}

// FlowNote is a flow of a running turn.
type FlowNote struct {
	TurnID  string
	Owner   string
	Attempt int
	Actions []action.Record // of the turn so far: the flows it sent, this one last
	Claim   action.Claim    // of the flow; read while the last record is [action.Sending], and when it is given back
	Tagged  bool            // as of a [Settlement]
	Wish    conversation.Wish
}

// Arrival is a message as it is recorded.
type Arrival struct {
	TurnID     string
	Key        contact.Key
	Owner      string // empty: nobody's, for the next process that looks
	Text       string
	FirstName  string // kept for a turn that runs again; empty: not used
	Offering   string // what the request named; empty: nothing
	Token      token.Request
	ReceivedAt time.Time
	Merge      bool // MERGE_WAITING
	Window     Window
}

// Recorded is what a turn knows once its message is safe.
type Recorded struct {
	Turn         conversation.Turn
	Earlier      []string // texts of the messages that the turn answers besides its own, oldest first
	Merged       []string // ids of the turns that recording merged into this one
	Conversation conversation.Conversation
	History      []conversation.Entry // before this message, oldest first
	QueuedAhead  bool                 // a reply row of the contact is pending or delivering
	Behind       bool                 // an earlier bound turn of the contact was not settled when it was recorded
	// Recent are the arrivals of the contact's messages before this one, newest first:
	// of those that enter history, or for an unbound turn of those that do not.
	Recent   []time.Time
	Sent     []string      // ids of the flows that the contact was sent since HistorySince, and of those of Once at any time
	Sale     contact.Sale  // of the conversation, moved by what earlier turns staged and has not ended
	Binding  token.Binding // empty for a turn that runs again
	TokenRow string        // the outbox row behind the candidate that was issued; empty: none was
}

// Texts are the messages that the turn answers, oldest first, its own last.
func (r Recorded) Texts() []string { return append(slices.Clone(r.Earlier), r.Turn.Text) }

// Text is what the contact wrote, as one entry of history.
func (r Recorded) Text() string {
	said := slices.DeleteFunc(r.Texts(), func(text string) bool { return text == "" })
	return strings.Join(said, "\n")
}

// Settlement is the end of a turn. Turn.Replies holds every text of the reply as it is
// sent, those of the row last; of an inline turn the row is part 1, because part 0 is
// the response's own text, should it have to be rerouted.
type Settlement struct {
	Turn  conversation.Turn
	Gap   time.Duration // an inline turn: to the contact's last text
	Quiet time.Duration // a handoff: to the one the contact was last told of; 0: none is too soon
	Row   *outbox.Row   // the reply, or what the response cannot carry; nil: none
	// Pending are the actions behind the response of an inline turn. They are kept until
	// [Acts.Acted], so that a reroute or a take-over finds them; a row carries its own.
	Pending []action.Pending
	// Notices tell the business of a handoff, each row in one way; none: nothing does. Their
	// parts tell them apart.
	Notices []outbox.Row
	Carried []Carried // of an inline turn: every reply row that is still to go out, in order
	// Tagged says that a contact who carried the tag of an active person when their tags were
	// last read is a person's, like one whose conversation is paused.
	Tagged     bool
	PauseUntil time.Time // of a handoff; zero: it pauses nothing
	Wish       conversation.Wish
	// CalledOff says why the nudge whose turn this is sends nothing; empty: the turn has it that
	// way, or it sends, or is no nudge's.
	CalledOff nudge.Reason
	// OpeningOver says that the opening is not sent any more, which was not so before.
	OpeningOver bool
}

// Carried is a reply row that goes out in a response, before the turn's own text.
type Carried struct {
	ID    string
	Sent  int  // texts that had gone out when this was planned
	Texts int  // texts of the row
	Acts  bool // actions follow them
}

// Stamp is the fact that a response left.
type Stamp struct {
	TurnID         string // the turn whose reply it carried; empty: it carried none
	ConversationID string
	At             time.Time
	Silent         bool // the response carried no text
	Acts           bool // actions follow: the turn stays answering until [Acts.Acted]
	Carried        []Carried
}

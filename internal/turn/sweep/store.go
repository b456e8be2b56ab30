package sweep

import (
	"context"

	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// Store is what a [Keeper] knows of the processes on its database, and of what they have
// in hand. Every method is one transaction.
type Store interface {
	// Beat counts a beat of a process and reads how often every process of its tenant has
	// beaten. known is false when the process had no row, because it is new or because others
	// took over what it had; it has one from then on.
	Beat(ctx context.Context, p Process) (beats map[string]int64, known bool, err error)
	// TakeOver makes what was left behind the new owner's, and returns the turns that are to be
	// run, oldest first; more says that there may be others.
	TakeOver(ctx context.Context, t TakeOver) (taken []turn.Recorded, more bool, err error)
	// Unfinished are the ids of the unfinished turns of a process, and whether there are any that
	// nobody owns.
	Unfinished(ctx context.Context, p Process) (owned []string, unowned bool, err error)
	// HandBack gives up every unfinished turn of a process, its states as they are, and the
	// rows it is delivering, their attempt not counted. The process is gone from then on.
	HandBack(ctx context.Context, p Process) error
}

// Process is one process of a tenant.
type Process struct {
	ID       string
	TenantID string
}

// TakeOver are the terms of [Store.TakeOver]. Taken are unfinished turns that nobody owns,
// and those that it names. Of them
//   - answering turns without a stamp become settled, with an outbox row due now, on which
//     their actions ride; rows that they carried are pending again,
//   - answering turns with a stamp become settled, and their actions stay as they are,
//   - running turns run again, an attempt counted unless they were handed back; those of nudges
//     become settled, and send nothing,
//   - waiting turns go on waiting.
//
// Rows of the outbox that the dead were delivering become pending, their attempt not counted.
// A turn is taken behind the earlier ones of its contact.
type TakeOver struct {
	Process
	All  bool     // everything: nobody else is on the database
	Dead []string // processes whose turns and rows are taken, and which are forgotten
	// Beats is how often each of the dead had beaten when it was last looked at. One that has
	// beaten since is left alone; one that is not in it is not asked.
	Beats  map[string]int64
	Lost   []string // turns of the process itself that nothing in it works on
	Limit  int      // turns; 0: 100
	Window turn.Window
}

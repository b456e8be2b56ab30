package outbox

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// sweepEvery is how often a worker gives back what its process holds and nobody works on.
const sweepEvery = time.Minute

// hands are the rows that a worker works on.
type hands struct {
	mu   sync.Mutex
	rows []Hold
}

func (h *hands) add(rows []Row) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range rows {
		h.rows = append(h.rows, Hold{r.Owner, r.ID})
	}
}

func (h *hands) remove(r Row) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rows = slices.DeleteFunc(h.rows, func(held Hold) bool { return held == Hold{r.Owner, r.ID} })
}

func (h *hands) all() []Hold {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.rows)
}

// claim takes due rows: of each kind as many as there is room for, or one row alone while
// ManyChat refuses the API key.
func (w *Worker) claim(ctx context.Context) ([]Row, error) {
	if !w.key.refused() {
		return w.take(ctx, w.room())
	}
	for _, kind := range []Kind{Reply, ContactToken, HandoffNotice} { // a notice may be a webhook, which tells nothing of the key
		if w.room()[kind] == 0 {
			continue
		}
		rows, err := w.take(ctx, map[Kind]int{kind: 1})
		if err != nil {
			return nil, err
		}
		if len(rows) > 0 {
			w.key.try(rows[0])
			return rows, nil
		}
	}
	return nil, nil
}

// take claims rows. A claim that failed may have been made all the same; what it took is
// given back with the first that works, and once more a while later, should it have been
// made only then.
func (w *Worker) take(ctx context.Context, room map[Kind]int) ([]Row, error) {
	w.holds++
	now, process := w.cfg.Now(), w.cfg.Owner()
	c := Claim{Owner: fmt.Sprintf("%s/%d", process, w.holds), Now: now, Gap: w.cfg.Gap, Room: room}
	sweep := w.unsure || now.Sub(w.swept) >= sweepEvery
	if sweep {
		c.Abandon, c.InHand = process+"/", w.hands.all()
	}
	rows, err := w.cfg.Store.Claim(ctx, c)
	if err != nil {
		w.unsure = true
		return nil, err
	}
	if sweep {
		w.unsure, w.swept = false, now
	}
	w.hands.add(rows)
	return rows, nil
}

// giveBackLost gives back what a stopped worker's last claims may have taken.
func (w *Worker) giveBackLost(ctx context.Context) {
	last, cancel := afterStop(ctx, writeAfterStop)
	defer cancel()
	for w.unsure && last.Err() == nil {
		try, cancel := context.WithTimeout(last, writeWithin)
		_, err := w.take(try, nil)
		cancel()
		if err != nil {
			w.cfg.Log.Error("rows that a claim may have taken are not given back yet", "error", err)
			wait(last, writeEvery)
		}
	}
}

// holdOff is how long nothing may be claimed; zero: it may.
func (w *Worker) holdOff() time.Duration {
	if !w.cfg.Alive() {
		return pollEvery
	}
	return w.key.wait(w.cfg.Now())
}

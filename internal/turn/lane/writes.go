package lane

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"
)

// Writes are the terms of [Writes.Persist].
type Writes struct {
	Within      time.Duration // one try
	First, Last time.Duration // pauses between tries, each twice the one before
	Final       []error       // what no later try would change, and what is none of the log's business
	Refused     error         // the same, and a defect
	GivenUp     <-chan struct{}
	Log         *slog.Logger
}

// Persist runs a write until it works, or fails for good; it returns why it did not work. A
// process that gives its turns up gives the write up, and another one takes the turn over.
func (w Writes) Persist(failing, turnID string, write func(context.Context) error) error {
	for wait := w.First; ; wait = min(2*wait, w.Last) {
		ctx, cancel := context.WithTimeout(context.Background(), w.Within)
		err := write(ctx)
		cancel()
		switch {
		case err == nil, slices.ContainsFunc(w.Final, func(final error) bool { return errors.Is(err, final) }):
			return err
		case errors.Is(err, w.Refused):
			w.Log.Error(failing, "turn", turnID, "error", err)
			return err
		case wait == w.First:
			w.Log.Error(failing+", trying until the database takes it", "turn", turnID, "error", err)
		}
		if !Pause(wait, w.GivenUp) {
			w.Log.Error(failing+"; a sweep takes it over", "turn", turnID, "error", err)
			return err
		}
	}
}

// Pause waits, and reports false as soon as givenUp is closed.
func Pause(d time.Duration, givenUp <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-givenUp:
		return false
	}
}

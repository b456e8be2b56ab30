package postgres

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// measureEvery is how often the server's clock is looked at.
	measureEvery = 30 * time.Second
	// measureWithin is how long one look may take.
	measureWithin = 2 * time.Second
	// samples is how many looks make a measurement; the quickest of them counts.
	samples = 3
	// alike is by how much two measurements may differ without being told apart: less than that
	// decides nothing here, and correcting it would only make times jitter.
	alike = 20 * time.Millisecond
	// slew is by how much a measurement changes the clock at most, the first one aside: the
	// deadlines of turns in flight are counted by it. When the server's clock is set, all
	// processes follow it at this pace, and so agree with each other meanwhile.
	slew = 250 * time.Millisecond
	// blink is the least that a machine's clock is set by.
	blink = time.Millisecond
	// asleep is the least time that the machine's clock is trusted to have passed while nothing was
	// counted: a machine that was suspended.
	asleep = 2 * time.Second
)

// Clock is the server's clock, as every process of a database sees it. It costs no round
// trip: how far the server is from this process is measured when the clock is made, and again
// every half a minute. In between it counts on by itself, so that setting the machine's
// clock changes nothing.
type Clock struct {
	pool   *Pool
	own    func() time.Time
	began  time.Time     // by the machine's clock
	offset atomic.Int64  // nanoseconds that the server is ahead of what has passed since
	slept  time.Duration // by which the machine's clock left what has passed, at the last measurement
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// NewClock measures, and keeps measuring until the clock is closed. own is the process's
// clock, which may be set to another time than the machine's: the server's differs from
// it by as much as from the machine's clock.
func NewClock(ctx context.Context, pool *Pool, own func() time.Time) (*Clock, error) {
	c := &Clock{pool: pool, own: own, began: time.Now()}
	m, err := c.measure(ctx)
	if err != nil {
		return nil, err
	}
	if m.ahead.Abs() > m.within {
		c.offset.Store(int64(m.ahead))
	}
	background, stop := context.WithCancel(context.Background())
	c.stop = stop
	c.done.Go(func() { c.keep(background) })
	return c, nil
}

// Close stops measuring.
func (c *Clock) Close() {
	c.stop()
	c.done.Wait()
}

// Now is the server's time.
func (c *Clock) Now() time.Time {
	return c.own().Round(0).Add(time.Duration(c.offset.Load()) - c.set(time.Now()))
}

// set is by how much the machine's clock was set since the beginning. Reading it twice differs by
// less than a blink, which is nobody's doing.
func (c *Clock) set(now time.Time) time.Duration {
	if set := now.Round(0).Sub(c.counted(now)); set.Abs() > blink {
		return set
	}
	return 0
}

// counted is what the machine's clock would say had nobody set it.
func (c *Clock) counted(now time.Time) time.Time { return c.began.Round(0).Add(now.Sub(c.began)) }

func (c *Clock) keep(ctx context.Context) {
	tick := time.NewTicker(measureEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if m, err := c.measure(ctx); err == nil { // else what was measured before holds
				c.follow(m, c.set(time.Now()))
			}
		}
	}
}

// measured is by how much the server is ahead, and how wrong that may be.
type measured struct{ ahead, within time.Duration }

// follow moves the clock towards a measurement that contradicts it, at once where the machine's
// own clock, which is set away from what was counted, says the same.
func (c *Clock) follow(m measured, set time.Duration) {
	now := time.Duration(c.offset.Load())
	away, slept := m.ahead-now, set-c.slept
	c.slept = set
	switch {
	case away.Abs() <= m.within:
	case slept > asleep && (away-slept).Abs() < asleep/2:
		c.offset.Store(int64(now + away))
	default:
		c.offset.Store(int64(now + min(slew, max(-slew, away))))
	}
}

func (c *Clock) measure(ctx context.Context) (measured, error) {
	ctx, cancel := context.WithTimeout(ctx, measureWithin)
	defer cancel()
	best := measured{within: measureWithin}
	for range samples {
		took, ahead, err := c.sample(ctx)
		if err != nil {
			return best, err
		}
		if took < best.within {
			best = measured{ahead: ahead, within: took}
		}
	}
	best.within = max(alike, best.within)
	return best, nil
}

// sample asks once: how long that took, and how far ahead the server was in the middle of it.
func (c *Clock) sample(ctx context.Context) (took, ahead time.Duration, err error) {
	var micros int64
	asked := time.Now()
	err = c.pool.DB.QueryRowContext(ctx,
		"SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS BIGINT)").Scan(&micros)
	took = time.Since(asked)
	return took, time.UnixMicro(micros).Sub(c.counted(asked.Add(took / 2))), Explain(err)
}

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
)

// Clock is the server's clock, as every process of a database sees it. It costs no round
// trip: how far this process's clock is from the server's is measured when it is made, and
// again every half a minute.
type Clock struct {
	pool   *Pool
	own    func() time.Time
	offset atomic.Int64 // nanoseconds that the server is ahead of this process
	stop   context.CancelFunc
	done   sync.WaitGroup
}

// NewClock measures, and keeps measuring until the clock is closed. own is the process's
// clock, which may be set to another time than the machine's: the server's differs from
// it by as much as from the machine's clock.
func NewClock(ctx context.Context, pool *Pool, own func() time.Time) (*Clock, error) {
	c := &Clock{pool: pool, own: own}
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
func (c *Clock) Now() time.Time { return c.own().Add(time.Duration(c.offset.Load())) }

func (c *Clock) keep(ctx context.Context) {
	tick := time.NewTicker(measureEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if m, err := c.measure(ctx); err == nil { // else what was measured before holds
				c.follow(m)
			}
		}
	}
}

// measured is by how much the server is ahead, and how wrong that may be.
type measured struct{ ahead, within time.Duration }

// follow moves the clock towards a measurement that contradicts it.
func (c *Clock) follow(m measured) {
	now := time.Duration(c.offset.Load())
	if away := m.ahead - now; away.Abs() > m.within {
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
	return took, time.UnixMicro(micros).Sub(asked.Add(took / 2)), Explain(err)
}

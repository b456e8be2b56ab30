package database

import (
	"context"
	"sync"
)

// Notify tells every listener of the database's processes that something happened. It runs
// outside of any transaction, after the one that made it happen: inside, it would make
// commits wait for each other. It is a hint that may be lost, so whoever waits for one looks
// for itself as well, every second or so. topic is a short constant word; payload is no
// longer than an id or two.
func (db *DB) Notify(ctx context.Context, topic, payload string) error {
	if db.pool != nil {
		return db.pool.Notify(ctx, topic, payload)
	}
	db.local.tell(topic, payload)
	return nil
}

// Listen calls heard for every notification until ctx ends. An empty topic and payload
// mean that some may have been missed, so that everything is looked at: at the beginning,
// and on PostgreSQL whenever the connection was lost and made again. heard returns soon:
// the next one waits for it. It may be called from several goroutines at once on SQLite.
func (db *DB) Listen(ctx context.Context, heard func(topic, payload string)) {
	if db.pool != nil {
		db.pool.Listen(ctx, heard)
		return
	}
	defer db.local.add(heard)()
	heard("", "")
	<-ctx.Done()
}

// listeners are those of one process.
type listeners struct {
	mu   sync.Mutex
	next int
	all  map[int]func(topic, payload string)
}

func (l *listeners) add(heard func(topic, payload string)) (remove func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[int]func(topic, payload string){}
	}
	l.next++
	id := l.next
	l.all[id] = heard
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all, id)
	}
}

func (l *listeners) tell(topic, payload string) {
	l.mu.Lock()
	all := make([]func(topic, payload string), 0, len(l.all))
	for _, heard := range l.all {
		all = append(all, heard)
	}
	l.mu.Unlock()
	for _, heard := range all {
		heard(topic, payload)
	}
}

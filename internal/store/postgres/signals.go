package postgres

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	// channel carries the notifications of all topics.
	channel = "manychat_agent"
	// reconnectAfter is the pause before a listener connects again.
	reconnectAfter = time.Second
	// quietFor is how long a listener hears nothing before it asks whether its connection
	// still works.
	quietFor = 30 * time.Second
)

// Notify tells every listener of the database, outside of any transaction.
func (p *Pool) Notify(ctx context.Context, topic, payload string) error {
	_, err := p.DB.ExecContext(ctx, "SELECT pg_notify($1, $2)", channel, topic+" "+payload)
	return Explain(err)
}

// Listen calls heard for every notification until ctx ends, on a connection beside the
// pool, from one goroutine. Whatever ends the connection, it is made again after a
// pause; heard gets an empty topic and payload then, and at the beginning.
func (p *Pool) Listen(ctx context.Context, heard func(topic, payload string)) {
	for ctx.Err() == nil {
		p.listen(ctx, heard)
		timer := time.NewTimer(reconnectAfter)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// listen returns when its connection is lost. Why is not said: the pool's errors say it to
// somebody who can do something about it.
func (p *Pool) listen(ctx context.Context, heard func(topic, payload string)) {
	conn, err := pgx.ConnectConfig(ctx, p.config.Copy())
	if err != nil {
		return
	}
	defer func() {
		bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackWithin)
		defer cancel()
		_ = conn.Close(bounded)
	}()
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		return
	}
	heard("", "")
	for {
		said, err := wait(ctx, conn)
		if err != nil {
			return
		}
		if said != nil {
			topic, payload, _ := strings.Cut(said.Payload, " ")
			heard(topic, payload)
		}
	}
}

// wait returns the next notification, or nil when there was none for a while and the
// connection works.
func wait(ctx context.Context, conn *pgx.Conn) (said *pgconn.Notification, err error) {
	quiet, cancel := context.WithTimeout(ctx, quietFor)
	defer cancel()
	said, err = conn.WaitForNotification(quiet)
	if err == nil || quiet.Err() == nil || ctx.Err() != nil {
		return said, err
	}
	asked, cancel := context.WithTimeout(ctx, measureWithin)
	defer cancel()
	return nil, conn.Ping(asked)
}

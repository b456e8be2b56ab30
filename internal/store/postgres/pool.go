package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	// connections is how many a process has at most: on two processors of the server, more
	// only wait for each other.
	connections = 20
	// lifetime is how long a connection is used at most; each lives up to a quarter less,
	// so that they do not all end at once.
	lifetime = 30 * time.Minute
)

// Options say which database to open, and how.
type Options struct {
	URL      string // "postgres://…" or "postgresql://…"
	ReadOnly bool   // never write; a standby will do
}

// Pool is the connections to a database. It is safe for concurrent use.
//
// A connection is dropped before its next use when its life is over, when the server that it
// leads to takes no writes any more, and when another one learnt that the server was shut down
// or turned read-only after this one was made: a failover does not pin the pool to a
// demoted server, and a restart costs one failure instead of one a connection.
type Pool struct {
	DB       *sql.DB
	config   *pgx.ConnConfig
	readOnly bool
	epoch    atomic.Int64 // connections of an earlier one are dropped
}

// birth is what a connection remembers of its beginning.
type birth struct {
	epoch  int64
	retire time.Time
}

// birthKey is where a connection keeps it.
const birthKey = "birth"

// Open prepares a pool; it does not connect yet. [ErrURL] when the address is none.
func Open(o Options) (*Pool, error) {
	set := settings()
	if o.ReadOnly {
		set["default_transaction_read_only"] = "on"
	}
	config, err := configure(o.URL, set)
	if err != nil {
		return nil, err
	}
	p := &Pool{config: config, readOnly: o.ReadOnly}
	if !o.ReadOnly {
		writable(config)
	}
	config.OnPgError = p.reported
	p.DB = sql.OpenDB(stdlib.GetConnector(*config,
		stdlib.OptionAfterConnect(p.connected), stdlib.OptionResetSession(p.usable)))
	p.DB.SetMaxOpenConns(connections)
	p.DB.SetMaxIdleConns(connections)
	return p, nil
}

// Close ends the connections. One that cannot be ended properly was lost, which is nobody's
// failure by now.
func (p *Pool) Close() { _ = p.DB.Close() }

// Ping reports whether the database answers, and takes writes unless the pool is read-only.
// A connection that the server has ended says nothing about the server: another one is asked.
func (p *Pool) Ping(ctx context.Context) error {
	readOnly, err := p.ask(ctx)
	if err != nil && ctx.Err() == nil && errors.Is(sentence(err), ErrUnreachable) {
		readOnly, err = p.ask(ctx)
	}
	if err != nil {
		return Explain(err)
	}
	if readOnly == "on" && !p.readOnly {
		p.epoch.Add(1)
		return ErrReadOnly
	}
	return nil
}

func (p *Pool) ask(ctx context.Context) (readOnly string, err error) {
	err = p.DB.QueryRowContext(ctx, "SELECT current_setting('transaction_read_only')").Scan(&readOnly)
	return readOnly, err
}

// connected notes the beginning of a connection. [ErrEncoding] when the database would change
// or refuse what people write.
func (p *Pool) connected(_ context.Context, c *pgx.Conn) error {
	if c.PgConn().ParameterStatus("server_encoding") != "UTF8" {
		return ErrEncoding
	}
	life := lifetime - rand.N(lifetime/4)
	c.PgConn().CustomData()[birthKey] = birth{epoch: p.epoch.Load(), retire: time.Now().Add(life)}
	return nil
}

// usable is asked before a connection is used again.
func (p *Pool) usable(_ context.Context, c *pgx.Conn) error {
	b, _ := c.PgConn().CustomData()[birthKey].(birth)
	if b.epoch != p.epoch.Load() || time.Now().After(b.retire) || !p.readOnly && demoted(c.PgConn()) {
		return driver.ErrBadConn
	}
	return nil
}

// demoted reports whether the server has told, unasked, that it takes no writes. Servers
// before 14 do not tell.
func demoted(c *pgconn.PgConn) bool {
	return c.ParameterStatus("in_hot_standby") == "on" || c.ParameterStatus("default_transaction_read_only") == "on"
}

// reported is told every error of the server and decides whether the connection may live on.
func (p *Pool) reported(_ *pgconn.PgConn, e *pgconn.PgError) bool {
	switch e.Code {
	case codeReadOnly:
		if p.readOnly {
			return true
		}
		p.epoch.Add(1)
		return false
	case codeShutdown, codeCrash:
		p.epoch.Add(1)
	}
	return !strings.EqualFold(e.Severity, "FATAL")
}

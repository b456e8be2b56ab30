// Package postgres is what a PostgreSQL database needs before and beside its tables' use:
// its address, a pool that survives restarts and failovers of the server, write
// transactions, migrations, the server's clock, notifications between processes, and
// sentences for its errors.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// connectWithin is how long reaching one host may take, unless the address says otherwise.
const connectWithin = 5 * time.Second

// Is reports whether an address names a PostgreSQL database.
func Is(databaseURL string) bool {
	return strings.HasPrefix(databaseURL, "postgres://") || strings.HasPrefix(databaseURL, "postgresql://")
}

// Name is what errors call a database: host, port and name, never a user or password.
// [ErrURL] when the address is none.
func Name(databaseURL string) (string, error) {
	config, err := parse(databaseURL)
	if err != nil {
		return "", err
	}
	return net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))) + "/" + config.Database, nil
}

// parse reads an address; [ErrURL] when it is none. The library's own words are left out,
// since they may quote a password.
func parse(databaseURL string) (*pgx.ConnConfig, error) {
	if !Is(databaseURL) {
		return nil, ErrURL
	}
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		var file *fs.PathError // a certificate's
		if errors.As(err, &file) {
			return nil, fmt.Errorf("%w: %w", ErrURL, file)
		}
		return nil, ErrURL
	}
	if !strings.Contains(databaseURL, "connect_timeout=") {
		config.ConnectTimeout = connectWithin
	}
	return config, nil
}

// settings are the session's, unless the address sets them itself.
//
// The caller's context bounds every statement already. What is set here is for a process
// that cannot end its own: it hangs or has lost its network while it holds a lock that
// every other process waits for. A lock is waited for no longer than a SQLite file is.
func settings() map[string]string {
	return map[string]string{
		"application_name":                    "manychat-agent",
		"statement_timeout":                   "30s",
		"lock_timeout":                        "5s",
		"idle_in_transaction_session_timeout": "10s",
	}
}

// configure parses an address for sessions with the settings.
func configure(databaseURL string, settings map[string]string) (*pgx.ConnConfig, error) {
	config, err := parse(databaseURL)
	if err != nil {
		return nil, err
	}
	for name, value := range settings {
		if _, ok := config.RuntimeParams[name]; !ok {
			config.RuntimeParams[name] = value
		}
	}
	return config, nil
}

// writable makes connecting fail with [ErrReadOnly] on a server that takes no writes, such
// as one that is a standby since a failover; of several hosts in the address the next one
// is tried.
func writable(config *pgx.ConnConfig) {
	before := config.ValidateConnect
	config.ValidateConnect = func(ctx context.Context, c *pgconn.PgConn) error {
		if before != nil {
			if err := before(ctx, c); err != nil {
				return err
			}
		}
		answer := c.ExecParams(ctx, "SHOW transaction_read_only", nil, nil, nil, nil).Read()
		if answer.Err != nil {
			return answer.Err
		}
		if string(answer.Rows[0][0]) == "on" {
			return ErrReadOnly
		}
		return nil
	}
}

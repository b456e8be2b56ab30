package postgres

import (
	"time"

	"github.com/jackc/pgx/v5"
)

// Retire ends a connection's life.
func Retire(c *pgx.Conn) {
	custom := c.PgConn().CustomData()
	b := custom[birthKey].(birth)
	b.retire = time.Now()
	custom[birthKey] = b
}

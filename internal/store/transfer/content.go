package transfer

import (
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"

	"github.com/manychat-agent/manychat-agent/internal/store/tables"
)

// content is how many rows were seen, and the sum of their hashes: the order in which a
// database returns rows does not matter to it, but what is in each of them and how often.
type content struct {
	rows int64
	sum  [sha256.Size]byte
}

// String is the sum in hexadecimal.
func (c content) String() string { return hex.EncodeToString(c.sum[:]) }

func (c *content) add(row []any) error {
	var one []byte
	for _, value := range row {
		switch v := value.(type) {
		case nil:
			one = append(one, 'n')
		case int64:
			one = binary.BigEndian.AppendUint64(append(one, 'i'), uint64(v))
		case float64:
			one = binary.BigEndian.AppendUint64(append(one, 'f'), math.Float64bits(v))
		case string:
			one = binary.BigEndian.AppendUint64(append(one, 't'), uint64(len(v)))
			one = append(one, v...)
		default:
			return fmt.Errorf("a column holds a %T, which this program does not copy; please report it", value)
		}
	}
	hash, carry := sha256.Sum256(one), 0
	for i := len(hash) - 1; i >= 0; i-- {
		carry += int(c.sum[i]) + int(hash[i])
		c.sum[i], carry = byte(carry), carry>>8
	}
	c.rows++
	return nil
}

// read hands every row of a table on, and returns what all of them hold. A row is valid
// until each returns.
func read(rows *sql.Rows, t tables.Table, each func(row []any) error) (c content, err error) {
	row, into := make([]any, len(t.Columns)), make([]any, len(t.Columns))
	for i := range row {
		into[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return c, err
		}
		if err := c.add(row); err != nil {
			return c, err
		}
		if err := each(row); err != nil {
			return c, err
		}
	}
	return c, rows.Err()
}

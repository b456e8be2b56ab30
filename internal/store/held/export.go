package held

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/tables"
	"github.com/manychat-agent/manychat-agent/internal/token"
)

// Row is a row of a table as JSON shows it, by column.
type Row map[string]any

const selectConversations = `
SELECT id FROM conversations WHERE tenant_id = $1 AND subscriber_id = $2 ORDER BY created_at, id`

// Export is everything held about a contact: the rows of every table that has any, by the
// table's name. Instants are written as such, and columns of JSON as what they hold; of
// token hashes only when they were made.
func Export(ctx context.Context, db *database.DB, who Who) (map[string][]Row, error) {
	every, err := tables.Of(ctx, db)
	if err != nil {
		return nil, fmt.Errorf("export a contact: %w", err)
	}
	tx, err := db.Snapshot(ctx)
	if err != nil {
		return nil, fmt.Errorf("export a contact: %w", err)
	}
	defer tx.Rollback()
	found, err := tx.QueryContext(ctx, selectConversations, who.TenantID, string(who.ID))
	conversations, err := database.Collect(found, err, database.ScanString)
	if err != nil {
		return nil, fmt.Errorf("export a contact: %w", err)
	}
	export := map[string][]Row{}
	for _, r := range about(every, who, conversations) {
		for _, args := range r.args {
			more, err := read(ctx, tx, r, args)
			if err != nil {
				return nil, fmt.Errorf("export a contact: table %s: %w", r.Name, err)
			}
			if len(more) > 0 {
				export[r.Name] = append(export[r.Name], more...)
			}
		}
	}
	return export, nil
}

func read(ctx context.Context, tx *sql.Tx, t rows, args []any) ([]Row, error) {
	order := t.Key
	if t.Has("conversation_id", "seq") {
		order = []string{"seq"}
	}
	found, err := tx.QueryContext(ctx, `SELECT `+strings.Join(t.Columns, ", ")+` FROM `+t.Name+` WHERE `+t.condition+
		` ORDER BY `+strings.Join(order, ", "), args...)
	return database.Collect(found, err, func(r database.Row) (Row, error) {
		values, into := make([]any, len(t.Columns)), make([]any, len(t.Columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := r.Scan(into...); err != nil {
			return nil, err
		}
		row := Row{}
		for i, name := range t.Columns {
			shown, err := show(name, values[i])
			if err != nil {
				return nil, fmt.Errorf("column %s: %w", name, err)
			}
			row[name] = shown
		}
		return row, nil
	})
}

// encoded are the columns that hold JSON.
func encoded(name string) bool {
	return slices.Contains([]string{"replies", "timings", "interventions", "actions", "calls", "pending", "payload"}, name)
}

// show is a column's value as an export has it.
func show(name string, value any) (any, error) {
	switch v := value.(type) {
	case int64:
		if strings.HasSuffix(name, "_at") || strings.HasSuffix(name, "_until") {
			return time.UnixMicro(v).UTC(), nil
		}
	case string:
		switch {
		case name == "token":
			return withoutHashes(v)
		case encoded(name) && json.Valid([]byte(v)):
			return json.RawMessage(v), nil
		}
	}
	return value, nil
}

// known is what may be told of a token: its hash would let somebody try tokens.
type known struct {
	MadeAt    time.Time `json:"madeAt"`
	Confirmed bool      `json:"confirmed"`
	Presented bool      `json:"presented"`
}

func withoutHashes(text string) (any, error) {
	var s token.State
	if err := column.JSON(&s).Scan(text); err != nil {
		return nil, err
	}
	tokens := make([]known, len(s.Known))
	for i, k := range s.Known {
		tokens[i] = known{k.At, k.Confirmed, k.Presented}
	}
	s.Known = nil
	return struct {
		token.State
		Tokens []known `json:"tokens"`
	}{s, tokens}, nil
}

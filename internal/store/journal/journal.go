// Package journal reads turns: one by one, and as operators look at them.
package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/queue"
)

// Columns are what [Scan] reads: of the agent row a, of its contact row m, which
// a nudge has not, and of their conversation c.
const Columns = `a.id, a.conversation_id, c.tenant_id, c.channel, c.subscriber_id, a.seq, a.state, coalesce(a.owner, ''),
    a.attempt, a.nudge, a.bound, coalesce(m.text, ''), a.first_name, a.replies, coalesce(a.outcome, ''), coalesce(a.path, ''),
    coalesce(a.escalation_reason, ''), a.model, a.prompt_version, a.tokens_in, a.tokens_cached, a.tokens_out,
    a.cost_micros, a.timings, a.confidence, a.interventions, a.actions, a.calls, a.received_at, a.settled_at, a.responded_at, coalesce(a.merged_into, '')`

// Join joins what [Columns] are of to an agent row a.
const Join = `
JOIN conversations c ON c.id = a.conversation_id
LEFT JOIN turns m ON m.turn_id = a.id AND m.role = 'contact'`

const selectTurn = `
SELECT ` + Columns + ` FROM turns a` + Join + `
WHERE a.id = $1 AND a.role = 'agent'`

// selectMergedTurns reads the turns whose messages another one answers.
const selectMergedTurns = `
SELECT ` + Columns + ` FROM turns a` + Join + `
WHERE a.merged_into = $1
ORDER BY a.seq`

const selectTurnRows = `
SELECT ` + queue.Columns + ` FROM outbox WHERE turn_id = $1 ORDER BY kind, part`

const selectConversationsOf = `
SELECT id FROM conversations WHERE tenant_id = $1 AND subscriber_id = $2`

const recentColumns = Columns + `,
    coalesce((SELECT string_agg(o.status, ',' ORDER BY o.kind, o.part) FROM outbox o WHERE o.turn_id = a.id AND o.kind = 'reply'), '')`

// selectLatestTurns walks the primary key backwards: ids are by time.
const selectLatestTurns = `
SELECT ` + recentColumns + ` FROM turns a` + Join + `
WHERE a.role = 'agent' AND a.tenant_id = $1
ORDER BY a.id DESC LIMIT CAST($2 AS BIGINT)`

const selectRecentTurns = `
SELECT ` + recentColumns + ` FROM turns a` + Join + `
WHERE a.conversation_id = $1 AND a.role = 'agent'
ORDER BY a.seq DESC LIMIT CAST($2 AS BIGINT)`

// ErrNoTurn says that no turn has an id.
var ErrNoTurn = errors.New("no turn has this id")

// Journal is the turns of a database.
type Journal struct{ db *database.DB }

// In returns the turns of a database.
func In(db *database.DB) *Journal { return &Journal{db} }

// Recent is a turn together with where its outbox rows stand.
type Recent struct {
	conversation.Turn
	Deliveries []outbox.Status
}

// Turn reads one turn. [ErrNoTurn] when there is none with this id.
func (j *Journal) Turn(ctx context.Context, id string) (conversation.Turn, error) {
	t, err := Scan(j.db.Read().QueryRowContext(ctx, selectTurn, id))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNoTurn
	}
	if err != nil {
		return conversation.Turn{}, fmt.Errorf("read turn: %w", database.Explain(err))
	}
	return t, nil
}

// MergedTurns reads the turns that were merged into one, oldest first.
func (j *Journal) MergedTurns(ctx context.Context, id string) ([]conversation.Turn, error) {
	rows, err := j.db.Read().QueryContext(ctx, selectMergedTurns, id)
	turns, err := database.Collect(rows, err, func(r database.Row) (conversation.Turn, error) { return Scan(r) })
	if err != nil {
		return nil, fmt.Errorf("read the turns that were merged into one: %w", database.Explain(err))
	}
	return turns, nil
}

// TurnRows reads a turn's outbox rows of all kinds, by kind and part; there are none of an
// unknown turn.
func (j *Journal) TurnRows(ctx context.Context, id string) ([]outbox.Row, error) {
	found, err := j.db.Read().QueryContext(ctx, selectTurnRows, id)
	rows, err := database.Collect(found, err, queue.Scan)
	if err != nil {
		return nil, fmt.Errorf("read the outbox rows of a turn: %w", database.Explain(err))
	}
	return rows, nil
}

// RecentTurns reads a contact's last turns over all channels, newest first.
func (j *Journal) RecentTurns(ctx context.Context, tenantID string, id contact.SubscriberID, limit int) ([]Recent, error) {
	conversations, err := j.conversationsOf(ctx, tenantID, id)
	if err != nil {
		return nil, fmt.Errorf("read recent turns: %w", database.Explain(err))
	}
	var all []Recent
	for _, c := range conversations {
		turns, err := j.recentTurns(ctx, c, limit)
		if err != nil {
			return nil, fmt.Errorf("read recent turns: %w", database.Explain(err))
		}
		all = append(all, turns...)
	}
	slices.SortStableFunc(all, func(a, b Recent) int { return b.ReceivedAt.Compare(a.ReceivedAt) })
	return all[:min(limit, len(all))], nil
}

// LatestTurns reads a tenant's last turns of all contacts, newest first.
func (j *Journal) LatestTurns(ctx context.Context, tenantID string, limit int) ([]Recent, error) {
	rows, err := j.db.Read().QueryContext(ctx, selectLatestTurns, tenantID, limit)
	turns, err := database.Collect(rows, err, scanRecent)
	if err != nil {
		return nil, fmt.Errorf("read the latest turns: %w", database.Explain(err))
	}
	return turns, nil
}

// conversationsOf is one id per channel that the contact has written on.
func (j *Journal) conversationsOf(ctx context.Context, tenantID string, id contact.SubscriberID) ([]string, error) {
	rows, err := j.db.Read().QueryContext(ctx, selectConversationsOf, tenantID, string(id))
	return database.Collect(rows, err, database.ScanString)
}

func (j *Journal) recentTurns(ctx context.Context, conversationID string, limit int) ([]Recent, error) {
	rows, err := j.db.Read().QueryContext(ctx, selectRecentTurns, conversationID, limit)
	return database.Collect(rows, err, scanRecent)
}

func scanRecent(r database.Row) (Recent, error) {
	var statuses string
	t, err := Scan(r, &statuses)
	return Recent{Turn: t, Deliveries: splitStatuses(statuses)}, err
}

func splitStatuses(s string) (all []outbox.Status) {
	for status := range strings.SplitSeq(s, ",") {
		if status != "" {
			all = append(all, outbox.Status(status))
		}
	}
	return all
}

// Scan reads [Columns], before whatever columns come after them.
func Scan(r database.Row, after ...any) (t conversation.Turn, err error) {
	err = r.Scan(append([]any{
		&t.ID, &t.ConversationID, &t.Key.TenantID, &t.Key.Channel, &t.Key.SubscriberID, &t.Seq, &t.State, &t.Owner,
		&t.Attempt, &t.Nudge, &t.Bound, &t.Text, &t.FirstName, column.JSON(&t.Replies), &t.Outcome, &t.Path,
		&t.Reason, &t.Model, &t.PromptVersion, &t.Spend.TokensIn, &t.Spend.TokensCached, &t.Spend.TokensOut,
		&t.Spend.CostMicros, column.JSON(&t.Timings), &t.Confidence, column.JSON(&t.Interventions), column.JSON(&t.Actions),
		column.JSON(&t.Calls),
		column.Instant(&t.ReceivedAt), column.Instant(&t.SettledAt), column.Instant(&t.RespondedAt),
		&t.MergedInto,
	}, after...)...)
	return t, err
}

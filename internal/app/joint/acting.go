// Package joint joins rooms that do not know each other: each of its types is one room as
// another one asks for it.
package joint

import (
	"context"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/person"
	"github.com/manychat-agent/manychat-agent/internal/webhook"
)

// Acting performs what outbox rows carry besides texts, by the configuration in force. It
// fills [outbox.Actions].
type Acting struct {
	Performer *delivery.Performer
	Account   delivery.Account
	Webhook   *webhook.Client // nil without HANDOFF_WEBHOOK_SECRET
	DB        *store.DB
	Tenant    func() *tenant.Tenant
	Now       func() time.Time
	People    *person.Watch
}

// Held says what becomes of a row that may not go out now.
func (a Acting) Held(ctx context.Context, row outbox.Row) (outbox.Status, error) {
	if row.Recallable() { // a nudge's: its contact may have written since, or its time is over
		wrote, err := a.DB.WroteBehind(ctx, row.ConversationID, row.Seq)
		if err != nil {
			return "", err
		}
		if wrote || a.Now().After(row.Payload.NudgeUntil) {
			return outbox.Discarded, nil
		}
	}
	by, err := a.People.Holds(ctx, a.Tenant(), row.ConversationID, row.Seq)
	switch {
	case err != nil || by == "":
		return "", err
	case by == conversation.OptedOut:
		return outbox.Discarded, nil
	}
	return outbox.Withheld, nil
}

// Perform fills [outbox.Actions].
func (a Acting) Perform(ctx context.Context, row outbox.Row) []action.Ended {
	t := a.Tenant()
	return a.Performer.Perform(ctx, delivery.Batch{
		Who: row.Key, Tools: t.Tools, Actions: row.Payload.Actions,
		Claim: action.Claim{ConversationID: row.ConversationID, TurnID: row.TurnID, Since: turn.HistorySince(t, a.Now())},
		Held: func(ctx context.Context) (bool, error) {
			return a.People.Has(ctx, t, row.ConversationID, row.Seq)
		},
	})
}

// Notify fills [outbox.Actions]. A part that is not configured any more is refused.
func (a Acting) Notify(ctx context.Context, row outbox.Row, part action.Pending) error {
	h := a.Tenant().Rules.Handoff
	if h == nil {
		h = &tenant.Handoff{}
	}
	subscriber := string(row.Key.SubscriberID)
	switch {
	case part.ID == action.NoticeTag && h.Tag != "":
		return a.Account.AddTagByName(ctx, subscriber, h.Tag)
	case part.ID == action.NoticeFlow && h.FlowNs != "":
		return a.Account.SendFlow(ctx, subscriber, h.FlowNs)
	case part.ID == action.NoticeWebhook && h.Webhook != "" && a.Webhook != nil:
		return a.post(ctx, h.Webhook, row, part)
	}
	return unconfigured{}
}

func (a Acting) post(ctx context.Context, url string, row outbox.Row, part action.Pending) error {
	t, err := a.DB.Turn(ctx, row.TurnID)
	if err != nil {
		return fmt.Errorf("read the turn of a handoff notice: %w", err)
	}
	return a.Webhook.Post(ctx, url, webhook.Notice{
		ID: row.ID, Tenant: row.Key.TenantID, Conversation: row.ConversationID, Turn: row.TurnID,
		Reason: string(t.Reason), Note: part.Text, At: t.SettledAt,
	})
}

// unconfigured is the error of a part of a notice that the tenant's rules no longer hold.
type unconfigured struct{}

func (unconfigured) Error() string   { return delivery.Unconfigured }
func (unconfigured) Brief() string   { return delivery.Unconfigured }
func (unconfigured) Retryable() bool { return false }

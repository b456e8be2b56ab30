package app

import (
	"context"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/person"
	"github.com/manychat-agent/manychat-agent/internal/webhook"
)

// acting performs what outbox rows carry besides texts, by the configuration in force. It
// fills [outbox.Actions].
type acting struct {
	performer *delivery.Performer
	account   delivery.Account
	webhook   *webhook.Client // nil without HANDOFF_WEBHOOK_SECRET
	db        *store.DB
	tenant    func() *tenant.Tenant
	now       func() time.Time
	people    *person.Watch
}

// Held reports whether a person has the conversation of a row.
func (a acting) Held(ctx context.Context, row outbox.Row) (bool, error) {
	return a.people.Has(ctx, a.tenant(), row.ConversationID, row.Seq)
}

// Perform fills [outbox.Actions].
func (a acting) Perform(ctx context.Context, row outbox.Row) []action.Ended {
	t := a.tenant()
	return a.performer.Perform(ctx, delivery.Batch{
		Who: row.Key, Tools: t.Tools, Actions: row.Payload.Actions,
		Claim: action.Claim{ConversationID: row.ConversationID, TurnID: row.TurnID, Since: turn.HistorySince(t, a.now())},
		Held:  func(ctx context.Context) (bool, error) { return a.Held(ctx, row) },
	})
}

// Notify fills [outbox.Actions]. A part that is not configured any more is refused.
func (a acting) Notify(ctx context.Context, row outbox.Row, part action.Pending) error {
	h := a.tenant().Rules.Handoff
	if h == nil {
		h = &tenant.Handoff{}
	}
	subscriber := string(row.Key.SubscriberID)
	switch {
	case part.ID == action.NoticeTag && h.Tag != "":
		return a.account.AddTagByName(ctx, subscriber, h.Tag)
	case part.ID == action.NoticeFlow && h.FlowNs != "":
		return a.account.SendFlow(ctx, subscriber, h.FlowNs)
	case part.ID == action.NoticeWebhook && h.Webhook != "" && a.webhook != nil:
		return a.post(ctx, h.Webhook, row, part)
	}
	return unconfigured{}
}

func (a acting) post(ctx context.Context, url string, row outbox.Row, part action.Pending) error {
	t, err := a.db.Turn(ctx, row.TurnID)
	if err != nil {
		return fmt.Errorf("read the turn of a handoff notice: %w", err)
	}
	return a.webhook.Post(ctx, url, webhook.Notice{
		ID: row.ID, Tenant: row.Key.TenantID, Conversation: row.ConversationID, Turn: row.TurnID,
		Reason: string(t.Reason), Note: part.Text, At: t.SettledAt,
	})
}

// unconfigured is the error of a part of a notice that the tenant's rules no longer hold.
type unconfigured struct{}

func (unconfigured) Error() string   { return delivery.Unconfigured }
func (unconfigured) Brief() string   { return delivery.Unconfigured }
func (unconfigured) Retryable() bool { return false }

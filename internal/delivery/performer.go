package delivery

import (
	"context"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// Account is the part of the ManyChat client that performing an action uses, one contact
// a call. Its errors are [manychat.Error]; it never retries.
type Account interface {
	SetCustomFieldByName(ctx context.Context, subscriberID, field string, value any) error
	SendFlow(ctx context.Context, subscriberID, flowNS string) error
	AddTagByName(ctx context.Context, subscriberID, tag string) error
	RemoveTagByName(ctx context.Context, subscriberID, tag string) error
}

// Profiles reads contacts at ManyChat.
type Profiles interface {
	GetInfo(ctx context.Context, subscriberID string) (manychat.Subscriber, error)
}

// Claims are the rights to send flows, kept by the database.
type Claims interface {
	// ClaimFlow gives the right to send a flow to a contact, or [action.ErrSent].
	ClaimFlow(ctx context.Context, c action.Claim) error
	// ReleaseFlow takes a right back whose flow certainly was not sent.
	ReleaseFlow(ctx context.Context, c action.Claim) error
}

// Batch is the staged actions of one turn.
type Batch struct {
	Who     contact.Key
	Tools   *tenant.Tools // the configuration that names what the ids stand for
	Actions []action.Pending
	Claim   action.Claim // of the flows among them: conversation, turn, and since when a send counts
}

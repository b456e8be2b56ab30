package joint

import (
	"context"
	"errors"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// TokenField is the custom field that holds each contact's token.
type TokenField struct {
	Client *manychat.Client
	Name   string
}

// WriteToken fills [token.Writer].
func (f TokenField) WriteToken(ctx context.Context, id contact.SubscriberID, token string) error {
	err := f.Client.SetCustomFieldByName(ctx, string(id), f.Name, token)
	var call *manychat.Error
	if errors.As(err, &call) && call.Kind == manychat.KindRejected && strings.Contains(call.Message, "does not exist") {
		return perhapsWritten{err}
	}
	return err
}

// perhapsWritten is an answer that ManyChat gives at times although it did what it was
// asked (docs/reference/manychat-platform.md).
type perhapsWritten struct{ error }

// OutcomeUnknown says that the field may hold the token.
func (perhapsWritten) OutcomeUnknown() bool { return true }

func (p perhapsWritten) Unwrap() error { return p.error }

package app

import (
	"context"
	"errors"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// tokenField is the custom field that holds each contact's token.
type tokenField struct {
	client *manychat.Client
	name   string
}

// WriteToken fills [token.Writer].
func (f tokenField) WriteToken(ctx context.Context, id contact.SubscriberID, token string) error {
	err := f.client.SetCustomFieldByName(ctx, string(id), f.name, token)
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

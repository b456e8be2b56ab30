package store

import (
	"context"
	"errors"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

var errUnbuilt = errors.New("not built")

// NoteFlow fills [turn.Acts].
func (db *DB) NoteFlow(ctx context.Context, n turn.FlowNote) error { return errUnbuilt }

// Acted fills [turn.Acts].
func (db *DB) Acted(ctx context.Context, turnID string, ended []action.Ended) error {
	return errUnbuilt
}

// ClaimFlow gives the right to send a flow to a contact, or [action.ErrSent].
func (db *DB) ClaimFlow(ctx context.Context, c action.Claim) error { return errUnbuilt }

// ReleaseFlow takes a right back whose flow certainly was not sent.
func (db *DB) ReleaseFlow(ctx context.Context, c action.Claim) error { return errUnbuilt }

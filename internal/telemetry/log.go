// Package telemetry is what an operator sees of a running process. Its log handler
// keeps personal data and credentials out, so that no call site can let them in.
package telemetry

import (
	"context"
	"io"
	"log/slog"

	"github.com/manychat-agent/manychat-agent/internal/redact"
)

// Format is how log lines are written.
type Format string

// The formats of LOG_FORMAT.
const (
	JSON Format = "json"
	Text Format = "text"
)

// NewLogger returns a logger that writes lines of at least the given level to w. What
// it writes holds no personal data and no credentials, whatever it is given
// (docs/spec/01-principles.md, C5): values are redacted by the key they stand under and
// by their shape, at any depth. A value that panics when it is asked is named by its
// type. Empty strings are left out.
func NewLogger(w io.Writer, level slog.Leveler, format Format) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	if format == Text {
		return slog.New(&handler{next: slog.NewTextHandler(w, opts)})
	}
	return slog.New(&handler{next: slog.NewJSONHandler(w, opts)})
}

// handler cleans a record and everything that was added to a logger before it hands
// them on: the next handler meets only values without anything to hide.
type handler struct {
	next   slog.Handler
	hidden bool // within a group whose name is private
}

// roomFor is how many attributes a record may have without an allocation to clean them.
const roomFor = 24

func (h *handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

func (h *handler) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, redact.Text(r.Message), r.PC)
	var room [roomFor]slog.Attr
	attrs := room[:0]
	r.Attrs(func(a slog.Attr) bool {
		attrs = h.add(attrs, a)
		return true
	})
	out.AddAttrs(attrs...)
	return h.next.Handle(ctx, out)
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, 0, len(attrs))
	for _, a := range attrs {
		clean = h.add(clean, a)
	}
	return &handler{next: h.next.WithAttrs(clean), hidden: h.hidden}
}

func (h *handler) WithGroup(name string) slog.Handler {
	return &handler{next: h.next.WithGroup(redact.Text(name)), hidden: h.hidden || isPrivate(name)}
}

// add appends an attribute, cleaned, unless it says nothing.
func (h *handler) add(attrs []slog.Attr, a slog.Attr) []slog.Attr {
	if h.hidden {
		a.Value = hidden
	}
	if a, ok := clean(a); ok {
		attrs = append(attrs, a)
	}
	return attrs
}

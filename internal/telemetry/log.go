// Package telemetry is what an operator sees of a running process. Its log handler
// keeps personal data and credentials out, so that no call site can let them in.
package telemetry

import (
	"io"
	"log/slog"
	"strings"
)

// Format is how log lines are written.
type Format string

// The formats of LOG_FORMAT.
const (
	JSON Format = "json"
	Text Format = "text"
)

// private are the attribute keys whose values never reach a log line, whatever they
// hold (docs/spec/01-principles.md, C5).
var private = map[string]bool{
	"subscriber": true, "subscriber_id": true, "phone": true, "name": true, "email": true,
	"text": true, "message": true, "body": true, "token": true, "secret": true,
	"authorization": true, "flow_ns": true, "media_url": true,
}

// NewLogger returns a logger that writes lines of at least the given level to w.
func NewLogger(w io.Writer, level slog.Leveler, format Format) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level, ReplaceAttr: redact}
	if format == Text {
		return slog.New(slog.NewTextHandler(w, opts))
	}
	return slog.New(slog.NewJSONHandler(w, opts))
}

// redact replaces the values of private keys and drops the ones that say nothing.
func redact(_ []string, a slog.Attr) slog.Attr {
	if private[strings.ToLower(a.Key)] {
		return slog.String(a.Key, "[redacted]")
	}
	if a.Value.Kind() == slog.KindString && a.Value.String() == "" {
		return slog.Attr{}
	}
	return a
}

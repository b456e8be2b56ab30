package webhook

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"time"
)

// maxWait is the longest Retry-After that is believed.
const maxWait = 24 * time.Hour

// Error is a post that was not accepted. Of the address it holds the host only, since the
// rest may be a credential, and nothing of the notice or the answer.
type Error struct {
	Host       string
	Status     int           // 0: no answer came
	RetryAfter time.Duration // how long the receiver asks to wait, at most a day; 0: it does not say

	final bool   // nothing was sent, and would not be the next time
	what  string // why no answer came
}

// Error says which host answered what.
func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("webhook: %s answered %d", e.Host, e.Status)
	}
	if e.Host == "" {
		return "webhook: " + e.what
	}
	return "webhook: " + e.Host + ": " + e.what
}

// Brief says in a few words what became of the post, without the host.
func (e *Error) Brief() string {
	switch {
	case e.final:
		return "not sent"
	case e.Status == 0:
		return "network"
	case e.Status >= 500:
		return fmt.Sprintf("server error (%d)", e.Status)
	}
	return fmt.Sprintf("rejected (%d)", e.Status)
}

// Retryable reports whether the same notice may be accepted later.
func (e *Error) Retryable() bool {
	switch e.Status {
	case 0:
		return !e.final
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return e.Status >= 500
}

// After is how long to wait before the next try; 0: as long as the caller likes.
func (e *Error) After() time.Duration { return e.RetryAfter }

// lostBy says why no answer came, without the address.
func lostBy(err error) string {
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	var timedOut net.Error
	switch {
	case errors.As(err, &name):
		return "the name of the host cannot be resolved"
	case errors.As(err, &certificate):
		return "the certificate is not trusted"
	case errors.Is(err, context.Canceled):
		return "the post was cut off"
	case errors.As(err, &timedOut) && timedOut.Timeout():
		return "no answer in time"
	}
	return "the connection failed"
}

// retryAfter reads both forms of the header, seconds and an HTTP date. What is neither, or
// in the past, is 0.
func retryAfter(header string, now func() time.Time) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.Atoi(header); err == nil {
		wait = time.Duration(min(seconds, int(maxWait/time.Second))) * time.Second
	} else if date, err := http.ParseTime(header); err == nil {
		wait = date.Sub(now())
	}
	return min(max(wait, 0), maxWait)
}

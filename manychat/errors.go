package manychat

import (
	"fmt"
	"strings"
	"time"
)

// Kind says what became of a call that failed, and so what to do about it.
type Kind string

// The kinds of [Error].
const (
	KindNetwork      Kind = "network"      // no connection, or it was lost
	KindTimeout      Kind = "timeout"      // the call's time ran out, or its context was cancelled
	KindRateLimited  Kind = "rate_limited" // 429
	KindServer       Kind = "server"       // 5xx, or an answer that is none of ManyChat's
	KindRejected     Kind = "rejected"     // ManyChat refused the request; the same one is refused again
	KindUnauthorized Kind = "unauthorized" // 401: the token is wrong or was replaced
)

// The codes that ManyChat documents. They come with sendContent and reads by user_ref,
// which this client does not call, and serve whoever reads ManyChat's answers.
const (
	CodeUserRefNotRegistered = 2011
	CodeUserRefNotLinked     = 2012 // to a subscriber, yet
	CodeWindowClosed         = 3011 // last interaction over 24 hours ago
	CodeNoTopicToken         = 3021 // no one-time-notification token for the topic
	CodeNotificationReason   = 3031 // last interaction over 24 hours ago, on Instagram
	CodeChannelFirst         = 3040 // 3040 to 3049: cannot send through that channel
	CodeChannelLast          = 3049
)

// Error is a failed call. It holds no token, subscriber id or field value, so it can be
// logged; only a value of one or two characters is left where ManyChat quotes it. Object
// is a name that the caller's configuration chose.
//
// Written is learned through [net/http/httptrace.ClientTrace], which [net/http.Transport]
// and what wraps it report to. Of a transport that reports nothing it is taken to be true: a
// fake that stands for a connection never made has to call the GetConn hook.
type Error struct {
	Kind       Kind
	Endpoint   string        // the last part of the path, such as setCustomFieldByName
	Object     string        // the custom field, tag or flow namespace that the call named
	Status     int           // HTTP status; 0: no answer came
	Code       int           // ManyChat's own code; 0: none given
	Message    string        // redacted, one line, cut after 300 runes
	RetryAfter time.Duration // how long ManyChat asks to wait, at most a day; 0: it does not say
	Written    bool          // of a network error or timeout: the request may have reached ManyChat

	cause error // context.Canceled or context.DeadlineExceeded, or nil
}

// Error names the endpoint, the object, the kind and what ManyChat said.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("manychat: " + e.Endpoint)
	if e.Object != "" {
		fmt.Fprintf(&b, " %q", e.Object)
	}
	fmt.Fprintf(&b, ": %s", e.Kind)
	if e.Status != 0 {
		fmt.Fprintf(&b, ", status %d", e.Status)
	}
	if e.Code != 0 {
		fmt.Fprintf(&b, ", code %d", e.Code)
	}
	if e.Message != "" {
		b.WriteString(": " + e.Message)
	}
	return b.String()
}

// Brief says in a few words what became of the call: kind, status and code. It quotes
// nothing that ManyChat wrote and names nothing of the account, so that it can be kept and
// shown anywhere.
func (e *Error) Brief() string {
	what := strings.ReplaceAll(string(e.Kind), "_", " ")
	switch {
	case e.Kind == KindServer:
		what = "server error"
	case e.Kind != KindRejected:
		return what
	}
	switch {
	case e.Status != 0 && e.Code != 0:
		return fmt.Sprintf("%s (%d, code %d)", what, e.Status, e.Code)
	case e.Status != 0:
		return fmt.Sprintf("%s (%d)", what, e.Status)
	}
	return what
}

// Unwrap returns [context.Canceled] or [context.DeadlineExceeded] where the context
// ended the call, and nil otherwise.
func (e *Error) Unwrap() error { return e.cause }

// Retryable reports whether the same call may succeed later.
func (e *Error) Retryable() bool {
	switch e.Kind {
	case KindNetwork, KindTimeout, KindRateLimited, KindServer:
		return true
	}
	return false
}

// OutcomeUnknown reports whether ManyChat may have done what it was asked: the request
// went out and no answer, or an answer that cannot be read, came back. Sending again
// may then do it twice.
func (e *Error) OutcomeUnknown() bool {
	switch e.Kind {
	case KindNetwork, KindTimeout:
		return e.Written
	case KindServer:
		return isSuccess(e.Status)
	}
	return false
}

func isSuccess(status int) bool { return status >= 200 && status < 300 }

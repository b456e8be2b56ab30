package manychat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/internal/refusal"
)

// noSlot describes a call that found no slot of its rate limit in time, and why. Nothing
// was sent. The limiter gives up as soon as it sees that the deadline will pass, so the
// context is often still alive.
func noSlot(ctx context.Context, why error) Error {
	e := Error{Kind: KindTimeout, Message: "nothing was sent: no slot of the rate limit within the time of the call", cause: ctx.Err()}
	if e.cause == nil {
		e.cause = context.DeadlineExceeded
	}
	if !errors.Is(why, context.Canceled) && !errors.Is(why, context.DeadlineExceeded) {
		e.Message += "; " + why.Error()
	}
	return e
}

// transportError describes a call without an answer. The text of a [url.Error] is left
// out, since it quotes the URL and with it the subscriber id.
func transportError(ctx context.Context, err error, written bool) Error {
	e := Error{Kind: KindNetwork, Written: written, cause: ctx.Err()}
	var timeout net.Error
	if e.cause != nil || (errors.As(err, &timeout) && timeout.Timeout()) {
		e.Kind = KindTimeout
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	e.Message = err.Error()
	return e
}

// judge tells a success, whose data it returns, from a failure.
func judge(resp *http.Response, body []byte, now func() time.Time) (data []byte, failure *Error) {
	e := &Error{
		Kind:       kindOf(resp.StatusCode),
		Status:     resp.StatusCode,
		RetryAfter: refusal.RetryAfter(resp.Header.Get("Retry-After"), now),
	}
	if isSuccess(e.Status) {
		var answer struct {
			Status string          `json:"status"`
			Data   json.RawMessage `json:"data"`
		}
		err := json.Unmarshal(body, &answer)
		switch {
		case err == nil && answer.Status == "success":
			return answer.Data, nil
		case err != nil || answer.Status != "error":
			e.Kind = KindServer
			e.Message = "the answer is none of ManyChat's: " + describe(resp, body)
			return nil, e
		}
	}
	e.Message, e.Code = refusal.Decode(body)
	if e.Message == "" {
		e.Message = describe(resp, body)
	}
	return nil, e
}

// kindOf is the kind of an error answer. Status "error" under a 2xx is a rejection too.
func kindOf(status int) Kind {
	switch {
	case status == http.StatusUnauthorized:
		return KindUnauthorized
	case status == http.StatusTooManyRequests:
		return KindRateLimited
	case status >= 500:
		return KindServer
	}
	return KindRejected
}

// describe stands for an answer that says nothing readable, such as an HTML page,
// without quoting it.
func describe(resp *http.Response, body []byte) string {
	if resp.StatusCode >= 300 && resp.StatusCode < 400 {
		return "a redirect, which is not followed; check the base URL"
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if kind == "" {
		kind = "no content type"
	}
	return fmt.Sprintf("%s, %d bytes", kind, len(body))
}

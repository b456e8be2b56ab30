package manychat

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a [Response].
type Problem struct {
	Path    string // where it is, such as content.messages[0].text
	Message string // what is wrong; never quotes what the response says
}

// InvalidError lists everything that [Response.Validate] found, in the order of the
// response. It quotes no text, caption, value or URL and is safe to log.
type InvalidError struct {
	Channel  Channel
	Problems []Problem
}

// Error names every problem on one line.
func (e *InvalidError) Error() string {
	parts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		parts[i] = p.Path + ": " + p.Message
	}
	return fmt.Sprintf("manychat: response is invalid for %s: %s", e.Channel, strings.Join(parts, "; "))
}

// Validate checks the response against what ManyChat documents for the channel and
// returns an [*InvalidError] with every problem at once, or nil. A nil Messages is a
// problem, an empty one is a silent response. Lengths are counted by [UTF16Len]. The
// size of the media behind a URL, and whether a tag, field or flow exists, cannot be
// seen here.
func (r Response) Validate(c Channel) error {
	v := &validator{}
	caps, ok := CapabilitiesOf(c)
	if !ok {
		v.addf("content.type", "is for an unknown channel; want one of %v", Channels())
		return &InvalidError{Channel: c, Problems: v.problems}
	}
	v.caps = caps
	if r.Version != Version {
		v.addf("version", "must be %q", Version)
	}
	v.contentType(r.Content.Type, c)
	v.messages("content.messages", r.Content.Messages)
	v.actions("content.actions", r.Content.Actions)
	v.quickReplies("content.quick_replies", r.Content.QuickReplies)
	if cb := r.Content.Callback; cb != nil {
		v.callback("content.external_message_callback", *cb)
	}
	if len(v.problems) > 0 {
		return &InvalidError{Channel: c, Problems: v.problems}
	}
	return nil
}

// validator collects the problems of one response.
type validator struct {
	caps     Capabilities
	problems []Problem
}

func (v *validator) addf(path, format string, args ...any) {
	v.problems = append(v.problems, Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

func (v *validator) contentType(got, c Channel) {
	switch want := c.ContentType(); {
	case string(got) == want:
	case want == "":
		v.addf("content.type", "must be left out on %s", c)
	default:
		v.addf("content.type", "must be %q", want)
	}
}

func (v *validator) callback(path string, cb Callback) {
	v.endpoint(path, cb.URL, cb.Method)
	if cb.Timeout < 0 || cb.Timeout > MaxTimeout {
		v.addf(path+".timeout", "must be from 1 to %d seconds, or left out", MaxTimeout)
	}
}

// endpoint checks what ManyChat calls: a URL of ours and a method.
func (v *validator) endpoint(path, rawURL, method string) {
	v.https(path+".url", rawURL)
	v.oneOf(path+".method", method, "get", "post", "put", "delete")
}

// https wants an absolute https URL. Plain http is discouraged by ManyChat where it is
// allowed at all.
func (v *validator) https(path, raw string) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		v.addf(path, "must be an https URL")
	}
}

func (v *validator) required(path, s string) {
	if strings.TrimSpace(s) == "" {
		v.addf(path, "is empty")
	}
}

// text wants something to read, of at most limit UTF-16 units.
func (v *validator) text(path, s string, limit int) {
	v.required(path, s)
	if n := UTF16Len(s); n > limit {
		v.addf(path, "has %d UTF-16 units, at most %d are allowed", n, limit)
	}
}

func (v *validator) atMost(path string, n, limit int) {
	if n > limit {
		v.addf(path, "has %d elements, at most %d are allowed", n, limit)
	}
}

func (v *validator) oneOf(path, got string, want ...string) {
	if !slices.Contains(want, got) {
		v.addf(path, "must be one of %s", strings.Join(want, ", "))
	}
}

func at(path string, i int) string { return fmt.Sprintf("%s[%d]", path, i) }

// UTF16Len returns the number of UTF-16 code units of s, the strictest way to count
// the characters of a message: an emoji outside the basic plane counts as two. It is
// not said which way ManyChat counts. An invalid byte counts as the one unit of U+FFFD
// that it is sent as.
func UTF16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

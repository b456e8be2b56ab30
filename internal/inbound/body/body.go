package body

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/contact"
)

// The limits of docs/spec/02-inbound.md, "Request body", in code points.
const (
	MaxText  = 4096 // of a contact's text; what is longer is cut
	maxField = 256  // of ai_token, course and offering
)

// maxDepth is how deep values of a body may be nested: far more than ManyChat sends.
const maxDepth = 64

// The interventions that reading can leave on a turn, in the order in which they are listed.
const (
	TextTruncated = "text_truncated" // the text was longer than 4096 characters
	BodyRepaired  = "body_repaired"  // the body was not JSON
)

// Read is what a body says.
type Read struct {
	SubscriberID contact.SubscriberID
	Text         string          // as the contact wrote it, at most 4096 code points; may be empty, blank or an unrendered variable
	Token        string          // the contact's token; empty: none
	Offering     string          // what the offering or the course key names; empty: nothing
	Channel      contact.Channel // empty: the body names none that is known
	FirstName    string          // for a tenant with useFirstName alone: never stored or logged; empty: unknown

	Repaired      bool     // the body was not JSON; see the package's documentation
	Interventions []string // nil, or some of [TextTruncated] and [BodyRepaired]
}

// Message reads the body of a message. It is strict with a body that is JSON, and
// repairs one that is not. The problem it returns is for a caller who holds the secret.
func Message(data []byte) (Read, *Problem) {
	if !utf8.Valid(data) {
		return Read{}, notUTF8()
	}
	v, bad := strict(data)
	if bad == nil {
		return v.read()
	}
	if _, parsed := nesting(data); parsed {
		return Read{}, bad
	}
	v, bad = repair(string(data))
	if bad != nil {
		return Read{}, bad
	}
	r, bad := v.read()
	if bad != nil {
		return Read{}, bad
	}
	r.Repaired = true
	r.Interventions = append(r.Interventions, BodyRepaired)
	return r, nil
}

// field is a value as it was sent, decoded; not given: absent or null.
type field struct {
	value string
	given bool
}

// values are the fields of a message's body by their keys.
type values [keyCount]field

// read checks the values and says what they mean.
func (v values) read() (Read, *Problem) {
	id, bad := identify(v[subscriberID])
	if bad != nil {
		return Read{}, bad
	}
	if !v[text].given {
		return Read{}, invalid("text", "required: the contact's message as a string")
	}
	for k := range keyCount {
		if n := k.limit(); n > 0 && utf8.RuneCountInString(v[k].value) > n {
			return Read{}, invalid(k.String(), fmt.Sprintf("longer than %d characters", n))
		}
	}
	r := Read{
		SubscriberID: id,
		Token:        named(v[aiToken].value),
		Offering:     first(named(v[offering].value), named(v[course].value)),
		Channel:      known(v[channel].value),
		FirstName:    named(v[firstName].value),
	}
	r.setText(v[text].value)
	return r, nil
}

// setText takes the contact's words, cut to what a turn holds.
func (r *Read) setText(s string) {
	r.Text = cut(storable(s), MaxText)
	if utf8.RuneCountInString(s) > MaxText {
		r.Interventions = append(r.Interventions, TextTruncated)
	}
}

// identify accepts 1 to 32 digits and keeps them as they were written: the ids exceed
// what a float holds.
func identify(f field) (contact.SubscriberID, *Problem) {
	if !f.given {
		return "", withEvent(InvalidID, invalid("subscriber_id", "required: ManyChat's id of the contact"))
	}
	id, err := contact.ParseSubscriberID(f.value)
	switch {
	case err == nil:
		return id, nil
	case unrendered(f.value):
		return "", withEvent(UnrenderedID, invalid("subscriber_id", "ManyChat sent the name of a variable and not its value: pick the variable from ManyChat's list, names typed by hand stay as they are"))
	}
	return "", withEvent(InvalidID, invalid("subscriber_id", "must be 1 to 32 digits; check that the variable was picked from ManyChat's list"))
}

// named is a value that names something, or nothing: a blank value and a variable that
// ManyChat did not fill name nothing.
func named(value string) string {
	if unrendered(value) {
		return ""
	}
	return storable(strings.TrimSpace(value))
}

// unrendered reports whether a value holds a ManyChat variable in the place of its value.
func unrendered(value string) bool { return strings.Contains(value, "{{") }

// known is a channel by its name, or none.
func known(name string) contact.Channel {
	switch c := contact.Channel(strings.TrimSpace(name)); c {
	case contact.WhatsApp, contact.Instagram, contact.Messenger, contact.Telegram:
		return c
	}
	return ""
}

// first is the first value that is not empty.
func first(names ...string) string {
	for _, n := range names {
		if n != "" {
			return n
		}
	}
	return ""
}

// storable replaces NUL, which a database may refuse.
func storable(s string) string { return strings.ReplaceAll(s, "\x00", "\uFFFD") }

// cut shortens s to at most n code points.
func cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

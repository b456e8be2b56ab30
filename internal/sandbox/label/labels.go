package label

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
)

// Option is a choice of a form: what is posted, and what a person reads.
type Option struct {
	Value, Label string
	Selected     bool
}

// Options labels values for a form. A value without a label is shown as it is, with
// its underscores as spaces.
func Options[V ~string](values []V, labels map[V]string, selected V) []Option {
	all := make([]Option, len(values))
	for i, v := range values {
		label, ok := labels[v]
		if !ok {
			label = strings.ReplaceAll(string(v), "_", " ")
		}
		all[i] = Option{string(v), label, v == selected}
	}
	return all
}

// Chosen is the label of the selected option.
func Chosen(all []Option) string {
	for _, o := range all {
		if o.Selected {
			return o.Label
		}
	}
	return ""
}

// Modes continue "The model …".
func Modes() map[string]string {
	return map[string]string{
		"ok":           "answers well",
		"fail":         "fails with a server error",
		"rate_limit":   "answers 429, too many calls",
		"refuse":       "refuses",
		"empty":        "answers nothing",
		"garbage":      "answers garbage",
		"length":       "is cut off half-way",
		"leak":         "quotes its instructions",
		"invent_price": "invents a price",
		"invent_link":  "invents a link",
		"echo":         "writes a field of the reply",
		"unsure":       "is unsure",
		"too_long":     "writes too much",
		"tool_call":    "calls a tool that does not exist",
		"unknown_id":   "calls its tools with an unknown id",
		"every_tool":   "calls every tool with everything",
		"hang":         "never answers",
		"panic":        "crashes",
	}
}

// Faults continue "ManyChat …".
func Faults() map[fault.Kind]string {
	return map[fault.Kind]string{
		"":                     "works",
		fault.Latency:          "answers 3 s late",
		fault.SlowSuccess:      "does it, answers 21 s late",
		fault.Timeout:          "never answers",
		fault.RateLimited:      "answers 429, too many calls",
		fault.ServerError:      "answers 500",
		fault.ServerErrorHTML:  "answers 502 as a web page",
		fault.Dropped:          "drops the connection",
		fault.LostAnswer:       "does it, the answer is lost",
		fault.RefusedKey:       "refuses the API key",
		fault.OKWithError:      "answers 200 with an error",
		fault.SilentSuccess:    "says done, does nothing",
		fault.FalseMissing:     "says no such contact",
		fault.MissingField:     "lost the reply field",
		fault.MissingFlow:      "lost the reply flow",
		fault.LostInbound:      "loses the contact's message",
		fault.DuplicateInbound: "sends the message twice",
	}
}

// FamilyLabels say which calls a fault meets.
func FamilyLabels() map[string]string {
	return map[string]string{
		"":                  "on every call",
		"sendFlow":          "on the flow's trigger",
		"subscriber writes": "on the field's write",
	}
}

// Families are the choices of the calls that a fault meets.
func Families() []string { return []string{"", "sendFlow", "subscriber writes"} }

// TimesLabels say how often a fault strikes, by the number of calls.
func TimesLabels() map[string]string {
	return map[string]string{"0": "until off", "1": "once", "2": "twice", "5": "5 times"}
}

// Times are the choices of how often a fault strikes.
func Times() []string { return []string{"0", "1", "2", "5"} }

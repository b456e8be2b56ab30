// Package label is the words, and their tones, that the phone page has for what is recorded
// and for what its switches can be set to.
package label

import "strings"

// Badge is a word in a colour. The word alone says it; the colour is for those who see it.
// Tones are good, bad, wait and plain.
type Badge struct{ Text, Tone string }

// BadgeOf is the badge of a recorded word. One that is not known yet stands as it is.
func BadgeOf(known map[string]Badge, word string) Badge {
	if b, ok := known[word]; ok {
		return b
	}
	return Badge{Words(word), "plain"}
}

// Words is a recorded word for a person to read.
func Words(word string) string { return strings.ReplaceAll(word, "_", " ") }

// Statuses are what became of an action.
func Statuses() map[string]Badge {
	return map[string]Badge{
		"staged":           {"staged", "wait"},
		"sending":          {"sending", "wait"},
		"performed":        {"performed", "good"},
		"failed":           {"failed", "bad"},
		"discarded":        {"discarded", "plain"},
		"dropped_over_cap": {"over the cap", "bad"},
		"dead_lettered":    {"dead-lettered", "bad"},
	}
}

// Answers are what a call was told.
func Answers() map[string]Badge {
	return map[string]Badge{
		"staged":     {"staged", "wait"},
		"sent":       {"sent", "good"},
		"read":       {"read", "good"},
		"not staged": {"not staged", "bad"},
		"not sent":   {"not sent", "bad"},
		"not read":   {"not read", "bad"},
		"bad call":   {"bad call", "bad"},
	}
}

// Rows are where an outbox row stands.
func Rows() map[string]Badge {
	return map[string]Badge{
		"pending":    {"outbox: pending", "wait"},
		"delivering": {"outbox: delivering", "wait"},
		"delivered":  {"outbox: delivered", "good"},
		"dead":       {"outbox: dead", "bad"},
		"withheld":   {"outbox: withheld", "bad"},
		"discarded":  {"outbox: discarded", "plain"},
	}
}

// States are where a turn stands that has no outcome yet.
func States() map[string]Badge {
	return map[string]Badge{
		"waiting":   {"waits for an earlier turn", "wait"},
		"running":   {"running", "wait"},
		"answering": {"answering", "wait"},
	}
}

// Outcomes are the outcomes that a person should notice.
func Outcomes() map[string]Badge {
	return map[string]Badge{
		"answered":           {"answered", "good"},
		"answered_scripted":  {"answered by script", "good"},
		"escalated":          {"escalated", "bad"},
		"escalated_precheck": {"escalated before the model", "bad"},
		"escalated_error":    {"escalated for an error", "bad"},
		"merged":             {"answered with a later message", "plain"},
		"duplicate":          {"the same message once more", "plain"},
	}
}

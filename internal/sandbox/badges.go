package sandbox

import "strings"

// badge is a word in a colour. The word alone says it; the colour is for those who see it.
// Tones are good, bad, wait and plain.
type badge struct{ Text, Tone string }

// badgeOf is the badge of a recorded word. One that is not known yet stands as it is.
func badgeOf(known map[string]badge, word string) badge {
	if b, ok := known[word]; ok {
		return b
	}
	return badge{words(word), "plain"}
}

// words is a recorded word for a person to read.
func words(word string) string { return strings.ReplaceAll(word, "_", " ") }

// statusBadges are what became of an action.
func statusBadges() map[string]badge {
	return map[string]badge{
		"staged":           {"staged", "wait"},
		"sending":          {"sending", "wait"},
		"performed":        {"performed", "good"},
		"failed":           {"failed", "bad"},
		"discarded":        {"discarded", "plain"},
		"dropped_over_cap": {"over the cap", "bad"},
		"dead_lettered":    {"dead-lettered", "bad"},
	}
}

// answerBadges are what a call was told.
func answerBadges() map[string]badge {
	return map[string]badge{
		"staged":     {"staged", "wait"},
		"sent":       {"sent", "good"},
		"read":       {"read", "good"},
		"not staged": {"not staged", "bad"},
		"not sent":   {"not sent", "bad"},
		"not read":   {"not read", "bad"},
		"bad call":   {"bad call", "bad"},
	}
}

// rowBadges are where an outbox row stands.
func rowBadges() map[string]badge {
	return map[string]badge{
		"pending":    {"outbox: pending", "wait"},
		"delivering": {"outbox: delivering", "wait"},
		"delivered":  {"outbox: delivered", "good"},
		"dead":       {"outbox: dead", "bad"},
		"withheld":   {"outbox: withheld", "bad"},
		"discarded":  {"outbox: discarded", "plain"},
	}
}

// outcomeBadges are the outcomes that a person should notice.
func outcomeBadges() map[string]badge {
	return map[string]badge{
		"answered":           {"answered", "good"},
		"answered_scripted":  {"answered by script", "good"},
		"escalated":          {"escalated", "bad"},
		"escalated_precheck": {"escalated before the model", "bad"},
		"escalated_error":    {"escalated for an error", "bad"},
	}
}

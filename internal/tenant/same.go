package tenant

import "strings"

// Whether two names are of one object in ManyChat (docs/reference/manychat-platform.md, sections
// 2.2 and 3.1). It is decided here and nowhere else. White space around a name is no part of it.

// fieldKey is what the names of one custom field have in common: their case does not count.
// Lower case by way of upper case brings ſ and s together, as folding does.
func fieldKey(name string) string { return strings.ToLower(strings.ToUpper(strings.TrimSpace(name))) }

// flowKey is what namespaces of one flow have in common. ManyChat makes them of digits and
// one word, so that no two differ in their case.
func flowKey(ns string) string { return strings.ToLower(strings.TrimSpace(ns)) }

// tagKey is the name of a tag, whose case counts: an account may have both VIP and vip.
func tagKey(name string) string { return strings.TrimSpace(name) }

// SameField reports whether two names are of one custom field. No name is of none.
func SameField(a, b string) bool { return same(fieldKey, a, b) }

func sameFlow(a, b string) bool { return same(flowKey, a, b) }

func sameTag(a, b string) bool { return same(tagKey, a, b) }

func same(key func(name string) string, a, b string) bool { return key(a) != "" && key(a) == key(b) }

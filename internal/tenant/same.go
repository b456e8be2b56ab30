package tenant

import "strings"

// Whether two names are of one object in ManyChat (docs/reference/manychat-platform.md, sections
// 2.2 and 3.1). White space around a name is no part of it.

// fieldKey is what the names of one custom field have in common: their case does not count.
func fieldKey(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

// flowKey is what namespaces of one flow have in common. ManyChat makes them of digits and
// one word, so that no two differ in their case.
func flowKey(ns string) string { return strings.ToLower(strings.TrimSpace(ns)) }

func sameFlow(a, b string) bool { return flowKey(a) != "" && flowKey(a) == flowKey(b) }

// sameTag compares the names of tags, whose case counts: VIP and vip may both exist.
func sameTag(a, b string) bool {
	a, b = strings.TrimSpace(a), strings.TrimSpace(b)
	return a != "" && a == b
}

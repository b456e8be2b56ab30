package telemetry

import (
	"regexp"
	"slices"
	"sync"
)

// otherLabel stands for a label value that does not belong to its set.
const otherLabel = "other"

// names is a set of label values that closes itself: the first so many that have the
// shape of a name. What comes later, or looks otherwise, is "other".
type names struct {
	most  int
	mu    sync.Mutex
	known []string
}

var nameShape = regexp.MustCompile(`^[a-z_]{1,40}$`)

func (n *names) label(value string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case slices.Contains(n.known, value):
		return value
	case len(n.known) >= n.most || !nameShape.MatchString(value):
		return otherLabel
	}
	n.known = append(n.known, value)
	return value
}

package body

import "slices"

// survey is what each weighed key means in the readings that have it, each meaning once.
type survey [keyCount][]string

// survey walks through every reading, each place once a set of keys before it.
func (r *readings) survey() *survey {
	s := &survey{}
	// The keys picked before this place, when the value before it must end here, and
	// when it may end at any later place.
	var here, later [keySets]bool
	here[0] = true
	for i, p := range r.places {
		var next [keySets]bool
		picked := false
		for used := range keySet(keySets) {
			if !here[used] && !later[used] || r.ahead[i][used].cost == impossible {
				continue
			}
			picked = true
			if p.key.pinned() {
				next[used.with(p.key)] = true
			} else {
				later[used.with(p.key)] = true
			}
		}
		if picked && p.fits && p.key.weighed() {
			s.add(p.key, significance(p.key, meaning(r.literal(i, i+1)).value))
		}
		here = next
	}
	return s
}

func (s *survey) add(k key, meant string) {
	if !slices.Contains(s[k], meant) {
		s[k] = append(s[k], meant)
	}
}

// significance is what matters of a value.
func significance(k key, value string) string {
	switch k {
	case aiToken, course, offering:
		return named(value)
	case channel:
		return string(known(value))
	}
	return value
}

// differ names the first key of which the readings do not all say what the best says.
func (s *survey) differ(best values) (key, bool) {
	for k := range keyCount {
		for _, said := range s[k] {
			if said != significance(k, best[k].value) {
				return k, true
			}
		}
	}
	return 0, false
}

package body

import (
	"math"
	"strings"
)

// readings are all the ways to read a body that is not JSON, by the rule of the
// package's documentation. The table ahead is filled from the end of the body to its
// beginning, so the work grows with the places and not with the readings.
type readings struct {
	body   string
	places []place
	end    int              // offset where the last value ends
	ahead  [][keySets]ahead // by the next place to pick and the keys picked before it; past the last place: the end
}

// ahead is the best way to read on.
type ahead struct {
	cost int16 // of what is still to pick, less is better; impossible: there is no way
	next int16 // where the value of the place that is picked ends: a later place, or the end
}

// What counts more outweighs all that counts less: a value that does not fit, then a key
// that is there, then a quote that is not closed.
const (
	impossible = math.MaxInt16
	keyWorth   = int16(keyCount) + 1
	unfit      = int16(keyCount) * keyWorth
)

func newReadings(body string, places []place) *readings {
	r := &readings{body: body, places: places, ahead: make([][keySets]ahead, len(places)+1)}
	rest := strings.TrimRight(body, white)
	rest = strings.TrimRight(strings.TrimSuffix(rest, "}"), white)
	rest = strings.TrimRight(strings.TrimSuffix(rest, ","), white)
	r.end = len(rest)
	for i := range places {
		places[i].fits = fits(places[i].key, r.literal(i, i+1))
	}
	r.look()
	return r
}

// literal is the value of a place as it is written, when it ends at another place or at the end.
func (r *readings) literal(from, to int) string {
	end := r.end
	if to < len(r.places) {
		end = r.places[to].comma
	}
	start := r.places[from].value
	return strings.Trim(r.body[start:max(start, end)], white)
}

// look fills the table.
func (r *readings) look() {
	n := len(r.places)
	// The best of the places behind, the end among them, by the keys picked before: those
	// that close a quoted value and the others.
	var closed, open [keySets]ahead
	for used := range keySet(keySets) {
		closed[used].cost, open[used].cost = impossible, impossible
		if !used.complete() {
			r.ahead[n][used].cost = impossible
		}
	}
	for i := n; ; i-- {
		if i < n {
			for used := range keySet(keySets) {
				r.ahead[i][used] = r.pick(i, used, closed[used.with(r.places[i].key)], open[used.with(r.places[i].key)])
			}
		}
		if i == 0 {
			return
		}
		behind := &open
		if strings.HasSuffix(r.literal(i-1, i), `"`) {
			behind = &closed
		}
		for used, a := range r.ahead[i] {
			if a.cost < impossible && a.cost <= behind[used].cost {
				behind[used] = ahead{a.cost, int16(i)}
			}
		}
	}
}

// pick is the best way to read on when a place is picked after some keys; closed and
// open are the best ends that a value can have which is not pinned.
func (r *readings) pick(i int, used keySet, closed, open ahead) ahead {
	p := r.places[i]
	best := ahead{impossible, 0}
	switch {
	case used.has(p.key), p.key.pinned() && !p.fits:
		return best
	case p.key.pinned():
		best = ahead{r.ahead[i+1][used.with(p.key)].cost, int16(i + 1)}
	default:
		if open.cost < impossible && opens(r.body[p.value:]) {
			open.cost++
		}
		best = closed
		if open.cost < closed.cost || open.cost == closed.cost && open.next < closed.next {
			best = open
		}
	}
	switch {
	case best.cost == impossible:
	case p.fits:
		best.cost -= keyWorth
	default:
		best.cost += unfit
	}
	return best
}

// best reads the body the best way; ok is false if there is none.
func (r *readings) best() (v values, ok bool) {
	if len(r.places) == 0 {
		return v, false
	}
	var used keySet
	for i := 0; i < len(r.places); {
		a, k := r.ahead[i][used], r.places[i].key
		if a.cost == impossible {
			return v, false
		}
		v[k] = meaning(r.literal(i, int(a.next)))
		used, i = used.with(k), int(a.next)
	}
	return v, true
}

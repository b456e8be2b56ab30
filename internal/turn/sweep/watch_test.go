package sweep

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// look is what one look at the others saw; of a process that failed to look nothing.
type look struct {
	at    time.Duration
	took  time.Duration
	beats map[string]int64
}

func failed(at time.Duration) look { return look{at: at} }

// Holds docs/spec/03-turn.md, "Crash recovery": a process is dead when its beat was seen
// unchanged for the lease, while the watcher's own beats succeeded.
func TestWatch(t *testing.T) {
	const s, lease = time.Second, 15 * time.Second
	b := func(beats int64) map[string]int64 { return map[string]int64{"b": beats} }
	for name, c := range map[string]struct {
		looks []look
		want  []string
	}{
		"nobody":               {nil, nil},
		"one that beats":       {[]look{{0, 0, b(1)}, {10 * s, 0, b(2)}, {20 * s, 0, b(3)}, {30 * s, 0, b(4)}}, nil},
		"just seen":            {[]look{{100 * s, 0, b(7)}}, nil},
		"a lease of silence":   {[]look{{0, 0, b(1)}, {5 * s, 0, b(1)}, {10 * s, 0, b(1)}, {15 * s, 0, b(1)}}, []string{"b"}},
		"less than a lease":    {[]look{{0, 0, b(1)}, {5 * s, 0, b(1)}, {15*s - 1, 0, b(1)}}, nil},
		"a beat in between":    {[]look{{0, 0, b(1)}, {10 * s, 0, b(1)}, {14 * s, 0, b(2)}, {20 * s, 0, b(2)}}, nil},
		"a failure in between": {[]look{{0, 0, b(1)}, {10 * s, 0, b(1)}, failed(12 * s), {20 * s, 0, b(1)}, {30 * s, 0, b(1)}}, nil},
		"a lease since a failure": {
			[]look{{0, 0, b(1)}, failed(5 * s), {10 * s, 0, b(1)}, {20 * s, 0, b(1)}, {25 * s, 0, b(1)}}, []string{"b"},
		},
		"only failures":      {[]look{{0, 0, b(1)}, failed(5 * s), failed(10 * s), failed(60 * s)}, nil},
		"one that is gone":   {[]look{{0, 0, b(1)}, {10 * s, 0, b(1)}, {20 * s, 0, nil}}, nil},
		"one that came back": {[]look{{0, 0, b(9)}, {10 * s, 0, b(9)}, {20 * s, 0, b(1)}}, nil},
		"several, in order": {[]look{
			{0, 0, map[string]int64{"d": 1, "c": 1, "b": 1}}, {20 * s, 0, map[string]int64{"d": 1, "c": 2, "b": 1}},
		}, []string{"b", "d"}},
		// Its beat of the first look may be as young as that look's end.
		"slow looks":           {[]look{{0, 4 * s, b(1)}, {10 * s, 4 * s, b(1)}, {20 * s, 4 * s, b(1)}}, nil},
		"silence of slow ones": {[]look{{0, 4 * s, b(1)}, {10 * s, 4 * s, b(1)}, {20 * s, 4 * s, b(1)}, {30 * s, 4 * s, b(1)}}, []string{"b"}},
	} {
		var w watch
		start := time.Now()
		for i, l := range c.looks {
			if l.beats == nil && i > 0 && name != "one that is gone" {
				w.lose()
				continue
			}
			w.see(l.beats, start.Add(l.at), start.Add(l.at+l.took))
		}
		if d := cmp.Diff(c.want, names(w.silent(lease))); d != "" {
			t.Errorf("%s: dead (-want +got):\n%s", name, d)
		}
	}
}

// A process that is buried is forgotten until it is seen again.
func TestWatchForgets(t *testing.T) {
	var w watch
	start := time.Now()
	beats := map[string]int64{"b": 1, "c": 1}
	w.see(beats, start, start)
	w.see(beats, start.Add(time.Minute), start.Add(time.Minute))
	w.forget([]string{"b"})
	if d := cmp.Diff([]string{"c"}, names(w.silent(time.Minute))); d != "" {
		t.Errorf("dead (-want +got):\n%s", d)
	}
	w.see(beats, start.Add(2*time.Minute), start.Add(2*time.Minute))
	if d := cmp.Diff([]string{"c"}, names(w.silent(time.Minute))); d != "" {
		t.Errorf("dead once it was seen again (-want +got):\n%s", d)
	}
}

// names leaves the beats out.
func names(dead []string, _ map[string]int64) []string { return dead }

package simtest

import (
	"flag"
	"fmt"
	"strings"
	"testing"
)

var (
	one   = flag.Int64("seed", -1, "the one seed to replay, with its trace")
	seeds = flag.Uint64("seeds", 20, "how many seeds to play")
	from  = flag.Uint64("from", 0, "the first of them")
	twice = flag.Bool("twice", false, "play each seed twice and compare")
)

// Holds docs/spec/17-quality.md, "Reliability": the whole service under seeded faults keeps
// every invariant.
func TestSimulation(t *testing.T) {
	template, err := NewTemplate(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	play := func(seed uint64) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			r := Play(t, seed, template, t.TempDir())
			if *one >= 0 {
				t.Logf("%s\nhash %s", strings.Join(r.Trace, "\n"), hashOf(r.Trace))
				for name, log := range r.Logs {
					t.Logf("log of %s:\n%s", name, log)
				}
			}
			if *twice {
				again := Play(t, seed, template, t.TempDir())
				if d := Diverge(r.Trace, again.Trace); d != "" {
					t.Errorf("two plays differ: %s", d)
				}
			}
			for _, b := range r.Broken {
				t.Errorf("seed %d: %s", seed, b)
			}
		})
	}
	if *one >= 0 {
		play(uint64(*one))
		return
	}
	for seed := *from; seed < *from+*seeds; seed++ {
		play(seed)
	}
}

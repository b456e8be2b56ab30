package simtest

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
)

// Result is what a play came to.
type Result struct {
	Seed   uint64
	Broken []string // the invariants that did not hold
	Trace  []string
	Counts map[string]int    // what happened, by what it is
	Logs   map[string]string // of the processes, by their names
}

// Play plays a seed in a folder of its own.
func Play(t *testing.T, seed uint64, template template, folder string) (r Result) {
	t.Helper()
	content, err := os.ReadFile(string(template))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "agent.db"), content, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		w := open(t, seed, folder)
		w.live()
		w.settle()
		w.end()
		w.check()
		counts := w.counts()
		if err := w.db.Close(); err != nil {
			t.Error(err)
		}
		r = Result{Seed: seed, Broken: w.broken, Trace: w.trace.sorted(), Counts: counts, Logs: map[string]string{}}
		for _, p := range w.all {
			r.Logs[p.name] = p.log.String()
		}
	})
	return r
}

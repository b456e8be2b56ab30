package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// sample is what the process took at one moment of a soak.
type sample struct {
	at          time.Duration // since the first
	resident    float64       // MiB, of the whole process
	heap        float64       // MiB, what the last collection of garbage found in use
	goroutines  float64
	descriptors float64
	connections float64 // sockets among the descriptors
	turns       float64 // settled since the start
	rate        float64 // settled a second since the sample before
	outbox      int     // rows that are not over
	database    float64 // MiB, the file and its log
	load        float64 // of the machine, over a minute: what else ran on it shows here
}

const mebi = 1 << 20

// watch takes samples for as long as the soak takes.
func (s *soak) watch(plan soakPlan) (all []sample) {
	start := time.Now()
	tick := time.NewTicker(plan.every)
	defer tick.Stop()
	for time.Since(start) < plan.soak {
		now, err := s.measure()
		now.at = time.Since(start)
		if n := len(all); n > 0 {
			now.rate = (now.turns - all[n-1].turns) / (now.at - all[n-1].at).Seconds()
		}
		if err == nil {
			all = append(all, now)
		} else {
			s.t.Logf("a sample could not be taken: %v", err)
		}
		<-tick.C
	}
	if len(all) > 1 {
		all[0].rate = all[1].rate
	}
	return all
}

// measure takes a sample: from /metrics of the service, and what that does not tell from
// /proc, the database and the disk.
func (s *soak) measure() (now sample, err error) {
	resp, err := s.process.http.Get("http://" + s.metrics + "/metrics")
	if err != nil {
		return now, err
	}
	page, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return now, err
	}
	read := func(name string) float64 {
		value, found := summed(page, name)
		if !found {
			err = cmp.Or(err, fmt.Errorf("/metrics lacks %s", name))
		}
		return value
	}
	now.resident, now.heap = read("process_resident_memory_bytes")/mebi, read("heap_live_bytes")/mebi
	now.goroutines, now.descriptors = read("goroutines"), read("process_open_fds")
	now.turns, _ = summed(page, "turns_total") // it has no series before the first turn
	if err != nil {
		return now, err
	}
	for _, file := range []string{databaseFile, databaseFile + "-wal"} {
		info, err := os.Stat(filepath.Join(s.folder, file))
		if err != nil {
			return now, err
		}
		now.database += float64(info.Size()) / mebi
	}
	if now.connections, err = sockets(s.process.cmd.Process.Pid); err != nil {
		return now, err
	}
	if now.load, err = loadAverage(); err != nil {
		return now, err
	}
	return now, s.database.QueryRow("SELECT count(*) FROM outbox WHERE status IN ('pending', 'delivering')").Scan(&now.outbox)
}

// summed is a metric of the service, summed up over its labels.
func summed(page []byte, name string) (sum float64, found bool) {
	for line := range bytes.Lines(page) {
		rest, ok := bytes.CutPrefix(line, []byte("manychat_agent_"+name))
		if !ok || rest[0] != ' ' && rest[0] != '{' {
			continue
		}
		value, err := strconv.ParseFloat(string(bytes.TrimSpace(rest[bytes.LastIndexByte(rest, ' '):])), 64)
		if err == nil {
			sum, found = sum+value, true
		}
	}
	return sum, found
}

// sockets counts those that a process has open.
func sockets(pid int) (n float64, err error) {
	folder := fmt.Sprintf("/proc/%d/fd", pid)
	open, err := os.ReadDir(folder)
	if err != nil {
		return 0, err
	}
	for _, descriptor := range open {
		// One that is closed meanwhile counts no more.
		if leads, err := os.Readlink(filepath.Join(folder, descriptor.Name())); err == nil && strings.HasPrefix(leads, "socket:") {
			n++
		}
	}
	return n, nil
}

func loadAverage() (float64, error) {
	content, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(string(content), " ")
	return strconv.ParseFloat(first, 64)
}

// figure is a column of the results.
type figure struct {
	name   string
	of     func(sample) float64
	steady bool // it is not to grow
	panel  int  // of the graph; panels may have two
}

func soakFigures() []figure {
	return []figure{
		{"resident MiB", func(s sample) float64 { return s.resident }, true, 0},
		{"live heap MiB", func(s sample) float64 { return s.heap }, true, 0},
		{"goroutines", func(s sample) float64 { return s.goroutines }, true, 1},
		{"descriptors", func(s sample) float64 { return s.descriptors }, true, 2},
		{"connections", func(s sample) float64 { return s.connections }, true, 2},
		{"turns a second", func(s sample) float64 { return s.rate }, false, 3},
		{"outbox rows", func(s sample) float64 { return float64(s.outbox) }, false, 4},
		{"database MiB", func(s sample) float64 { return s.database }, false, 5},
		{"load", func(s sample) float64 { return s.load }, false, 6},
	}
}

// trend is a figure's line, fitted by least squares to what came after the warm-up.
type trend struct {
	mean, slope float64       // of the figure, and what it gains an hour
	over        time.Duration // what it was fitted to
	from        time.Duration // where that begins
	first       float64       // the line there
}

// fit finds the line of a figure.
func fit(samples []sample, warm time.Duration, of func(sample) float64) (t trend) {
	var n, x, y, xx, xy float64
	for _, s := range samples {
		if s.at < warm {
			continue
		}
		if n == 0 {
			t.from = s.at
		}
		hours, value := s.at.Hours(), of(s)
		n, x, y, xx, xy = n+1, x+hours, y+value, xx+hours*hours, xy+hours*value
		t.over = s.at - t.from
	}
	if n == 0 {
		return t
	}
	t.mean = y / n
	if spread := n*xx - x*x; spread > 0 {
		t.slope = (n*xy - x*y) / spread
	}
	t.first = t.mean + t.slope*(t.from.Hours()-x/n)
	return t
}

// growth is what the line gains over all it was fitted to, as a part of the figure's mean.
func (t trend) growth() float64 {
	if t.mean == 0 {
		return 0
	}
	return t.slope * t.over.Hours() / t.mean
}

func (t trend) String() string {
	return fmt.Sprintf("mean %.1f, %+.2f an hour, %+.2f %% over %v", t.mean, t.slope, 100*t.growth(), t.over.Round(time.Second))
}

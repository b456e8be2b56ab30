package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/chatapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
)

const (
	// regulars are the contacts who come back; one message in strangers is of somebody new.
	regulars, strangers = 2000, 20
	// One in slowOne calls of the model takes longer than the race, so that its reply goes
	// through the outbox.
	slowOne    = 50
	raceEndsMS = "2000"
	slowModel  = 3 * time.Second
	// writersAtOnce is how many contacts wait for an answer while it is measured how many there
	// may be a second, and writersAtMost while half as many come.
	writersAtOnce, writersAtMost = 16, 512
	// handsOff: one message in so many may be handed off, on a machine that has stood still.
	handsOff = 1000
	// databaseFile is where a serve has its database.
	databaseFile = "data/agent.db"
	// grows is by which part of its mean a figure may rise, as its line is fitted, between the
	// end of the warm-up and that of the soak.
	grows = 0.05
)

// soakPlan is how long the parts of a soak take.
type soakPlan struct {
	measure, soak, warm, every time.Duration
	to                         string // the folder of soak.csv and soak.svg; empty: nothing is written
}

// soakPlanOf is SOAK=30m, with its results in the folder SOAK_TO. Without it, seconds show
// that the tool works.
func soakPlanOf(t *testing.T) soakPlan {
	t.Helper()
	asked := os.Getenv("SOAK")
	if asked == "" {
		return soakPlan{measure: 500 * time.Millisecond, soak: 2 * time.Second, warm: time.Second, every: 200 * time.Millisecond}
	}
	p := soakPlan{measure: 20 * time.Second, every: 10 * time.Second, to: os.Getenv("SOAK_TO")}
	var err error
	if p.soak, err = time.ParseDuration(asked); err != nil || p.soak < time.Minute {
		t.Fatalf("SOAK=%s is no duration of a minute or more", asked)
	}
	p.warm = p.soak / 6 // 5 minutes of 30
	return p
}

// Holds docs/spec/17-quality.md, "Reliability", soak: a real serve on a SQLite file takes
// half of what it can for SOAK, answers everybody, and grows in nothing but its database.
func TestSoak(t *testing.T) {
	plan := soakPlanOf(t)
	s := newSoak(t, plan)
	ctx := t.Context()
	most := s.write(ctx, plan.measure, writersAtOnce, math.Inf(1))
	t.Logf("%d contacts at once: %.0f messages a second", writersAtOnce, most)

	s.halts.Store(true)
	sampled := make(chan []sample, 1)
	go func() { sampled <- s.watch(plan) }()
	written := s.write(ctx, plan.soak, writersAtMost, most/2)
	samples := <-sampled
	t.Logf("half of it: %.0f a second of %.0f; %d answered, %d of them late, %d handed off", written, most/2, s.answered.Load(), s.late.Load(), s.handed.Load())
	if s.handed.Load()*handsOff > s.answered.Load() {
		t.Errorf("more than one message in %d was handed off", handsOff)
	}

	figures := soakFigures()
	for _, f := range figures {
		line := fit(samples, plan.warm, f.of)
		t.Logf("%s: %s", f.name, line)
		if f.steady && plan.to != "" && line.growth() > grows {
			t.Errorf("%s grows: %s", f.name, line)
		}
	}
	s.emptied()
	if plan.to == "" {
		return
	}
	picture := graph{samples: samples, warm: plan.warm, title: fmt.Sprintf("%v at %.0f messages a second", plan.soak, most/2)}
	err := errors.Join(
		os.WriteFile(filepath.Join(plan.to, "soak.csv"), table(samples, figures), 0o644),
		os.WriteFile(filepath.Join(plan.to, "soak.svg"), picture.draw(figures), 0o644))
	if err != nil {
		t.Error(err)
	}
}

// soak is a serve of the built program, and the people who write to it.
type soak struct {
	*deployment
	process  *process
	metrics  string
	database *sql.DB // read beside the service

	halts                          atomic.Bool // the model, now and then
	newcomers                      atomic.Int64
	answered, late, handed, failed atomic.Int64
}

func newSoak(t *testing.T, plan soakPlan) *soak {
	t.Helper()
	s := &soak{deployment: newDeployment(t)}
	s.relax()
	free := httptest.NewServer(nil)
	s.metrics = free.Listener.Addr().String()
	free.Close()
	model := httptest.NewServer(s.model())
	t.Cleanup(model.Close)
	s.env = append(s.env, "AGENT_MODEL=openai-compatible:demo", "OPENAI_COMPATIBLE_BASE_URL="+model.URL+"/v1",
		"MANYCHAT_RPS_SCALE=1000", "RACE_DEADLINE_MS="+raceEndsMS, "METRICS_ADDR="+s.metrics, "LOG_LEVEL=warn")
	if _, err := s.at.DefineTag("needs-a-person"); err != nil {
		t.Fatal(err)
	}
	for n := range regulars {
		s.join(fmt.Sprint(1_000_000_000 + n))
	}
	if plan.to != "" {
		s.program = []string{build(t)}
	}
	s.process = s.serve()
	var err error
	if s.database, err = sql.Open("sqlite", "file:"+filepath.Join(s.folder, databaseFile)+"?mode=ro&_pragma=busy_timeout(5000)"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.database.Close() })
	return s
}

// build makes the program as it is released.
func build(t *testing.T) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "manychat-agent")
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("the program does not build: %v\n%s", err, out)
	}
	return program
}

// model is the mock model behind the chat completions protocol, which answers at once, but for
// one request in [slowOne] while it halts. A server of the protocol keeps what it was asked,
// so each request has its own.
func (s *soak) model() http.Handler {
	var asked atomic.Int64
	model := mock.New()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.halts.Load() && asked.Add(1)%slowOne == 1 {
			select {
			case <-time.After(slowModel):
			case <-r.Context().Done():
				return
			}
		}
		chatapi.New(model, "").ServeHTTP(w, r)
	})
}

func (s *soak) join(id string) {
	if _, err := s.at.AddContact(manychattest.Contact{ID: id}); err != nil {
		s.t.Error(err)
	}
}

// write has people write for a while, so many a second at most, and returns how many it were.
// Each of the writers waits for the answer before it goes on.
func (s *soak) write(ctx context.Context, during time.Duration, writers int, rate float64) float64 {
	ctx, cancel := context.WithTimeout(ctx, during)
	defer cancel()
	var next, done atomic.Int64
	start := time.Now()
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for {
				due := start.Add(time.Duration(float64(next.Add(1)) / rate * float64(time.Second)))
				select {
				case <-time.After(time.Until(due)):
				case <-ctx.Done():
				}
				if ctx.Err() != nil {
					return
				}
				s.message()
				done.Add(1)
			}
		})
	}
	all.Wait()
	return float64(done.Load()) / time.Since(start).Seconds()
}

// message is one contact's message, and a look at what it got.
func (s *soak) message() {
	id := fmt.Sprint(1_000_000_000 + rand.IntN(regulars))
	if rand.IntN(strangers) == 0 {
		id = fmt.Sprint(2_000_000_000 + s.newcomers.Add(1))
		s.join(id)
	}
	text := fmt.Sprintf("how much is the wheel course for %d people?", 1+rand.IntN(1000))
	exchange, err := s.at.Send(context.Background(), id, manychattest.Input{Text: text})
	if err != nil || exchange.Failure != "" {
		if s.failed.Add(1) < 10 {
			s.t.Errorf("a message got no answer: %v, %s %s", err, exchange.Failure, exchange.Reason)
		}
		return
	}
	s.answered.Add(1)
	for _, item := range exchange.Shown {
		switch {
		case item.Text == ack:
			s.late.Add(1)
		case strings.HasPrefix(item.Text, escalation):
			s.handed.Add(1)
		case !strings.Contains(item.Text, "240 EUR") && s.failed.Add(1) < 10:
			s.t.Errorf("%s was shown %q", id, item.Text)
		}
	}
}

// unfinished is how many turns and rows of the outbox are not over.
const unfinished = `
SELECT (SELECT count(*) FROM turns WHERE state NOT IN ('settled', 'merged'))
    + (SELECT count(*) FROM outbox WHERE status IN ('pending', 'delivering'))`

// outcome is how many rows of the outbox were not delivered, and how many were late replies.
const outcome = `
SELECT count(*) FILTER (WHERE status <> 'delivered'), count(*) FILTER (WHERE kind = 'reply') FROM outbox`

// emptied waits until everything is delivered that went to the outbox, and looks at the log.
func (s *soak) emptied() {
	s.t.Helper()
	err := eventually(func() error {
		var left int
		err := s.database.QueryRow(unfinished).Scan(&left)
		if err == nil && left > 0 {
			err = fmt.Errorf("%d turns and rows of the outbox are not over", left)
		}
		return err
	})
	if err != nil {
		s.t.Error(err)
	}
	var lost, late int
	err = s.database.QueryRow(outcome).Scan(&lost, &late)
	if err != nil || lost > 0 || late == 0 {
		s.t.Errorf("of %d late replies and the tokens %d rows were not delivered: %v", late, lost, err)
	}
	for line := range strings.Lines(s.process.log.String()) {
		if strings.Contains(line, `"level":"ERROR"`) && !strings.Contains(line, `"load shed"`) { // which is counted
			s.t.Errorf("the log speaks of an error: %s", line)
		}
	}
}

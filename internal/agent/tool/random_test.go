package tool_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
)

// Holds docs/spec/07-tools.md, "The tools", "Bounds" and "The action record": whatever is
// called in whatever order, however the account behaves and whenever the turn is cut off,
// the record, what is pending, what the account saw, what the model was told and the trace
// agree with the rules and with each other; and nothing that must stay here is in any of it.
func TestRandom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := draw(rt)
		var wrong []string
		synctest.Test(t, func(t *testing.T) { wrong = play(t.Context(), p) })
		if len(wrong) > 0 {
			rt.Fatalf("%s\nof %+v", strings.Join(wrong, "\n"), p)
		}
	})
}

// play plays a program at a desk and returns in what it differs from the model.
func play(ctx context.Context, p program) (wrong []string) {
	differ := func(what string, want, got any) {
		if d := cmp.Diff(want, got); d != "" {
			wrong = append(wrong, what+" (-want +got):\n"+d)
		}
	}
	m := newModel(p)
	m.play()
	want := m.result()

	a := &account{}
	d := tool.NewDesk(p.turn(a))
	shown := fmt.Sprint(specs(d))
	var told []string
	for i, step := range p.Steps {
		told = append(told, perform(ctx, d, p, i+1, step)...)
		if p.Cut == i+1 {
			break
		}
	}
	soFar, result := d.SoFar(), d.Close()

	for i, h := range m.calls {
		if h.told != "" && h.told != told[i] && !(h.told == "bad" && strings.HasPrefix(told[i], "bad: ")) {
			wrong = append(wrong, fmt.Sprintf("call %d, %+v, is told %s, want %s", i+1, h.call, told[i], h.told))
		}
	}
	differ("record", want.Record, result.Record)
	differ("pending", want.Pending, result.Pending)
	differ("trace", want.Calls, result.Calls)
	differ("seen by the account", m.saw, a.saw)
	if a.crossed || a.reads != m.reads {
		wrong = append(wrong, fmt.Sprintf("read %d times, want %d; two flows at a time: %v", a.reads, m.reads, a.crossed))
	}
	for _, text := range append(told, shown, soFar, fmt.Sprint(result.Record, result.Calls)) {
		for _, secret := range []string{"HIDDEN", "private77", "private88", "bowl", "777"} {
			if strings.Contains(text, secret) {
				wrong = append(wrong, fmt.Sprintf("%q is in %q", secret, text))
			}
		}
	}
	return wrong
}

func specs(d *tool.Desk) (all []string) {
	for _, t := range d.Tools() {
		all = append(all, t.Spec().Description, string(t.Spec().Parameters))
	}
	return all
}

// perform plays a step as the loop does: calls in their order, then what they run side by
// side. The cut comes while they run, or behind them.
func perform(ctx context.Context, d *tool.Desk, p program, n int, step []request) []string {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	told, done := make([]string, len(step)), make(chan struct{})
	cut := func() {
		time.Sleep(p.After)
		if p.Closed {
			d.Close()
		} else {
			cancel()
		}
	}
	waits := 0
	for i, r := range step {
		o := find(d, string(r.Tool)).Call(n, []byte(r.Written))
		switch {
		case o.Run != nil:
			waits++
			go func() { told[i] = written(o.Run(ctx)); done <- struct{}{} }()
		case o.Bad != "":
			told[i] = "bad: " + o.Bad
		default:
			told[i] = written(o.Told)
		}
	}
	if p.Cut == n {
		waits++
		go func() { cut(); done <- struct{}{} }()
	}
	for range waits {
		<-done
	}
	return told
}

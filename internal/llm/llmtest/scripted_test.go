package llmtest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
)

func ask(ctx context.Context, s *llmtest.Scripted, text string) (llm.Response, error) {
	return s.Generate(ctx, llm.Request{Messages: []llm.Message{{Role: llm.User, Text: text}}})
}

func TestScriptedPlaysItsSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := errors.New("told to fail")
		s := &llmtest.Scripted{Steps: []llmtest.Step{
			{After: 3 * time.Second, Text: "one"},
			{Err: told},
			{Response: llm.Response{Text: "cut", Stop: llm.StopLength}},
		}}
		start := time.Now()
		if resp, err := ask(t.Context(), s, "a"); err != nil || resp.Text != "one" || resp.Stop != llm.StopEnd {
			t.Errorf("first call = %+v, %v", resp, err)
		}
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("first call took %v, want 3s", took)
		}
		if _, err := ask(t.Context(), s, "b"); !errors.Is(err, told) {
			t.Errorf("second call = %v, want %v", err, told)
		}
		if resp, err := ask(t.Context(), s, "c"); err != nil || resp.Text != "cut" || resp.Stop != llm.StopLength {
			t.Errorf("third call = %+v, %v", resp, err)
		}
		if _, err := ask(t.Context(), s, "d"); err == nil {
			t.Error("a call past the script was answered")
		}
		if asked := s.Requests(); len(asked) != 4 || asked[2].Messages[0].Text != "c" {
			t.Errorf("requests = %+v", asked)
		}
	})
}

func TestScriptedRepeats(t *testing.T) {
	s := &llmtest.Scripted{Repeat: true, Steps: []llmtest.Step{{Text: "one"}, {Text: "two"}}}
	for _, want := range []string{"one", "two", "two"} {
		if resp, err := ask(t.Context(), s, "a"); err != nil || resp.Text != want {
			t.Errorf("call = %+v, %v; want %q", resp, err, want)
		}
	}
}

func TestScriptedHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &llmtest.Scripted{Steps: []llmtest.Step{{Hang: llmtest.UntilAbort}, {After: time.Hour}, {Hang: llmtest.Forever, Text: "late"}}}
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			if _, err := ask(ctx, s, "a"); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("aborted call = %v", err)
			}
			cancel()
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		answered := make(chan string, 1)
		go func() {
			resp, _ := ask(ctx, s, "b")
			answered <- resp.Text
		}()
		time.Sleep(time.Minute) // of the bubble
		synctest.Wait()
		if len(answered) != 0 {
			t.Error("a call that hangs forever heeded its context")
		}
		s.Release()
		s.Release()
		if got := <-answered; got != "late" {
			t.Errorf("released call = %q", got)
		}
	})
}

func TestScriptedPanics(t *testing.T) {
	defer func() {
		if p := recover(); p != "told to" {
			t.Errorf("panic = %v", p)
		}
	}()
	s := &llmtest.Scripted{Steps: []llmtest.Step{{Panic: "told to"}}}
	_, err := ask(t.Context(), s, "a")
	t.Errorf("no panic but %v", err)
}

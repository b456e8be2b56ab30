package app_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// said is a line of the log as far as a test of a reload reads it.
type said struct{ Level, Msg, Problem, Agent string }

// saidSince reads the lines of a log behind its first n bytes.
func saidSince(t *testing.T, log string, n int) (lines []said) {
	t.Helper()
	for line := range strings.Lines(log[n:]) {
		var one said
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		lines = append(lines, one)
	}
	return lines
}

// Holds docs/spec/10-config.md, "Reload": the log has a line for each problem, with its place, and
// then one that the old configuration stays; a reload that is done says what the agent may do.
func TestReloadInTheLog(t *testing.T) {
	files := newReloadable(t)
	inStudio(t, setup{model: scripted(), env: files.env()}, func(s *studio) {
		at := len(s.log.String())
		files.change(`"settleSeconds": 1`, `"settleSeconds": "long"`, `"tag": "buys-a-gift"`, `"tag": ""`)
		put(t, filepath.Join(files.folder, "prompt.md"), "")
		if err := s.service.Reload(); err == nil {
			t.Error("files that are not valid are taken")
		}
		const invalid, stays = "the configuration is not valid", "reload refused, what was in force stays"
		want := []said{
			{"ERROR", invalid, "prompt.md: found an empty file, expected the persona: who the agent is, its tone and its language", ""},
			{"ERROR", invalid, `tools.json:9:24 /flows/0/settleSeconds: found "long", expected a number from 0 to 30`, ""},
			{"ERROR", invalid, `tools.json:48:14 /tags/0/tag: found "", expected a text that is not empty`, ""},
			{"ERROR", stays, "", ""},
		}
		if diff := cmp.Diff(want, saidSince(t, s.log.String(), at)); diff != "" {
			t.Errorf("the log (-want +got):\n%s", diff)
		}

		demoFiles(t, files.folder, `{"tags":[{"id":"gift","tag":"buys-a-gift","description":"d"}],"readable":{"tags":[{"id":"a","tag":"b"}]}}`)
		at = len(s.log.String())
		if err := s.service.Reload(); err != nil {
			t.Error(err)
		}
		done := said{"INFO", "configuration reloaded", "", "Tools: 1 tag, 1 to read only; handoff: tag."}
		if got := saidSince(t, s.log.String(), at); !slices.Contains(got, done) {
			t.Errorf("the log is %v, want %v in it", got, done)
		}

		if err := os.Rename(filepath.Join(files.folder, "tools.json"), filepath.Join(files.folder, "tool.json")); err != nil {
			t.Fatal(err)
		}
		at = len(s.log.String())
		if err := s.service.Reload(); err != nil {
			t.Error(err)
		}
		stray := func(l said) bool {
			return l.Level == "WARN" && strings.HasSuffix(l.Msg, ", tool.json is not read: did you mean tools.json?")
		}
		if got := saidSince(t, s.log.String(), at); !slices.ContainsFunc(got, stray) {
			t.Errorf("the log is %v, want a warning of tool.json in it", got)
		}

		// The folder that was named is gone: no other business answers in its place.
		if err := os.RemoveAll(files.folder); err != nil {
			t.Fatal(err)
		}
		at = len(s.log.String())
		if err := s.service.Reload(); err == nil {
			t.Error("a folder that is not there is taken")
		}
		want = []said{
			{"ERROR", invalid, "found no folder of this name, expected the folder with the files of the business (correct CONFIG_DIR)", ""},
			{"ERROR", stays, "", ""},
		}
		got := saidSince(t, s.log.String(), at)
		_, got[0].Problem, _ = strings.Cut(got[0].Problem, ": ") // the folder's name may be taken for a number
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("without the folder, the log (-want +got):\n%s", diff)
		}
	})
}

package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Holds config/README.md, "Start": the commands work as they are written.
func TestReadmeStarts(t *testing.T) {
	folder := t.TempDir()
	if err := os.CopyFS(filepath.Join(folder, "config"), demo.Demo); err != nil {
		t.Fatal(err)
	}
	environment, err := os.ReadFile("../../.env.example")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, ".env.example"), environment, 0o644); err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(readme(t), -1)
	if len(blocks) != 2 {
		t.Fatalf("the page has %d blocks of commands, want 2", len(blocks))
	}
	if out, err := inFolder(folder, blocks[0][1]); err != nil || !strings.Contains(out, "The configuration is valid: Kilnbrook Clay Academy") {
		t.Errorf("the first block ends with %v:\n%s", err, out)
	}
	if out, err := inFolder(folder, blocks[1][1]); err == nil || !strings.Contains(out, "MANYCHAT_REPLY_FLOW_NS is required") {
		t.Errorf("the second block does not list what is missing, but ends with %v:\n%s", err, out)
	}
	served := regexp.MustCompile(`(?m)^# (AGENT_MODEL|MANYCHAT_SHARED_SECRET|MANYCHAT_API_TOKEN|MANYCHAT_REPLY_FLOW_NS|PUBLIC_BASE_URL)=`)
	if err := os.WriteFile(filepath.Join(folder, ".env"), served.ReplaceAll(environment, []byte("$1=")), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := inFolder(folder, blocks[1][1]); err != nil {
		t.Errorf("with what is marked serve, the second block ends with %v:\n%s", err, out)
	}
}

// Holds config/README.md, "Without effect in this version": what the program names is
// on the page.
func TestReadmeNamesWhatHasNoEffect(t *testing.T) {
	files := fstest.MapFS{}
	for _, name := range []string{"prompt.md", "catalog.json", "rules.json", "tools.json"} {
		text, err := fs.ReadFile(demo.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	rules := files["rules.json"]
	rules.Data = bytes.Replace(rules.Data, []byte(`"messages":`), []byte(`"learning": {"language": "en", "convertedTag": "paid", "maxRunCostUsd": 1}, "messages":`), 1)
	business, err := tenant.Load(files, tenant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(business.WithoutEffect()) == 0 {
		t.Error("nothing is without effect")
	}
	_, section, _ := strings.Cut(readme(t), "## Without effect in this version")
	for _, entry := range business.WithoutEffect() {
		file, key, _ := strings.Cut(entry, " ")
		if !strings.Contains(section, "`"+file+"`") || !strings.Contains(section, "`"+key+"`") && key != "" {
			t.Errorf("the page does not name %s", entry)
		}
	}
}

func readme(t *testing.T) string {
	t.Helper()
	page, err := demo.Demo.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// inFolder runs commands until one fails.
func inFolder(folder, commands string) (string, error) {
	cmd := exec.Command("sh", "-ec", commands)
	cmd.Dir, cmd.Env = folder, []string{"PATH=" + os.Getenv("PATH"), noRaceSleep}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

package app_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/config"
)

// Holds docs/spec/13-sandbox.md, first section: a newcomer is told which business
// answers, and what to ask it.
func TestWelcome(t *testing.T) {
	own := filepath.Join(t.TempDir(), "shop")
	if err := os.Mkdir(own, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"prompt.md":    "You are the front desk.",
		"catalog.json": `{"businessName":"Bike Shed","currency":"EUR","offerings":[{"id":"service","name":"Spring Service","description":"D","price":{"amount":4500,"currency":"EUR"}}]}`,
		"rules.json":   `{"messages":{"acknowledgement":"a","escalation":"e"}}`,
	} {
		if err := os.WriteFile(filepath.Join(own, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	nowhere := t.TempDir()
	for folder, want := range map[string][]string{
		own:     {"The business:     Bike Shed, read from " + own + "\n", "Then ask:         how much is Spring Service?\n"},
		nowhere: {"The business:     Kilnbrook Clay Academy, built in, since " + nowhere + " holds no files of a business\n", "Then ask:         how much is the wheel course?\n"},
	} {
		got := welcomeOf(t, folder)
		for _, line := range want {
			if !strings.Contains(got, line) {
				t.Errorf("the welcome lacks %q:\n%s", line, got)
			}
		}
	}
}

// What answers is said, since a real model costs money.
func TestWelcomeNamesTheModel(t *testing.T) {
	for environ, want := range map[string]string{
		"AGENT_MODEL=mock:demo":                                      "and a model that costs nothing.",
		"AGENT_MODEL=ollama:qwen3":                                   "and the model ollama:qwen3.",
		"AGENT_MODEL=ollama:qwen3 AGENT_FALLBACK_MODEL=ollama:gemma": "and the model ollama:qwen3, with the fallback ollama:gemma.",
		"AGENT_FALLBACK_MODEL=ollama:gemma":                          "and a model that costs nothing, with the fallback ollama:gemma.",
	} {
		if got := welcomeOf(t, t.TempDir(), append(strings.Fields(environ), "OLLAMA_BASE_URL=http://127.0.0.1:9")...); !strings.Contains(got, want) {
			t.Errorf("with %s the welcome lacks %q:\n%s", environ, want, got)
		}
	}
}

func welcomeOf(t *testing.T, folder string, environ ...string) string {
	t.Helper()
	c, err := config.Load(config.Source{Mode: config.Dev, Environ: append(environ,
		"CONFIG_DIR="+folder, "DATABASE_URL=sqlite:"+filepath.Join(t.TempDir(), "agent.db"),
	)})
	if err != nil {
		t.Fatal(err)
	}
	business, err := app.Business(c, 0)
	if err != nil {
		t.Fatal(err)
	}
	d, err := app.NewDev(t.Context(), app.DevOptions{Config: c, Tenant: business, Listener: newPipes(), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := errors.Join(d.Welcome(&out), d.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

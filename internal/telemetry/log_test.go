package telemetry_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/telemetry"
)

// Holds docs/spec/01-principles.md, "Rules nothing may break": C5.
func TestPrivateKeysAreRedacted(t *testing.T) {
	for _, format := range []telemetry.Format{telemetry.JSON, telemetry.Text} {
		t.Run(string(format), func(t *testing.T) {
			var out bytes.Buffer
			log := telemetry.NewLogger(&out, slog.LevelInfo, format)
			log.Info("turn", "turn", "t-1", "text", "my secret words", "subscriber", "900000001",
				"id", contact.SubscriberID("900000002"), slog.Group("request", "Token", "tok_abcdef"))
			got := out.String()
			for _, leak := range []string{"my secret words", "900000001", "900000002", "tok_abcdef"} {
				if strings.Contains(got, leak) {
					t.Errorf("the line holds %q:\n%s", leak, got)
				}
			}
			if !strings.Contains(got, "t-1") {
				t.Errorf("the line lost the turn's id:\n%s", got)
			}
		})
	}
}

package config_test

import (
	"os"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/config"
)

// FuzzLoad holds that no .env makes the reader panic.
func FuzzLoad(f *testing.F) {
	example, err := os.ReadFile("../../.env.example")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(example))
	f.Add("TRUST_PROXY=loopback,::1/200\nMANYCHAT_SHARED_SECRET=','\nDATABASE_URL=postgres://%\nRACE_DEADLINE_MS=9e9\n")
	f.Add("A=$B\nB='${A}'\nexport C")
	f.Fuzz(func(t *testing.T, text string) {
		source := config.Source{Mode: config.Serve, DotEnv: []byte(text)}
		if got, err := config.Load(source); err == nil && len(got.Values()) != len(config.Names()) {
			t.Errorf("%d values of %d variables", len(got.Values()), len(config.Names()))
		}
	})
}

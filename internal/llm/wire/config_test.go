package wire_test

import (
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// Holds docs/spec/04-agent.md, "Models": a key that no header can hold is refused at once.
func TestIsKey(t *testing.T) {
	for key, want := range map[string]bool{"": true, "sk-Ab_1.~!": true, "a b": false, "a\n": false, "\ta": false, "schlüssel": false, "a\x7f": false, "a\x00": false} {
		if got := wire.IsKey(key); got != want {
			t.Errorf("IsKey(%q) = %t", key, got)
		}
	}
}

// Holds docs/spec/04-agent.md, "Models": an address that no path can follow is refused at once.
func TestAddress(t *testing.T) {
	for base, host := range map[string]string{ // host empty: it is refused
		"https://llm.example.com":        "llm.example.com",
		"http://127.0.0.1:8000/v1/":      "127.0.0.1:8000",
		"http://[::1]:8000/v1":           "[::1]:8000",
		"https://u:p@llm.example.com/v1": "llm.example.com",
		"":                               "", "llm.example.com/v1": "", "localhost:8000": "", "/v1": "", "https://": "", "ftp://llm.example.com": "",
		"https://llm.example.com/v1?a=b": "", "https://llm.example.com/v1?": "", "https://llm.example.com/v1#a": "", "https://llm example.com": "", "http://%zz/": "",
	} {
		got := wire.Address(base)
		if (got != nil) != (host != "") || got != nil && got.Host != host {
			t.Errorf("Address(%q) = %v, want %q", base, got, host)
		}
	}
}

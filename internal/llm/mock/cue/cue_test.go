package cue_test

import (
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/llm/mock/cue"
)

// Cues are whole words, or beginnings where the list says so; what is taken out leaves
// the other words.
func TestCues(t *testing.T) {
	c := cue.Read()
	for _, tt := range []struct {
		padded string
		cues   []string
		has    bool
		rest   string
	}{
		{" how much is it ", c.Price, true, " is it "},
		{" pricey or overpriced ", c.Price, true, " or overpriced "},
		{" hi hi hi ", c.Greeting, true, " "},
		{" this high ", c.Greeting, false, " this high "},
		{" ποσο διαρκει αυτο ", c.Duration, true, " αυτο "},
	} {
		if got := cue.Has(tt.padded, tt.cues); got != tt.has {
			t.Errorf("Has(%q) = %t", tt.padded, got)
		}
		if got := cue.Without(tt.padded, tt.cues); got != tt.rest {
			t.Errorf("Without(%q) = %q, want %q", tt.padded, got, tt.rest)
		}
	}
	for word, want := range map[string]bool{"διαρκει": true, "reserva": true, "dog": false, "prix": true, "hilltop": false} {
		if got := c.Known(word); got != want {
			t.Errorf("Known(%q) = %t", word, got)
		}
	}
}

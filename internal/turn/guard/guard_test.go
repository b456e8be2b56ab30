package guard_test

import (
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/tenant/keyword"
	"github.com/manychat-agent/manychat-agent/internal/turn/guard"
)

// Holds docs/spec/06-contact.md, "Pause and opt-out": what the messages of a turn say about
// writing to their contact.
func TestWishOf(t *testing.T) {
	business := &tenant.Tenant{Keywords: tenant.Keywords{
		OptOut: keyword.NewSet([]string{"stop", "no more messages"}), OptIn: keyword.NewSet([]string{"start"}),
	}}
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	end, back := conversation.Wish{Out: true}, conversation.Wish{Back: at}
	tests := []struct {
		name    string
		unbound bool
		since   time.Time // of an opt-out
		texts   []string
		want    conversation.Wish
	}{
		{"nothing", false, time.Time{}, []string{"hello"}, conversation.Wish{}},
		{"an end", false, time.Time{}, []string{"STOP"}, end},
		{"folded", false, time.Time{}, []string{" Nò  more\nmessages!! "}, end},
		{"hidden characters", false, time.Time{}, []string{"st\u200bop"}, end},
		{"part of a message", false, time.Time{}, []string{"stop calling me a wheel"}, conversation.Wish{}},
		{"among others", false, time.Time{}, []string{"hello", "stop", "start"}, end},
		{"an end once more", false, at, []string{"stop"}, conversation.Wish{}},
		{"taken back", false, at, []string{"Start."}, back},
		{"taken back among others", false, at, []string{"start", "how much is it?"}, back},
		{"both", false, at, []string{"start", "stop"}, conversation.Wish{}},
		{"nothing to take back", false, time.Time{}, []string{"start"}, conversation.Wish{}},
		{"an end that proves nobody", true, time.Time{}, []string{"stop"}, conversation.Wish{}},
		{"taken back by nobody", true, at, []string{"start"}, conversation.Wish{}},
	}
	for _, tt := range tests {
		got := guard.WishOf(business, conversation.Turn{Bound: !tt.unbound}, conversation.Conversation{OptedOutAt: tt.since}, tt.texts)
		if got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

package app_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Holds docs/spec/03-turn.md, "One turn at a time per contact": a reply that is held for a flow, a late
// reply and a quick one of the same contact arrive in the order of their turns, whichever comes
// first and however far apart the messages are.
func TestThreeRepliesInEveryOrder(t *testing.T) {
	apart := []time.Duration{100 * time.Millisecond, 3900 * time.Millisecond, 8100 * time.Millisecond}
	for _, kinds := range [][3]string{
		{"held", "late", "quick"}, {"held", "quick", "late"}, {"late", "held", "quick"},
		{"late", "quick", "held"}, {"quick", "held", "late"}, {"quick", "late", "held"},
	} {
		for _, first := range apart {
			for _, second := range apart {
				t.Run(fmt.Sprint(strings.Join(kinds[:], ", "), ", ", first, " and ", second), func(t *testing.T) {
					threeReplies(t, kinds, [2]time.Duration{first, second})
				})
			}
		}
	}
}

func threeReplies(t *testing.T, kinds [3]string, apart [2]time.Duration) {
	steps := []llmtest.Step{wrote("Hello.")}
	for i, kind := range kinds {
		reply := wrote(fmt.Sprintf("Reply %d.", i+1))
		switch kind {
		case "held":
			steps = append(steps, calling(sendPhotos))
		case "late":
			reply = slow(9*time.Second, reply)
		}
		steps = append(steps, reply)
	}
	inStudio(t, setup{model: scripted(steps...), env: []string{"MERGE_WAITING=false"}}, func(s *studio) {
		id := s.met("900000001")
		s.rest(time.Minute)
		began := time.Now()
		s.says(id, wrotes{0, "one bowl"}, wrotes{apart[0], "two cups"}, wrotes{apart[0] + apart[1], "three jugs"})
		s.rest(2 * time.Minute)
		var got []string
		for _, item := range s.account.Chat(id) {
			if item.From != phone.FromBusiness || item.At.Before(began) {
				continue
			}
			for text := range strings.SplitSeq(item.Text, "\n\n") {
				if strings.HasPrefix(text, "Reply ") {
					got = append(got, text)
				}
			}
		}
		if want := []string{"Reply 1.", "Reply 2.", "Reply 3."}; !slices.Equal(got, want) {
			t.Errorf("the contact reads %q, want %q; the turns ended %q", got, want, s.endings(id, 3))
		}
	})
}

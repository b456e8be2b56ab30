package app_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Of a turn that stages three actions, what is asked of ManyChat for them and what is recorded.
var (
	threeCalls  = calling(addGift, setEvening, noteDown)
	threeAsked  = []string{"add_tag gift", "set_field preferred_shift=evening", "write_note summary=Wants a big blue bowl for breakfast."}
	threeActed  = []string{"add_tag gift performed", "set_field preferred_shift=evening performed", "write_note summary performed"}
	longReply   = strings.Repeat("A bowl is thrown on the wheel, and dried for a week. ", 18)
	lastOfReply = "This is the end of it."
)

// playing is the academy whose gallery plays for a time.
func playing(t *testing.T, seconds float64) func() *tenant.Tenant {
	return academyWith(t, func(b *tenant.Tenant) {
		for i := range b.Tools.Flows {
			if b.Tools.Flows[i].ID == "student_gallery" {
				b.Tools.Flows[i].SettleSeconds = seconds
			}
		}
	})
}

// route is a way that a reply takes out.
type route struct {
	name  string
	steps []llmtest.Step
	plays float64       // seconds of the gallery; 0: as it is
	gone  time.Duration // when the caller leaves; 0: it stays
	path  string
	reply string   // the last of it
	did   []string // all that is asked of ManyChat
	shown []string // by the response
}

func routes() []route {
	photos := calling(sendPhotos, addGift, setEvening, noteDown)
	asks := func(before ...string) []string { return append(before, threeAsked...) }
	return []route{
		{name: "inline", steps: []llmtest.Step{threeCalls, wrote("Gladly.")}, path: "inline", reply: "Gladly.", did: asks(), shown: []string{"Gladly."}},
		{name: "inline behind a flow", steps: []llmtest.Step{photos, wrote("Gladly.")}, path: "inline", reply: "Gladly.", did: asks("send_flow student_gallery"), shown: []string{"Gladly."}},
		{name: "the race is lost", steps: []llmtest.Step{threeCalls, slow(9*time.Second, wrote("Gladly."))}, path: "outbox", reply: "Gladly.", did: asks("say Gladly.", "show"), shown: []string{ack}},
		{name: "the caller is gone", steps: []llmtest.Step{threeCalls, slow(5*time.Second, wrote("Gladly."))}, gone: 3 * time.Second, path: "outbox", reply: "Gladly.", did: asks("say Gladly.", "show")},
		{name: "silent while a flow plays", steps: []llmtest.Step{photos, wrote("Gladly.")}, plays: 20, path: "outbox", reply: "Gladly.", did: asks("send_flow student_gallery", "say Gladly.", "show")},
		{name: "the race is lost while a flow plays", steps: []llmtest.Step{photos, slow(9*time.Second, wrote("Gladly."))}, plays: 20, path: "outbox", reply: "Gladly.", did: asks("send_flow student_gallery", "say Gladly.", "show")},
		{name: "the race is lost behind a flow", steps: []llmtest.Step{photos, slow(9*time.Second, wrote("Gladly."))}, path: "outbox", reply: "Gladly.", did: asks("send_flow student_gallery", "say Gladly.", "show"), shown: []string{ack}},
	}
}

// Holds docs/spec/07-tools.md, "Performing" and "Flows go out before the reply": whichever way
// the reply takes, what its turn staged is asked of ManyChat behind it, once, in order.
func TestToolsBehindEveryRoute(t *testing.T) {
	for _, tt := range routes() {
		t.Run(tt.name, func(t *testing.T) {
			change := setup{model: scripted(tt.steps...)}
			if tt.plays > 0 {
				change.business = playing(t, tt.plays)
			}
			inStudio(t, change, func(s *studio) {
				id := s.contact("900000001")
				var shown []string
				if tt.gone > 0 {
					ctx, cancel := context.WithTimeout(context.Background(), tt.gone)
					defer cancel()
					if resp, err := s.post(ctx, `{"subscriber_id":"900000001","text":"hello"}`); err == nil {
						t.Errorf("the caller who left was answered %s", resp.Status)
					}
				} else {
					for _, item := range s.write(id, question).Shown {
						shown = append(shown, item.Text)
					}
				}
				s.rest(2 * time.Minute)
				if diff := cmp.Diff(tt.shown, shown); diff != "" {
					t.Errorf("the response shows (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(tt.did, s.did(id)); diff != "" {
					t.Errorf("ManyChat was asked (-want +got):\n%s", diff)
				}
				s.checkBehind(id, tt.reply)
				turn, want := s.recorded(id, 1)[0], threeActed
				if len(actedIn(turn)) == 4 {
					want = append([]string{"send_flow student_gallery performed"}, want...)
				}
				if diff := cmp.Diff(want, actedIn(turn)); diff != "" || turn.Path != tt.path || turn.Outcome != "answered" || turn.State != "settled" {
					t.Errorf("recorded is %s %s %s (-want +got):\n%s", turn.State, turn.Outcome, turn.Path, diff)
				}
			})
		})
	}
}

// Holds docs/spec/07-tools.md, "Performing": actions of a reply that overflowed to the outbox
// ride on its last part.
func TestToolsBehindAnOverflow(t *testing.T) {
	model := scripted(threeCalls, wrote(longReply, longReply, longReply[:901]+lastOfReply))
	inStudio(t, setup{model: model}, func(s *studio) {
		id := s.contact("900000001")
		exchange := s.write(id, question)
		s.rest(5 * time.Minute)
		did := s.did(id)
		says := len(did) - len(acts(did))
		if len(exchange.Shown) != 1 || says < 2 || says%2 != 0 {
			s.t.Fatalf("the response shows %d texts, ManyChat was asked %q", len(exchange.Shown), did)
		}
		if diff := cmp.Diff(threeAsked, did[says:]); diff != "" {
			t.Errorf("behind the texts ManyChat was asked (-want +got):\n%s", diff)
		}
		s.checkBehind(id, lastOfReply)
		if diff := cmp.Diff(threeActed, s.acted(id)); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
	})
}

// Holds docs/spec/07-tools.md, "Flows go out before the reply": while an earlier reply is queued
// a flow is staged like everything else, and follows its own text, here in a response that
// carries both.
func TestToolsBehindACarriedReply(t *testing.T) {
	model := scripted(
		calling(addGift), slow(9*time.Second, wrote("First.")),
		calling(sendMap, dropGroup), wrote("Second."),
	)
	inStudio(t, setup{model: model}, func(s *studio) {
		id := s.contact("900000001")
		s.faults(manychattest.Fault{Kind: fault.ServerError, Path: "/fb/subscriber/setCustomFieldByName"})
		s.write(id, question)
		s.rest(5 * time.Second)
		s.account.ForgetCalls()
		if got := s.write(id, "and how do I get there?"); len(got.Shown) != 1 || got.Shown[0].Text != "First.\n\nSecond." {
			t.Errorf("the response shows %v %s", got.Shown, got.Reason)
		}
		s.rest(0)
		if got := told(model.Requests()[3]); len(got) != 2 || got[0] != `send_flow {"staged":true}` {
			t.Errorf("the model is told %q", got)
		}
		s.faults()
		s.rest(5 * time.Minute)
		want := []string{"add_tag gift", "send_flow studio_map", "remove_tag group_booking"}
		if diff := cmp.Diff(want, s.did(id)); diff != "" {
			t.Errorf("ManyChat was asked (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"send_flow studio_map performed", "remove_tag group_booking performed"}, s.acted(id)); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
	})
}

// Holds docs/spec/07-tools.md, "Flows go out before the reply": while an earlier reply is on its
// way a flow is staged like everything else, and follows its own text through the outbox.
func TestToolsBehindAReplyOnItsWay(t *testing.T) {
	model := scripted(
		calling(addGift), slow(9*time.Second, wrote("First.")),
		calling(sendMap, dropGroup), wrote("Second."),
	)
	inStudio(t, setup{model: model}, func(s *studio) {
		id := s.contact("900000001")
		s.faults(manychattest.Fault{Kind: fault.SlowSuccess, Path: "/fb/subscriber/setCustomFieldByName"})
		s.write(id, question)
		s.rest(5 * time.Second)
		if got := s.write(id, "and how do I get there?"); len(got.Shown) != 0 || got.Failure != "" {
			t.Errorf("the response overtakes the queued reply: %v %s", got.Shown, got.Reason)
		}
		s.rest(0)
		if got := told(model.Requests()[3]); len(got) != 2 || got[0] != `send_flow {"staged":true}` {
			t.Errorf("the model is told %q", got)
		}
		if diff := cmp.Diff([]string{"send_flow studio_map staged", "remove_tag group_booking staged"}, s.acted(id)); diff != "" {
			t.Errorf("while both wait (-want +got):\n%s", diff)
		}
		s.faults()
		s.rest(5 * time.Minute)
		want := []string{"say First.", "show", "add_tag gift", "say Second.", "show", "send_flow studio_map", "remove_tag group_booking"}
		if diff := cmp.Diff(want, s.did(id)); diff != "" {
			t.Errorf("ManyChat was asked (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"send_flow studio_map performed", "remove_tag group_booking performed"}, s.acted(id)); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
	})
}

// at once is the environment of a service that ends without waiting for its turns.
var atOnce = []string{"SHUTDOWN_GRACE_MS=0"}

// Holds docs/spec/07-tools.md, "Performing", and docs/spec/03-turn.md, "Steps": a turn that a
// process left is run again; what the first run staged is forgotten, what it sent is not sent
// again, and the model is told of it.
func TestToolsOfATurnThatRunsAgain(t *testing.T) {
	first := scripted(calling(sendPhotos, addGift), llmtest.Step{Hang: llmtest.UntilAbort})
	second := scripted(calling(sendPhotos, setEvening), wrote("Gladly."))
	inStudio(t, setup{model: first, env: atOnce}, func(s *studio) {
		id := s.contact("900000001")
		go s.write(id, question)
		s.rest(2 * time.Second)
		s.setup.model = second
		s.crash()
		s.rest(2 * time.Minute)
		want := []string{"send_flow student_gallery", "say Gladly.", "show", "set_field preferred_shift=evening"}
		if diff := cmp.Diff(want, s.did(id)); diff != "" {
			t.Errorf("ManyChat was asked (-want +got):\n%s", diff)
		}
		s.checkBehind(id, "Gladly.")
		turn := s.recorded(id, 1)[0]
		if diff := cmp.Diff([]string{"send_flow student_gallery performed", "set_field preferred_shift=evening performed"}, actedIn(turn)); diff != "" || turn.Attempt != 2 {
			t.Errorf("recorded is try %d (-want +got):\n%s", turn.Attempt, diff)
		}
		if text := second.Requests()[0].Messages[0].Text; !strings.Contains(text, "ACTIONS") || !strings.Contains(text, "student_gallery") {
			t.Errorf("the model is not told what the first run sent:\n%s", text)
		}
		var flows int
		for _, item := range s.account.Chat(id) {
			if item.Via == phone.ViaFlow && item.Text == "flow student_gallery" {
				flows++
			}
		}
		if flows != 1 {
			t.Errorf("the contact was sent the gallery %d times", flows)
		}
	})
}

// Holds docs/spec/07-tools.md, "Performing": a crash between the response and the actions loses
// them, and the record says so; none is made twice.
func TestToolsLostBehindTheResponse(t *testing.T) {
	inStudio(t, setup{model: scripted(calling(addGift, setEvening), wrote("Gladly.")), env: atOnce}, func(s *studio) {
		id := s.contact("900000001")
		s.faults(manychattest.Fault{Kind: fault.Timeout, Path: "/fb/subscriber/addTagByName"})
		s.write(id, question)
		s.rest(time.Second)
		s.crash()
		s.faults()
		s.rest(10 * time.Minute)
		if did := s.did(id); count(did, "add_tag gift") != 1 || count(did, "set_field preferred_shift=evening") > 1 || count(did, "show") != 0 {
			t.Errorf("ManyChat was asked %q", did)
		}
		turn := s.recorded(id, 1)[0]
		if diff := cmp.Diff([]string{"add_tag gift staged", "set_field preferred_shift=evening staged"}, actedIn(turn)); diff != "" || turn.State != "settled" {
			t.Errorf("recorded is %s (-want +got):\n%s", turn.State, diff)
		}
	})
}

// Holds docs/spec/07-tools.md, "Performing": a process that ends while the actions of a
// delivered text are made makes them no second time in the next.
func TestToolsOnceOverACrash(t *testing.T) {
	inStudio(t, setup{model: scripted(calling(addGift, setEvening), slow(9*time.Second, wrote("Gladly."))), env: atOnce}, func(s *studio) {
		id := s.contact("900000001")
		s.faults(manychattest.Fault{Kind: fault.SlowSuccess, Path: "/fb/subscriber/addTagByName", DelayMS: 20_000})
		s.write(id, question)
		s.rest(8 * time.Second) // the text is out, and the tag is being added
		s.crash()
		s.faults()
		s.rest(10 * time.Minute)
		want := []string{"say Gladly.", "show", "add_tag gift"}
		if diff := cmp.Diff(want, s.did(id)); diff != "" {
			t.Errorf("ManyChat was asked (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"add_tag gift failed (outcome unknown)", "set_field preferred_shift=evening failed (outcome unknown)"}, s.acted(id)); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
		s.checkBehind(id, "Gladly.")
	})
}

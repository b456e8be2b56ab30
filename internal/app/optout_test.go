package app_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
)

const goodbye = "All right, you will not hear from us again. Write START if you change your mind."

// byPhone opts a contact out, or in, as an operator beside the running service.
func (s *studio) byPhone(id string, out bool) {
	s.t.Helper()
	ctx := context.Background()
	db, err := store.Open(ctx, store.Options{URL: "sqlite:" + filepath.Join(s.folder, "agent.db"), Now: time.Now})
	if err != nil {
		s.t.Error(err)
		return
	}
	defer db.Close()
	who := contact.Key{TenantID: "demo", Channel: contact.WhatsApp, SubscriberID: contact.SubscriberID(id)}
	if out {
		_, err = db.OptOut(ctx, who)
	} else {
		_, err = db.OptIn(ctx, who)
	}
	if err != nil {
		s.t.Error(err)
	}
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": whoever ends all messages reads that once,
// and nothing more whatever they write, until they take it back.
func TestOptOut(t *testing.T) {
	model := scripted(wrote("Hello."), wrote("Welcome back."), wrote("Gladly."))
	inStudio(t, setup{model: model, rules: func(r *tenant.Rules) { r.RateLimit.TurnsPerSubscriberPerHour = 8 }}, func(s *studio) {
		id := s.contact("900000001")
		s.write(id, "hello")
		s.rest(time.Minute)
		s.write(id, " STÓP! ")
		s.rest(time.Minute)
		s.wantNewest(id, "opted_out", "inline", nil)
		for _, text := range []string{"stop", "and now?", "I want to know more about the courses", "I want a refund", "{{last_input_text}}", "Unsubscribe", "hello", "hello?"} {
			if got := s.write(id, text); len(got.Shown) != 0 {
				t.Errorf("%q is answered with %v", text, got.Shown)
			}
			s.rest(time.Minute)
			s.wantNewest(id, "opted_out", "silent", nil)
		}
		s.rest(time.Hour)
		s.wantReads(id, "Hello.", goodbye)
		if did := s.did(id); len(did) != 0 || len(model.Requests()) != 1 {
			t.Errorf("ManyChat was asked %q, and the model %d times", did, len(model.Requests()))
		}
		if got := s.recorded(id, 9)[8].Interventions; !slices.Equal(got, []string{"opt_out"}) {
			t.Errorf("the record of the opt-out says %q", got)
		}

		s.write(id, "Start")
		s.rest(time.Minute)
		s.wantNewest(id, "answered", "inline", nil)
		if got := s.recorded(id, 1)[0].Interventions; !slices.Equal(got, []string{"opt_in"}) {
			t.Errorf("the record of the message that takes it back says %q", got)
		}
		s.write(id, "start") // an ordinary message by now
		s.wantReads(id, "Hello.", goodbye, "Welcome back.", "Gladly.")
		s.rest(time.Minute)
		s.write(id, "stop")
		s.wantReads(id, "Hello.", goodbye, "Welcome back.", "Gladly.", goodbye)
	})
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": a business may have no words for it.
func TestOptOutWithoutWords(t *testing.T) {
	inStudio(t, setup{model: scripted(), rules: func(r *tenant.Rules) { r.Messages.OptOut = "" }}, func(s *studio) {
		id := s.contact("900000001")
		s.write(id, "stop")
		s.rest(time.Minute)
		s.wantNewest(id, "opted_out", "silent", nil)
		s.write(id, "hello")
		s.rest(time.Minute)
		s.wantReads(id)
	})
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": what is queued for the contact is
// discarded, with its actions, and no response carries it; the business is still told of handoffs.
func TestOptOutDiscards(t *testing.T) {
	model := scripted(calling(addGift), slow(9*time.Second, wrote("Late.")), slow(9*time.Second, escalatings()[0].end), wrote("Gladly."))
	inStudio(t, setup{model: model, rules: func(r *tenant.Rules) {
		r.Handoff = &tenant.Handoff{Tag: "needs-a-person", FlowNs: "content20260101000000_000077"}
	}}, func(s *studio) {
		id := s.contact("900000001")
		s.faults(
			manychattest.Fault{Kind: fault.ServerError, Path: "/fb/sending/sendFlow"},
			manychattest.Fault{Kind: fault.ServerError, Path: "/fb/subscriber/addTagByName"},
		)
		s.write(id, question)
		s.rest(30 * time.Second)
		s.write(id, "this is not what I asked for")
		s.rest(30 * time.Second)
		s.wantNewest(id, "escalated", "outbox", []string{"pending"}, "notify_handoff tag staged", "notify_handoff flow staged")
		s.write(id, "stop")
		s.rest(time.Second)
		s.wantNewest(id, "opted_out", "inline", nil)
		for i, want := range [][]string{{"discarded"}, {"discarded"}} {
			if got := s.recorded(id, 3)[i+1].Deliveries; !slices.Equal(got, want) {
				t.Errorf("%d turns before, the rows are %q, want %q", i+1, got, want)
			}
		}
		s.faults()
		s.rest(10 * time.Minute)
		s.wantReads(id, ack, goodbye)
		turns := s.recorded(id, 3)
		if diff := cmp.Diff([]string{"notify_handoff tag performed", "notify_handoff flow discarded"}, actedIn(turns[1])); diff != "" {
			t.Errorf("the record of the handoff (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"add_tag gift discarded"}, actedIn(turns[2])); diff != "" {
			t.Errorf("the record of the late reply (-want +got):\n%s", diff)
		}
		s.write(id, "start")
		s.rest(10 * time.Minute)
		s.wantReads(id, ack, goodbye, "Gladly.")
	})
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": a running turn is checked again when it
// settles, before each flow and each action; the rest is discarded.
func TestOptOutWhileATurnRuns(t *testing.T) {
	tests := []struct {
		name    string
		model   *llmtest.Scripted
		after   time.Duration // from the message to the opt-out
		slowest time.Duration // each request of a tag
		outcome string
		path    string
		rows    []string
		reads   []string
		acted   []string
		did     []string
	}{
		{
			name: "before it settles", model: scripted(calling(addGift), slow(3*time.Second, wrote("Gladly."))), after: time.Second,
			outcome: "opted_out", path: "silent", acted: []string{"add_tag gift discarded"},
		},
		{
			name: "before the deadline of a late one", model: scripted(slow(12*time.Second, wrote("Gladly."))), after: 2 * time.Second,
			outcome: "opted_out", path: "silent",
		},
		{
			name: "behind the acknowledgement", model: scripted(slow(12*time.Second, wrote("Gladly."))), after: 9 * time.Second,
			outcome: "opted_out", path: "silent", reads: []string{ack},
		},
		{
			name: "before a flow", model: scripted(slow(2*time.Second, calling(sendMap)), wrote("Gladly.")), after: time.Second,
			outcome: "opted_out", path: "silent", acted: []string{"send_flow studio_map discarded"},
		},
		{
			name: "between two actions", model: scripted(calling(addGift, setEvening), wrote("Gladly.")), after: time.Second, slowest: 2 * time.Second,
			outcome: "answered", path: "inline", reads: []string{"Gladly."},
			acted: []string{"add_tag gift performed", "set_field preferred_shift=evening discarded"}, did: []string{"add_tag gift"},
		},
		{
			name: "before a handoff", model: scripted(slow(3*time.Second, escalatings()[0].end)), after: time.Second,
			outcome: "opted_out", path: "silent",
		},
		{
			name: "while its reply waits", model: scripted(calling(addGift), slow(9*time.Second, wrote("Gladly."))), after: 9500 * time.Millisecond,
			outcome: "answered", path: "outbox", rows: []string{"discarded"}, reads: []string{ack}, acted: []string{"add_tag gift discarded"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inStudio(t, setup{model: tt.model}, func(s *studio) {
				id := s.contact("900000001")
				if tt.slowest > 0 {
					s.faults(manychattest.Fault{Kind: fault.Latency, Path: "/fb/subscriber/addTagByName", DelayMS: int(tt.slowest.Milliseconds())})
				}
				go s.write(id, question)
				s.rest(tt.after)
				s.byPhone(id, true)
				s.rest(2 * time.Minute)
				s.wantNewest(id, tt.outcome, tt.path, tt.rows, tt.acted...)
				s.wantReads(id, tt.reads...)
				if diff := cmp.Diff(tt.did, acts(s.did(id))); diff != "" {
					t.Errorf("ManyChat was asked (-want +got):\n%s", diff)
				}
				s.byPhone(id, false)
				s.write(id, "{{last_input_text}}")
				s.wantReads(id, append(tt.reads, s.tenant.Rules.Messages.MediaFallback)...)
			})
		})
	}
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": of a reply that is in hand what went out did,
// and nothing behind it; one that an operator sends again is discarded.
func TestOptOutBetweenTwoTexts(t *testing.T) {
	model := scripted(calling(addGift), slow(9*time.Second, wrote("One.", "Two.")))
	inStudio(t, setup{model: model, env: []string{"WHATSAPP_JOIN=false"}}, func(s *studio) {
		id := s.contact("900000001")
		s.write(id, question)
		s.faults(manychattest.Fault{Kind: fault.Latency, Path: "/fb/sending/sendFlow", DelayMS: 2000})
		s.rest(3 * time.Second) // the row is in a worker's hand
		s.byPhone(id, true)
		s.rest(2 * time.Minute)
		s.wantReads(id, ack, "One.")
		s.wantNewest(id, "answered", "outbox", []string{"discarded"}, "add_tag gift discarded")
	})
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": an opt-out waits for the turn
// before it, whose late reply it discards; its own answer comes late, and once.
func TestOptOutBehindATurn(t *testing.T) {
	model := scripted(slow(9*time.Second, wrote("Late.")))
	inStudio(t, setup{model: model}, func(s *studio) {
		id := s.contact("900000001")
		go s.write(id, question)
		s.rest(2 * time.Second)
		if got := s.write(id, "stop"); len(got.Shown) != 0 {
			t.Errorf("the phone shows %v", got.Shown)
		}
		s.rest(time.Minute)
		s.wantReads(id, ack, goodbye)
		turns := s.recorded(id, 2)
		if !slices.Equal(turns[0].Deliveries, []string{"delivered"}) || !slices.Equal(turns[1].Deliveries, []string{"discarded"}) {
			t.Errorf("the rows are %q and %q", turns[0].Deliveries, turns[1].Deliveries)
		}
	})
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": of messages that are answered
// together one opt-out opts out, wherever it stands.
func TestOptOutAmongMessages(t *testing.T) {
	for _, texts := range [][]string{{"stop", "how much is it?"}, {"how much is it?", "stop"}, {"stop", "start"}, {"refund", "stop", "hello?"}} {
		t.Run(strings.Join(texts, ","), func(t *testing.T) {
			model := scripted(slow(5*time.Second, wrote("Hello.")))
			inStudio(t, setup{model: model}, func(s *studio) {
				id := s.contact("900000001")
				go s.write(id, "hello")
				s.rest(time.Second)
				for _, text := range texts {
					go s.write(id, text)
					s.rest(100 * time.Millisecond)
				}
				s.rest(time.Minute)
				s.wantReads(id, "Hello.", goodbye)
				s.write(id, "hello?")
				s.rest(time.Minute)
				s.wantReads(id, "Hello.", goodbye)
			})
		})
	}
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": the message that takes it back may act, and
// its acknowledgement goes out.
func TestOptInActs(t *testing.T) {
	model := scripted(calling(sendMap, addGift), slow(9*time.Second, wrote("Welcome back.")))
	inStudio(t, setup{model: model}, func(s *studio) {
		id := s.contact("900000001")
		s.write(id, "stop")
		s.rest(time.Minute)
		s.write(id, "start")
		s.rest(time.Minute)
		s.wantReads(id, goodbye, "flow studio_map", ack, "Welcome back.")
		s.wantNewest(id, "answered", "outbox", []string{"delivered"}, "send_flow studio_map performed", "add_tag gift performed")
	})
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": an opt-out of while the message ran that
// takes an earlier one back is later, and holds.
func TestOptOutBehindAnOptIn(t *testing.T) {
	model := scripted(slow(3*time.Second, wrote("Welcome back.")))
	inStudio(t, setup{model: model}, func(s *studio) {
		id := s.contact("900000001")
		s.write(id, "stop")
		s.rest(time.Minute)
		go s.write(id, "start")
		s.rest(time.Second)
		s.byPhone(id, false)
		s.byPhone(id, true)
		s.rest(time.Minute)
		s.wantNewest(id, "opted_out", "silent", nil)
		s.write(id, "hello")
		s.rest(time.Minute)
		s.wantReads(id, goodbye)
	})
}

// Holds docs/spec/03-turn.md, "Steps": of a contact whom a person has, or whom the agent does not
// answer, what they ask for is written down all the same.
func TestOptOutOfAPausedContact(t *testing.T) {
	model := scripted(wrote("Welcome back."))
	inStudio(t, setup{model: model}, func(s *studio) {
		id := s.contact("900000001")
		s.pause(id, 1)
		s.write(id, "stop")
		s.rest(time.Second)
		s.wantNewest(id, "paused", "silent", nil)
		s.pause(id, 0)
		s.write(id, "hello")
		s.rest(time.Minute)
		s.wantNewest(id, "opted_out", "silent", nil)
		s.pause(id, 1)
		s.write(id, "start")
		s.rest(time.Second)
		s.pause(id, 0)
		s.write(id, "hello")
		s.wantReads(id, "Welcome back.")
	})
	inStudio(t, setup{model: scripted(), rules: func(r *tenant.Rules) {
		r.Audience = tenant.Audience{Mode: tenant.AudienceOnly, Subscribers: []contact.SubscriberID{"900000002"}}
	}}, func(s *studio) {
		id := s.contact("900000001")
		s.write(id, "stop")
		s.rest(time.Second)
		s.wantNewest(id, "paused", "silent", nil)
		if got := s.recorded(id, 1)[0].Interventions; !slices.Equal(got, []string{"audience", "opt_out"}) {
			t.Errorf("the record says %q", got)
		}
	})
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": a request that proves nothing of its contact
// neither ends their messages nor takes that back.
func TestOptOutNeedsTheContact(t *testing.T) {
	model := scripted(wrote("Hello."), wrote("Gladly."), wrote("Still here."))
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		r.write(id, "hello")
		time.Sleep(15 * time.Minute)
		if _, body := r.forge(id, "wrong", "stop"); !strings.Contains(body, "Gladly.") {
			t.Errorf("an opt-out of nobody's is answered %s", body)
		}
		time.Sleep(time.Minute)
		r.write(id, "and now?")
		time.Sleep(time.Minute)
		r.write(id, "stop")
		time.Sleep(time.Minute)
		for _, text := range []string{"start", "hello"} {
			if _, body := r.forge(id, "wrong", text); !strings.Contains(body, `"messages":[]`) {
				t.Errorf("%q of nobody's is answered %s", text, body)
			}
		}
		time.Sleep(time.Minute)
		r.write(id, "hello")
		var reads []string
		for _, item := range r.phone(id, time.Minute) {
			reads = append(reads, item.Text)
		}
		if want := []string{"Hello.", "Still here.", goodbye}; !slices.Equal(reads, want) {
			t.Errorf("the contact reads %q, want %q", reads, want)
		}
	}, setup{model: model})
}

// Holds docs/spec/03-turn.md, "Crash recovery": the answer to an opt-out that waits in the outbox
// when its process dies still arrives, once, and the opt-out stands.
func TestOptOutSurvivesACrash(t *testing.T) {
	inStudio(t, setup{model: scripted(slow(9*time.Second, wrote("Late.")))}, func(s *studio) {
		id := s.contact("900000001")
		s.faults(manychattest.Fault{Kind: fault.ServerError, Path: "/fb/sending/sendFlow"})
		go s.write(id, question)
		s.rest(2 * time.Second)
		s.write(id, "stop")
		s.rest(20 * time.Second)
		s.wantNewest(id, "opted_out", "outbox", []string{"pending"})
		s.crash()
		s.faults()
		s.rest(5 * time.Minute)
		s.write(id, "hello")
		s.rest(time.Minute)
		s.wantReads(id, ack, goodbye)
	})
}

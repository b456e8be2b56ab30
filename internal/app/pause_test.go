package app_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/inbound"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
)

// pause asks for a pause as a flow of the business does, and returns the answer.
func (s *studio) pause(id string, hours float64) string {
	s.t.Helper()
	body := fmt.Sprintf(`{"subscriber_id":"%s","hours":%v}`, id, hours)
	req, err := http.NewRequest(http.MethodPost, "http://127.0.0.1:3000"+inbound.PausePath, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+newSecret)
	resp, err := s.client.Do(req)
	if err != nil {
		s.t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		s.t.Errorf("a pause is answered %d %s, %v", resp.StatusCode, answer, err)
	}
	return string(answer)
}

func (s *studio) wantReads(id string, want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, s.reads(id)); diff != "" {
		s.t.Errorf("the contact reads (-want +got):\n%s", diff)
	}
}

// wantNewest asserts how the newest turn of a contact ended, and what became of its rows and
// actions.
func (s *studio) wantNewest(id, outcome, path string, deliveries []string, acted ...string) {
	s.t.Helper()
	turn := s.recorded(id, 1)[0]
	if turn.Outcome != outcome || turn.Path != path || !slices.Equal(turn.Deliveries, deliveries) {
		s.t.Errorf("the turn of %q is %s by %s, its rows are %q; want %s by %s and %q", turn.Text, turn.Outcome, turn.Path, turn.Deliveries, outcome, path, deliveries)
	}
	if diff := cmp.Diff(acted, actedIn(turn)); diff != "" {
		s.t.Errorf("the record of %q (-want +got):\n%s", turn.Text, diff)
	}
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": messages are recorded and answered
// silently while a person has the conversation, and are history when the agent goes on.
func TestPausedContact(t *testing.T) {
	model := scripted(wrote("Hello."), wrote("Welcome back."), wrote("Still here."))
	inStudio(t, setup{model: model}, func(s *studio) {
		id := s.contact("900000001")
		s.write(id, "hello")
		s.rest(time.Minute)
		until := time.Now().Add(4 * time.Hour).UTC().Truncate(time.Second).Format(time.RFC3339)
		if got, want := s.pause(id, 4), `{"subscriber_id":"900000001","paused":true,"until":"`+until+`","withheld":0}`; got != want {
			t.Errorf("answered %s, want %s", got, want)
		}
		if got := s.write(id, "is anybody there?"); len(got.Shown) != 0 {
			t.Errorf("the phone shows %v", got.Shown)
		}
		s.rest(time.Minute)
		s.wantNewest(id, "paused", "silent", nil)
		if n := len(model.Requests()); n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
		if got, want := s.pause(id, 0), `{"subscriber_id":"900000001","paused":false,"until":null,"withheld":0}`; got != want {
			t.Errorf("answered %s, want %s", got, want)
		}
		s.write(id, "thanks")
		s.rest(time.Minute)
		s.wantReads(id, "Hello.", "Welcome back.")
		var history []string
		for _, m := range model.Requests()[1].Messages {
			history = append(history, m.Text)
		}
		if said := strings.Join(history, "\n"); !strings.Contains(said, "is anybody there?") {
			t.Errorf("what was written while a person had the conversation is not in history: %s", said)
		}
		s.pause(id, 0.05)
		s.rest(4 * time.Minute)
		s.write(id, "hello again")
		s.wantReads(id, "Hello.", "Welcome back.", "Still here.")
	})
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": a person may start the talk.
func TestPauseOfSomebodyNew(t *testing.T) {
	inStudio(t, setup{model: scripted(wrote("Hello."))}, func(s *studio) {
		id := s.contact("900000001")
		s.pause(id, 0.1)
		s.write(id, "hello")
		s.rest(time.Minute)
		s.wantNewest(id, "paused", "silent", nil)
		s.rest(6 * time.Minute)
		s.write(id, "hello")
		s.wantReads(id, "Hello.")
	})
}

// Holds docs/spec/05-delivery.md, "Outbox": pausing withholds every pending row of the
// contact, with its actions; resuming does not send them by itself.
func TestPauseWithholds(t *testing.T) {
	model := scripted(calling(addGift), slow(9*time.Second, wrote("Late.")), wrote("On time."))
	inStudio(t, setup{model: model}, func(s *studio) {
		id, other := s.contact("900000001"), s.contact("900000002")
		s.faults(manychattest.Fault{Kind: fault.ServerError, Path: "/fb/sending/sendFlow"})
		s.write(id, question)
		s.rest(30 * time.Second)
		s.wantNewest(id, "answered", "outbox", []string{"pending"}, "add_tag gift staged")
		if got := s.pause(other, 1); !strings.Contains(got, `"withheld":0`) {
			t.Errorf("the pause of another contact is answered %s", got)
		}
		s.wantNewest(id, "answered", "outbox", []string{"pending"}, "add_tag gift staged")
		if got := s.pause(id, 1); !strings.Contains(got, `"withheld":1`) {
			t.Errorf("answered %s", got)
		}
		s.wantNewest(id, "answered", "outbox", []string{"withheld"}, "add_tag gift discarded")
		s.faults()
		s.rest(2 * time.Minute)
		s.pause(id, 0)
		s.rest(2 * time.Minute)
		s.wantReads(id, ack)
		s.write(id, "hello")
		s.wantReads(id, ack, "On time.")
		for _, m := range model.Requests()[2].Messages {
			if strings.Contains(m.Text, "Late.") {
				t.Error("a reply that was withheld is in history")
			}
		}
		if got := acts(s.did(id)); len(got) != 0 {
			t.Errorf("ManyChat was asked %q", got)
		}
	})
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": a running turn is checked again when it
// settles, before each flow and each action; the rest is discarded.
func TestPauseWhileATurnRuns(t *testing.T) {
	tests := []struct {
		name    string
		model   *llmtest.Scripted
		after   time.Duration // from the message to the pause
		slowest time.Duration // each request of a tag
		outcome string
		path    string
		reads   []string
		acted   []string
		did     []string
	}{
		{
			name: "before it settles", model: scripted(calling(addGift), slow(3*time.Second, wrote("Gladly."))), after: time.Second,
			outcome: "paused", path: "silent", acted: []string{"add_tag gift discarded"},
		},
		{
			name: "before the deadline of a late one", model: scripted(slow(12*time.Second, wrote("Gladly."))), after: 2 * time.Second,
			outcome: "paused", path: "silent",
		},
		{
			name: "behind the acknowledgement", model: scripted(slow(12*time.Second, wrote("Gladly."))), after: 9 * time.Second,
			outcome: "paused", path: "silent", reads: []string{ack},
		},
		{
			name: "before a flow", model: scripted(slow(2*time.Second, calling(sendMap)), wrote("Gladly.")), after: time.Second,
			outcome: "paused", path: "silent", acted: []string{"send_flow studio_map discarded"},
		},
		{
			name: "between two actions", model: scripted(calling(addGift, setEvening), wrote("Gladly.")), after: time.Second, slowest: 2 * time.Second,
			outcome: "answered", path: "inline", reads: []string{"Gladly."},
			acted: []string{"add_tag gift performed", "set_field preferred_shift=evening discarded"}, did: []string{"add_tag gift"},
		},
		{
			name: "before a handoff", model: scripted(slow(3*time.Second, escalatings()[0].end)), after: time.Second,
			outcome: "paused", path: "silent",
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
				s.pause(id, 24)
				s.rest(2 * time.Minute)
				s.wantNewest(id, tt.outcome, tt.path, nil, tt.acted...)
				s.wantReads(id, tt.reads...)
				if diff := cmp.Diff(tt.did, acts(s.did(id))); diff != "" {
					t.Errorf("ManyChat was asked (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Holds docs/spec/05-delivery.md, "Outbox": just before each text the conversation is checked;
// of a reply that is withheld halfway only what went out is in history.
func TestPauseBetweenTwoTexts(t *testing.T) {
	model := scripted(calling(addGift), slow(9*time.Second, wrote("One.", "Two.")), wrote("Three."))
	inStudio(t, setup{model: model, env: []string{"WHATSAPP_JOIN=false"}}, func(s *studio) {
		id := s.contact("900000001")
		s.write(id, question)
		s.faults(manychattest.Fault{Kind: fault.Latency, Path: "/fb/sending/sendFlow", DelayMS: 2000})
		s.rest(3 * time.Second) // the row is in a worker's hand
		if got := s.pause(id, 1); !strings.Contains(got, `"withheld":0`) {
			t.Errorf("answered %s", got)
		}
		s.rest(2 * time.Minute)
		s.wantReads(id, ack, "One.")
		s.wantNewest(id, "answered", "outbox", []string{"withheld"}, "add_tag gift discarded")
		s.faults()
		s.pause(id, 0)
		s.write(id, "hello")
		said := ""
		for _, m := range model.Requests()[2].Messages {
			said += m.Text
		}
		if !strings.Contains(said, "One.") || strings.Contains(said, "Two.") {
			t.Errorf("history is %s", said)
		}
	})
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": an escalation may pause the
// conversation: its own copy goes out, on either route, and nothing behind it.
func TestHandoffThatPauses(t *testing.T) {
	late := escalatings()[0].end
	for _, tt := range []struct {
		name  string
		model *llmtest.Scripted
		text  string
		reads []string
	}{
		{"in the response", scripted(wrote("Hello.")), "refund please", []string{escalation}},
		{"late", scripted(slow(9*time.Second, late), wrote("Hello.")), question, []string{ack, escalation}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			change := setup{model: tt.model, rules: func(r *tenant.Rules) {
				r.Handoff = &tenant.Handoff{Tag: "needs-a-person", PauseHours: 0.1}
			}}
			inStudio(t, change, func(s *studio) {
				id := s.contact("900000001")
				s.write(id, tt.text)
				s.rest(time.Minute)
				s.wantReads(id, tt.reads...)
				if got := noticed(s.acted(id)); !slices.Equal(got, []string{"tag performed"}) {
					t.Errorf("the notice is %q", got)
				}
				s.write(id, "and now?")
				s.rest(time.Minute)
				s.wantNewest(id, "paused", "silent", nil)
				s.rest(6 * time.Minute)
				s.write(id, "hello")
				s.wantReads(id, append(tt.reads, "Hello.")...)
			})
		})
	}
}

// tagged is the academy whose people tag whom they have.
func tagged(t *testing.T) func() *tenant.Tenant {
	return func() *tenant.Tenant {
		business := academy(t, "default")
		business.Tools.Nudge.HumanActiveTag = "human-active"
		return business
	}
}

// carry sets whether a contact carries the tag of an active person.
func (s *studio) carry(id string, active bool) {
	s.t.Helper()
	if err := s.account.EditContact(id, func(c *manychattest.Contact) {
		c.Tags = slices.DeleteFunc(c.Tags, func(tag string) bool { return tag == "human-active" })
		if active {
			c.Tags = append(c.Tags, "human-active")
		}
	}); err != nil {
		s.t.Error(err)
	}
}

// asksTags counts how often ManyChat was asked for a contact.
func (s *studio) asksTags() (n int) {
	for _, c := range s.account.Calls() {
		if c.Path == "/fb/subscriber/getInfo" {
			n++
		}
	}
	return n
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": the tag is read at most once a minute
// while turns run, and a contact who carries it is paused while it stays.
func TestTagOfAnActivePerson(t *testing.T) {
	model := scripted(wrote("One."), wrote("Two."), wrote("Three."))
	inStudio(t, setup{model: model, business: tagged(t)}, func(s *studio) {
		id := s.contact("900000001")
		step := func(text string, after time.Duration, outcome string, asked int) {
			t.Helper()
			s.rest(after)
			s.write(id, text)
			s.rest(time.Second)
			if turn := s.recorded(id, 1)[0]; turn.Outcome != outcome || s.asksTags() != asked {
				t.Errorf("%q is %s, and ManyChat was asked %d times; want %s and %d", text, turn.Outcome, s.asksTags(), outcome, asked)
			}
		}
		step("first", 0, "answered", 1)
		s.carry(id, true)
		step("within the minute", 10*time.Second, "answered", 1)
		step("then", time.Minute, "paused", 2)
		s.carry(id, false)
		step("known to be there", 10*time.Second, "paused", 2)
		s.faults(manychattest.Fault{Kind: fault.Timeout, Path: "/fb/subscriber/getInfo"})
		step("a reading that fails", time.Minute, "paused", 3)
		s.faults()
		step("gone", time.Minute, "answered", 4)
		s.wantReads(id, "One.", "Two.", "Three.")
	})
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": finding the tag withholds what is on its
// way, and a row that an operator sends again is asked about anew.
func TestTagWithholds(t *testing.T) {
	model := scripted(slow(9*time.Second, wrote("Late.")), wrote("Two."))
	inStudio(t, setup{model: model, business: tagged(t)}, func(s *studio) {
		id := s.contact("900000001")
		s.faults(manychattest.Fault{Kind: fault.ServerError, Path: "/fb/sending/sendFlow"})
		s.write(id, question)
		s.rest(time.Minute)
		s.carry(id, true)
		s.write(id, "hello?")
		s.rest(time.Second)
		turns := s.recorded(id, 2)
		if turns[0].Outcome != "paused" || !slices.Equal(turns[1].Deliveries, []string{"withheld"}) {
			t.Errorf("the turn is %s, and the reply before it %q", turns[0].Outcome, turns[1].Deliveries)
		}
		s.faults()
		s.rest(2 * time.Minute)
		s.wantReads(id, ack)
	})
}

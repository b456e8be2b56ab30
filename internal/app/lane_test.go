package app_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/inbound"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/sandbox"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// The copies of the demo academy.
const (
	handover = "I would like a colleague from the studio to answer that. They will write to you here."
	opening  = "Hello, this is Wren from Kilnbrook Clay Academy! We teach the wheel, hand-building and glazing, and have a clay morning for families. What would you like to make?"
	noMedia  = "I could not open what you sent. Could you write it to me in a few words?"
)

// wrotes is what a contact writes, how long after the test's beginning.
type wrotes struct {
	at   time.Duration
	text string
}

// response is how a request ended: when its response came, and what it put on the phone.
type response struct {
	at    time.Duration
	shows string // empty: a silent response
}

// says lets a contact write, and returns what became of each request once all have ended.
func (s *studio) says(id string, all ...wrotes) []response {
	s.t.Helper()
	began, answers := time.Now(), make([]response, len(all))
	var writing sync.WaitGroup
	for i, one := range all {
		writing.Go(func() {
			time.Sleep(time.Until(began.Add(one.at)))
			exchange := s.write(id, one.text)
			if exchange.Failure != "" {
				s.t.Errorf("ManyChat takes the answer to %q for a failure: %s %s", one.text, exchange.Failure, exchange.Reason)
			}
			answers[i] = response{time.Since(began).Round(10 * time.Millisecond), textOf(exchange.Shown)}
		})
	}
	writing.Wait()
	return answers
}

func textOf(items []phone.Item) string {
	var texts []string
	for _, item := range items {
		texts = append(texts, item.Text)
	}
	return strings.Join(texts, " | ")
}

// readsSince is what the business wrote to a contact since a time.
func (s *studio) readsSince(id string, began time.Time) (all []shown) {
	for _, item := range s.account.Chat(id) {
		if item.From == phone.FromBusiness && !item.At.Before(began) {
			all = append(all, shown{item.At.Sub(began).Round(10 * time.Millisecond), item.Via, item.Text})
		}
	}
	return all
}

// met adds a contact who has written before, and is bound by a token of its own.
func (s *studio) met(id string) string {
	s.t.Helper()
	s.contact(id)
	s.write(id, "hello")
	s.rest(time.Minute)
	if c, err := s.account.Contact(id); err != nil || c.Fields["ai_token"] == nil {
		s.t.Fatalf("the contact has no token: %v", err)
	}
	return id
}

// endings are how a contact's newest turns ended, oldest first.
func (s *studio) endings(id string, n int) []string {
	s.t.Helper()
	all := make([]string, n)
	for i, turn := range s.recorded(id, n) {
		all[n-1-i] = endOf(turn)
	}
	return all
}

func endOf(turn sandbox.Turn) string {
	return strings.Join(strings.Fields(turn.State+" "+turn.Outcome+" "+turn.Reason+" "+turn.Path), " ")
}

// asks is the message that a request to a model is about, as the prompt holds it.
func asks(req llm.Request) string {
	for i := len(req.Messages) - 1; i >= 0; i-- {
		if req.Messages[i].Role == llm.User {
			return req.Messages[i].Text
		}
	}
	return ""
}

func differ(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func (g response) String() string { return fmt.Sprintf("at %s %q", g.at, g.shows) }

func lines[T fmt.Stringer](all []T) (texts []string) {
	for _, one := range all {
		texts = append(texts, one.String())
	}
	return texts
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": of three messages in quick
// succession the first is answered alone, the second is released silently at once when the third
// is there, and the third is answered with it, as one entry of history.
func TestThreeInQuickSuccession(t *testing.T) {
	model := scripted(wrote("Hello."), slow(3*time.Second, wrote("First.")), slow(3*time.Second, wrote("Both.")), wrote("Next."))
	inStudio(t, setup{model: model}, func(s *studio) {
		id := s.met("900000001")
		began := time.Now()
		answers := s.says(id, wrotes{0, "one bowl"}, wrotes{500 * time.Millisecond, "two cups"}, wrotes{time.Second, "three jugs"})
		differ(t, "the responses", []string{`at 3s "First."`, `at 1s ""`, `at 6s "Both."`}, lines(answers))
		s.rest(time.Minute)
		differ(t, "the phone", []shown{{3 * time.Second, phone.ViaInline, "First."}, {6 * time.Second, phone.ViaInline, "Both."}}, s.readsSince(id, began))
		differ(t, "recorded", []string{"settled answered inline", "merged merged silent", "settled answered inline"}, s.endings(id, 3))
		differ(t, "the calls of ManyChat", []string(nil), s.did(id))
		turns := s.recorded(id, 2)
		if turns[1].MergedInto != turns[0].ID {
			t.Errorf("the second message is answered by %q, want %q", turns[1].MergedInto, turns[0].ID)
		}
		requests := model.Requests()
		if text := asks(requests[1]); !strings.Contains(text, "one bowl") || strings.Contains(text, "two cups") {
			t.Errorf("the first turn is asked:\n%s", text)
		}
		if text := asks(requests[2]); !strings.Contains(text, "two cups\nthree jugs") || strings.Contains(text, "one bowl") {
			t.Errorf("the turn of the two is asked:\n%s", text)
		}
		s.write(id, "and plates?")
		var told []string
		for _, message := range model.Requests()[3].Messages {
			for _, words := range []string{"one bowl", "two cups\nthree jugs"} {
				if strings.Contains(message.Text, words) {
					told = append(told, string(message.Role)+": "+words)
				}
			}
			if text := message.Text; strings.Contains(text, "two cups") != strings.Contains(text, "three jugs") {
				t.Errorf("history has the two apart:\n%s", text)
			}
		}
		differ(t, "the history of the next turn", []string{"user: one bowl", "user: two cups\nthree jugs"}, told)
	})
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": with MERGE_WAITING off each
// message has a turn of its own, one behind the other.
func TestThreeInQuickSuccessionUnmerged(t *testing.T) {
	model := scripted(wrote("Hello."), slow(time.Second, wrote("First.")), slow(time.Second, wrote("Second.")), slow(time.Second, wrote("Third.")))
	inStudio(t, setup{model: model, env: []string{"MERGE_WAITING=false"}}, func(s *studio) {
		id := s.met("900000001")
		answers := s.says(id, wrotes{0, "one bowl"}, wrotes{100 * time.Millisecond, "two cups"}, wrotes{200 * time.Millisecond, "three jugs"})
		differ(t, "the responses", []string{`at 1s "First."`, `at 3s "Second."`, `at 5s "Third."`}, lines(answers))
		s.rest(time.Minute)
		differ(t, "recorded", []string{"settled answered inline", "settled answered inline", "settled answered inline"}, s.endings(id, 3))
	})
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": of messages that are answered
// together a keyword in any hands off, a scripted answer and the media fallback have to cover
// them all, and what cannot be read is left out.
func TestGuardsOfMergedMessages(t *testing.T) {
	const unread, opens = "{{last_input_text}}", "courses"
	tests := []struct {
		name   string
		second string
		third  string
		shows  string
		ending string
		read   string // what the model reads of the two; empty: it is not asked
	}{
		{"a keyword in the first", "I want to talk to a human", "thanks", handover, "settled escalated_precheck keyword inline", ""},
		{"a keyword in the last", "thanks", "I want to talk to a human", handover, "settled escalated_precheck keyword inline", ""},
		{"an opening in the first", opens, "how much?", "Gladly.", "settled answered inline", opens + "\nhow much?"},
		{"an opening in the last", "how much?", opens, "Gladly.", "settled answered inline", "how much?\n" + opens},
		{"nothing but openings", opens, "I want to know more about the courses", opening, "settled answered_scripted inline", ""},
		{"media in the first", unread, "how much?", "Gladly.", "settled answered inline", "how much?"},
		{"media in the last", "how much?", unread, "Gladly.", "settled answered inline", "how much?"},
		{"nothing but media", unread, "{{cuf_1}}", noMedia, "settled media_fallback inline", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			model := scripted(wrote("Hello."), slow(3*time.Second, wrote("First.")), wrote("Gladly."))
			inStudio(t, setup{model: model}, func(s *studio) {
				id := s.met("900000001")
				answers := s.says(id, wrotes{0, "one bowl"}, wrotes{500 * time.Millisecond, tt.second}, wrotes{time.Second, tt.third})
				differ(t, "the responses", []string{`at 3s "First."`, `at 1s ""`, fmt.Sprintf("at 5s %q", tt.shows)}, lines(answers))
				s.rest(time.Minute)
				differ(t, "recorded", []string{"merged merged silent", tt.ending}, s.endings(id, 2))
				requests := model.Requests()
				if asked := len(requests) == 3; asked != (tt.read != "") {
					t.Fatalf("the model is asked %d times", len(requests))
				}
				if tt.read == "" {
					return
				}
				if text := asks(requests[2]); !strings.Contains(text, tt.read) || strings.Contains(text, unread) {
					t.Errorf("the model reads:\n%s", text)
				}
			})
		})
	}
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact", "The same message twice": it is
// one within 3 s while it has no answer, and two otherwise.
func TestSameMessageTwice(t *testing.T) {
	tests := []struct {
		name    string
		takes   time.Duration // the model, for an answer
		again   time.Duration // when the same comes again
		want    []string
		endings []string
	}{
		{"a second later, unanswered", 3 * time.Second, time.Second, []string{`at 3s "First."`, `at 1s ""`}, []string{"settled answered inline", "settled duplicate silent"}},
		{"at once", 3 * time.Second, 0, nil, []string{"settled answered inline", "settled duplicate silent"}},
		{"a second later, answered", 500 * time.Millisecond, time.Second, []string{`at 500ms "First."`, `at 2.5s "Second."`}, []string{"settled answered inline", "settled answered inline"}},
		{"4 s later, answered", 500 * time.Millisecond, 4 * time.Second, []string{`at 500ms "First."`, `at 4.5s "Second."`}, []string{"settled answered inline", "settled answered inline"}},
		{"4 s later, unanswered", 5 * time.Second, 4 * time.Second, []string{`at 5s "First."`, `at 10s "Second."`}, []string{"settled answered inline", "settled answered inline"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			model := scripted(wrote("Hello."), slow(tt.takes, wrote("First.")), slow(tt.takes, wrote("Second.")))
			inStudio(t, setup{model: model}, func(s *studio) {
				id := s.met("900000001")
				answers := s.says(id, wrotes{0, question}, wrotes{tt.again, question})
				if tt.want != nil {
					differ(t, "the responses", tt.want, lines(answers))
				}
				s.rest(time.Minute)
				differ(t, "recorded", tt.endings, s.endings(id, 2))
				if n := len(model.Requests()) - 1; n != strings.Count(strings.Join(tt.endings, " "), "answered") {
					t.Errorf("the model is asked %d times", n)
				}
			})
		})
	}
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": a message that waits past its
// deadline is answered silently, and its reply comes by the outbox, behind the earlier one.
func TestWaitingPastTheDeadline(t *testing.T) {
	model := scripted(wrote("Hello."), slow(12*time.Second, wrote("First.")), slow(time.Second, wrote("Second.")))
	inStudio(t, setup{model: model}, func(s *studio) {
		id := s.met("900000001")
		began := time.Now()
		answers := s.says(id, wrotes{0, "one bowl"}, wrotes{time.Second, "two cups"})
		differ(t, "the responses", []string{fmt.Sprintf("at 8s %q", ack), `at 9s ""`}, lines(answers))
		s.rest(time.Minute)
		differ(t, "the phone", []shown{
			{8 * time.Second, phone.ViaInline, ack}, {12 * time.Second, phone.ViaFlow, "First."}, {14 * time.Second, phone.ViaFlow, "Second."},
		}, s.readsSince(id, began))
		differ(t, "ManyChat was asked", []string{"say First.", "show", "say Second.", "show"}, s.did(id))
		differ(t, "recorded", []string{"settled answered outbox", "settled answered outbox"}, s.endings(id, 2))
	})
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact", "Carrying": while ManyChat's API
// is down a late reply is queued; the contact who writes again reads it in the response, before
// the new one, and neither comes again when the API is back.
func TestCarriedWhileManyChatIsDown(t *testing.T) {
	model := scripted(wrote("Hello."), slow(9*time.Second, wrote("Late.")), wrote("Next."), wrote("Last."))
	inStudio(t, setup{model: model}, func(s *studio) {
		id := s.met("900000001")
		s.faults(manychattest.Fault{Kind: fault.ServerError, Path: "/fb/subscriber/setCustomFieldByName"})
		began := time.Now()
		s.write(id, question)
		s.rest(10 * time.Minute)
		differ(t, "the phone while the reply is queued", []shown{{8 * time.Second, phone.ViaInline, ack}}, s.readsSince(id, began))
		if got := s.write(id, "are you there?"); textOf(got.Shown) != "Late.\n\nNext." || got.Duration != 0 {
			t.Errorf("the response shows %v after %s", got.Shown, got.Duration)
		}
		s.rest(time.Minute)
		s.faults()
		s.account.ForgetCalls()
		s.rest(2 * time.Hour)
		if got := s.write(id, "thanks"); textOf(got.Shown) != "Last." {
			t.Errorf("the response when all is well shows %v", got.Shown)
		}
		s.rest(time.Hour)
		differ(t, "the phone", []string{"Hello.", ack, "Late.\n\nNext.", "Last."}, s.reads(id))
		differ(t, "the calls of ManyChat once it is back", []string(nil), s.did(id))
		differ(t, "recorded", []string{"settled answered outbox", "settled answered inline", "settled answered inline"}, s.endings(id, 3))
		differ(t, "the late reply's row", []string{"delivered"}, s.recorded(id, 3)[2].Deliveries)
	})
}

// forge is a request that names a contact with another token than the contact's own.
func (s *studio) forge(id, text string) (status int) {
	s.t.Helper()
	captured.keep("token", "not-the-contact's")
	captured.keep("message", text)
	resp, err := s.post(s.t.Context(), fmt.Sprintf(`{"subscriber_id":%q,"ai_token":"not-the-contact's","text":%q}`, id, text))
	if err != nil {
		s.t.Error(err)
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": an unbound turn neither waits
// for the contact's turns nor makes them wait, and is answered together with none.
func TestForgedMessagesAreBesideTheLane(t *testing.T) {
	model := byContact{
		"one bowl":  scripted(slow(3*time.Second, wrote("First."))),
		"two cups":  scripted(slow(time.Second, wrote("Second."))),
		"forged by": &llmtest.Scripted{Steps: []llmtest.Step{slow(6*time.Second, wrote("Who are you?"))}, Repeat: true},
		"":          scripted(wrote("Hello.")),
	}
	inStudio(t, setup{model: model}, func(s *studio) {
		id := s.met("900000001")
		began := time.Now()
		var forging sync.WaitGroup
		for _, at := range []time.Duration{time.Second, 1500 * time.Millisecond} {
			forging.Go(func() {
				time.Sleep(at)
				if status := s.forge(id, fmt.Sprintf("forged by somebody at %s", at)); status != http.StatusOK || time.Since(began) != at+6*time.Second {
					t.Errorf("the forged message is answered %d after %s", status, time.Since(began)-at)
				}
			})
		}
		answers := s.says(id, wrotes{0, "one bowl"}, wrotes{2 * time.Second, "two cups"})
		forging.Wait()
		differ(t, "the responses", []string{`at 3s "First."`, `at 5s "Second."`}, lines(answers))
		s.rest(time.Minute)
		differ(t, "the phone", []shown{{3 * time.Second, phone.ViaInline, "First."}, {5 * time.Second, phone.ViaInline, "Second."}}, s.readsSince(id, began))
		for _, end := range s.endings(id, 4) {
			if end != "settled answered inline" {
				t.Errorf("recorded is %s", end)
			}
		}
	})
}

// leaves stops the process after a while; the test waits for it.
func (s *studio) leaves(after time.Duration) *sync.WaitGroup {
	var gone sync.WaitGroup
	gone.Go(func() {
		time.Sleep(after)
		s.stop()
	})
	return &gone
}

// Holds docs/spec/03-turn.md, "Crash recovery", "Shutdown": the turn in flight is finished, the
// waiting one is left silently, what still arrives is recorded and gets what a lost race would
// get; the next process answers everybody once, in order, and no start is counted.
func TestStopWhileOneRunsAndOneWaits(t *testing.T) {
	first := byContact{"one bowl": scripted(slow(10*time.Second, wrote("First."))), "": &llmtest.Scripted{Steps: []llmtest.Step{wrote("Hello.")}, Repeat: true}}
	second := byContact{"two cups\nthree jugs": scripted(wrote("Both.")), "a vase": scripted(wrote("Other."))}
	inStudio(t, setup{model: first, env: []string{"TURN_MAX_ATTEMPTS=1"}}, func(s *studio) {
		id, other := s.met("900000001"), s.met("900000002")
		began := time.Now()
		gone := s.leaves(2 * time.Second)
		var late []response
		gone.Go(func() { time.Sleep(time.Second); late = s.says(other, wrotes{3 * time.Second, "a vase"}) })
		answers := s.says(id, wrotes{0, "one bowl"}, wrotes{time.Second, "two cups"}, wrotes{3 * time.Second, "three jugs"})
		gone.Wait()
		differ(t, "the responses", []string{fmt.Sprintf("at 8s %q", ack), `at 2s ""`, `at 3s ""`}, lines(answers))
		differ(t, "the response of another contact", []string{fmt.Sprintf("at 3s %q", ack)}, lines(late))
		if ended := time.Since(began); ended < 10*time.Second || ended > 13*time.Second {
			t.Errorf("the process took until %s", ended)
		}
		s.setup.model = second
		s.start()
		s.rest(time.Minute)
		differ(t, "the phone", []string{"Hello.", ack, "First.", "Both."}, s.reads(id))
		differ(t, "the other phone", []string{"Hello.", ack, "Other."}, s.reads(other))
		differ(t, "ManyChat was asked", []string{"say First.", "show", "say Both.", "show"}, s.did(id))
		differ(t, "recorded", []string{"settled answered outbox", "merged merged silent", "settled answered outbox"}, s.endings(id, 3))
		if turn := s.recorded(id, 1)[0]; turn.Attempt != 1 {
			t.Errorf("the turn was started %d times", turn.Attempt)
		}
	})
}

// Holds docs/spec/03-turn.md, "Crash recovery", "Shutdown": a turn that does not end within the
// grace is handed back and run again by the next process, which does not count; who waited for
// it is answered behind it.
func TestStopThatOutlastsTheGrace(t *testing.T) {
	first := byContact{"one bowl": scripted(llmtest.Step{Hang: llmtest.UntilAbort}), "": scripted(wrote("Hello."))}
	second := byContact{"one bowl": scripted(slow(time.Second, wrote("First."))), "two cups": scripted(wrote("Second."))}
	inStudio(t, setup{model: first, env: []string{"TURN_MAX_ATTEMPTS=1", "SHUTDOWN_GRACE_MS=7000"}}, func(s *studio) {
		id := s.met("900000001")
		gone := s.leaves(2 * time.Second)
		answers := s.says(id, wrotes{0, "one bowl"}, wrotes{time.Second, "two cups"})
		gone.Wait()
		differ(t, "the responses", []string{fmt.Sprintf("at 8s %q", ack), `at 2s ""`}, lines(answers))
		s.setup.model = second
		s.start()
		s.rest(time.Minute)
		differ(t, "the phone", []string{"Hello.", ack, "First.", "Second."}, s.reads(id))
		differ(t, "recorded", []string{"settled answered outbox", "settled answered outbox"}, s.endings(id, 2))
		for _, turn := range s.recorded(id, 2) {
			if turn.Attempt != 1 {
				t.Errorf("%q was started %d times", turn.Text, turn.Attempt)
			}
		}
	})
}

// Holds docs/spec/03-turn.md, "Steps" and "Crash recovery": the reply of a response that cannot
// be written, because its caller reads nothing, is delivered by the outbox, once, and the next
// message is answered behind it.
func TestResponseThatCannotBeWritten(t *testing.T) {
	model := scripted(wrote("Hello."), slow(time.Second, wrote("First.")), slow(time.Second, wrote("Second.")))
	inStudio(t, setup{model: model}, func(s *studio) {
		id := s.met("900000001")
		began := time.Now()
		s.sendDeaf(id, "one bowl")
		answers := s.says(id, wrotes{500 * time.Millisecond, "two cups"})
		s.rest(time.Minute)
		differ(t, "the response of the next message", []string{`at 5s "Second."`}, lines(answers))
		differ(t, "the phone", []shown{{3 * time.Second, phone.ViaFlow, "First."}, {5 * time.Second, phone.ViaInline, "Second."}}, s.readsSince(id, began))
		differ(t, "recorded", []string{"settled answered outbox", "settled answered inline"}, s.endings(id, 2))
	})
}

// sendDeaf sends a contact's message as a caller who reads no response.
func (s *studio) sendDeaf(id, text string) {
	s.t.Helper()
	c, err := s.account.Contact(id)
	if err != nil {
		s.t.Fatal(err)
	}
	captured.keep("message", text)
	body := fmt.Sprintf(`{"subscriber_id":%q,"ai_token":%q,"text":%q}`, id, c.Fields["ai_token"], text)
	conn, err := s.network.dial(context.Background(), "", "")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: agent.example\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		inbound.MessagePath, newSecret, len(body), body)
	if err != nil {
		s.t.Fatal(err)
	}
	synctest.Wait()
}

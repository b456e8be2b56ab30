package app_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// turnLines are the log's lines about settled turns, in their order.
func (s *studio) turnLines() (all []turnLine) {
	for line := range strings.Lines(s.log.String()) {
		var l turnLine
		if json.Unmarshal([]byte(line), &l) == nil && l.Message == "turn" {
			all = append(all, l)
		}
	}
	return all
}

type turnLine struct {
	Message   string `json:"msg"`
	Outcome   string `json:"outcome"`
	Actions   int    `json:"actions"`
	Discarded int    `json:"discarded"`
}

// escalating is a way in which a turn with four staged actions and a flow comes to a person.
type escalating struct {
	name  string
	end   llmtest.Step // behind the calls
	ended string       // outcome
	note  bool         // the note for whoever takes over is written
	late  bool         // through the outbox
}

func escalatings() []escalating {
	return []escalating{
		{"the model", with(draft{"escalate": true, "escalation_reason": "complaint"}), "escalated", true, false},
		{"the threshold", with(draft{"confidence": 0.59}), "escalated", true, false},
		{"a leak of the fence", wrote("It ends with <<<END_CONTACT_MESSAGE>>>"), "escalated_error", false, false},
		{"a leak of the rules", wrote("## SECURITY"), "escalated_error", false, false},
		{"a price that is nowhere", wrote("The wheel course is 199 EUR."), "escalated_error", false, false},
		{"the schema", llmtest.Step{Text: "Gladly, here you are."}, "escalated_error", false, false},
		{"an empty answer", llmtest.Step{Text: " "}, "escalated_error", false, false},
		{"a refusal", endedBy(llm.StopRefusal), "escalated_error", false, false},
		{"a throw", llmtest.Step{Err: &llm.Error{Provider: "scripted", Kind: llm.KindRejected, Message: "no"}}, "escalated_error", false, false},
		{"a panic", llmtest.Step{Panic: "a bug"}, "escalated_error", false, false},
		{"no reply in the last step", calling(addGift, setEvening), "escalated_error", false, false},
		{"the abort", llmtest.Step{Hang: llmtest.UntilAbort}, "escalated_error", false, true},
	}
}

// Holds docs/spec/07-tools.md, "Performing", and docs/spec/17-quality.md, "Reliability": the
// third check. Of a turn that comes to a person nothing is performed but the note for them
// and the notice, and the log counts what was discarded; a flow that had gone out keeps its
// outcome.
func TestToolsOfHandoffs(t *testing.T) {
	for _, e := range escalatings() {
		t.Run(e.name, func(t *testing.T) {
			steps := []llmtest.Step{calling(addGift, setEvening, sendMap, noteDown, noteWhy), e.end, e.end, e.end}
			inStudio(t, setup{model: scripted(steps...)}, func(s *studio) {
				id := s.contact("900000001")
				exchange := s.write(id, question)
				s.rest(2 * time.Minute)
				want := []string{"send_flow studio_map"}
				if e.note {
					want = append(want, "write_note handoff_note=Asked about a lost parcel.")
				}
				want = append(want, "notice tag")
				if diff := cmp.Diff(want, acts(s.did(id))); diff != "" {
					t.Errorf("ManyChat was asked (-want +got):\n%s", diff)
				}
				last := escalation
				if e.late {
					last = ack
				}
				if len(exchange.Shown) != 1 || exchange.Shown[0].Text != last {
					t.Errorf("the response shows %v", exchange.Shown)
				}
				s.checkBehind(id, escalation)
				note, discarded := "discarded", 4
				if e.note {
					note, discarded = "performed", 3
				}
				record := []string{
					"add_tag gift discarded", "set_field preferred_shift=evening discarded", "send_flow studio_map performed",
					"write_note summary discarded", "write_note handoff_note " + note, "notify_handoff tag performed",
				}
				if diff := cmp.Diff(record, s.acted(id)); diff != "" {
					t.Errorf("recorded (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]turnLine{{"turn", e.ended, 6, discarded}}, s.turnLines()); diff != "" {
					t.Errorf("the log's line (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Holds docs/spec/07-tools.md, "Performing": a turn that the day's budget ends within its loop
// discards what it staged, the note for people too.
func TestToolsOfAnEmptyBudget(t *testing.T) {
	first := calling(addGift, noteWhy)
	first.Response.Usage = llm.Usage{Input: 999_900, Output: 90}
	inStudio(t, setup{model: scripted(first, wrote("Gladly."))}, func(s *studio) {
		id := s.contact("900000001")
		s.write(id, question)
		s.rest(time.Minute)
		if diff := cmp.Diff([]string{"notice tag"}, s.did(id)); diff != "" {
			t.Errorf("ManyChat was asked (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]turnLine{{"turn", "escalated_precheck", 3, 2}}, s.turnLines()); diff != "" {
			t.Errorf("the log's line (-want +got):\n%s", diff)
		}
	})
}

// Holds docs/spec/07-tools.md, "Performing", and docs/spec/17-quality.md, "Reliability": where
// no model runs there are no tools, and nothing is done but the notice of a handoff.
func TestToolsOfTurnsWithoutAModel(t *testing.T) {
	tests := []struct {
		name    string
		rules   func(*tenant.Rules)
		texts   []string
		outcome string
		did     []string
	}{
		{"the opening", nil, []string{"courses"}, "answered_scripted", nil},
		{"a keyword", nil, []string{"refund please"}, "escalated_precheck", []string{"notice tag"}},
		{"the budget", func(r *tenant.Rules) { r.Budget.DailyTokenCap = 100 }, []string{question}, "escalated_precheck", []string{"notice tag"}},
		{"the rate", func(r *tenant.Rules) { r.RateLimit.TurnsPerSubscriberPerHour = 1 }, []string{"courses", question}, "escalated_precheck", []string{"notice tag"}},
		{"the turns", func(r *tenant.Rules) { r.MaxTurnsPerConversation = 1 }, []string{"courses", question}, "escalated_precheck", []string{"notice tag"}},
		{"media, and no words for it", func(r *tenant.Rules) { r.Messages.MediaFallback = "" }, []string{"{{last_input_text}}"}, "escalated_precheck", []string{"notice tag"}},
		{"media", nil, []string{"{{last_input_text}}"}, "media_fallback", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			model := scripted(calling(addGift), wrote("Gladly."))
			inStudio(t, setup{model: model, rules: tt.rules}, func(s *studio) {
				id := s.contact("900000001")
				for _, text := range tt.texts {
					s.write(id, text)
					s.rest(time.Minute)
				}
				if diff := cmp.Diff(tt.did, s.did(id)); diff != "" {
					t.Errorf("ManyChat was asked (-want +got):\n%s", diff)
				}
				lines := s.turnLines()
				if got := lines[len(lines)-1]; got != (turnLine{"turn", tt.outcome, len(tt.did), 0}) {
					t.Errorf("the log says %+v", got)
				}
				if turn := s.recorded(id, 1)[0]; (turn.Actions == nil) != (tt.did == nil) || len(turn.Calls) != 0 || len(model.Requests()) != 0 {
					t.Errorf("recorded are %v and %v, the model was asked %d times", turn.Actions, turn.Calls, len(model.Requests()))
				}
			})
		})
	}
}

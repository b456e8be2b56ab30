package app_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Calls of a sale.
func sets(field, value string) llm.ToolCall {
	return asked("set_field", `{"field":"`+field+`","value":"`+value+`"}`)
}

func sends(flow string) llm.ToolCall { return asked("send_flow", `{"flow":"`+flow+`"}`) }

var (
	meansToBuy  = sets("intent", "prospect")
	asksForLink = asked("send_flow", `{"flow":"payment_link","contactAsked":true}`)
	plansNudge  = asked("schedule_nudge", `{"delay":"later_today"}`)
)

// saleRow is a rule of docs/spec/08-sales.md: what a model calls, what it is told, and what ManyChat is
// asked to do, in order, when that turn is answered, goes to a person, or follows up.
type saleRow struct {
	name  string
	known []llm.ToolCall // of the turn before
	calls []llm.ToolCall
	told  string // in the answers to the calls; empty: nothing is refused
	done  []string
	handed,
	followed []string
}

// never is for what a rule refuses: nothing is asked of ManyChat. toldOf tells people of a handoff.
var (
	never  = []string(nil)
	toldOf = []string{"notice tag"}
)

func saleRows() []saleRow {
	linked := []string{"send_flow payment_link", "set_field stage=link_sent", "send_event checkout_started"}
	prospect := []llm.ToolCall{meansToBuy}
	known := func(calls ...llm.ToolCall) []llm.ToolCall { return append(slices.Clone(prospect), calls...) }
	return []saleRow{
		{"until they mean to buy", nil, []llm.ToolCall{addGift, sets("preferred_shift", "evening"), sends("studio_map"), sets("stage", "offered"), sets("course", "wheel_course"), asksForLink},
			`"reason":"not_prospect"`, never, toldOf, nil},
		{"the opening", nil, prospect, "", []string{"send_flow welcome_video", "set_field intent=prospect"}, toldOf, nil},
		{"the opening before the first flow", nil, known(sends("studio_map")), "", []string{"send_flow welcome_video", "send_flow studio_map", "set_field intent=prospect"},
			[]string{"send_flow welcome_video", "send_flow studio_map", "notice tag"}, nil},
		{"the opening once", prospect, []llm.ToolCall{sends("studio_map")}, "", []string{"send_flow studio_map"}, []string{"send_flow studio_map", "notice tag"}, []string{"send_flow studio_map"}},
		{"the intent never goes back", prospect, []llm.ToolCall{sets("intent", "not_prospect")}, `"reason":"earlier_stage"`, never, toldOf, never},
		{"a stage never goes back", known(sets("stage", "offered")), []llm.ToolCall{sets("stage", "qualifying")}, `"reason":"earlier_stage"`, never, toldOf, never},
		{"link_sent is the server's", prospect, []llm.ToolCall{sets("stage", "link_sent")}, `must be one of`, never, toldOf, never},
		{"an event behind its stage", prospect, []llm.ToolCall{sets("stage", "offered")}, "", []string{"set_field stage=offered", "send_event offer_made"}, toldOf, []string{"set_field stage=offered", "send_event offer_made"}},
		{"the flow of a stage", prospect, []llm.ToolCall{sets("stage", "nurturing")}, "", []string{"send_flow student_gallery", "set_field stage=nurturing"},
			[]string{"send_flow student_gallery", "notice tag"}, []string{"set_field stage=nurturing", "send_flow student_gallery"}},
		{"the flow of a stage once", known(sends("student_gallery")), []llm.ToolCall{sets("stage", "nurturing")}, "", []string{"set_field stage=nurturing"}, toldOf, []string{"set_field stage=nurturing"}},
		{"a flow once", known(sends("student_gallery")), []llm.ToolCall{sends("student_gallery")}, `already_sent`, never, toldOf, never},
		{"a flow of the offering that is set", prospect, []llm.ToolCall{sets("course", "wheel_course"), sends("wheel_course_brochure")}, "", []string{"send_flow wheel_course_brochure", "set_field course=wheel_course"},
			[]string{"send_flow wheel_course_brochure", "notice tag"}, []string{"set_field course=wheel_course", "send_flow wheel_course_brochure"}},
		{"a flow of another offering", known(sets("course", "wheel_course")), []llm.ToolCall{sends("hand_building_brochure")}, `other_offering`, never, toldOf, never},
		{"an offering that was offered stays", known(sets("course", "wheel_course"), sets("stage", "offered")), []llm.ToolCall{sets("course", "hand_building")}, `"reason":"offering_fixed"`, never, toldOf, never},
		{"the link waits until prepared", known(sets("stage", "offered")), []llm.ToolCall{sends("payment_link")}, `not_prepared`, never, toldOf, never},
		{"the link when prepared", known(sets("stage", "prepared")), []llm.ToolCall{sends("payment_link")}, "", linked, append(slices.Clone(linked), "notice tag"), linked},
		{"the link for the asking", prospect, []llm.ToolCall{asksForLink}, "", linked, append(slices.Clone(linked), "notice tag"), linked},
		{"the link a second time", known(asksForLink), []llm.ToolCall{asksForLink}, "", []string{"send_flow payment_link"}, []string{"send_flow payment_link", "notice tag"}, nil},
	}
}

// Holds docs/spec/08-sales.md, each of its rules, and docs/spec/09-nudge.md: what ManyChat is asked to do, on turns
// that answer in time, late and not at all, and on those that follow up.
func TestRulesOfASale(t *testing.T) {
	escalates := with(draft{"escalate": true, "escalation_reason": "complaint"})
	for _, row := range saleRows() {
		t.Run(row.name, func(t *testing.T) {
			t.Run("inline", func(t *testing.T) { row.play(t, row.done, calling(row.calls...), wrote("Gladly.")) })
			t.Run("deferred", func(t *testing.T) {
				row.play(t, row.done, slow(9*time.Second, calling(row.calls...)), wrote("Gladly."))
			})
			t.Run("escalated", func(t *testing.T) { row.play(t, row.handed, calling(row.calls...), escalates) })
			if row.followed != nil || row.done == nil && row.known != nil {
				t.Run("follow-up", func(t *testing.T) { row.followUp(t) })
			}
		})
	}
}

// play has a contact of whom something is known write once, whom the steps answer.
func (row saleRow) play(t *testing.T, want []string, steps ...llmtest.Step) {
	t.Helper()
	model := scripted(steps...)
	if len(row.known) > 0 {
		model = scripted(slices.Concat([]llmtest.Step{calling(row.known...), wrote("Noted.")}, steps)...)
	}
	inStudio(t, setup{model: model, business: sells(t)}, func(s *studio) {
		id := s.contact("900000001")
		if len(row.known) > 0 {
			s.write(id, "hello")
			s.rest(time.Minute)
		}
		before := len(acts(s.did(id)))
		s.write(id, question)
		s.rest(2 * time.Minute)
		differ(t, "ManyChat was asked", want, append([]string(nil), acts(s.did(id))[before:]...))
		requests := model.Requests()
		row.heard(t, told(requests[len(requests)-1]))
	})
}

// heard checks what the model was told of its calls.
func (row saleRow) heard(t *testing.T, answers []string) {
	t.Helper()
	if len(answers) != len(row.calls) {
		t.Fatalf("the model is told %q", answers)
	}
	for _, answer := range answers {
		if refused := strings.Contains(answer, `"reason"`) || strings.Contains(answer, `"error"`); refused != (row.told != "") || !strings.Contains(answer, row.told) {
			t.Errorf("the model is told %s, want %q in it", answer, row.told)
		}
	}
}

// followUp has the calls made in a turn that follows up on the contact.
func (row saleRow) followUp(t *testing.T) {
	t.Helper()
	model := scripted(calling(append(slices.Clone(row.known), plansNudge)...), wrote("Noted."), calling(row.calls...), wrote("Are you still there?"))
	business := func() *tenant.Tenant {
		business := sells(t)()
		business.Tools.Nudge.Delays[0].Minutes = int(delayed / time.Minute)
		return business
	}
	inStudio(t, setup{model: model, business: business}, func(s *studio) {
		id := s.contact("900000001")
		s.write(id, question)
		s.rest(time.Minute)
		before := len(acts(s.did(id)))
		s.rest(delayed + looked + time.Minute)
		if turn := s.recorded(id, 1)[0]; turn.Outcome != "nudge_sent" {
			t.Fatalf("the newest turn is %s", turn.Outcome)
		}
		differ(t, "ManyChat was asked", row.followed, append([]string(nil), acts(s.did(id))[before:]...))
		row.heard(t, told(model.Requests()[3]))
	})
}

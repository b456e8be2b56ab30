package app_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// The demo tenant's sentences, those of its persona and its catalog, as WhatsApp shows them.
const (
	courses = "Wheel Course for Beginners: 240 EUR\nHand-Building Course: 180 EUR\nGlaze Weekend: 155 EUR\nFamily Clay Morning: 45 EUR"
	address = "In the old boat shed at 3 Kiln Lane, Fennimoor Quay, five minutes on foot from the ferry."
	evening = "Tuesdays or Thursdays, 18:30 to 21:00, for eight weeks; a new group starts on the first Tuesday and Thursday of every second month."
	aboutIt = "Wheel Course for Beginners: Eight evenings of wheel throwing: centring, cylinders, bowls and a mug with a handle. " +
		"For beginners; clay, tools and two firings are included. Groups of at most eight, one wheel each.\n\n240 EUR, 20 h, " + evening + "\n\nhttps://kilnbrook.example/courses/wheel"
	byCard    = "By card on the payment page, in full."
	waysToPay = byCard + "\nBy bank transfer; the place is held for five days until the money arrives.\n" +
		"In two equal parts for the wheel course and the hand-building course: one when signing up, one before the third class."

	whatFits   = "\n\nWhat would you like to make, and do mornings or evenings suit you better?"
	whatElse   = "\n\nIs there anything else you would like to know before you start?"
	howToPay   = "\n\nHow would you like to pay?"
	noHurry    = "Of course, take your time. I am here whenever you like."
	coursesFor = "Thank you for writing! I only look after courses here; whatever you would like to know about them, just ask."
	stillOpen  = "Is there anything about the course that I can still answer for you?"
)

// talked is a message of a contact, what it shows on their phone, in order, and what its turn is
// recorded to have done.
type talked struct {
	writes       string
	reads, acted []string
}

// The turns of a sale, in their order.
var (
	greeting  = talked{"hi", []string{"Kilnbrook Clay Academy\n\n" + courses}, nil}
	wondering = talked{"where is the studio?", []string{address}, nil}
	buying    = talked{"what courses do you have?", []string{"flow welcome_video", courses + whatFits}, []string{
		"set_field intent=prospect performed", "set_field stage=qualifying performed", "send_flow welcome_video performed",
	}}
	choosing = talked{"the wheel course sounds nice, evenings suit me better", []string{"flow student_gallery", aboutIt}, []string{
		"set_field course=wheel_course performed", "set_field stage=nurturing performed", "send_flow student_gallery performed", "set_field preferred_shift=evening performed",
	}}
	pricing = talked{"how much is it?", []string{"Wheel Course for Beginners: 240 EUR" + whatElse}, []string{
		"set_field stage=offered performed", "send_event offer_made performed",
	}}
	ready  = talked{"no, that's all", []string{waysToPay + howToPay}, []string{"set_field stage=prepared performed"}}
	paying = talked{"by card, please", []string{"flow payment_link", byCard}, []string{
		"send_flow payment_link performed", "set_field stage=link_sent performed", "send_event checkout_started performed",
	}}
	pondering = talked{"I will think about it", []string{noHurry}, []string{"schedule_nudge later_today performed"}}
)

// handedOff is a message that goes to a person, whom a note tells why.
func handedOff(business *tenant.Tenant, writes string) talked {
	return talked{writes, []string{business.Rules.BusinessHours.OutsideMessage}, []string{"write_note handoff_note performed", "notify_handoff tag performed"}}
}

// shop is the demo tenant as it ships, at the start of a Saturday, when its studio is closed.
func shop(t *testing.T) *tenant.Tenant {
	t.Helper()
	business, err := tenant.Load(demo.FS(), tenant.Options{ID: "default"})
	if err != nil {
		t.Fatal(err)
	}
	return business
}

// inShop runs a test with one contact of the demo tenant, whom the mock model answers.
func inShop(t *testing.T, test func(s *studio, id string, model *mock.Model)) {
	t.Helper()
	model := mock.New()
	inStudio(t, setup{model: model, business: func() *tenant.Tenant { return shop(t) }}, func(s *studio) {
		test(s, s.contact("900000001"), model)
	})
}

// talks lets a contact write one message after the other, each a minute behind the answer to the
// one before.
func (s *studio) talks(id string, turns ...talked) {
	s.t.Helper()
	for _, turn := range turns {
		before := len(s.reads(id))
		s.write(id, turn.writes)
		s.rest(time.Minute)
		differ(s.t, "behind "+turn.writes+", the contact reads", turn.reads, s.reads(id)[before:])
		differ(s.t, "the record of "+turn.writes, turn.acted, actedIn(s.recorded(id, 1)[0]))
	}
}

// wants asserts what ManyChat was asked to do for a contact besides showing replies, in order, and
// what it holds of them when that is done: each field as "name=value", and each tag.
func (s *studio) wants(id string, done, held []string) {
	s.t.Helper()
	var asked []string
	for _, is := range acts(s.did(id)) {
		if is != "get_contact" { // it reads, and does nothing
			asked = append(asked, is)
		}
	}
	differ(s.t, "ManyChat was asked", done, asked)
	account, err := s.account.Contact(id)
	if err != nil {
		s.t.Fatal(err)
	}
	var has []string
	for _, name := range slices.Sorted(maps.Keys(account.Fields)) {
		if value := account.Fields[name]; name != "ai_token" && name != "ai_message" {
			has = append(has, fmt.Sprint(name, "=", value))
		}
	}
	differ(s.t, "ManyChat holds", held, append(has, account.Tags...))
}

// What ManyChat is asked for a buyer, turn by turn.
var (
	bought = []string{"send_flow welcome_video", "set_field intent=prospect", "set_field stage=qualifying"}
	chosen = []string{"send_flow student_gallery", "set_field course=wheel_course", "set_field stage=nurturing", "set_field preferred_shift=evening"}
	priced = []string{"set_field stage=offered", "send_event offer_made"}
	linked = []string{"send_flow payment_link", "set_field stage=link_sent", "send_event checkout_started"}
)

func why(reason string) []string {
	return []string{"write_note handoff_note=reason: " + reason, "notice tag"}
}

// Holds docs/spec/08-sales.md, "Intent", "Opening", "Funnel", "Stage flows", "Payment link", "Conversion
// events" and "Answers to objections": a sale from the greeting to the payment, which a person confirms.
func TestWholeSale(t *testing.T) {
	inShop(t, func(s *studio, id string, _ *mock.Model) {
		s.talks(id, greeting, wondering)
		s.wants(id, nil, nil)
		s.talks(id, buying, choosing, pricing)
		s.talks(id, talked{"do I need experience?", []string{"No. The wheel course, the hand-building course and the family morning start from nothing. Only the glaze weekend needs some experience with clay."}, nil})
		s.talks(id, ready, paying, handedOff(s.tenant, "I have paid"))
		if turn := s.recorded(id, 1)[0]; turn.Outcome != "escalated" || turn.Reason != "payment_reported" {
			t.Errorf("the payment is %s %s", turn.Outcome, turn.Reason)
		}
		s.wants(id, slices.Concat(bought, chosen, priced, []string{"set_field stage=prepared"}, linked, why("payment reported")), []string{
			"agent_course=wheel_course", "agent_funnel_stage=link_sent", "agent_handoff_note=reason: payment reported", "agent_intent=prospect", "preferred_shift=evening", "needs-a-person",
		})
	})
}

// Holds docs/spec/08-sales.md, "Opening", "Stage flows" and "Conversion events": the reply of a turn waits
// until its flow has played, and the flows and events of a sale go out once, whatever is asked later.
func TestFlowsOfAWholeSale(t *testing.T) {
	inShop(t, func(s *studio, id string, _ *mock.Model) {
		for _, flow := range []struct {
			turn   talked
			plays  time.Duration
			origin string
		}{{buying, time.Second, "opening"}, {choosing, 4 * time.Second, "stage"}} {
			if got := s.says(id, wrotes{0, flow.turn.writes})[0]; got.at != flow.plays || got.shows != flow.turn.reads[1] {
				t.Errorf("%q is answered %s, want it when the flow ends, after %s", flow.turn.writes, got, flow.plays)
			}
			s.rest(time.Minute)
			for _, a := range s.recorded(id, 1)[0].Actions {
				if want := map[bool]string{true: flow.origin}[a.Tool == "send_flow"]; a.Origin != want {
					t.Errorf("%s %s is of the rule %q, want %q", a.Tool, a.ID, a.Origin, want)
				}
			}
		}
		s.talks(id, pricing, ready, paying)
		again := talked{"please send me the payment link", []string{"flow payment_link", waysToPay}, []string{"send_flow payment_link performed"}}
		s.talks(id, again, greeting, talked{buying.writes, []string{courses}, nil})
		s.wants(id, slices.Concat(bought, chosen, priced, []string{"set_field stage=prepared"}, linked, []string{"send_flow payment_link"}), []string{
			"agent_course=wheel_course", "agent_funnel_stage=link_sent", "agent_intent=prospect", "preferred_shift=evening",
		})
	})
}

// Holds docs/spec/08-sales.md, "Payment link": whoever asks for the link gets it, however far the sale has
// come, and the record says that their asking opened the gate.
func TestLinkAtOnce(t *testing.T) {
	inShop(t, func(s *studio, id string, _ *mock.Model) {
		s.talks(id, talked{"please send me the payment link for the wheel course", []string{"flow welcome_video", "flow payment_link", waysToPay}, []string{
			"set_field intent=prospect performed", "set_field course=wheel_course performed", "send_flow welcome_video performed", "send_flow payment_link performed",
			"set_field stage=link_sent performed", "send_event checkout_started performed",
		}})
		for _, a := range s.recorded(id, 1)[0].Actions {
			if a.ContactAsked != (a.ID == "payment_link") {
				t.Errorf("%s %s: the contact asked: %v", a.Tool, a.ID, a.ContactAsked)
			}
		}
		s.wants(id, []string{
			"send_flow welcome_video", "send_flow payment_link", "set_field intent=prospect", "set_field course=wheel_course", "set_field stage=link_sent", "send_event checkout_started",
		}, []string{"agent_course=wheel_course", "agent_funnel_stage=link_sent", "agent_intent=prospect"})
	})
}

// Holds docs/spec/08-sales.md, "Intent": nothing is sold to a supplier, and the opening is kept for the
// day on which they mean to buy.
func TestSaleToASupplier(t *testing.T) {
	inShop(t, func(s *studio, id string, _ *mock.Model) {
		s.talks(id, talked{"we supply clay and glazes to schools, may we send you our price list?", []string{coursesFor}, []string{"set_field intent=not_prospect performed"}},
			talked{"how do I get there?", []string{address}, nil})
		s.wants(id, []string{"set_field intent=not_prospect"}, []string{"agent_intent=not_prospect"})
		s.talks(id, buying)
		s.wants(id, append([]string{"set_field intent=not_prospect"}, bought...), []string{"agent_funnel_stage=qualifying", "agent_intent=prospect"})
	})
}

// Holds docs/spec/08-sales.md, "Intent": a customer is answered, and not sold to.
func TestSaleToACustomer(t *testing.T) {
	inShop(t, func(s *studio, id string, _ *mock.Model) {
		s.talks(id, talked{"I am already enrolled in the wheel course, when does it start?",
			[]string{"Wheel Course for Beginners: " + evening + "\n\nWheel Course for Beginners: https://kilnbrook.example/courses/wheel"},
			[]string{"set_field intent=not_prospect performed"}})
		s.wants(id, []string{"set_field intent=not_prospect"}, []string{"agent_intent=not_prospect"})
	})
}

// outOfASale is a buyer to whom the wheel course was offered, and who then writes what is for a person.
func outOfASale(t *testing.T, writes, reason, note string) {
	t.Helper()
	inShop(t, func(s *studio, id string, _ *mock.Model) {
		s.talks(id, buying, choosing, pricing, handedOff(s.tenant, writes))
		if turn := s.recorded(id, 1)[0]; turn.Outcome != "escalated" || turn.Reason != reason {
			t.Errorf("%q is %s %s, want it handed off for %s", writes, turn.Outcome, turn.Reason, reason)
		}
		s.wants(id, slices.Concat(bought, chosen, priced, why(note)), []string{
			"agent_course=wheel_course", "agent_funnel_stage=offered", "agent_handoff_note=reason: " + note, "agent_intent=prospect", "preferred_shift=evening", "needs-a-person",
		})
	})
}

// Holds docs/spec/08-sales.md, "Answers to objections": a discount is for a person.
func TestSaleWithADiscount(t *testing.T) {
	outOfASale(t, "can you give me a discount?", "price_negotiation", "price negotiation")
}

// Holds docs/spec/04-agent.md, "When to escalate (the escalation table; in the prompt, in the mock, in the suites)":
// a complaint ends a sale.
func TestSaleWithAComplaint(t *testing.T) {
	outOfASale(t, "this is unacceptable, I want to complain", "complaint", "complaint")
}

// Holds docs/spec/08-sales.md, "Offerings": once one was offered, a person switches to another.
func TestSaleOfAnotherOffering(t *testing.T) {
	outOfASale(t, "can I switch to the glaze weekend?", "explicit_request", "explicit request; about: Glaze Weekend")
}

// inThreeHours is the demo's delay "later_today".
const inThreeHours = 180 * time.Minute

// Holds docs/spec/09-nudge.md, "Nudge": whoever wants to think about it and is silent is asked once more,
// and their answer goes on with the sale.
func TestSaleAfterASilence(t *testing.T) {
	inShop(t, func(s *studio, id string, _ *mock.Model) {
		s.talks(id, buying, choosing, pondering)
		before := len(s.reads(id))
		s.rest(inThreeHours - 2*time.Minute)
		differ(t, "before its time the contact reads", []string{}, s.reads(id)[before:])
		s.rest(time.Minute + looked)
		differ(t, "at its time the contact reads", []string{stillOpen}, s.reads(id)[before:])
		s.wantNewest(id, "nudge_sent", "outbox", []string{"delivered"})
		differ(t, "the nudges", []string{"sent"}, s.nudges())
		s.talks(id, pricing)
		s.rest(12 * time.Hour)
		differ(t, "half a day later the contact reads", []string{stillOpen, pricing.reads[0]}, s.reads(id)[before:])
		s.wants(id, slices.Concat(bought, chosen, priced), []string{
			"agent_course=wheel_course", "agent_funnel_stage=offered", "agent_intent=prospect", "preferred_shift=evening",
		})
	})
}

// Holds docs/spec/09-nudge.md, "Nudge": a message that comes while the follow-up is written is answered,
// and the follow-up never sent; nor is one before whose time the contact wrote.
func TestSaleWithAReplyDuringTheNudge(t *testing.T) {
	t.Run("while the model runs", func(t *testing.T) {
		inShop(t, func(s *studio, id string, model *mock.Model) {
			s.talks(id, buying, choosing, pondering)
			before := len(s.reads(id))
			slowly(t, model, 20*time.Second)
			s.rest(inThreeHours - time.Minute - 3*time.Second)
			s.until(func() bool { return slices.Equal(s.nudges(), []string{"running"}) })
			s.rest(time.Second)
			slowly(t, model, 0)
			s.talks(id, pricing)
			s.rest(time.Hour)
			differ(t, "the contact reads", pricing.reads, s.reads(id)[before:])
			differ(t, "the nudges", []string{"cancelled contact_replied"}, s.nudges())
		})
	})
	t.Run("before its time", func(t *testing.T) {
		inShop(t, func(s *studio, id string, _ *mock.Model) {
			s.talks(id, buying, choosing, pondering)
			before := len(s.reads(id))
			s.rest(time.Hour)
			s.talks(id, pricing)
			s.rest(6 * time.Hour)
			differ(t, "the contact reads", pricing.reads, s.reads(id)[before:])
			differ(t, "the nudges", []string{"cancelled contact_replied"}, s.nudges())
		})
	})
}

// slowly makes the mock model take its time from now on.
func slowly(t *testing.T, model *mock.Model, latency time.Duration) {
	t.Helper()
	if err := model.Control(mock.Directive{Latency: latency}); err != nil {
		t.Fatal(err)
	}
}

// recording keeps what a model is asked.
type recording struct {
	llm.Model
	asked []llm.Request
}

func (r *recording) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	req.Messages = slices.Clone(req.Messages)
	r.asked = append(r.asked, req)
	return r.Model.Generate(ctx, req)
}

// Holds docs/spec/08-sales.md, "The sale": without an intent and a funnel field the other markers change
// nothing: not a byte of what the model reads, its tools included, nor what the contact gets.
func TestWithoutAnIntentNothingIsSold(t *testing.T) {
	// deskOnly is the demo without the two fields' marks, and without what has to go with them.
	deskOnly := func() *tenant.Tenant {
		business := shop(t)
		tools := business.Tools
		for i := range tools.Fields {
			tools.Fields[i].Intent, tools.Fields[i].Funnel = false, false
		}
		tools.Flows = slices.DeleteFunc(tools.Flows, func(f tenant.Flow) bool { return f.Role == tenant.RoleOpening })
		tools.Events = nil
		return business
	}
	unmarked := func() *tenant.Tenant {
		business := deskOnly()
		for i := range business.Tools.Fields {
			business.Tools.Fields[i].Offering = false
		}
		for i := range business.Tools.Flows {
			business.Tools.Flows[i].OnStage, business.Tools.Flows[i].Offering = "", ""
		}
		return business
	}
	var asked [2][]llm.Request
	var reads, did [2][]string
	for i, business := range []func() *tenant.Tenant{deskOnly, unmarked} {
		model := &recording{Model: mock.New()}
		inStudio(t, setup{model: model, business: business}, func(s *studio) {
			id := s.contact("900000001")
			for _, turn := range []talked{greeting, wondering, buying, choosing, pricing, ready, paying} {
				s.write(id, turn.writes)
				s.rest(time.Minute)
			}
			asked[i], reads[i], did[i] = model.asked, s.reads(id), s.did(id)
		})
	}
	differ(t, "the model is asked", asked[1], asked[0])
	differ(t, "the contact reads", reads[1], reads[0])
	differ(t, "ManyChat is asked", did[1], did[0])
	for _, req := range asked[0] {
		for _, word := range []string{"## SALE", "SALE: ", "not_prospect`"} {
			if strings.Contains(req.System+strings.Join(saidTo(req), "\n")+toolTexts(req), word) {
				t.Errorf("the model reads %q", word)
			}
		}
	}
	if joined := strings.Join(reads[0], "\n"); !strings.Contains(joined, "240 EUR") || strings.Contains(joined, "welcome_video") {
		t.Errorf("the contact reads %q", reads[0])
	}
}

// toolTexts is what a model is told of its tools.
func toolTexts(req llm.Request) string {
	var all []string
	for _, tool := range req.Tools {
		all = append(all, tool.Description, string(tool.Parameters))
	}
	return strings.Join(all, "\n")
}

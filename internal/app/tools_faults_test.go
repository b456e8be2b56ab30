package app_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// woe is a fault of ManyChat and what becomes of what meets it. A lie is believed.
type woe struct {
	kind   fault.Kind
	delay  int    // milliseconds
	inline string // an action behind a response, which has 10 s with the others
	behind string // an action behind a text of the outbox, which has 30 s
	flow   string // a flow within a turn, which has 10 s
	takes  time.Duration
}

const (
	isDone    = "performed"
	isUnknown = "failed (outcome unknown)"
	tooLate   = "failed (not started in time)"
)

func woes() []woe {
	same := func(k fault.Kind, end string) woe { return woe{kind: k, inline: end, behind: end, flow: end} }
	return []woe{
		{fault.Latency, 3000, isDone, isDone, isDone, 3 * time.Second},
		{fault.SlowSuccess, 0, isUnknown, isDone, isUnknown, 10 * time.Second},
		{fault.Timeout, 0, isUnknown, isUnknown, isUnknown, 10 * time.Second},
		same(fault.RateLimited, "failed (rate limited)"),
		same(fault.RefusedKey, "failed (unauthorized)"),
		same(fault.ServerError, "failed (server error (500))"),
		same(fault.ServerErrorHTML, "failed (server error (502))"),
		same(fault.Dropped, isUnknown),
		same(fault.LostAnswer, isUnknown),
		same(fault.OKWithError, "failed (rejected (200))"),
		same(fault.SilentSuccess, isDone),
		same(fault.FalseMissing, "failed (rejected (400))"),
		{kind: fault.MissingField, inline: "failed (rejected (400))", behind: "failed (rejected (400))"},
		{kind: fault.MissingFlow, flow: "failed (rejected (400))"},
	}
}

// on is the fault on a path.
func (w woe) on(path string) manychattest.Fault {
	f := manychattest.Fault{Kind: w.kind, Path: path, DelayMS: w.delay}
	switch w.kind {
	case fault.MissingField:
		f.Name, f.Path = "preferred_shift", ""
	case fault.MissingFlow:
		f.Name, f.Path = "content00000000000000_000005", ""
	}
	return f
}

// Holds docs/spec/13-sandbox.md, "The emulator": whatever goes wrong there on the way from the
// service is met by the tests below.
func TestToolsMeetEveryFault(t *testing.T) {
	met := []fault.Kind{fault.LostInbound, fault.DuplicateInbound}
	for _, w := range woes() {
		met = append(met, w.kind)
	}
	for _, k := range fault.Kinds() {
		if !slices.Contains(met, k) {
			t.Errorf("no test meets %s", k)
		}
	}
}

// Holds docs/spec/07-tools.md, "Performing": whatever ManyChat does to an action, the reply is
// there before it, it has one attempt and its end on record, the one behind it is made if there
// is time, and another contact is answered at once meanwhile.
func TestToolsFaultsOfActions(t *testing.T) {
	for _, w := range woes() {
		for path, want := range map[string]string{"inline": w.inline, "outbox": w.behind} {
			if want == "" {
				continue
			}
			t.Run(string(w.kind)+" "+path, func(t *testing.T) {
				first, is := addGift, "add_tag gift"
				if w.kind == fault.MissingField {
					first, is = setEvening, "set_field preferred_shift=evening"
				}
				end := wrote("Gladly.")
				if path == "outbox" {
					end = slow(9*time.Second, end)
				}
				model := scripted(wrote("Hello."), calling(first, dropGroup), end, wrote("Another."), wrote("Next."))
				inStudio(t, setup{model: model}, func(s *studio) {
					id, other := s.contact("900000001"), s.contact("900000002")
					s.write(id, "hello")
					s.rest(time.Minute)
					s.faults(w.on("/fb/subscriber/addTagByName"))
					s.write(id, question)
					s.rest(map[string]time.Duration{"inline": time.Second, "outbox": 4 * time.Second}[path])
					if got := s.write(other, "hello"); len(got.Shown) != 1 || got.Shown[0].Text != "Another." || got.Duration != 0 {
						t.Errorf("meanwhile another contact is shown %v after %s", got.Shown, got.Duration)
					}
					s.rest(2 * time.Minute)
					last := isDone
					if path == "inline" && w.takes >= 10*time.Second {
						last = tooLate
					}
					if diff := cmp.Diff([]string{is + " " + want, "remove_tag group_booking " + last}, s.acted(id)); diff != "" {
						t.Errorf("recorded (-want +got):\n%s", diff)
					}
					did := []string{is}
					if last == isDone {
						did = append(did, "remove_tag group_booking")
					}
					if diff := cmp.Diff(did, acts(s.did(id))); diff != "" {
						t.Errorf("ManyChat was asked (-want +got):\n%s", diff)
					}
					s.checkBehind(id, "Gladly.")
					if got := s.write(id, "and?"); len(got.Shown) != 1 || got.Shown[0].Text != "Next." || got.Duration != 0 {
						t.Errorf("the next turn shows %v after %s", got.Shown, got.Duration)
					}
				})
			})
		}
	}
}

// Holds docs/spec/07-tools.md, "Performing" and "Flows go out before the reply": whatever
// ManyChat does to a flow, the reply comes once, behind what plays; what surely did not go out
// may be sent later, and what may have is not.
func TestToolsFaultsOfFlows(t *testing.T) {
	for _, w := range woes() {
		if w.flow == "" {
			continue
		}
		t.Run(string(w.kind), func(t *testing.T) {
			model := scripted(wrote("Hello."), calling(sendPhotos), wrote("Gladly."), calling(sendPhotos), wrote("Next."))
			inStudio(t, setup{model: model}, func(s *studio) {
				id := s.contact("900000001")
				s.write(id, "hello")
				s.rest(time.Minute)
				broken := w.on("sendFlow")
				broken.Times = 1
				s.faults(broken)
				began := time.Now()
				s.write(id, question)
				s.rest(time.Minute)
				if diff := cmp.Diff([]string{"send_flow student_gallery " + w.flow}, s.acted(id)); diff != "" {
					t.Errorf("recorded (-want +got):\n%s", diff)
				}
				s.checkReplies(id, began, w)
				s.checkTold(model.Requests()[2], w)
				s.write(id, "may I see the pictures?")
				s.rest(time.Minute)
				want := `{"sent":false,"reason":"already_sent"}`
				if w.flow != isDone && w.flow != isUnknown {
					want = `{"sent":true}`
				}
				if got := told(model.Requests()[4]); len(got) != 1 || !jsonSame(strings.TrimPrefix(got[0], "send_flow "), want) {
					t.Errorf("the next turn is told %q, want %s", got, want)
				}
			})
		})
	}
}

// checkReplies asserts what the contact reads of the turn that began at a time and met a fault:
// the reply once, behind what plays of a flow, and behind the acknowledgement if that was late.
func (s *studio) checkReplies(id string, began time.Time, w woe) {
	s.t.Helper()
	at := w.takes
	if w.flow == isDone {
		at += 4 * time.Second
	}
	want := []shown{{at, phone.ViaInline, "Gladly."}}
	if at >= 8*time.Second {
		want = []shown{{8 * time.Second, phone.ViaInline, ack}, {at, phone.ViaFlow, "Gladly."}}
	}
	var got []shown
	for _, item := range s.account.Chat(id) {
		if item.From == phone.FromBusiness && !item.At.Before(began) && item.Text != "flow student_gallery" {
			got = append(got, shown{item.At.Sub(began).Round(time.Second), item.Via, item.Text})
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("the contact reads (-want +got):\n%s", diff)
	}
}

// checkTold asserts what the model is told of a flow that met a fault.
func (s *studio) checkTold(req llm.Request, w woe) {
	s.t.Helper()
	want := `{"sent":false,"reason":"failed"}`
	switch w.flow {
	case isDone:
		want = `{"sent":true}`
	case isUnknown:
		want = `{"sent":false,"reason":"unknown"}`
	}
	if got := told(req); len(got) != 1 || !jsonSame(strings.TrimPrefix(got[0], "send_flow "), want) {
		s.t.Errorf("the model is told %q, want %s", got, want)
	}
}

// Holds docs/spec/07-tools.md, "get_contact": whatever ManyChat does to a read, it costs 1.5 s at
// most, the model is told no more than that there is nothing, and the turn goes on.
func TestToolsFaultsOfReads(t *testing.T) {
	for _, w := range woes() {
		if w.flow == "" || w.inline == "" {
			continue
		}
		t.Run(string(w.kind), func(t *testing.T) {
			model := scripted(wrote("Hello."), calling(readThem, addGift), wrote("Gladly."))
			inStudio(t, setup{model: model}, func(s *studio) {
				id := s.contact("900000001")
				s.write(id, "hello")
				s.rest(time.Minute)
				s.faults(w.on("/fb/subscriber/getInfo"))
				got := s.write(id, question)
				if len(got.Shown) != 1 || got.Shown[0].Text != "Gladly." || got.Duration > 1500*time.Millisecond || got.Duration != min(w.takes, 1500*time.Millisecond) {
					t.Errorf("the phone shows %v after %s", got.Shown, got.Duration)
				}
				s.rest(time.Minute)
				answers := told(model.Requests()[2])
				if len(answers) != 2 || answers[0] != `get_contact {"available":false}` && w.kind != fault.SilentSuccess {
					t.Errorf("the model is told %q", answers)
				}
				if did := s.did(id); count(did, "get_contact") != 1 || count(did, "add_tag gift") != 1 {
					t.Errorf("ManyChat was asked %q", did)
				}
				if diff := cmp.Diff([]string{"add_tag gift performed"}, s.acted(id)); diff != "" {
					t.Errorf("recorded (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Holds docs/spec/07-tools.md, "get_contact" and "Bounds": a slow read that ends in time is
// read; a turn reads twice, side by side when it asks so, and no more.
func TestToolsReadTwice(t *testing.T) {
	model := scripted(wrote("Hello."), calling(readThem, readThem, readThem), wrote("Gladly."))
	inStudio(t, setup{model: model}, func(s *studio) {
		id := s.contact("900000001")
		s.write(id, "hello")
		s.rest(time.Minute)
		s.faults(manychattest.Fault{Kind: fault.Latency, Path: "/fb/subscriber/getInfo", DelayMS: 1000})
		got := s.write(id, question)
		if got.Duration < time.Second || got.Duration > 1200*time.Millisecond {
			t.Errorf("two reads of a second took %s", got.Duration)
		}
		const read = `get_contact {"available":true,"tags":[],"fields":{},"notes":{}}`
		want := []string{read, read, `get_contact {"available":false,"reason":"limit"}`}
		if diff := cmp.Diff(want, told(model.Requests()[2])); diff != "" || count(s.did(id), "get_contact") != 2 {
			t.Errorf("ManyChat was asked %q; the model is told (-want +got):\n%s", s.did(id), diff)
		}
	})
}

// Holds docs/spec/05-delivery.md, "ManyChat client": an account that refuses one contact's
// actions for their number still takes the late replies of others, in time and at once.
func TestToolsRateLimitHarmsNoReply(t *testing.T) {
	late := slow(9*time.Second, wrote("Gladly."))
	model := &llmtest.Scripted{Steps: []llmtest.Step{late}, Repeat: true}
	busy := byContact{"the busy one": scripted(calling(addGift, dropGroup, setEvening, noteDown), wrote("Busy."), calling(addGift, dropGroup), wrote("Busy.")), "": model}
	inStudio(t, setup{model: busy}, func(s *studio) {
		id, other := s.contact("900000001"), s.contact("900000002")
		s.faults(manychattest.Fault{Kind: fault.RateLimited, Contact: id})
		began := time.Now()
		go s.write(other, question)
		s.rest(8 * time.Second)
		s.write(id, "the busy one")
		s.rest(time.Second)
		s.write(id, "the busy one")
		s.rest(time.Minute)
		var got []shown
		for _, item := range s.account.Chat(other) {
			if item.From == phone.FromBusiness {
				got = append(got, shown{item.At.Sub(began).Round(time.Second), item.Via, item.Text})
			}
		}
		if diff := cmp.Diff([]shown{{8 * time.Second, phone.ViaInline, ack}, {10 * time.Second, phone.ViaFlow, "Gladly."}}, got); diff != "" {
			t.Errorf("the other contact reads (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"say Gladly.", "show"}, s.did(other)); diff != "" {
			t.Errorf("for the other contact ManyChat was asked (-want +got):\n%s", diff)
		}
		if got := s.acted(id); len(got) != 2 || got[0] != "add_tag gift failed (rate limited)" {
			t.Errorf("recorded is %q", got)
		}
	})
}

// Holds docs/spec/07-tools.md, "Performing", and docs/spec/05-delivery.md, "Outbox": with replies
// queued one behind the other, whatever ManyChat does to their actions changes neither that
// they arrive nor their order.
func TestToolsFaultsKeepTheOrder(t *testing.T) {
	for _, w := range woes() {
		if w.behind == "" || w.kind == fault.MissingField {
			continue
		}
		t.Run(string(w.kind), func(t *testing.T) {
			model := scripted(wrote("Hello."),
				calling(addGift), slow(9*time.Second, wrote("First.")),
				calling(addGift, dropGroup), slow(9*time.Second, wrote("Second.")),
				calling(addGift, setEvening), slow(9*time.Second, wrote("Third.")))
			inStudio(t, setup{model: model}, func(s *studio) {
				id := s.contact("900000001")
				s.write(id, "hello")
				s.rest(time.Minute)
				s.faults(manychattest.Fault{Kind: fault.ServerError, Path: "sendFlow"})
				for _, text := range []string{"one", "two", "three"} {
					s.write(id, text)
				}
				s.rest(3 * time.Second) // all three are queued
				s.faults(w.on("/fb/subscriber/addTagByName"))
				s.account.ForgetCalls()
				s.rest(5 * time.Minute)
				if diff := cmp.Diff([]string{"Hello.", ack, "First.", "Second.", "Third."}, s.reads(id)); diff != "" {
					t.Errorf("the contact reads (-want +got):\n%s", diff)
				}
				want := []string{"say First.", "show", "add_tag gift", "say Second.", "show", "add_tag gift", "remove_tag group_booking", "say Third.", "show", "add_tag gift", "set_field preferred_shift=evening"}
				if diff := cmp.Diff(want, s.did(id)); diff != "" {
					t.Errorf("ManyChat was asked (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact", "Carrying": the actions of a
// reply that a response carried are made before those of the response's own, and whatever
// ManyChat does to them, all are made once and the next reply follows.
func TestToolsFaultsOfCarriedActions(t *testing.T) {
	for _, w := range woes() {
		if w.behind == "" || w.kind == fault.MissingField {
			continue
		}
		t.Run(string(w.kind), func(t *testing.T) {
			model := scripted(wrote("Hello."),
				calling(addGift), slow(9*time.Second, wrote("First.")),
				calling(addGift, dropGroup), wrote("Second."),
				wrote("Third."))
			inStudio(t, setup{model: model}, func(s *studio) {
				id := s.contact("900000001")
				s.write(id, "hello")
				s.rest(time.Minute)
				s.faults(w.on("/fb/subscriber/addTagByName"), manychattest.Fault{Kind: fault.ServerError, Path: "/fb/subscriber/setCustomFieldByName"})
				s.write(id, "one")
				s.rest(3500 * time.Millisecond) // the first reply was tried, and waits to be tried again
				s.account.ForgetCalls()
				if got := s.write(id, "two"); len(got.Shown) != 1 || got.Shown[0].Text != "First.\n\nSecond." {
					t.Errorf("the response shows %v %s", got.Shown, got.Reason)
				}
				s.rest(5 * time.Minute)
				s.write(id, "three")
				s.rest(5 * time.Minute)
				if diff := cmp.Diff([]string{"Hello.", ack, "First.\n\nSecond.", "Third."}, s.reads(id)); diff != "" {
					t.Errorf("the contact reads (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]string{"add_tag gift", "add_tag gift", "remove_tag group_booking"}, s.did(id)); diff != "" {
					t.Errorf("ManyChat was asked (-want +got):\n%s", diff)
				}
				turns := s.recorded(id, 3)
				if diff := cmp.Diff([]string{"add_tag gift " + w.behind, "remove_tag group_booking " + isDone}, actedIn(turns[1])); diff != "" {
					t.Errorf("of the response's own is recorded (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff([]string{"add_tag gift " + w.behind}, actedIn(turns[2])); diff != "" {
					t.Errorf("of the carried reply is recorded (-want +got):\n%s", diff)
				}
			})
		})
	}
}

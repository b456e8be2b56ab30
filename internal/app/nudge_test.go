package app_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
)

// How long behind the contact's last message a nudge is due here, and how much later it is asked
// for at the latest: a look of the poller.
const (
	delayed = 10 * time.Minute
	looked  = 16 * time.Second
)

// inQuiet runs a test in a studio whose nudges come soon.
func inQuiet(t *testing.T, change setup, test func(*studio)) {
	t.Helper()
	if change.business == nil {
		change.business = quiet(t, "")
	}
	inStudio(t, change, test)
}

// quiet is the academy with a short delay, and with a tag of its people, if they have one.
func quiet(t *testing.T, tag string) func() *tenant.Tenant {
	return func() *tenant.Tenant {
		business := academy(t, "default")
		business.Tools.Nudge.Delays[0].Minutes, business.Tools.Nudge.HumanActiveTag = int(delayed/time.Minute), tag
		return business
	}
}

var scheduleNudge = asked("schedule_nudge", `{"delay":"later_today"}`)

// What the agent says before the contact goes quiet, and when they did.
const (
	before   = "Take your time."
	followUp = "Shall I keep a place for you?"
)

// planning is a model that plans a nudge in its first turn, and then goes on.
func planning(then ...llmtest.Step) *llmtest.Scripted {
	return scripted(append([]llmtest.Step{calling(scheduleNudge), wrote(before)}, then...)...)
}

// beside runs a statement on the database, beside the service.
func (s *studio) beside(statement string) {
	s.t.Helper()
	db := s.file()
	defer db.Close()
	if _, err := db.ExecContext(s.t.Context(), statement); err != nil {
		s.t.Fatal(err)
	}
}

func (s *studio) file() *sql.DB {
	s.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(s.folder, "agent.db")+"?_pragma=busy_timeout(5000)&_txlock=immediate")
	if err != nil {
		s.t.Fatal(err)
	}
	return db
}

// nudges are the nudges of all contacts, oldest first, each as its state and why it was called
// off.
func (s *studio) nudges() (all []string) {
	s.t.Helper()
	db := s.file()
	defer db.Close()
	rows, err := db.QueryContext(s.t.Context(), `SELECT state || coalesce(' ' || reason, '') FROM nudges ORDER BY id`)
	if err != nil {
		s.t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var one string
		if err := rows.Scan(&one); err != nil {
			s.t.Fatal(err)
		}
		all = append(all, one)
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	return all
}

// planned lets a contact write, who is then to be followed up, and returns their id.
func (s *studio) planned() string {
	s.t.Helper()
	id := s.contact("900000001")
	s.write(id, question)
	s.rest(2 * time.Second)
	differ(s.t, "what was planned", []string{"pending"}, s.nudges())
	differ(s.t, "the record", []string{"schedule_nudge later_today performed"}, s.acted(id))
	return id
}

// until lets time pass, half a second at a time, until something has happened.
func (s *studio) until(happened func() bool) {
	s.t.Helper()
	for range 60 {
		if s.rest(500 * time.Millisecond); happened() {
			return
		}
	}
	s.t.Fatalf("it did not happen within half a minute; the nudges are %q", s.nudges())
}

// saidTo is what a request to a model holds.
func saidTo(req llm.Request) (texts []string) {
	for _, m := range req.Messages {
		texts = append(texts, string(m.Role)+": "+m.Text)
	}
	return texts
}

// toolsOf are the names of the tools that a model is offered.
func toolsOf(req llm.Request) (names []string) {
	for _, tool := range req.Tools {
		names = append(names, tool.Name)
	}
	return names
}

// Holds docs/spec/09-nudge.md: a contact who went quiet is written to once, at the delay behind
// their last message; what the model is told of it, and offered; it is history for what follows.
func TestNudge(t *testing.T) {
	model := planning(wrote(followUp), wrote("Done."))
	inQuiet(t, setup{model: model, business: quiet(t, "human-active")}, func(s *studio) {
		id := s.planned()
		s.rest(delayed - 4*time.Second)
		s.wantReads(id, before)
		s.rest(4*time.Second + looked)
		s.wantReads(id, before, followUp)
		s.wantNewest(id, "nudge_sent", "outbox", []string{"delivered"})
		differ(t, "the nudges", []string{"sent"}, s.nudges())

		first, req := model.Requests()[0], model.Requests()[2]
		if !slices.Contains(toolsOf(first), "schedule_nudge") {
			t.Errorf("offered on a message's turn: %q", toolsOf(first))
		}
		for _, name := range []string{"schedule_nudge", "get_contact"} {
			if slices.Contains(toolsOf(req), name) {
				t.Errorf("%s is offered on a nudge's turn", name)
			}
		}
		last := req.Messages[len(req.Messages)-1]
		if last.Role != llm.User || !strings.Contains(last.Text, "FOLLOW-UP: the person has not written for 10 minutes. ") || strings.Contains(last.Text, "<<<") {
			t.Errorf("the model is asked:\n%s", last.Text)
		}
		history := strings.Join(saidTo(req), "\n")
		if !strings.Contains(history, question) || !strings.Contains(history, "assistant: "+before) {
			t.Errorf("the history of the nudge is:\n%s", history)
		}

		s.rest(30 * time.Minute)
		s.wantReads(id, before, followUp)
		if got := s.write(id, "yes"); textOf(got.Shown) != "Done." {
			t.Errorf("the response behind it shows %v", got.Shown)
		}
		if history := strings.Join(saidTo(model.Requests()[3]), "\n"); !strings.Contains(history, "\n"+followUp+"\n") {
			t.Errorf("the history behind it is:\n%s", history)
		}
		differ(t, "the nudges", []string{"sent"}, s.nudges())
	})
}

// Holds docs/spec/09-nudge.md: what calls a nudge off before its model is asked, with the reason
// stored. A due nudge whose contact has to be asked for has a turn, which says nothing.
func TestNudgeCalledOff(t *testing.T) {
	dear := wrote(before)
	dear.Response.Usage = llm.Usage{Input: 200_000}
	tests := []struct {
		name   string
		change setup
		before func(s *studio, id string) // a while before it is due
		want   string
		newest string   // outcome of the newest turn
		reads  []string // behind the reply that planned it
	}{
		{"the contact writes", setup{model: planning(wrote("Gladly."))}, func(s *studio, id string) { s.write(id, "thanks") },
			"cancelled contact_replied", "answered", []string{"Gladly."}},
		{"a sticker", setup{model: planning()}, func(s *studio, id string) { s.write(id, "{{last_input_text}}") },
			"cancelled contact_replied", "media_fallback", []string{noMedia}},
		{"somebody in their name", setup{model: planning(wrote("Who are you?"))}, func(s *studio, id string) { s.forge(id, "hello") },
			"cancelled contact_replied", "answered", nil},
		{"a pause", setup{model: planning()}, func(s *studio, id string) { s.pause(id, 24) }, "cancelled paused", "answered", nil},
		{"a pause that is over", setup{model: planning()}, func(s *studio, id string) { s.pause(id, 0.05) }, "cancelled paused", "answered", nil},
		{"the tag, known from a turn", setup{model: planning(), business: quiet(t, "human-active")}, func(s *studio, id string) { s.carry(id, true); s.write(id, "hello") },
			"cancelled contact_replied", "paused", nil},
		{"the tag", setup{model: planning(), business: quiet(t, "human-active")}, func(s *studio, id string) { s.carry(id, true) },
			"cancelled human_active", "nudge_skipped", nil},
		{"the tag cannot be read", setup{model: planning(), business: quiet(t, "human-active")}, func(s *studio, _ string) {
			s.faults(manychattest.Fault{Kind: fault.Timeout, Path: "/fb/subscriber/getInfo"})
		}, "cancelled read_failed", "nudge_skipped", nil},
		{"an opt-out", setup{model: planning()}, func(s *studio, _ string) { s.beside(`UPDATE conversations SET opted_out_at = 1`) },
			"cancelled opted_out", "answered", nil},
		{"the link to pay", setup{model: planning()}, func(s *studio, _ string) { s.beside(`UPDATE conversations SET stage = 'link_sent'`) },
			"cancelled link_sent", "answered", nil},
		{"a handoff", setup{model: planning()}, func(s *studio, _ string) {
			s.beside(`UPDATE conversations SET handoff_said_at = (SELECT created_at + 1 FROM nudges)`)
		}, "cancelled escalated", "answered", nil},
		{"the cap of the contact's turns", setup{model: planning(), rules: func(r *tenant.Rules) { r.MaxTurnsPerConversation = 1 }}, func(*studio, string) {},
			"cancelled cap_reached", "nudge_skipped", nil},
		{"the day's budget", setup{model: scripted(calling(scheduleNudge), dear), rules: func(r *tenant.Rules) { r.Budget.DailyTokenCap = 150_000 }}, func(*studio, string) {},
			"cancelled cap_reached", "nudge_skipped", nil},
		{"a contact whom the agent does not answer any more", setup{model: planning()}, func(s *studio, id string) {
			s.setup.rules = func(r *tenant.Rules) {
				r.Audience = tenant.Audience{Mode: tenant.AudienceOnly, Subscribers: []contact.SubscriberID{"900000009"}}
			}
			s.stop()
			s.start()
		}, "cancelled paused", "answered", nil},
		{"a delay that is gone", setup{model: planning()}, func(s *studio, _ string) {
			s.setup.business = func() *tenant.Tenant {
				business := quiet(s.t, "")()
				business.Tools.Nudge.Delays = business.Tools.Nudge.Delays[1:]
				return business
			}
			s.stop()
			s.start()
		}, "skipped", "answered", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inQuiet(t, tt.change, func(s *studio) {
				id := s.planned()
				s.rest(2 * time.Minute)
				tt.before(s, id)
				s.rest(delayed - 2*time.Minute + looked + 11*time.Second)
				s.faults()
				differ(t, "the nudge", []string{tt.want}, s.nudges())
				s.rest(10 * time.Minute)
				s.wantReads(id, append([]string{before}, tt.reads...)...)
				if turn := s.recorded(id, 1)[0]; turn.Outcome != tt.newest {
					t.Errorf("the newest turn is %s, want %s", turn.Outcome, tt.newest)
				}
				differ(t, "the nudge later", []string{tt.want}, s.nudges())
			})
		})
	}
}

// Holds docs/spec/09-nudge.md: behind 1425 minutes from the contact's last message nothing is
// sent, however long the service was away, nor out of the outbox.
func TestNudgeBehindTheWindow(t *testing.T) {
	t.Run("the service was away", func(t *testing.T) {
		inQuiet(t, setup{model: planning()}, func(s *studio) {
			id := s.planned()
			s.stop()
			s.rest(1425*time.Minute - 2*time.Second + time.Millisecond)
			s.start()
			s.rest(looked)
			differ(t, "the nudge", []string{"cancelled window_closing"}, s.nudges())
			s.wantReads(id, before)
		})
	})
	t.Run("just inside", func(t *testing.T) {
		inQuiet(t, setup{model: planning(wrote(followUp))}, func(s *studio) {
			id := s.planned()
			s.stop()
			s.rest(1424 * time.Minute)
			s.start()
			s.rest(looked)
			differ(t, "the nudge", []string{"sent"}, s.nudges())
			s.wantReads(id, before, followUp)
		})
	})
	t.Run("ManyChat was away", func(t *testing.T) {
		inQuiet(t, setup{model: planning(wrote(followUp))}, func(s *studio) {
			id := s.planned()
			s.stop()
			s.rest(1420 * time.Minute)
			s.faults(manychattest.Fault{Kind: fault.ServerError, Path: "/fb/subscriber/setCustomFieldByName"})
			s.start()
			s.rest(looked)
			s.wantNewest(id, "nudge_sent", "outbox", []string{"pending"})
			s.rest(15 * time.Minute)
			s.wantNewest(id, "nudge_sent", "outbox", []string{"discarded"})
			s.faults()
			s.rest(10 * time.Minute)
			differ(t, "the nudge", []string{"cancelled window_closing"}, s.nudges())
			s.wantReads(id, before)
		})
	})
}

// Holds docs/spec/09-nudge.md: escalating or failing sends nothing, and tells nobody; nor does a
// reply that the contact has already.
func TestNudgeSkipped(t *testing.T) {
	handing := with(draft{"escalate": true, "escalation_reason": "low_confidence"})
	tests := []struct {
		name  string
		steps []llmtest.Step
		noted []string
		acted []string
	}{
		{"it hands off", []llmtest.Step{handing}, []string{"low_confidence"}, nil},
		{"it hands off and writes a note for it", []llmtest.Step{calling(noteWhy, addGift), handing}, []string{"low_confidence"},
			[]string{"write_note handoff_note discarded", "add_tag gift discarded"}},
		{"it is not sure", []llmtest.Step{with(draft{"confidence": 0.1})}, []string{"confidence", "low_confidence"}, nil},
		{"it quotes a price that is none", []llmtest.Step{wrote("That is £3.99.")}, []string{"price_guard", "error"}, nil},
		{"it breaks the contract", []llmtest.Step{{Text: "hello"}}, []string{"schema", "error"}, nil},
		{"it says the same once more", []llmtest.Step{wrote(before)}, []string{"repetition"}, nil},
		{"it never answers", []llmtest.Step{{Hang: llmtest.UntilAbort}}, []string{"abort", "error"}, nil},
		{"it panics", []llmtest.Step{{Panic: "a defect"}}, []string{"panic", "error"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inQuiet(t, setup{model: planning(tt.steps...)}, func(s *studio) {
				id := s.planned()
				s.rest(delayed + looked + time.Minute)
				s.wantReads(id, before)
				s.wantNewest(id, "nudge_skipped", "silent", nil, tt.acted...)
				turn := s.recorded(id, 1)[0]
				differ(t, "what is noted", tt.noted, turn.Interventions)
				if turn.Reason != "" || len(turn.Replies) != 0 {
					t.Errorf("it ends for %q and says %q", turn.Reason, turn.Replies)
				}
				differ(t, "the nudge", []string{"skipped"}, s.nudges())
				differ(t, "what ManyChat was asked", []string(nil), s.did(id))
			})
		})
	}
}

// Holds docs/spec/09-nudge.md: a message that arrives aborts the nudge's reading and its model
// call, and is answered at once, as if there had been no nudge.
func TestMessageDuringANudge(t *testing.T) {
	tests := []struct {
		name   string
		change setup
		faults []manychattest.Fault
		within time.Duration // of the response
	}{
		{"while the model writes", setup{model: planning(slow(25*time.Second, wrote(followUp)), wrote("Here I am."))}, nil, 0},
		{"while the tag is read", setup{model: planning(wrote("Here I am.")), business: quiet(t, "human-active")},
			[]manychattest.Fault{{Kind: fault.Timeout, Path: "/fb/subscriber/getInfo"}}, 1500 * time.Millisecond},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inQuiet(t, tt.change, func(s *studio) {
				id := s.planned()
				s.rest(delayed - 3*time.Second)
				s.faults(tt.faults...)
				s.until(func() bool { return slices.Equal(s.nudges(), []string{"running"}) })
				s.rest(time.Second)
				began := time.Now()
				if got := s.write(id, "hello?"); textOf(got.Shown) != "Here I am." || time.Since(began).Round(10*time.Millisecond) > tt.within {
					t.Errorf("after %s the response shows %v", time.Since(began), got.Shown)
				}
				s.faults()
				s.rest(time.Second)
				differ(t, "the nudge", []string{"cancelled contact_replied"}, s.nudges())
				differ(t, "recorded", []string{"settled answered inline", "settled nudge_skipped silent", "settled answered inline"}, s.endings(id, 3))
				s.rest(10 * time.Minute)
				s.wantReads(id, before, "Here I am.")
				if strings.Contains(s.log.String(), "panic") {
					t.Error("something panicked")
				}
			})
		})
	}
}

// Holds docs/spec/09-nudge.md: a message withdraws the nudge's row while that is pending, also one
// that a worker gives back, and between two texts; the answer waits for none of it.
func TestNudgeIsWithdrawn(t *testing.T) {
	down := manychattest.Fault{Kind: fault.ServerError, Path: "/fb/subscriber/setCustomFieldByName"}
	slowly := manychattest.Fault{Kind: fault.Latency, Path: "/fb/subscriber/setCustomFieldByName", DelayMS: 5000}
	t.Run("pending", func(t *testing.T) {
		inQuiet(t, setup{model: planning(calling(addGift), wrote(followUp), wrote("Here I am."), wrote("Still here."))}, func(s *studio) {
			id := s.planned()
			s.faults(down)
			s.rest(delayed + 2*time.Minute)
			s.wantNewest(id, "nudge_sent", "outbox", []string{"pending"}, "add_tag gift staged")
			if got := s.write(id, "hello?"); textOf(got.Shown) != "Here I am." {
				t.Errorf("the response shows %v", got.Shown)
			}
			if row := s.recorded(id, 2)[1]; !slices.Equal(row.Deliveries, []string{"discarded"}) || !slices.Equal(actedIn(row), []string{"add_tag gift discarded"}) {
				t.Errorf("the nudge's row is %q, its record %q", row.Deliveries, actedIn(row))
			}
			differ(t, "the nudge", []string{"cancelled contact_replied"}, s.nudges())
			s.faults()
			s.rest(10 * time.Minute)
			s.wantReads(id, before, "Here I am.")
			s.write(id, "thanks")
			if history := strings.Join(saidTo(s.setup.model.(*llmtest.Scripted).Requests()[5]), "\n"); strings.Contains(history, followUp) {
				t.Errorf("what never arrived is history:\n%s", history)
			}
		})
	})
	t.Run("in a worker's hand", func(t *testing.T) {
		inQuiet(t, setup{model: planning(wrote(followUp), wrote("Here I am."))}, func(s *studio) {
			id := s.planned()
			s.faults(slowly, down)
			s.rest(delayed - 2*time.Second)
			s.until(func() bool { return s.recorded(id, 1)[0].Outcome == "nudge_sent" })
			s.wantNewest(id, "nudge_sent", "outbox", []string{"delivering"})
			s.write(id, "hello?")
			s.faults()
			s.rest(10 * time.Second)
			s.wantReads(id, before, "Here I am.")
			differ(t, "the row", []string{"discarded"}, s.recorded(id, 2)[1].Deliveries)
			differ(t, "the nudge", []string{"cancelled contact_replied"}, s.nudges())
			s.rest(10 * time.Minute)
			s.wantReads(id, before, "Here I am.")
		})
	})
	t.Run("between two texts", func(t *testing.T) {
		change := setup{model: planning(wrote("One.", "Two."), wrote("Here I am.")), env: []string{"WHATSAPP_JOIN=false", "MANYCHAT_REPLY_GAP_MS=10000"}}
		inQuiet(t, change, func(s *studio) {
			id := s.planned()
			s.rest(delayed - 3*time.Second)
			s.until(func() bool { return slices.Contains(s.reads(id), "One.") })
			if slices.Contains(s.reads(id), "Two.") {
				t.Fatal("the second text is out")
			}
			s.write(id, "hello?")
			s.rest(10 * time.Minute)
			s.wantReads(id, before, "One.", "Here I am.")
			differ(t, "the nudge", []string{"sent"}, s.nudges())
		})
	})
}

// Holds docs/spec/07-tools.md, "The tools": a nudge is planned when its reply has gone out, and
// not at all when the contact wrote again by then or its time has passed.
func TestNudgeBehindALateReply(t *testing.T) {
	late := []llmtest.Step{calling(scheduleNudge), slow(9*time.Second, wrote(before))}
	t.Run("a minute late", func(t *testing.T) {
		inQuiet(t, setup{model: scripted(append(late, wrote(followUp))...)}, func(s *studio) {
			id := s.contact("900000001")
			began := time.Now()
			s.faults(manychattest.Fault{Kind: fault.ServerError, Path: "/fb/sending/sendFlow"})
			s.write(id, question)
			s.rest(time.Minute)
			differ(t, "planned while the reply waits", []string(nil), s.nudges())
			s.faults()
			s.rest(time.Minute)
			differ(t, "the record", []string{"schedule_nudge later_today performed"}, s.acted(id))
			s.rest(time.Until(began.Add(delayed - time.Second)))
			s.wantReads(id, ack, before)
			s.rest(looked)
			s.wantReads(id, ack, before, followUp)
		})
	})
	t.Run("the contact wrote again", func(t *testing.T) {
		inQuiet(t, setup{model: scripted(append(late, wrote("Gladly."))...)}, func(s *studio) {
			id := s.contact("900000001")
			s.faults(manychattest.Fault{Kind: fault.ServerError, Path: "/fb/sending/sendFlow"})
			s.write(id, question)
			s.rest(time.Minute)
			s.write(id, "thanks")
			s.faults()
			s.rest(delayed + looked)
			s.wantReads(id, ack, before+"\n\nGladly.")
			differ(t, "the record", []string{"schedule_nudge later_today discarded"}, actedIn(s.recorded(id, 2)[1]))
			differ(t, "planned", []string(nil), s.nudges())
		})
	})
	t.Run("its time has passed", func(t *testing.T) {
		inQuiet(t, setup{model: scripted(late...)}, func(s *studio) {
			id := s.contact("900000001")
			s.faults(manychattest.Fault{Kind: fault.ServerError, Path: "/fb/sending/sendFlow"})
			s.write(id, question)
			s.rest(delayed + time.Minute)
			s.faults()
			s.rest(10 * time.Minute)
			s.wantReads(id, ack, before)
			differ(t, "the record", []string{"schedule_nudge later_today failed (too late)"}, s.acted(id))
			differ(t, "planned", []string(nil), s.nudges())
		})
	})
}

// Holds docs/spec/07-tools.md, "The tools": on a nudge's turn flows are staged, and follow the text
// with the other actions.
func TestActionsOfANudge(t *testing.T) {
	model := planning(calling(sendPhotos, addGift), wrote(followUp))
	inQuiet(t, setup{model: model}, func(s *studio) {
		id := s.planned()
		s.rest(delayed + looked + time.Minute)
		s.wantNewest(id, "nudge_sent", "outbox", []string{"delivered"}, "send_flow student_gallery performed", "add_tag gift performed")
		differ(t, "what ManyChat was asked", []string{"say " + followUp, "show", "send_flow student_gallery", "add_tag gift"}, s.did(id))
		told := ""
		for _, m := range model.Requests()[3].Messages {
			for _, r := range m.Results {
				told += string(r.Content)
			}
		}
		if want := `{"staged":true}`; strings.Count(told, want) != 2 {
			t.Errorf("the model is told %s", told)
		}
	})
}

// Holds docs/spec/09-nudge.md: a crash loses a nudge that was under way rather than sending it
// twice, and a stop lets it end.
func TestNudgeAndTheProcess(t *testing.T) {
	running := func(s *studio) {
		s.rest(delayed - 3*time.Second)
		s.until(func() bool { return slices.Equal(s.nudges(), []string{"running"}) })
	}
	t.Run("a crash", func(t *testing.T) {
		inQuiet(t, setup{model: planning(slow(29*time.Second, wrote(followUp)), wrote("Here I am."))}, func(s *studio) {
			id := s.planned()
			running(s)
			s.crash()
			s.rest(10 * time.Minute)
			differ(t, "the nudge", []string{"skipped"}, s.nudges())
			s.wantReads(id, before)
			s.wantNewest(id, "nudge_skipped", "silent", nil)
			s.write(id, "hello?")
			s.wantReads(id, before, "Here I am.")
		})
	})
	for _, tt := range []struct {
		name  string
		takes time.Duration
		want  string
		reads []string
	}{
		{"a stop", 29 * time.Second, "sent", []string{before, followUp}},
		{"a stop that is over before it", 29 * time.Second, "skipped", []string{before}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			change := setup{model: planning(slow(tt.takes, wrote(followUp)))}
			if tt.want == "skipped" {
				change.env = []string{"SHUTDOWN_GRACE_MS=10"}
			}
			inQuiet(t, change, func(s *studio) {
				id := s.planned()
				running(s)
				if tt.want == "sent" {
					s.rest(10 * time.Second) // the grace covers the rest
				}
				s.stop()
				s.start()
				s.rest(time.Minute)
				differ(t, "the nudge", []string{tt.want}, s.nudges())
				s.wantReads(id, tt.reads...)
			})
		})
	}
}

// A conversation's list is by when its contact wrote, which a nudge is not: the turn shows as one
// in which nobody wrote.
func TestNudgeIsNoMessage(t *testing.T) {
	inQuiet(t, setup{model: planning(wrote(followUp), wrote("One."), wrote("Two.")), rules: func(r *tenant.Rules) {
		r.MaxTurnsPerConversation, r.RateLimit.TurnsPerSubscriberPerHour = 3, 3
	}}, func(s *studio) {
		id := s.planned()
		s.rest(delayed + looked)
		if turn := s.recorded(id, 1)[0]; turn.Text != "" || turn.Outcome != "nudge_sent" {
			t.Errorf("recorded is %q, %s", turn.Text, turn.Outcome)
		}
		for i, want := range []string{"One.", "Two.", handover} {
			if got := s.write(id, fmt.Sprint("message ", i)); textOf(got.Shown) != want {
				t.Errorf("message %d is answered %v, want %q: three count", i, got.Shown, want)
			}
			s.rest(time.Minute)
		}
	})
}

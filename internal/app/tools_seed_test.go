package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
)

// told is what the model was told of the calls of its last step but this.
func told(req llm.Request) (all []string) {
	for _, m := range slices.Backward(req.Messages) {
		if m.Role != llm.ToolResult {
			continue
		}
		for _, r := range m.Results {
			all = append(all, r.Name+" "+string(r.Content))
		}
		return all
	}
	return nil
}

// enums are the values that the arguments of each offered tool may have.
func enums(t *testing.T, req llm.Request) map[string]map[string][]string {
	t.Helper()
	all := map[string]map[string][]string{}
	for _, tool := range req.Tools {
		var s struct {
			Properties map[string]struct{ Enum []string }
		}
		if err := json.Unmarshal(tool.Parameters, &s); err != nil {
			t.Fatal(err)
		}
		all[tool.Name] = map[string][]string{}
		for name, p := range s.Properties {
			all[tool.Name][name] = p.Enum
		}
	}
	return all
}

// academyWith is an academy that is changed.
func academyWith(t *testing.T, change func(*tenant.Tenant)) func() *tenant.Tenant {
	return func() *tenant.Tenant {
		business := academy(t, "demo")
		change(business)
		return business
	}
}

// Holds docs/spec/07-tools.md, "The tools": the first check. Only what tools.json names can be
// asked for, and a tool whose list is empty is not there.
func TestToolsAreEnumsOfTheFile(t *testing.T) {
	unknown := []llm.ToolCall{
		asked("send_flow", `{"flow":"content00000000000000_000004"}`), asked("add_tag", `{"tag":"buys-a-gift"}`),
		asked("remove_tag", `{"tag":"former_student"}`), asked("set_field", `{"field":"preferred_shift","value":"at night"}`),
		asked("set_field", `{"field":"voucher","value":"valid"}`), asked("write_note", `{"note":"agent_summary","text":"Hello."}`),
	}
	for i, c := range unknown {
		t.Run(fmt.Sprint(i, " ", c.Name), func(t *testing.T) {
			model := scripted(calling(c), wrote("Gladly."))
			inStudio(t, setup{model: model}, func(s *studio) {
				id := s.contact("900000001")
				s.write(id, question)
				s.rest(time.Minute)
				if got := told(model.Requests()[1]); len(got) != 1 || !strings.Contains(got[0], `"error":"`) || !strings.Contains(got[0], "must be one of") {
					t.Errorf("the model is told %q", got)
				}
				turn := s.recorded(id, 1)[0]
				if did := s.did(id); len(did) != 0 || turn.Actions == nil || len(turn.Actions) != 0 || turn.Outcome != "answered" {
					t.Errorf("ManyChat was asked to %q; recorded is %s %+v", did, turn.Outcome, turn.Actions)
				}
				if len(turn.Calls) != 1 || turn.Calls[0].Answer != "bad call" {
					t.Errorf("the trace is %+v", turn.Calls)
				}
			})
		})
	}
	t.Run("the schemas", func(t *testing.T) {
		model := scripted(wrote("Gladly."))
		inStudio(t, setup{model: model}, func(s *studio) {
			s.write(s.contact("900000001"), question)
			want := map[string]map[string][]string{
				"send_flow":  {"flow": {"wheel_course_brochure", "hand_building_brochure", "studio_map", "student_gallery", "payment_link"}, "contactAsked": nil},
				"add_tag":    {"tag": {"gift", "group_booking"}},
				"remove_tag": {"tag": {"gift", "group_booking"}},
				"write_note": {"note": {"summary", "handoff_note"}, "text": nil},

				"schedule_nudge": {"delay": {"later_today", "tomorrow"}},
			}
			got := enums(t, model.Requests()[0])
			want["set_field"], want["get_contact"] = got["set_field"], map[string][]string{}
			if diff := cmp.Diff(want, got); diff != "" || len(got["set_field"]["field"]) != 4 {
				t.Errorf("offered (-want +got):\n%s", diff)
			}
		})
	})
	for name, without := range map[string]func(*tenant.Tools){
		"send_flow":          func(x *tenant.Tools) { x.Flows = nil },
		"add_tag remove_tag": func(x *tenant.Tools) { x.Tags = nil },
		"set_field":          func(x *tenant.Tools) { x.Fields = nil },
		"write_note":         func(x *tenant.Tools) { x.Notes = nil },
		"everything that is": func(x *tenant.Tools) { *x = tenant.Tools{} },
		"get_contact set_field add_tag remove_tag write_note": func(x *tenant.Tools) { *x = tenant.Tools{Flows: x.Flows} },
	} {
		t.Run("without "+name, func(t *testing.T) {
			model := scripted(wrote("Gladly."))
			inStudio(t, setup{model: model, business: academyWith(t, func(b *tenant.Tenant) {
				without(b.Tools)
				b.Rules.Handoff = nil
			})}, func(s *studio) {
				id := s.contact("900000001")
				s.write(id, question)
				for _, tool := range model.Requests()[0].Tools {
					if strings.Contains(name, tool.Name) || name == "everything that is" {
						t.Errorf("%s is offered", tool.Name)
					}
				}
				if turn := s.recorded(id, 1)[0]; (turn.Actions == nil) != (name == "everything that is") {
					t.Errorf("recorded actions: %v", turn.Actions)
				}
			})
		})
	}
}

// watching is a model that looks around before each of its steps.
type watching struct {
	llm.Model
	look func()
}

func (m watching) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	m.look()
	resp, err := m.Model.Generate(ctx, req)
	m.look()
	return resp, err
}

// Holds docs/spec/07-tools.md, "A tool stages an action; the server performs it": the second
// check. While the model works, nothing that it staged is asked of ManyChat.
func TestToolsMakeNoRequest(t *testing.T) {
	script := scripted(
		calling(addGift, setEvening, noteDown), slow(time.Second, calling(dropGroup, noteWhy)),
		slow(time.Second, calling(addGift)), slow(time.Second, wrote("Gladly.")),
	)
	var s *studio
	looks := 0
	model := watching{script, func() {
		looks++
		for _, c := range s.account.Calls() {
			if is, _ := s.what(c.Path, []byte(c.Body)); is != "token" {
				t.Errorf("within the loop ManyChat was asked to %s", is)
			}
		}
	}}
	inStudio(t, setup{model: model}, func(started *studio) {
		s = started
		id := s.contact("900000001")
		s.write(id, question)
		s.rest(time.Minute)
		want := []string{"add_tag gift", "set_field preferred_shift=evening", "write_note summary=Wants a big blue bowl for breakfast.", "remove_tag group_booking", "write_note handoff_note=Asked about a lost parcel."}
		if diff := cmp.Diff(want, s.did(id)); diff != "" || looks != 8 {
			t.Errorf("behind the loop ManyChat was asked (-want +got), after %d looks:\n%s", looks, diff)
		}
		s.checkBehind(id, "Gladly.")
		for _, answer := range told(script.Requests()[1]) {
			if !strings.HasSuffix(answer, ` {"staged":true}`) {
				t.Errorf("the model was told %s", answer)
			}
		}
	})
}

// Holds docs/spec/07-tools.md, "Bounds": the fourth check, with the bound of today: eight
// actions are taken, and what comes behind them is told so, kept on record and not performed.
func TestToolsOverTheCap(t *testing.T) {
	var calls []llm.ToolCall
	for _, v := range []string{"wheel_course", "hand_building", "glaze_weekend", "family_morning"} {
		calls = append(calls, asked("set_field", `{"field":"course","value":"`+v+`"}`))
	}
	calls = append(calls, addGift, dropGroup, sendMap, noteDown, setEvening, sendPhotos, addGift)
	model := scripted(calling(calls...), wrote("Gladly."))
	inStudio(t, setup{model: model}, func(s *studio) {
		id := s.contact("900000001")
		s.write(id, question)
		s.rest(time.Minute)
		got := told(model.Requests()[1])
		for i, answer := range got {
			want := `{"staged":true}`
			switch i {
			case 6:
				want = `{"sent":true}`
			case 8:
				want = `{"staged":false,"reason":"over_cap"}`
			case 9:
				want = `{"sent":false,"reason":"over_cap"}`
			}
			if !jsonSame(strings.SplitN(answer, " ", 2)[1], want) {
				t.Errorf("call %d: the model is told %s, want %s", i, answer, want)
			}
		}
		if did := s.did(id); len(got) != 11 || len(did) != 8 || slices.Contains(did, "set_field preferred_shift=evening") || slices.Contains(did, "send_flow student_gallery") {
			t.Errorf("ManyChat was asked %q", did)
		}
		acted := s.acted(id)
		if want := []string{"set_field preferred_shift=evening dropped_over_cap", "send_flow student_gallery dropped_over_cap"}; len(acted) != 10 || !cmp.Equal(acted[8:], want) {
			t.Errorf("recorded is %q", acted)
		}
	})
}

// jsonSame reports whether two JSON texts say the same.
func jsonSame(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && cmp.Equal(x, y)
}

// Holds docs/spec/07-tools.md, "The tools": the fifth check, the body of each request, whose
// contact is the turn's whatever the model says.
func TestToolsRequestBodies(t *testing.T) {
	bodies := []struct {
		call llm.ToolCall
		path string
		body string
	}{
		{asked("send_flow", `{"flow":"studio_map","subscriber_id":"900000002"}`), "/fb/sending/sendFlow", `{"subscriber_id":"900000001","flow_ns":"content00000000000000_000004"}`},
		{asked("add_tag", `{"tag":"gift","subscriber_id":"900000002"}`), "/fb/subscriber/addTagByName", `{"subscriber_id":"900000001","tag_name":"buys-a-gift"}`},
		{asked("remove_tag", `{"subscriber":"900000002","tag":"group_booking"}`), "/fb/subscriber/removeTagByName", `{"subscriber_id":"900000001","tag_name":"group-booking"}`},
		{asked("set_field", `{"field":"preferred_shift","value":"evening","subscriber_id":900000002}`), "/fb/subscriber/setCustomFieldByName", `{"subscriber_id":"900000001","field_name":"preferred_shift","field_value":"evening"}`},
		{asked("write_note", `{"note":"summary","text":"Wants  a bowl. Call +49 170 5550199.","contact":"900000002"}`), "/fb/subscriber/setCustomFieldByName", `{"subscriber_id":"900000001","field_name":"agent_summary","field_value":"Wants a bowl. Call [removed]."}`},
	}
	for _, tt := range bodies {
		t.Run(tt.call.Name, func(t *testing.T) {
			inStudio(t, setup{model: scripted(calling(tt.call), wrote("Gladly."))}, func(s *studio) {
				id, other := s.contact("900000001"), s.contact("900000002")
				s.write(id, question)
				s.rest(time.Minute)
				var own []manychattest.Call
				for _, c := range s.account.Calls() {
					if !writesToken(c) {
						own = append(own, c)
					}
				}
				if len(own) != 1 || own[0].Path != tt.path || !jsonSame(own[0].Body, tt.body) || !own[0].Done || own[0].Method != http.MethodPost {
					t.Errorf("ManyChat was asked %+v, want %s %s", own, tt.path, tt.body)
				}
				if did := s.did(other); len(did) != 0 {
					t.Errorf("for another contact ManyChat was asked %q", did)
				}
			})
		})
	}
}

// Holds docs/spec/07-tools.md, "Performing": the sixth check. The text is out before any
// action on both paths; a row that is tried again performs its actions once, and a dead one
// none.
func TestToolsFollowTheText(t *testing.T) {
	acting := calling(addGift, setEvening)
	rejected := manychattest.Fault{Kind: fault.MissingFlow, Name: studioFlow}
	tests := []struct {
		name   string
		model  llmtest.Step
		fault  *manychattest.Fault
		says   int // tries to deliver the text
		shows  int
		status string
	}{
		{"inline", wrote("Gladly."), nil, 0, 0, "performed"},
		{"deferred", slow(9*time.Second, wrote("Gladly.")), nil, 1, 1, "performed"},
		{"tried again", slow(9*time.Second, wrote("Gladly.")), &manychattest.Fault{Kind: fault.ServerError, Path: "sendFlow", Times: 2}, 3, 3, "performed"},
		{"dead", slow(9*time.Second, wrote("Gladly.")), &rejected, 1, 1, "dead_lettered"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inStudio(t, setup{model: scripted(acting, tt.model)}, func(s *studio) {
				id := s.contact("900000001")
				if tt.fault != nil {
					s.faults(*tt.fault)
				}
				s.write(id, question)
				s.rest(10 * time.Minute)
				did := s.did(id)
				want := []string{"add_tag gift", "set_field preferred_shift=evening"}
				if tt.status != "performed" {
					want = nil
				} else {
					s.checkBehind(id, "Gladly.")
				}
				if diff := cmp.Diff(want, acts(did)); diff != "" {
					t.Errorf("ManyChat was asked (-want +got):\n%s", diff)
				}
				if says, shows := count(did, "say Gladly."), count(did, "show"); says != tt.says || shows != tt.shows {
					t.Errorf("the text was tried %d and %d times, want %d and %d: %q", says, shows, tt.says, tt.shows, did)
				}
				if got := s.acted(id); !cmp.Equal(got, []string{"add_tag gift " + tt.status, "set_field preferred_shift=evening " + tt.status}) {
					t.Errorf("recorded is %q", got)
				}
			})
		})
	}
}

func count(all []string, one string) (n int) {
	for _, a := range all {
		if a == one {
			n++
		}
	}
	return n
}

// Holds docs/spec/07-tools.md, "The tools": the seventh check. What delivery needs for itself
// is no tool, however it is written.
func TestToolsThatCollide(t *testing.T) {
	tests := []struct{ name, from, to, want string }{
		{"the reply flow", `"content00000000000000_000004"`, `"` + studioFlow + `"`, "MANYCHAT_REPLY_FLOW_NS"},
		{"the reply field", `"preferred_shift",
      "values"`, `"ai_message",
      "values"`, "MANYCHAT_REPLY_FIELD"},
		{"the reply field in capitals", `"field": "agent_course"`, `"field": "AI_Message"`, "MANYCHAT_REPLY_FIELD"},
		{"the token field", `"field": "agent_course"`, `"field": "ai_token"`, "MANYCHAT_TOKEN_FIELD"},
		{"a note in the reply field", `"field": "agent_summary"`, `"field": "ai_message"`, "MANYCHAT_REPLY_FIELD"},
		{"a note in the token field", `"field": "agent_summary"`, `"field": "ai_token"`, "MANYCHAT_TOKEN_FIELD"},
		{"an event", `"content00000000000000_000007"`, `"` + studioFlow + `"`, "MANYCHAT_REPLY_FLOW_NS"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, err := demo.Demo.ReadFile("tools.json.example")
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(text), tt.from, tt.to, 1)
			if changed == string(text) {
				t.Fatalf("the demo's tools lack %s", tt.from)
			}
			if _, err := businessOf(t, string(text)); err != nil {
				t.Errorf("the demo's own tools are refused: %v", err)
			}
			if _, err := businessOf(t, changed); err == nil || !strings.Contains(err.Error(), "tools.json") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want one that names %s", err, tt.want)
			}
		})
	}
}

// businessOf loads a folder with the demo's files and other tools.
func businessOf(t *testing.T, tools string) (*tenant.Tenant, error) {
	t.Helper()
	folder := t.TempDir()
	demoFiles(t, folder, tools)
	environ := append(serving(t.TempDir()), "CONFIG_DIR="+folder)
	c, err := config.Load(config.Source{Mode: config.Serve, Environ: environ})
	if err != nil {
		t.Fatal(err)
	}
	return app.Business(c, 0)
}

// demoFiles writes the demo's files into a folder, with other tools.
func demoFiles(t *testing.T, folder, tools string) {
	t.Helper()
	for _, name := range []string{"prompt.md", "catalog.json", "rules.json"} {
		text, err := demo.Demo.ReadFile(name + ".example")
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(folder, name), string(text))
	}
	put(t, filepath.Join(folder, "tools.json"), tools)
}

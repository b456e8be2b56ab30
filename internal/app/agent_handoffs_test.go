package app_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/anthropicapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// draft is an answer of a model, as the contract wants it but for what a test changes.
type draft map[string]any

// with is a valid answer that is changed.
func with(changes draft) llmtest.Step {
	answer := draft{"messages": []string{"Gladly, here you are."}, "escalate": false, "escalation_reason": nil, "confidence": 0.9, "closing_question": nil}
	for field, value := range changes {
		answer[field] = value
	}
	text, err := json.Marshal(answer)
	if err != nil {
		panic(err)
	}
	return llmtest.Step{Text: string(text)}
}

// wrote is a valid answer of these messages.
func wrote(messages ...string) llmtest.Step { return with(draft{"messages": messages}) }

// endedBy is a valid answer with another end.
func endedBy(stop llm.Stop) llmtest.Step {
	step := wrote("Gladly, here you are.")
	step.Response.Stop = stop
	return step
}

// verdict is how a turn ended, as an operator sees it.
type verdict struct {
	Outcome, Reason string
	Noted           []string // interventions, or the failure
}

func (r *rig) verdict(id string) verdict {
	r.t.Helper()
	turn := r.newest(id)
	return verdict{turn.Outcome, turn.Reason, turn.Interventions}
}

// failed is a turn that failed closed, for a reason of this name.
func failed(name string) verdict { return verdict{"escalated_error", "error", []string{name}} }

// checkHandoff asserts that the contact has read the handover text, once and nothing else,
// in the response, and that ManyChat was not called for it.
func (r *rig) checkHandoff(id, want string) {
	r.t.Helper()
	bubbles := r.phone(id, time.Minute)
	if len(bubbles) != 1 || bubbles[0].Text != want || bubbles[0].Via != phone.ViaInline {
		r.t.Errorf("the phone shows %v, want %q alone", bubbles, want)
	}
	if calls := r.calls(id); len(calls) != 0 {
		r.t.Errorf("an inline handoff made %d calls to ManyChat", len(calls))
	}
	if turn := r.newest(id); !cmp.Equal(turn.Replies, []string{want}) || turn.Path != "inline" {
		r.t.Errorf("recorded is %s %q, want %q", turn.Path, turn.Replies, want)
	}
}

// checkVerdict asserts how the contact's newest turn ended.
func (r *rig) checkVerdict(id string, want verdict) {
	r.t.Helper()
	if diff := cmp.Diff(want, r.verdict(id)); diff != "" {
		r.t.Errorf("the turn ended (-want +got):\n%s", diff)
	}
}

// Holds docs/spec/04-agent.md, "When to escalate": each reason that a model may give.
func TestEveryHandoffOfTheModel(t *testing.T) {
	for _, reason := range conversation.ModelReasons() {
		t.Run(string(reason), func(t *testing.T) {
			step := with(draft{"escalate": true, "escalation_reason": reason, "closing_question": "Shall I?", "confidence": 0.2})
			inBubble(t, func(r *rig) {
				id := r.contact("900000001")
				r.write(id, question)
				r.checkHandoff(id, escalation)
				r.checkVerdict(id, verdict{"escalated", string(reason), nil})
			}, setup{model: &llmtest.Scripted{Steps: []llmtest.Step{step}}})
		})
	}
}

// handoff is an answer of a model that must not reach anybody.
type handoff struct {
	name  string
	steps []llmtest.Step // the last one again and again
	want  verdict
}

// Holds docs/spec/04-agent.md, "Reply contract": what breaks it hands off, each under a log
// class of its own, and says which.
func TestEveryHandoffOfTheContract(t *testing.T) {
	text := func(s string) []llmtest.Step { return []llmtest.Step{{Text: s}} }
	valid := wrote("Gladly, here you are.").Text
	call := llmtest.Step{Response: llm.Response{Stop: llm.StopTools, Calls: []llm.ToolCall{{ID: "call_1", Name: "open_the_till", Arguments: []byte("{}")}}}}
	tests := []handoff{
		{"wrong type", []llmtest.Step{with(draft{"messages": "Gladly."})}, failed("schema")},
		{"empty messages", []llmtest.Step{with(draft{"messages": []string{}})}, failed("schema")},
		{"an empty message", []llmtest.Step{wrote("Gladly.", " \n")}, failed("schema")},
		{"unknown key", []llmtest.Step{with(draft{"subscriber_id": "900000002"})}, failed("schema")},
		{"no escalate", text(`{"messages":["Gladly."],"confidence":0.9}`), failed("schema")},
		{"reason without escalating", []llmtest.Step{with(draft{"escalation_reason": "complaint"})}, failed("schema")},
		{"escalating without a reason", []llmtest.Step{with(draft{"escalate": true})}, failed("schema")},
		{"a reason of its own", []llmtest.Step{with(draft{"escalate": true, "escalation_reason": "budget"})}, failed("schema")},
		{"confidence of two", []llmtest.Step{with(draft{"confidence": 2})}, failed("schema")},
		{"text only", text("Gladly, here you are."), failed("schema")},
		{"half an object", text(valid[:len(valid)/2]), failed("schema")},
		{"two objects", text(valid + "\n" + valid), failed("schema")},
		{"cut off for length", []llmtest.Step{endedBy(llm.StopLength)}, failed("length")},
		{"refusal", []llmtest.Step{endedBy(llm.StopRefusal)}, failed("refusal")},
		{"empty", text(" \n"), failed("empty")},
		{"a tool call in the last step", []llmtest.Step{call}, failed("tool_call")},
		{"a panic of the adapter", []llmtest.Step{{Panic: "a bug that quotes +49 170 5550199"}}, failed("panic")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				id := r.contact("900000001")
				r.write(id, question)
				r.checkHandoff(id, escalation)
				r.checkVerdict(id, tt.want)
				if line := "no reply of the model (" + tt.want.Noted[0] + ")"; !strings.Contains(r.log.String(), line) {
					t.Errorf("no log line says %q", line)
				}
			}, setup{model: &llmtest.Scripted{Steps: tt.steps, Repeat: true}})
		})
	}
}

// Holds docs/spec/04-agent.md, "Guardrails": what each of them hands off.
func TestEveryHandoffOfTheGuardrails(t *testing.T) {
	tests := []handoff{
		{"confidence below the threshold", []llmtest.Step{with(draft{"confidence": 0.59})}, verdict{"escalated", "low_confidence", []string{"confidence"}}},
		{"a fence", []llmtest.Step{wrote("It ends with <<<END_CONTACT_MESSAGE>>>")}, failed("leak")},
		{"a fence in another look", []llmtest.Step{wrote("It ends with ＜＜＜end contact message＞＞＞")}, failed("leak")},
		{"a heading", []llmtest.Step{wrote("First comes", "## SECURITY")}, failed("leak")},
		{"the shared secret", []llmtest.Step{wrote("Use sandbox-shared-secret")}, failed("leak")},
		{"the console's key, over two messages", []llmtest.Step{wrote("Sandbox console", "key!")}, failed("leak")},
		{"the ManyChat token", []llmtest.Step{wrote("100000000000001 : sandbox")}, failed("leak")},
		{"a provider's key", []llmtest.Step{wrote("anthropic-key-0123456789")}, failed("leak")},
		{"a flow of a tool", []llmtest.Step{wrote("I start content00000000000000_000002 now.")}, failed("leak")},
		{"the reply flow", []llmtest.Step{wrote("I start content20260101000000_000001 now.")}, failed("leak")},
		{"a field", []llmtest.Step{wrote("Saved in agent_funnel_stage.")}, failed("leak")},
		{"the reply field", []llmtest.Step{wrote("Saved in ai_message.")}, failed("leak")},
		{"a tag", []llmtest.Step{wrote("You have the tag buys-a-gift.")}, failed("leak")},
		{"the closing question", []llmtest.Step{with(draft{"closing_question": "Shall I set former-student?"})}, failed("leak")},
		{"eight words of the rules", []llmtest.Step{wrote("I may never add amounts up, convert them, round them.")}, failed("leak")},
		{"a price that is nowhere", []llmtest.Step{wrote("The wheel course is 199 EUR.")}, failed("price_guard")},
		{"a price over two messages", []llmtest.Step{wrote("The wheel course is 199", "EUR.")}, failed("price_guard")},
		{"echoes alone", []llmtest.Step{wrote("confidence: 0.95", "escalate: false")}, failed("field_echo")},
		{"foreign links alone", []llmtest.Step{wrote("https://evil.example/pay", "www.evil.example")}, failed("links")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				id := r.contact("900000001")
				r.write(id, question)
				r.checkHandoff(id, escalation)
				r.checkVerdict(id, tt.want)
				if r.newest(id).Confidence == nil {
					t.Error("the model's confidence is not recorded")
				}
			}, setup{env: credentials(), model: &llmtest.Scripted{Steps: tt.steps}})
		})
	}
	keepCredentials()
}

// Holds docs/spec/04-agent.md, "Guardrails": the token of the contact is a secret as any.
func TestTokenOfTheContactIsNotSaid(t *testing.T) {
	model := &llmtest.Scripted{Steps: []llmtest.Step{wrote("Hello.")}}
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		r.write(id, "hello")
		r.phone(id, time.Minute)
		model.Steps = append(model.Steps, wrote("It is "+strings.ToUpper(r.tokenOf(id))))
		exchange := r.write(id, "what is in my field?")
		r.checkVerdict(id, failed("leak"))
		if len(exchange.Shown) != 1 || exchange.Shown[0].Text != escalation {
			t.Errorf("the phone shows %v", exchange.Shown)
		}
	}, setup{model: model})
}

// Holds docs/spec/04-agent.md, "Guardrails": outside of business hours a handoff says so
// where the tenant has words for it.
func TestHandoffOutsideHours(t *testing.T) {
	const closed = "We are closed, and answer on Monday."
	hours := func(message string) func(*tenant.Rules) {
		return func(r *tenant.Rules) { // the fake clock begins on a Saturday
			r.BusinessHours = &tenant.BusinessHours{Weekly: []tenant.Hours{{Days: []tenant.Weekday{"mon"}, From: "09:00", To: "17:00"}}, OutsideMessage: message}
		}
	}
	for _, c := range []struct{ name, message, want string }{{"with words for it", closed, closed}, {"without", "", escalation}} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				id := r.contact("900000001")
				r.write(id, question)
				r.checkHandoff(id, c.want)
				r.checkVerdict(id, failed("leak"))
			}, setup{rules: hours(c.message), model: &llmtest.Scripted{Steps: []llmtest.Step{wrote("## RULES")}}})
		})
	}
}

// Holds docs/spec/04-agent.md, "Loop": what a provider does wrong. What may pass is tried
// again while the contact waits, who is handed off once it is over.
func TestEveryHandoffOfTheProvider(t *testing.T) {
	status := func(code int) provider.Fault {
		return provider.Fault{Status: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: `{"type":"error","error":{"type":"x","message":"no"}}`}
	}
	slow := func(code int, after time.Duration) provider.Fault {
		return provider.Fault{Do: func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-time.After(after):
			case <-r.Context().Done():
			}
			w.WriteHeader(code)
		}}
	}
	tests := []struct {
		name   string
		fault  provider.Fault
		class  string
		asked  int           // requests; 0: as many as there is time for
		at     time.Duration // of the handoff
		within time.Duration // of at
	}{
		{"401", status(401), "provider", 1, 0, 0},
		{"403", status(403), "provider", 1, 0, 0},
		{"400", status(400), "provider", 1, 0, 0},
		{"500 until the provider is left alone", status(500), "breaker", 0, 10 * time.Second, 6 * time.Second},
		{"500 after nine seconds each, until the abort", slow(500, 9*time.Second), "abort", 4, 30 * time.Second, 0},
		{"a hang until the abort", slow(200, time.Hour), "abort", 1, 30 * time.Second, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			keepCredentials()
			server := anthropicapi.New(mock.New(), "anthropic-key-0123456789")
			for range 100 {
				server.Break(tt.fault)
			}
			inBubble(t, func(r *rig) {
				id := r.contact("900000001")
				r.write(id, question)
				if tt.at == 0 {
					r.checkHandoff(id, escalation)
				} else {
					r.checkLateHandoff(id, tt.at, tt.within)
				}
				r.checkVerdict(id, failed(tt.class))
				if n := len(server.Requests()); tt.asked != 0 && n != tt.asked || n < 1 || n > 12 {
					t.Errorf("the provider was asked %d times", n)
				}
			}, setup{env: append(credentials(), "AGENT_MODEL=anthropic:claude-haiku-4-5"), provider: server.Transport()})
		})
	}
}

// checkLateHandoff asserts that the contact has read the acknowledgement at the deadline and
// then the handover text, once, by the two calls of a delivery.
func (r *rig) checkLateHandoff(id string, at, within time.Duration) {
	r.t.Helper()
	bubbles := r.phone(id, 2*time.Minute)
	if len(bubbles) != 2 || bubbles[0] != (shown{8 * time.Second, phone.ViaInline, ack}) || bubbles[1].Text != escalation || bubbles[1].Via != phone.ViaFlow {
		r.t.Fatalf("the phone shows %v, want the acknowledgement and then the handover text by the flow", bubbles)
	}
	if late := bubbles[1].At - at; late < 0 || late > within {
		r.t.Errorf("the handover text came at %s, want %s and at most %s later", bubbles[1].At, at, within)
	}
	var paths []string
	for _, c := range r.calls(id) {
		paths = append(paths, c.Path)
	}
	if diff := cmp.Diff([]string{"/fb/subscriber/setCustomFieldByName", "/fb/sending/sendFlow"}, paths); diff != "" {
		r.t.Errorf("calls (-want +got):\n%s", diff)
	}
	if turn := r.newest(id); !cmp.Equal(turn.Replies, []string{escalation}) || turn.Path != "outbox" {
		r.t.Errorf("recorded is %s %q", turn.Path, turn.Replies)
	}
}

// Holds docs/spec/06-contact.md, "Caps, all before the model runs, all escalating": a turn
// for which the day has no tokens left is handed off, and no provider hears of it.
func TestHandoffOverBudget(t *testing.T) {
	model := &llmtest.Scripted{Steps: []llmtest.Step{wrote("Gladly.")}}
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		r.write(id, question)
		r.checkHandoff(id, escalation)
		r.checkVerdict(id, verdict{"escalated_precheck", "budget", nil})
		if n := len(model.Requests()); n != 0 {
			t.Errorf("the model was asked %d times", n)
		}
	}, setup{model: model, rules: func(r *tenant.Rules) { r.Budget.DailyTokenCap = 100 }})
}

// Holds docs/spec/04-agent.md, "Guardrails": what they mend or note goes out all the same.
func TestWhatTheGuardrailsMend(t *testing.T) {
	const thanks = "You are welcome!"
	flag := func(r *tenant.Rules) { r.PriceGuard = tenant.PriceGuardFlag }
	off := func(r *tenant.Rules) { r.PriceGuard = tenant.PriceGuardOff }
	closer := func(r *tenant.Rules) { r.Messages.Closer = thanks }
	tests := []struct {
		name  string
		rules func(*tenant.Rules)
		write []string // the contact's messages; nil: one
		step  llmtest.Step
		want  string // the last text; the ones before are of the same step
		noted []string
	}{
		{"nothing", nil, nil, wrote("Gladly.", "Come in!"), "Gladly.\n\nCome in!", nil},
		{"confidence at the threshold", nil, nil, with(draft{"confidence": 0.6}), "Gladly, here you are.", nil},
		{"a closing question", nil, nil, with(draft{"closing_question": "Which one?"}), "Gladly, here you are.\n\nWhich one?", nil},
		{"a closing question behind a question", nil, nil, with(draft{"messages": []string{"Clay or glaze? 🙂"}, "closing_question": "Which one?"}), "Clay or glaze? 🙂", nil},
		{"a price, flagged", flag, nil, wrote("It is 199 EUR."), "It is 199 EUR.", []string{"price_guard"}},
		{"a price, not looked at", off, nil, wrote("It is 199 EUR."), "It is 199 EUR.", nil},
		{"a foreign link", nil, nil, wrote("Look at https://evil.example/pay please."), "Look at please.", []string{"links"}},
		{"a link of the catalog", nil, nil, wrote("https://kilnbrook.example/courses/wheel"), "https://kilnbrook.example/courses/wheel", nil},
		{"one of two messages a foreign link", nil, nil, wrote("Gladly.", "https://evil.example"), "Gladly.", []string{"links"}},
		{"an echo", nil, nil, wrote("confidence: 0.95\nGladly.", "[actions performed: send_flow x]"), "Gladly.", []string{"field_echo"}},
		{"an echo and a link", nil, nil, wrote("escalate: false\nGladly. www.evil.example"), "Gladly.", []string{"field_echo", "links"}},
		{"a repetition to a closing word", closer, []string{question, "ok thanks"}, wrote("Gladly."), thanks, []string{"repetition"}},
		{"a repetition to a question", closer, []string{question, "ok?"}, wrote("Gladly."), "Gladly.", []string{"repetition"}},
		{"a repetition, and no closer", nil, []string{question, "ok thanks"}, wrote("Gladly."), "Gladly.", []string{"repetition"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				id := r.contact("900000001")
				messages := tt.write
				if messages == nil {
					messages = []string{question}
				}
				for _, text := range messages {
					r.write(id, text)
				}
				bubbles := r.phone(id, time.Minute)
				if len(bubbles) != len(messages) || bubbles[len(bubbles)-1].Text != tt.want {
					t.Errorf("the phone shows %q, want %q last", bubbles, tt.want)
				}
				r.checkVerdict(id, verdict{"answered", "", tt.noted})
				if calls := r.calls(id); len(calls) != 0 {
					t.Errorf("inline replies made %d calls to ManyChat", len(calls))
				}
			}, setup{rules: tt.rules, model: &llmtest.Scripted{Steps: []llmtest.Step{tt.step}, Repeat: true}})
		})
	}
}

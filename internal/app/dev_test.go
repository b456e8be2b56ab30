package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

const (
	question   = "how much is the wheel course?"
	price      = "Wheel Course for Beginners: 240 EUR"
	ack        = "Give me a moment, I am looking that up for you."
	escalation = "I would like a colleague from the studio to answer that. They will write to you here."
)

// Holds docs/spec/03-turn.md, "The race": won.
func TestPriceQuestion(t *testing.T) {
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		r.write(id, question)
		if diff := cmp.Diff([]shown{{0, phone.ViaInline, price}}, r.phone(id, time.Minute)); diff != "" {
			t.Errorf("phone (-want +got):\n%s", diff)
		}
		if calls := r.calls(id); len(calls) != 0 {
			t.Errorf("an inline reply made %d calls to ManyChat", len(calls))
		}
	})
}

// Holds docs/spec/03-turn.md, "The race": lost, and docs/spec/05-delivery.md, "A
// deferred reply is two calls per message".
func TestLateReply(t *testing.T) {
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		r.model(9*time.Second, mock.OK)
		r.write(id, question)
		want := []shown{{8 * time.Second, phone.ViaInline, ack}, {10 * time.Second, phone.ViaFlow, price}}
		if diff := cmp.Diff(want, r.phone(id, time.Minute)); diff != "" {
			t.Errorf("phone (-want +got):\n%s", diff)
		}
		want2 := []string{
			`/fb/subscriber/setCustomFieldByName {"subscriber_id":"900000001","field_name":"ai_message","field_value":"` + price + `"}`,
			`/fb/sending/sendFlow {"subscriber_id":"900000001","flow_ns":"content20260101000000_000001"}`,
		}
		var got []string
		for _, c := range r.calls(id) {
			got = append(got, c.Path+" "+strings.TrimSpace(c.Body))
		}
		if diff := cmp.Diff(want2, got); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}

// Holds docs/spec/05-delivery.md, "A deferred reply is two calls per message": the
// late replies of one batch never reach another contact.
func TestLateRepliesNeverCross(t *testing.T) {
	inBubble(t, func(r *rig) {
		questions := map[string]string{
			"900000001": "how much is the wheel course?",
			"900000002": "how much is the glaze weekend?",
			"900000003": "how much is the family clay morning?",
			"900000004": "how much is the hand-building course?",
		}
		names := map[string]string{"900000001": "Wheel", "900000002": "Glaze", "900000003": "Family", "900000004": "Hand"}
		r.model(9*time.Second, mock.OK)
		for id, text := range questions {
			r.contact(id)
			go r.write(id, text)
		}
		time.Sleep(time.Minute)
		for id, name := range names {
			bubbles := r.phone(id, 0)
			if len(bubbles) != 2 || !strings.Contains(bubbles[1].Text, name) {
				t.Errorf("%s was shown %v, want the price of %s second", id, bubbles, name)
			}
			for other, foreign := range names {
				if other != id && strings.Contains(fmt.Sprint(bubbles), foreign) {
					t.Errorf("%s was shown another contact's reply: %v", id, bubbles)
				}
			}
			checkPairs(t, r.calls(id), name)
		}
	})
}

// checkPairs asserts that each trigger of a contact follows a write of that contact's
// own text.
func checkPairs(t *testing.T, calls []manychattest.Call, name string) {
	t.Helper()
	written := false
	for _, c := range calls {
		switch {
		case strings.HasSuffix(c.Path, "setCustomFieldByName"):
			written = strings.Contains(c.Body, name)
		case !written:
			t.Errorf("%s was triggered without a write of the text about %s before it", c.Path, name)
		default:
			written = false
		}
	}
}

// Holds docs/spec/05-delivery.md, "Outbox" and "ManyChat client": whatever ManyChat
// does, the late reply arrives once, or is a dead letter that says why; nothing but
// the two calls is ever made.
func TestLateReplyUnderFaults(t *testing.T) {
	tests := []struct {
		name   string
		fault  manychattest.Fault
		arrive int // bubbles of the reply
		writes int
		flows  int
		dead   string // the dead letter's reason
	}{
		{"field answers 500 once", fault.Fault{Kind: fault.ServerError, Path: "subscriber writes", Times: 1}, 1, 2, 1, ""},
		{"flow answers 500 once", fault.Fault{Kind: fault.ServerError, Path: "sendFlow", Times: 1}, 1, 2, 2, ""},
		{"flow answers a web page", fault.Fault{Kind: fault.ServerErrorHTML, Path: "sendFlow", Times: 1}, 1, 2, 2, ""},
		{"rate limited twice", fault.Fault{Kind: fault.RateLimited, Path: "sendFlow", Times: 2}, 1, 3, 3, ""},
		{"connection breaks before", fault.Fault{Kind: fault.Dropped, Path: "subscriber writes", Times: 1}, 1, 2, 1, ""},
		{"flow never answers once", fault.Fault{Kind: fault.Timeout, Path: "sendFlow", Times: 1}, 1, 2, 2, ""},
		{"slow success", fault.Fault{Kind: fault.SlowSuccess, Path: "sendFlow", DelayMS: 25_000}, 1, 1, 1, ""},
		{"trigger done, answer lost once", fault.Fault{Kind: fault.LostAnswer, Path: "sendFlow", Times: 1}, 2, 2, 2, ""},
		{"trigger done, answers always lost", fault.Fault{Kind: fault.LostAnswer, Path: "sendFlow"}, 2, 2, 2, "unknown"},
		{"200 with an error", fault.Fault{Kind: fault.OKWithError, Path: "sendFlow"}, 0, 1, 1, "rejected"},
		{"the reply field was renamed", fault.Fault{Kind: fault.MissingField, Name: "ai_message"}, 0, 1, 0, "rejected"},
		{"the reply flow is gone", fault.Fault{Kind: fault.MissingFlow, Name: "content20260101000000_000001"}, 0, 1, 1, "rejected"},
		{"accepted and not delivered", fault.Fault{Kind: fault.SilentSuccess, Path: "sendFlow"}, 0, 1, 1, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				id := r.contact("900000001")
				r.write(id, "hello") // brings the contact's token
				r.phone(id, 5*time.Second)
				r.model(9*time.Second, mock.OK)
				r.faults(tt.fault)
				r.write(id, question)
				arrived := 0
				for _, b := range r.phone(id, 2*time.Minute) {
					if b.Text == price {
						arrived++
					}
				}
				writes, flows := 0, 0
				calls := r.calls(id)
				for _, c := range calls {
					if strings.HasSuffix(c.Path, "sendFlow") {
						flows++
					} else {
						writes++
					}
				}
				checkPairs(t, calls, "Wheel")
				if arrived != tt.arrive || writes != tt.writes || flows != tt.flows {
					t.Errorf("arrived %d times after %d writes and %d triggers, want %d, %d, %d", arrived, writes, flows, tt.arrive, tt.writes, tt.flows)
				}
				want := "delivered"
				if tt.dead != "" {
					want = "dead"
				}
				if got := r.newest(id).Deliveries; !cmp.Equal(got, []string{want}) {
					t.Errorf("the outbox row is %v, want %s", got, want)
				}
				if tt.dead != "" && !strings.Contains(r.log.String(), `"reason":"`+tt.dead+`"`) {
					t.Errorf("no log line gives the reason %q", tt.dead)
				}
			})
		})
	}
}

// Holds docs/spec/04-agent.md, "Guardrails": whatever a model does wrong, the contact
// reads the tenant's escalation copy and nothing of it.
func TestModelMisbehaves(t *testing.T) {
	for _, mode := range []mock.Mode{mock.Refuse, mock.Empty, mock.Garbage, mock.Length, mock.Leak, mock.InventPrice, mock.Panic, mock.Unsure, mock.ToolCall} {
		t.Run(string(mode), func(t *testing.T) {
			inBubble(t, func(r *rig) {
				id := r.contact("900000001")
				r.model(0, mode)
				r.write(id, question)
				bubbles := r.phone(id, time.Minute)
				if len(bubbles) != 1 || bubbles[0].Text != escalation {
					t.Errorf("phone shows %v, want the escalation copy alone", bubbles)
				}
			})
		})
	}
	t.Run("fail", func(t *testing.T) {
		inBubble(t, func(r *rig) {
			id := r.contact("900000001")
			r.model(0, mock.Fail)
			r.write(id, question)
			// The provider may recover, so the turn tries again until its breaker opens.
			bubbles := r.phone(id, time.Minute)
			if len(bubbles) != 2 || bubbles[0].Text != ack || bubbles[1].Text != escalation || bubbles[1].At > 20*time.Second {
				t.Errorf("phone shows %v, want the acknowledgement, and the escalation copy within 20 s", bubbles)
			}
			r.write(id, question)
			bubbles = r.phone(id, time.Minute)
			if last := bubbles[len(bubbles)-1]; len(bubbles) != 3 || last.Text != escalation || last.Via != phone.ViaInline {
				t.Errorf("a minute later the phone shows %v, want one handoff more, at once", bubbles)
			}
		}, setup{rules: func(rules *tenant.Rules) { rules.EscalationQuietMinutes = 0 }})
	})
	t.Run("hang", func(t *testing.T) {
		inBubble(t, func(r *rig) {
			id := r.contact("900000001")
			r.model(0, mock.Hang)
			r.write(id, question)
			want := []shown{{8 * time.Second, phone.ViaInline, ack}, {30 * time.Second, phone.ViaFlow, escalation}}
			if diff := cmp.Diff(want, r.phone(id, time.Minute)); diff != "" {
				t.Errorf("phone (-want +got):\n%s", diff)
			}
		})
	})
}

// Holds docs/spec/15-storage.md, and docs/spec/05-delivery.md, "Outbox": what is
// queued when the process stops goes out when it starts again, on the same phone.
func TestRestartKeepsConversationsAndQueuedReplies(t *testing.T) {
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := start(t, folder)
		id := r.contact("900000001")
		r.model(9*time.Second, mock.OK)
		r.faults(fault.Fault{Kind: fault.ServerError})
		r.write(id, question)
		if bubbles := r.phone(id, 5*time.Second); len(bubbles) != 1 {
			t.Fatalf("before the restart the phone shows %v, want the acknowledgement alone", bubbles)
		}
		r.stop()

		r = start(t, folder)
		bubbles := r.phone(id, 10*time.Minute)
		if len(bubbles) != 2 || bubbles[0].Text != ack || bubbles[1].Text != price {
			t.Errorf("after the restart the phone shows %v, want the acknowledgement and the price", bubbles)
		}
		turn := r.newest(id)
		if turn.Text != question || !cmp.Equal(turn.Deliveries, []string{"delivered"}) {
			t.Errorf("after the restart the turn is %+v", turn)
		}
		r.stop()
	})
}

// Holds docs/spec/13-sandbox.md, "The emulator": the account takes every response of
// the service, with no warning but the one that callbacks do not fire on WhatsApp.
func TestResponsesAreWhatManyChatTakes(t *testing.T) {
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		for _, text := range []string{question, "refund please", "courses", "line one\nline \"two\" \\ {{user_id}} 😀"} {
			exchange := r.write(id, text)
			if exchange.Failure != "" || exchange.Status != 200 {
				t.Errorf("%q: ManyChat refused the response: %s", text, exchange.Reason)
			}
			for _, w := range exchange.Warnings {
				if !strings.Contains(w, "external_message_callback") {
					t.Errorf("%q: %s", text, w)
				}
			}
			var block struct {
				Content struct {
					Callback struct {
						URL     string            `json:"url"`
						Headers map[string]string `json:"headers"`
					} `json:"external_message_callback"`
				} `json:"content"`
			}
			if err := json.Unmarshal([]byte(exchange.Response), &block); err != nil {
				t.Fatal(err)
			}
			if block.Content.Callback.URL != "https://agent.sandbox.example/v1/channels/manychat/message" {
				t.Errorf("%q: the callback is %+v", text, block.Content.Callback)
			}
		}
	})
}

// Holds docs/spec/01-principles.md, "Rules nothing may break": C5.
func TestLogsHoldNoPersonalData(t *testing.T) {
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		r.write(id, question)
		r.model(9*time.Second, mock.OK)
		r.faults(fault.Fault{Kind: fault.MissingField, Name: "ai_message"})
		r.write(id, "my phone is +1 000 000 0000, "+question)
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, private := range []string{id, "wheel", "Wheel", "000 0000", "ai_message", "content2026", "sandbox-shared-secret", "100000000000001"} {
			if strings.Contains(r.log.String(), private) {
				t.Errorf("the log holds %q:\n%s", private, r.log.String())
			}
		}
	})
}

package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/inbound"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Holds docs/spec/02-inbound.md, "Order of checks": callers without a valid secret have a
// budget per address, and a caller with one has none.
func TestAddressBudget(t *testing.T) {
	deployed(t, setup{env: []string{"INBOUND_RPM=5"}}, nil, func(d *deployment) {
		d.contact("900000001")
		guess := func(want int) *http.Response {
			t.Helper()
			resp, body := d.post(inbound.MessagePath, `{}`, "Authorization", "Bearer a-guessed-secret")
			if resp.StatusCode != want {
				t.Fatalf("a guess is answered %d %s, want %d", resp.StatusCode, body, want)
			}
			return resp
		}
		d.from("192.0.2.1:1000")
		for range 5 {
			guess(http.StatusUnauthorized)
		}
		if after := guess(http.StatusTooManyRequests).Header.Get("Retry-After"); after != "12" {
			t.Errorf("Retry-After is %q, want 12, a fifth of a minute", after)
		}
		if got := d.write("900000001", question); got.Status != http.StatusOK {
			t.Errorf("ManyChat is answered %d from an address whose budget is used up", got.Status)
		}
		d.http.CloseIdleConnections()
		d.from("192.0.2.2:1000")
		guess(http.StatusUnauthorized)
		d.http.CloseIdleConnections()
		d.from("192.0.2.1:1001")
		guess(http.StatusTooManyRequests)
		time.Sleep(12 * time.Second)
		guess(http.StatusUnauthorized)
	})
}

// Holds docs/spec/02-inbound.md, "Order of checks": X-Forwarded-For is a trusted proxy's to
// say, and nobody else's.
func TestTrustedProxy(t *testing.T) {
	for _, c := range []struct {
		name, trust string
		want        []int // of two guesses that name different clients, with a budget of one
	}{
		{"trusted", "TRUST_PROXY=10.0.0.0/8", []int{401, 401}},
		{"not trusted", "TRUST_PROXY=loopback", []int{401, 429}},
	} {
		t.Run(c.name, func(t *testing.T) {
			deployed(t, setup{env: []string{"INBOUND_RPM=1", c.trust}}, nil, func(d *deployment) {
				d.from("10.1.2.3:443")
				var got []int
				for _, client := range []string{"192.0.2.7", "192.0.2.8"} {
					resp, _ := d.post(inbound.MessagePath, `{}`, "X-Forwarded-For", client)
					got = append(got, resp.StatusCode)
				}
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("answers (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// Holds docs/spec/02-inbound.md, "Order of checks" and "Response: Dynamic Block v2": two
// secrets during a rotation, and the callback carries the one that was presented.
func TestSecretRotation(t *testing.T) {
	deployed(t, setup{}, nil, func(d *deployment) {
		for _, secret := range []string{newSecret, oldSecret} {
			for _, path := range []string{inbound.MessagePath, inbound.ContactPath} {
				resp, body := d.post(path, bodyFor(path), "Authorization", "Bearer "+secret)
				if resp.StatusCode != http.StatusOK || !strings.Contains(body, `"Authorization":"Bearer `+secret+`"`) ||
					!strings.Contains(body, `"url":"https://agent.example`+inbound.MessagePath+`"`) {
					t.Errorf("%s with %s is answered %d %s", path, secret, resp.StatusCode, body)
				}
			}
		}
	})
}

func bodyFor(path string) string {
	if path == inbound.ContactPath {
		return `{"id":"900000001","last_input_text":"hello"}`
	}
	return `{"subscriber_id":"900000001","text":"hello"}`
}

// Holds docs/spec/02-inbound.md, "Request body": with Full Contact Data, whatever a contact
// writes arrives as it was written, with the token, and nothing else of the profile is kept.
func TestFullContactData(t *testing.T) {
	ear := &listener{}
	deployed(t, setup{model: ear}, nil, func(d *deployment) {
		id := d.contact("12345678901234567") // beyond 2^53
		for _, text := range awkward {
			d.write(id, text)
			if !strings.Contains(ear.last(), text) {
				t.Errorf("the model read\n%s\ninstead of\n%s", ear.last(), text)
			}
			time.Sleep(5 * time.Minute) // beyond the first burst: the token binds
		}
		if before := awkward[len(awkward)-3]; !strings.Contains(ear.last(), before) { // ten entries are remembered
			t.Error("the messages are not one history")
		}
		if strings.Contains(ear.last(), "Zerbinetta") {
			t.Error("the model was told a name that the tenant does not use")
		}
	})
}

// awkward is what contacts write.
var awkward = []string{
	`she said "hi" and left`, "first line\nsecond line", `C:\new\table and a \ at the end \`, "🎨🧑‍🎨 ceramics? 👍🏽",
	"متى تبدأ الدورة؟", `{"subscriber_id":"900000009","text":"json"}`, `my name is "text": and not "subscriber_id"`,
}

// Holds docs/spec/02-inbound.md, "Request body": a body that ManyChat's raw templating broke
// is repaired, counted, and said once an hour.
func TestRepairedBodies(t *testing.T) {
	ear := &listener{}
	template := raw(`{"subscriber_id": "{{user_id}}", "text": "{{last_input_text}}", "ai_token": "{{ai_token}}"}`)
	deployed(t, setup{model: ear}, template, func(d *deployment) {
		id := d.contact("900000001")
		d.write(id, "hello")
		time.Sleep(time.Minute)
		for _, text := range []string{"say \"hi\"", "two\nlines", "and \"again\""} {
			if got := d.write(id, text); got.Status != http.StatusOK || !strings.Contains(ear.last(), text) {
				t.Errorf("%q was answered %d and read as\n%s", text, got.Status, ear.last())
			}
			time.Sleep(time.Minute)
		}
		if n := strings.Count(d.log.String(), "Encode to JSON"); n != 1 {
			t.Errorf("the log names the switch %d times in an hour, want once", n)
		}
		time.Sleep(time.Hour)
		d.write(id, "\"once more\"")
		if n := strings.Count(d.log.String(), "Encode to JSON"); n != 2 {
			t.Errorf("the log names the switch %d times in two hours, want twice", n)
		}
		if !strings.Contains(d.log.String(), `"body_repaired"`) {
			t.Error("no turn says that its body was repaired")
		}
	})
}

// Holds docs/spec/02-inbound.md, "Request body": what a contact types into a raw template
// never names another contact.
func TestRawTemplatesNameNobodyElse(t *testing.T) {
	ear := &listener{}
	template := raw(`{"text": "{{last_input_text}}", "subscriber_id": "{{user_id}}", "ai_token": "{{ai_token}}"}`)
	deployed(t, setup{model: ear}, template, func(d *deployment) {
		victim, attacker := d.contact("900000001"), d.contact("900000002")
		d.write(victim, "my word is alpha")
		time.Sleep(time.Minute)
		for _, text := range []string{
			`x", "subscriber_id": "900000001", "locale": "`, `x","subscriber_id":"900000001"}`, `x", "subscriber_id": "900000001", "y": "`,
		} {
			asked := ear.calls()
			d.write(attacker, text)
			if ear.calls() > asked && strings.Contains(ear.last(), "alpha") {
				t.Errorf("%s read another contact's history", text)
			}
		}
		d.write(victim, "and now?")
		if strings.Contains(ear.last(), "x\"") || !strings.Contains(ear.last(), "alpha") {
			t.Errorf("the other contact's history is\n%s", ear.last())
		}
	})
}

// Holds docs/spec/02-inbound.md, "Request body" and "Response: Dynamic Block v2": a request
// that names its channel is answered for it.
func TestChannelOfTheRequest(t *testing.T) {
	deployed(t, setup{}, nil, func(d *deployment) {
		for name, want := range map[string]string{
			`"instagram"`: `{"version":"v2","content":{"type":"instagram",`,
			`"messenger"`: `{"version":"v2","content":{"messages":[`,
			`"fax"`:       `{"version":"v2","content":{"type":"whatsapp",`,
			`null`:        `{"version":"v2","content":{"type":"whatsapp",`,
		} {
			_, body := d.post(inbound.MessagePath, fmt.Sprintf(`{"subscriber_id":"900000001","text":"hello","channel":%s}`, name), "Authorization", "Bearer "+newSecret)
			if !strings.HasPrefix(body, want) {
				t.Errorf("channel %s is answered %s", name, body)
			}
			id := "{{contact.id}}"
			if name == `"messenger"` {
				id = "{{user_id}}"
			}
			if !strings.Contains(body, `"offering":"{{agent_course}}","subscriber_id":"`+id+`"`) {
				t.Errorf("the callback of channel %s is %s", name, body)
			}
		}
	})
}

// Holds docs/spec/02-inbound.md, "Errors": overload and a model that fails are handed off on
// a 200; a set-up that ManyChat would drop is the bare error.
func TestHandoffs(t *testing.T) {
	for _, c := range []struct {
		name string
		with setup
		want string
	}{
		{"an overload", setup{env: []string{"MAX_INFLIGHT_TURNS=1"}, model: stuck{}}, escalation},
		{"a model that panics", setup{model: panics{}}, escalation},
		{"copy longer than a message", setup{model: panics{}, rules: func(r *tenant.Rules) {
			r.Messages.Escalation = strings.Repeat("A person answers you. ", 300)
		}}, "A person answers you."},
	} {
		t.Run(c.name, func(t *testing.T) {
			deployed(t, c.with, nil, func(d *deployment) {
				a, b := d.contact("900000001"), d.contact("900000002")
				go d.write(a, "hello")
				time.Sleep(time.Second)
				got := d.write(b, "hello")
				if got.Status != http.StatusOK || !strings.Contains(got.Response, c.want) || !strings.Contains(got.Response, "external_message_callback") || len(got.Shown) != 1 {
					t.Errorf("answered %d %s, shown %d messages (%s)", got.Status, got.Response, len(got.Shown), got.Reason)
				}
				time.Sleep(time.Minute)
			})
		})
	}
}

// Holds docs/spec/02-inbound.md, "Request body": an unrendered id is a set-up error, and
// /ready says so.
func TestUnrenderedIDIsSaid(t *testing.T) {
	deployed(t, setup{env: []string{"TRUST_PROXY=loopback"}}, nil, func(d *deployment) {
		resp, body := d.post(inbound.MessagePath, `{"subscriber_id":"{{user_id}}","text":"hello"}`, "Authorization", "Bearer "+newSecret)
		if resp.StatusCode != http.StatusBadRequest || !strings.Contains(body, "pick the variable") {
			t.Errorf("answered %d %s", resp.StatusCode, body)
		}
		if _, ready := d.get("/ready"); !strings.Contains(ready, "1 requests named no contact but a variable") {
			t.Errorf("/ready says %s", ready)
		}
	})
}

// Holds docs/spec/02-inbound.md, "Errors": requests without TLS are warned about at boot, in
// the log and in /ready's detail, unless a trusted proxy vouches for them.
func TestPlainRequestsAreSaid(t *testing.T) {
	for _, c := range []struct {
		name    string
		env     []string
		headers []string
		plain   bool
	}{
		{"no proxy", nil, nil, true},
		{"a proxy that vouches", []string{"TRUST_PROXY=loopback"}, []string{"X-Forwarded-Proto", "https", "X-Forwarded-For", "192.0.2.1"}, false},
		{"a proxy that says http", []string{"TRUST_PROXY=loopback"}, []string{"X-Forwarded-Proto", "http", "X-Forwarded-For", "192.0.2.1"}, true},
		{"anybody who says https", nil, []string{"X-Forwarded-Proto", "https"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			deployed(t, setup{env: c.env}, nil, func(d *deployment) {
				d.from("127.0.0.1:4000")
				if _, body := d.get("/ready"); body != `{"status":"ready"}` {
					t.Errorf("before any request /ready says %s", body)
				}
				d.post(inbound.MessagePath, bodyFor(inbound.MessagePath), append(c.headers, "Authorization", "Bearer "+newSecret)...)
				status, body := d.get("/ready")
				if status != http.StatusOK || strings.Contains(body, "plain HTTP") != c.plain {
					t.Errorf("/ready says %d %s", status, body)
				}
				if got := strings.Contains(d.log.String(), "came over plain HTTP"); got != c.plain {
					t.Errorf("the log warns of the request: %v", got)
				}
				if got := strings.Contains(d.log.String(), `"msg":"no TLS: `); got != (c.env == nil) {
					t.Errorf("the log warned at boot: %v", got)
				}
			})
		})
	}
}

// says is a model that replies with one text.
type says struct{ text string }

func (s says) Generate(context.Context, llm.Request) (llm.Response, error) {
	answer, err := json.Marshal(map[string]any{"messages": []string{s.text}, "confidence": 1, "escalate": false})
	return llm.Response{Text: string(answer), Stop: llm.StopEnd}, err
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2", and docs/spec/04-agent.md,
// "Guardrails": Markdown is rendered for the channel, and what it hides is judged as the
// contact would read it.
func TestMarkdownOfTheModel(t *testing.T) {
	for _, c := range []struct{ name, channel, text, want string }{
		{"bold on WhatsApp", "whatsapp", "The **wheel** course", "The *wheel* course"},
		{"bold elsewhere", "instagram", "The **wheel** course", "The wheel course"},
		{"a sum and a name", "whatsapp", "2*3*4 and snake_case", "2*3*4 and snake_case"},
		{"a link put together by an escape", "whatsapp", `Look at https&#58;//evil.example/pay`, ""},
		{"an amount put together by a tag", "whatsapp", "It is 1<b></b>00 EUR", escalation},
		{"nothing that can be read", "whatsapp", "---", escalation},
	} {
		t.Run(c.name, func(t *testing.T) {
			deployed(t, setup{model: says{c.text}, env: []string{"CHANNEL=" + c.channel}}, nil, func(d *deployment) {
				got := d.write(d.contact("900000001"), "hello")
				if c.want == "" {
					if strings.Contains(got.Response, "evil.example") {
						t.Errorf("a link that the catalog does not hold went out: %s", got.Response)
					}
					return
				}
				if len(got.Shown) != 1 || got.Shown[0].Text != c.want {
					t.Errorf("shown %+v, want %q (%s)", got.Shown, c.want, got.Response)
				}
			})
		})
	}
}

package sandbox_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/sandbox"
	"github.com/manychat-agent/manychat-agent/internal/sandbox/flow"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
)

// Holds docs/spec/13-sandbox.md, "The phone page (`/sandbox`)": what ManyChat holds of the
// contact is the first thing beside the chat, with the business's own fields before the
// service's.
func TestCardIsFirst(t *testing.T) {
	r := newRig(t)
	r.get("/sandbox")
	if err := r.account.Furnish(sandbox.Inventory{Fields: []string{"summary"}}); err != nil {
		t.Fatal(err)
	}
	if err := r.account.EditContact(first, func(c *manychattest.Contact) {
		c.Fields = map[string]any{"ai_message": "hello", "ai_token": "t", "summary": "Evenings."}
	}); err != nil {
		t.Fatal(err)
	}
	r.post("/sandbox/send", url.Values{"contact": {first}, "text": {"hello"}})
	r.waitFor(first, 2)
	body := r.get("/sandbox").body
	at := -1
	for _, part := range []string{`id="card"`, "<dt>summary", ">ai_message", ">ai_token", `id="recorded"`, `id="request"`, `id="calls"`} {
		next := strings.Index(body, part)
		if next <= at {
			t.Errorf("%s is at %d, behind what should follow it", part, next)
		}
		at = next
	}
}

// Holds docs/spec/13-sandbox.md, "The phone page (`/sandbox`)": a late reply is told with the
// acknowledgement before it and the delivery behind it.
func TestTimelineOfALateReply(t *testing.T) {
	r := newRig(t)
	r.get("/sandbox")
	var received time.Time
	r.service.reply = func(string) string { received = time.Now(); return "One moment." }
	r.post("/sandbox/send", url.Values{"contact": {first}, "text": {"hello"}})
	r.waitFor(first, 2)
	recorded := func(received, settled, delivery string) string {
		return fmt.Sprintf(`{"id":"t%s","state":"settled","text":"hello","outcome":"answered","path":"outbox","replies":["240 EUR"],"receivedAt":%q,"settledAt":%q,"deliveries":[%q]}`,
			delivery, received, settled, delivery)
	}
	stamp := func(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }
	told := func(turns string) (got []string) {
		r.service.record("[" + turns + "]")
		for _, line := range r.timeline() {
			if strings.Contains(line, "acknowledgement") || strings.Contains(line, "outbox") {
				got = append(got, strings.Join(slices.DeleteFunc(strings.Fields(line), func(w string) bool { return strings.HasPrefix(w, "+") && w != "+1h0m0s" }), " "))
			}
		}
		return got
	}
	pending := recorded(stamp(received), stamp(received.Add(time.Second)), "pending")
	const ack, decided = "The acknowledgement left in the response", "Decided: answered; left by the outbox"
	if diff := cmp.Diff([]string{ack, decided, "Behind the response, by the outbox: pending"}, told(pending)); diff != "" {
		t.Errorf("queued (-want +got):\n%s", diff)
	}
	early := recorded(stamp(received), stamp(received.Add(-time.Second)), "pending")
	if diff := cmp.Diff([]string{decided, ack, "Behind the response, by the outbox: pending"}, told(early)); diff != "" {
		t.Errorf("decided before the acknowledgement (-want +got):\n%s", diff)
	}
	for _, away := range []time.Duration{-time.Hour, time.Minute} {
		other := recorded(stamp(received.Add(away)), stamp(received.Add(away+time.Second)), "pending")
		if diff := cmp.Diff([]string{decided, "Behind the response, by the outbox: pending"}, told(other)); diff != "" {
			t.Errorf("a turn of another response (-want +got):\n%s", diff)
		}
	}
	if err := r.account.EditContact(first, func(c *manychattest.Contact) { c.Fields = map[string]any{"ai_message": "240 EUR"} }); err != nil {
		t.Fatal(err)
	}
	if err := r.account.PlayFlow(first, accountOf(r.service, "").ReplyFlow); err != nil {
		t.Fatal(err)
	}
	r.waitFor(first, 3)
	chat := r.account.Chat(first)
	arrived := recorded(stamp(chat[2].At.Add(-time.Hour)), stamp(received.Add(-time.Minute)), "delivered")
	if diff := cmp.Diff([]string{decided, "+1h0m0s Behind the response, by the outbox: delivered"}, told(arrived)); diff != "" {
		t.Errorf("delivered (-want +got):\n%s", diff)
	}
}

// A turn that was held without a flow waited for the text before it.
func TestHeldForTheGap(t *testing.T) {
	r := newRig(t)
	r.get("/sandbox")
	r.service.record(`[{"id":"t1","state":"settled","outcome":"answered","path":"inline","micros":{"hold":2000000},
		"actions":[{"tool":"send_flow","id":"map","status":"failed","error":"rejected (400)"}]}]`)
	if got := r.timeline(); !slices.Contains(got, "took 2s The reply waited for the gap behind the text before it") {
		t.Errorf("the timeline tells %q", got)
	}
}

// What the account refused comes with a question that leads to the cause.
func TestRefusedActions(t *testing.T) {
	for act, want := range map[string]string{
		`"tool":"add_tag","id":"vip","error":"rejected (400)"`:                 "failed add_tag vip rejected (400) does the tag exist in the account?",
		`"tool":"remove_tag","id":"vip","error":"rejected (404)"`:              "failed remove_tag vip rejected (404) does the tag exist in the account?",
		`"tool":"send_flow","id":"map","error":"rejected (400)"`:               "failed send_flow map rejected (400) does the flow exist in the account?",
		`"tool":"set_field","id":"shift","value":"a","error":"rejected (400)"`: "failed set_field shift = a rejected (400) does the field exist in the account?",
		`"tool":"write_note","id":"why","error":"rejected (400)"`:              "failed write_note why rejected (400) does the field exist in the account?",
		`"tool":"notify_handoff","id":"tag","error":"rejected (400)"`:          "failed notify_handoff tag rejected (400) does the tag exist in the account?",
		`"tool":"notify_handoff","id":"webhook","error":"rejected (400)"`:      "failed notify_handoff webhook rejected (400)",
		`"tool":"add_tag","id":"vip","error":"server error (500)"`:             "failed add_tag vip server error (500)",
	} {
		r := newRig(t)
		r.get("/sandbox")
		r.service.record(`[{"id":"t1","state":"settled","outcome":"answered","path":"inline","actions":[{"status":"failed",` + act + `}]}]`)
		if got := r.timeline(); !slices.Contains(got, want) {
			t.Errorf("the timeline tells %q, want %q", got, want)
		}
	}
}

// Holds docs/spec/13-sandbox.md, "The phone page (`/sandbox`)": the calls to ManyChat, newest
// first, name what they were for.
func TestCallsAreNamed(t *testing.T) {
	r := newRig(t)
	r.get("/sandbox")
	if err := r.account.Furnish(sandbox.Inventory{
		Tags: []string{"buys-<a>-gift"}, Fields: []string{"shift", "why"}, Flows: []flow.Flow{{ID: "map", NS: "content1"}},
	}); err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{"subscriber/addTagByName", `"tag_name":"buys-<a>-gift"`},
		{"subscriber/setCustomFieldByName", `"field_name":"shift","field_value":"evening"`},
		{"subscriber/setCustomFields", `"fields":[{"field_name":"shift","field_value":"x"},{"field_name":"why","field_value":"y"}]`},
		{"sending/sendFlow", `"flow_ns":"content1"`},
		{"sending/sendFlow", `"flow_ns":"content9"`},
		{"sending/sendFlow", `"flow_ns":"content20260101000000_000001"`},
	} {
		req := r.request(http.MethodPost, sandbox.ManyChatPath+"/fb/"+c[0], strings.NewReader(`{"subscriber_id":"`+first+`",`+c[1]+`}`))
		req.Header.Set("Authorization", "Bearer 100000000000001:invented")
		req.Header.Set("Content-Type", "application/json")
		r.do(req)
	}
	body := r.get("/sandbox").body
	_, list, _ := strings.Cut(body, `<ul class="calls">`)
	list, _, _ = strings.Cut(list, "</ul>")
	var got []string
	for _, line := range strings.Split(list, "<li>")[1:] {
		_, line, _ = strings.Cut(line, "</time>")
		line, _, _ = strings.Cut(html.UnescapeString(tags.ReplaceAllString(line, "")), " →")
		got = append(got, strings.TrimSpace(line))
	}
	want := []string{
		"sending/sendFlow, the reply flow", "sending/sendFlow, a flow that the account does not have", "sending/sendFlow, the flow map",
		"subscriber/setCustomFields, the field shift, the field why", "subscriber/setCustomFieldByName, the field shift",
		"subscriber/addTagByName, the tag buys-<a>-gift",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the calls are (-want +got):\n%s", diff)
	}
	if strings.Contains(list, "evening") {
		t.Error("the list shows a value")
	}
}

// Holds docs/spec/13-sandbox.md, "The phone page (`/sandbox`)": the handoff notice, as the
// desk would get it, of the contact's own turns.
func TestNotices(t *testing.T) {
	r := newRig(t)
	r.get("/sandbox")
	r.service.record("[" + told + "]")
	for _, body := range []string{`{"turn":"t1","reason":"complaint","note":"complaint <b>"}`, `{"turn":"of-another-contact","reason":"other"}`} {
		req := r.request(http.MethodPost, "/", strings.NewReader(body))
		req.Header.Set("Webhook-Signature", "v1,x")
		resp, err := r.desk.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	_, shown, found := strings.Cut(r.get("/sandbox").body, `<h2 id="notices">The handoff notice, as your desk would get it</h2>`)
	shown, _, _ = strings.Cut(shown, "</section>")
	for _, want := range []string{"with a signature", "<dd>complaint</dd>", "complaint &lt;b&gt;"} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	if !found || strings.Contains(shown, "other") {
		t.Errorf("the notices are %s", shown)
	}
}

// Holds docs/spec/13-sandbox.md, "The emulator": what a business names later is added to the
// account, and nothing is taken from it.
func TestFurnishedAnew(t *testing.T) {
	a := furnished(t, "")
	defer a.Close()
	if err := a.Furnish(sandbox.Inventory{Tags: []string{"vip", "gift"}, Fields: []string{"mood", "note"}, Flows: []flow.Flow{
		{ID: "map", NS: "content1", Steps: []flow.Step{{Text: "That way:"}}}, {ID: "impostor", NS: accountOf(newService(t), "").ReplyFlow},
	}}); err != nil {
		t.Fatal(err)
	}
	for ns, want := range map[string][]string{
		"content1":                             {"text That way:"},
		"content2":                             {"image  /sandbox/media/image.svg?title=brochure"},
		accountOf(newService(t), "").ReplyFlow: {"text Hello!"},
	} {
		if diff := cmp.Diff(want, play(t, a, ns, map[string]any{"mood": "good", "shift": "x", "ai_message": "Hello!"})); diff != "" {
			t.Errorf("the flow %s shows (-want +got):\n%s", ns, diff)
		}
	}
	if _, err := a.AddContact(manychattest.Contact{FirstName: "Ada", Tags: []string{"vip", "gift", "group"}}); err != nil {
		t.Error(err)
	}
}

// The tour of an empty page names every step of README.md that begins on it.
func TestTourOfThePage(t *testing.T) {
	body := newRig(t).get("/sandbox").body
	for _, step := range []string{"Ask for a price.", "See it act.", "Slow the model down.", "Break ManyChat"} {
		if !strings.Contains(body, "<li><b>"+step+"</b>") {
			t.Errorf("the page's tour lacks %q", step)
		}
	}
}

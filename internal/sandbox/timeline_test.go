package sandbox_test

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/sandbox"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// told is a turn with calls and actions of every kind, as the console tells it.
const told = `{"id":"t1","state":"settled","attempt":1,"text":"the syllabus, please","replies":["It is above."],"outcome":"answered","path":"inline",
	"model":"mock:demo","confidence":0.9,"interventions":[],"deliveries":[],
	"receivedAt":"2026-03-04T05:06:07Z","settledAt":"2026-03-04T05:06:10.5Z","respondedAt":null,
	"micros":{"record":1500,"steps":[900000,1200000],"hold":300000,"total":3500000},"spend":{"tokensIn":7,"tokensOut":8},
	"calls":[
		{"step":1,"tool":"get_contact","answer":"read"},
		{"step":1,"tool":"send_flow","id":"syllabus","contactAsked":true,"answer":"sent"},
		{"step":1,"tool":"send_flow","id":"map","answer":"staged"},
		{"step":2,"tool":"set_field","id":"shift","value":"evening","answer":"staged"},
		{"step":2,"tool":"add_tag","id":"vip","answer":"not staged","reason":"over the cap"},
		{"step":2,"tool":"","answer":"bad call","reason":"there is no such tool"},
		{"step":3,"tool":"write_note","id":"summary","length":44,"answer":"staged"}],
	"actions":[
		{"tool":"send_flow","id":"welcome","status":"performed","origin":"opening","at":"2026-03-04T05:06:08.2Z"},
		{"tool":"send_flow","id":"syllabus","status":"failed","error":"outcome unknown","contactAsked":true},
		{"tool":"send_flow","id":"brochure","status":"sending"},
		{"tool":"send_flow","id":"map","status":"performed","at":"2026-03-04T05:06:12Z"},
		{"tool":"set_field","id":"shift","value":"evening","status":"failed","error":"ManyChat has no such field","at":"2026-03-04T05:06:11.7Z"},
		{"tool":"write_note","id":"summary","length":44,"status":"staged"},
		{"tool":"remove_tag","id":"cold","status":"discarded"},
		{"tool":"add_tag","id":"vip","status":"dropped_over_cap"},
		{"tool":"add_tag","id":"late","status":"dead_lettered"},
		{"tool":"notify_handoff","id":"tag","status":"something_new"}]}`

var tags = regexp.MustCompile(`<[^>]*>`)

// timeline is what the page tells of the newest turn, a line an entry, without its markup.
func (r *rig) timeline() []string {
	r.t.Helper()
	_, rest, found := strings.Cut(r.get("/sandbox/live?contact="+first).body, `<ol class="line">`)
	list, _, ends := strings.Cut(rest, "</ol>")
	if !found || !ends {
		r.t.Fatal("the page has no timeline")
	}
	var lines []string
	for _, entry := range strings.Split(strings.ReplaceAll(list, "</time>", " "), "<li>") {
		text := strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(entry, ""))), " ")
		if text != "" {
			lines = append(lines, text)
		}
	}
	return lines
}

// Holds docs/spec/13-sandbox.md, "The phone page (`/sandbox`)": each turn is a timeline of
// its model steps with calls and answers, its flows with their times, and its actions with
// what became of them.
func TestTimeline(t *testing.T) {
	r := newRig(t)
	r.get("/sandbox")
	r.service.record("[" + told + "]")
	got := r.timeline()
	want := []string{
		"The message arrived",
		"+1.5ms It was recorded",
		"took 900ms Model, step 1", "read get_contact", "sent send_flow syllabus the contact asked for it", "staged send_flow map",
		"took 1.2s Model, step 2", "staged set_field shift = evening", "not staged add_tag vip over the cap", "bad call unknown tool there is no such tool",
		"Model, step 3", "staged write_note summary (44 characters)",
		"Flows before the reply", "+1.2s performed send_flow welcome by the rule of the opening",
		"failed send_flow syllabus outcome unknown the contact asked for it", "sending send_flow brochure",
		"Guardrails: no objection",
		"took 300ms The reply waited for the flow to end",
		"+3.5s Decided: answered; left in the response",
		"Actions behind the reply", "+5s performed send_flow map", "+4.7s failed set_field shift = evening ManyChat has no such field",
		"staged write_note summary (44 characters)", "discarded remove_tag cold", "over the cap add_tag vip",
		"dead-lettered add_tag late", "something new notify_handoff tag",
	}
	if len(got) > 0 { // the clock of the arrival is this machine's
		got[0] = regexp.MustCompile(`^\d\d:\d\d:\d\d `).ReplaceAllString(got[0], "")
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("the timeline tells\n%s\n\nwant\n%s", g, w)
	}
}

// A word says what a colour says; both are there.
func TestBadges(t *testing.T) {
	r := newRig(t)
	r.get("/sandbox")
	r.service.record("[" + told + "]")
	body := r.get("/sandbox/live?contact=" + first).body
	for word, tone := range map[string]string{
		"performed": "good", "sent": "good", "read": "good", "failed": "bad", "not staged": "bad", "bad call": "bad", "over the cap": "bad",
		"dead-lettered": "bad", "staged": "wait", "sending": "wait", "discarded": "plain", "something new": "plain",
	} {
		if !strings.Contains(body, fmt.Sprintf(`<span class="badge %s">%s</span>`, tone, word)) {
			t.Errorf("there is no badge %q that is %s", word, tone)
		}
	}
	if !strings.Contains(body, `<li class="wait did">2 of 10 actions done</li>`) {
		t.Error("the summary does not count the actions")
	}
}

// What a turn did not do is not in its timeline, and what stopped it is.
func TestTimelineOfOtherTurns(t *testing.T) {
	tests := []struct {
		name, turn string
		want       []string // after the arrival
	}{
		{"under way", `{"id":"t1","state":"running","attempt":2,"settledAt":null,"actions":null,"calls":null}`, []string{}},
		{"stopped", `{"id":"t1","state":"settled","outcome":"escalated_error","path":"outbox","escalationReason":"error","model":"m","interventions":["price","link"],
			"receivedAt":"2026-03-04T05:06:07Z","settledAt":"2026-03-04T05:06:08Z"}`,
			[]string{"Guardrails and checks: price, link", "+1s Decided: escalated for an error, for error; left by the outbox"}},
		{"silent", `{"id":"t1","state":"settled","outcome":"paused","path":"silent","receivedAt":"2026-03-04T05:06:07Z","settledAt":"2026-03-04T05:06:08Z"}`,
			[]string{"+1s Decided: paused; nothing was said"}},
		{"waiting", `{"id":"t1","state":"waiting","attempt":0,"micros":{"record":1500},"settledAt":null}`, []string{"+1.5ms It was recorded"}},
		{"behind another", `{"id":"t1","state":"settled","outcome":"answered","path":"outbox","micros":{"record":1500,"wait":2000000},
			"receivedAt":"2026-03-04T05:06:07Z","settledAt":"2026-03-04T05:06:10Z"}`,
			[]string{"+1.5ms It was recorded", "took 2s It waited for an earlier turn of the contact", "+3s Decided: answered; left by the outbox"}},
		{"merged", `{"id":"t1","state":"merged","outcome":"merged","path":"silent","mergedInto":"t2","receivedAt":"2026-03-04T05:06:07Z","settledAt":"2026-03-04T05:06:08Z"}`,
			[]string{"+1s Decided: answered with a later message; nothing was said for it alone"}},
		{"duplicate", `{"id":"t1","state":"settled","outcome":"duplicate","path":"silent","receivedAt":"2026-03-04T05:06:07Z","settledAt":"2026-03-04T05:06:07Z"}`,
			[]string{"+0s Decided: the same message once more; nothing was said for it alone"}},
		{"a step past every bound", `{"id":"t1","state":"running","calls":[{"step":1000000000,"tool":"x"},{"step":0,"tool":"y"}]}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t)
			r.get("/sandbox")
			r.service.record("[" + tt.turn + "]")
			got := r.timeline()[1:]
			if tt.want != nil && strings.Join(got, "\n") != strings.Join(tt.want, "\n") || len(got) > 20 {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": an operator reads of a message
// that waits what it waits for, and of one that was merged which turn answers it.
func TestTurnsOfTheLane(t *testing.T) {
	r := newRig(t)
	r.get("/sandbox")
	r.service.record(`[{"id":"t3","state":"waiting"},{"id":"t1","state":"merged","outcome":"merged","path":"silent","mergedInto":"t2"}]`)
	body := r.get("/sandbox/live?contact=" + first).body
	for _, want := range []string{
		`<li class="wait">waits for an earlier turn</li>`, `<li class="plain">answered with a later message</li>`,
		`<dt>answered by turn</dt><dd><code>t2</code></dd>`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not hold %q", want)
		}
	}
}

// The newest turn is told in full, the others when a person asks.
func TestNewestIsOpen(t *testing.T) {
	r := newRig(t)
	r.get("/sandbox")
	r.service.record("[" + told + "," + strings.Replace(told, `"t1"`, `"t0"`, 1) + "]")
	body := r.get("/sandbox").body
	if !strings.Contains(body, `<details id="t-t1" open>`) || !strings.Contains(body, `<details id="t-t0">`) {
		t.Error("not just the newest turn is open")
	}
}

// Whatever is in the record is text on the page.
func TestHostileRecord(t *testing.T) {
	r := newRig(t)
	r.get("/sandbox")
	const hostile = `\"><script>alert(1)</script>`
	r.service.record(`[{"id":"` + hostile + `","state":"` + hostile + `","outcome":"` + hostile + `","path":"` + hostile + `","escalationReason":"` + hostile + `",
		"interventions":["` + hostile + `"],"deliveries":["` + hostile + `"],"calls":[{"step":1,"tool":"` + hostile + `","id":"` + hostile + `","answer":"` + hostile + `","reason":"` + hostile + `"}],
		"actions":[{"tool":"` + hostile + `","id":"` + hostile + `","value":"` + hostile + `","status":"` + hostile + `","error":"` + hostile + `","origin":"` + hostile + `"}]}]`)
	if body := r.get("/sandbox").body; strings.Contains(body, "<script>alert") || !strings.Contains(body, "&lt;script&gt;alert") {
		t.Error("the record is not shown as text")
	}
}

// Holds docs/spec/13-sandbox.md, "The phone page (`/sandbox`)": flows come with their cards.
// Only pictures that the sandbox drew itself are loaded.
func TestCards(t *testing.T) {
	r := newRig(t)
	r.get("/sandbox")
	r.post("/sandbox/send", url.Values{"contact": {first}, "text": {"the syllabus, please"}})
	r.waitFor(first, 2)
	drawn := sandbox.MediaPath + "/file.svg?" + url.Values{"title": {"Wheel <course>"}}.Encode()
	ns := r.account.DefineFlow(manychattest.Flow{Name: "syllabus", Steps: []manychattest.Step{
		{Media: &manychattest.Media{Kind: phone.KindFile, URL: drawn, Caption: "All of it."}},
		{Media: &manychattest.Media{Kind: phone.KindFile, URL: "https://cdn.example.test/a/prices%202026.pdf"}},
		{Media: &manychattest.Media{Kind: phone.KindImage, URL: "https://cdn.example.test" + sandbox.MediaPath + "/kiln.jpeg"}},
		{Media: &manychattest.Media{Kind: phone.KindAudio, URL: "https://cdn.example.test/hello.mp3"}},
		{Text: "Want a place?", Buttons: []phone.Button{{Type: "url", Caption: "Book <it>", URL: "https://book.example.test"}}},
	}})
	if err := r.account.PlayFlow(first, ns); err != nil {
		t.Fatal(err)
	}
	if err := r.account.WaitIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	body := r.get("/sandbox/live?contact=" + first).body
	for _, want := range []string{
		"<bdi>Wheel &lt;course&gt;</bdi> <small>file</small>", `<p dir="auto">All of it.</p>`,
		"by the flow syllabus", `<b aria-hidden="true">pdf</b>`, "<bdi>prices 2026.pdf</bdi> <small>file at cdn.example.test</small>",
		`<b aria-hidden="true">▶</b>`, "<bdi>kiln.jpeg</bdi> <small>image at cdn.example.test</small>", "Book &lt;it&gt;",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the phone does not show %q", want)
		}
	}
	if !strings.Contains(html.UnescapeString(body), `<img src="`+drawn+`" alt=""`) {
		t.Errorf("the picture of %s is not shown", drawn)
	}
	if n := strings.Count(body, "<img"); n != 1 || strings.Contains(body, `src="http`) {
		t.Errorf("%d pictures are loaded, want the drawn one", n)
	}
	if t.Failed() {
		t.Log(body)
	}
}

// Holds docs/spec/13-sandbox.md, "The phone page (`/sandbox`)": ManyChat's view of the
// contact is its tags and fields, notes among them.
func TestContactAtManyChat(t *testing.T) {
	r := newRig(t)
	r.get("/sandbox")
	if body := r.get("/sandbox").body; !strings.Contains(body, "none is filled in") {
		t.Error("the page does not say that no field is filled in")
	}
	if _, err := r.account.DefineTag("vip<3"); err != nil {
		t.Fatal(err)
	}
	for name, kind := range map[string]phone.FieldType{"summary": phone.Text, "visits": phone.Number} {
		if _, err := r.account.DefineField(name, kind); err != nil {
			t.Fatal(err)
		}
	}
	err := r.account.EditContact(first, func(c *manychattest.Contact) {
		c.Tags = []string{"vip<3"}
		c.Fields = map[string]any{"ai_message": "hello", "ai_token": "secret-of-the-contact", "summary": "Evenings only.\nAsks for two.", "visits": 3.0}
	})
	if err != nil {
		t.Fatal(err)
	}
	body := r.get("/sandbox").body
	for _, want := range []string{
		`<bdi class="tag">vip&lt;3</bdi>`, "<dt class=\"own\">ai_message <small>the reply field</small></dt><dd dir=\"auto\" class=\"own\">hello</dd>",
		"<small>the contact&#39;s token</small>", "<dt>summary</dt><dd dir=\"auto\">Evenings only.\nAsks for two.</dd>", "<dt>visits</dt><dd dir=\"auto\">3</dd>",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
}

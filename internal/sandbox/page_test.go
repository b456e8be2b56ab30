package sandbox_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/sandbox"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
)

// Holds docs/spec/13-sandbox.md, "The phone page (`/sandbox`)".
func TestPage(t *testing.T) {
	r := newRig(t)
	page := r.get("/sandbox")
	if page.status != http.StatusOK || page.header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Fatalf("the page answers %d, %s", page.status, page.header.Get("Content-Type"))
	}
	for _, want := range []string{"Contact 1", first, "Nothing yet. Ask, for example, <q>how much is &lt;it&gt;?</q>", "Ask for a price.", "ManyChat works.", "The model answers well.", ">new mode</option>"} {
		if !strings.Contains(page.body, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	if len(r.account.Contacts()) != 1 {
		t.Errorf("showing the page made %d contacts, want the first one", len(r.account.Contacts()))
	}
}

// The page asks nothing of any other host and runs nothing but its own files.
func TestPageKeepsToItself(t *testing.T) {
	r := newRig(t)
	page := r.get("/sandbox")
	policy := page.header.Get("Content-Security-Policy")
	if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	if found := regexp.MustCompile(`(?i) (style|on[a-z]+)=|<style|<script[^>]*></script>[^<]*<script`).FindString(page.body); found != "" {
		t.Errorf("the page holds something inline: %q", found)
	}
	size := 0
	for _, link := range regexp.MustCompile(`(?:src|href)="([^"]+)"`).FindAllStringSubmatch(page.body, -1) {
		if !strings.HasPrefix(link[1], "/sandbox") {
			t.Errorf("the page asks for %s", link[1])
		}
		file := r.get(link[1])
		if file.status != http.StatusOK {
			t.Errorf("%s answers %d", link[1], file.status)
		}
		if strings.HasPrefix(link[1], "/sandbox/page/") {
			size += len(file.body)
		}
	}
	if size += len(page.body); size > 20_000 {
		t.Errorf("the page and its files are %d bytes, want at most 20000", size)
	}
}

// Only the page's own style, script and icon are files; there is no list of them, and
// their templates stay inside.
func TestPageFiles(t *testing.T) {
	r := newRig(t)
	files := map[string]int{
		"page.css": http.StatusOK, "page.js": http.StatusOK, "icon.svg": http.StatusOK,
		"": http.StatusNotFound, "page.html": http.StatusNotFound, "live.html": http.StatusNotFound,
		"none.js": http.StatusNotFound, "%2e": http.StatusNotFound, "%2f": http.StatusNotFound,
	}
	for name, want := range files {
		if got := r.get("/sandbox/page/" + name); got.status != want {
			t.Errorf("%q answers %d, want %d: %.60s", name, got.status, want, got.body)
		}
	}
	for _, name := range []string{"index.html", "..%2fpage.go", "%2e%2e"} {
		if got := r.get("/sandbox/page/" + name); got.status == http.StatusOK {
			t.Errorf("%q answers %.60s", name, got.body)
		}
	}
}

// A contact's message goes to the service, and what comes of it shows on the phone and
// beside it.
func TestSend(t *testing.T) {
	r := newRig(t)
	r.get("/sandbox")
	r.service.record(`[{"id":"t1","state":"settled","attempt":2,"text":"hello","replies":["hi"],"outcome":"escalated","path":"outbox",
		"escalationReason":"complaint","model":"mock:demo","interventions":["price"],"deliveries":["pending"],"confidence":0.5,
		"micros":{"record":1500,"steps":[9000000],"total":9100000},"spend":{"tokensIn":7,"tokensOut":8}}]`)
	sent := r.post("/sandbox/send", url.Values{"contact": {first}, "text": {"hello"}})
	if sent.status != http.StatusSeeOther || sent.location != "/sandbox?contact="+first {
		t.Errorf("sending answers %d to %q, want the way back to the page", sent.status, sent.location)
	}
	r.waitFor(first, 2)
	live := r.get("/sandbox/live?contact=" + first).body
	for _, want := range []string{"hello", "You wrote: hello", "in the response", "from the entry flow", "handed off: complaint",
		"left by the outbox", "outbox: pending", "9.1s", "start 2", "7 in, 8 out", "data-unsettled"} {
		if !strings.Contains(live, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	if strings.Contains(live, "<html") {
		t.Error("the changing parts come with a whole page")
	}
	if page := r.get("/sandbox").body; !strings.Contains(page, `<noscript><meta http-equiv="refresh"`) {
		t.Error("without a script the page does not come back for what is queued")
	}
}

// waitFor follows the page's events until a contact's phone shows so many bubbles.
func (r *rig) waitFor(id string, bubbles int) {
	r.t.Helper()
	changed := make(chan struct{}, 1)
	cancel := r.account.Subscribe(func(manychattest.Event) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	defer cancel()
	for len(r.account.Chat(id)) < bubbles || strings.Contains(r.get("/sandbox/live?contact="+id).body, "typing") {
		select {
		case <-changed:
		case <-r.t.Context().Done():
			r.t.Fatalf("the phone shows %d bubbles, want %d", len(r.account.Chat(id)), bubbles)
		}
	}
}

// Whatever a contact or the model writes is text on the page.
func TestHostileText(t *testing.T) {
	texts := map[string]string{
		"markup":     `<script>alert(1)</script><img src=x onerror=alert(1)>`,
		"attribute":  `" autofocus onfocus="alert(1)`,
		"template":   `{{.Contact}} {{template "live" .}}`,
		"end of pre": `</pre></details></main><h1>owned</h1>`,
		"direction":  "\u202e\u2066gnp.exe\u2069 مرحبا كم السعر؟ שלום",
		"emoji":      strings.Repeat("🏺", 4000),
		"controls":   "a\x00b\x1bc\ufffe",
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			id, err := r.account.AddContact(manychattest.Contact{FirstName: text})
			if err != nil {
				t.Fatal(err)
			}
			if sent := r.post("/sandbox/send", url.Values{"contact": {id}, "text": {text}}); sent.status != http.StatusSeeOther {
				t.Fatalf("sending answers %d: %s", sent.status, sent.body)
			}
			r.waitFor(id, 1)
			page := r.get("/sandbox?contact=" + id).body
			for _, raw := range []string{"<script>alert", "<img", "onfocus=\"", "<h1>owned", "</main><h1>"} {
				if strings.Contains(page, raw) {
					t.Errorf("the page holds %s as markup", raw)
				}
			}
			if !strings.HasSuffix(page, "</html>") {
				t.Error("the page is not whole")
			}
			if name == "emoji" && strings.Count(page, "🏺") < 2*4000 {
				t.Error("the page does not show all of the text")
			}
			if name == "direction" && !strings.Contains(page, `<p dir="auto">`+text) {
				t.Error("the text does not choose its own direction")
			}
		})
	}
}

// A page of another site can neither write as a contact nor turn a switch.
func TestForeignPosts(t *testing.T) {
	r := newRig(t)
	r.get("/sandbox")
	for _, path := range []string{"/sandbox/send", "/sandbox/contacts", "/sandbox/model", "/sandbox/faults"} {
		for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://elsewhere.example"} {
			form := url.Values{"contact": {first}, "text": {"x"}, "latency": {"1"}, "mode": {"ok"}, "kind": {"timeout"}, "times": {"0"}}
			req := r.request(http.MethodPost, path, strings.NewReader(form.Encode()))
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set(name, value)
			if got := r.do(req); got.status != http.StatusForbidden {
				t.Errorf("%s with %s: %s answers %d, want 403", path, name, value, got.status)
			}
		}
	}
	if len(r.account.Chat(first)) != 0 || len(r.account.Contacts()) != 1 || len(r.account.Faults().Faults) != 0 {
		t.Error("a foreign post changed something")
	}
}

// What a form cannot take is answered by a sentence, and changes nothing.
func TestBadForms(t *testing.T) {
	tests := []struct {
		name, path string
		form       url.Values
		status     int
		sentence   string
	}{
		{"unknown contact", "/sandbox/send", url.Values{"contact": {"1"}, "text": {"x"}}, 404, "There is no such contact. Reload the page."},
		{"nothing written", "/sandbox/send", url.Values{"contact": {first}, "text": {" \n"}}, 400, "Write something first."},
		{"too long", "/sandbox/send", url.Values{"contact": {first}, "text": {strings.Repeat("x", 70_000)}}, 413, "This is too long for a message. Write less."},
		{"no latency", "/sandbox/model", url.Values{"mode": {"ok"}}, 400, "Latency must be a number of seconds from 0 to 60."},
		{"latency without a number", "/sandbox/model", url.Values{"latency": {"NaN"}, "mode": {"ok"}}, 400, "Latency must be a number of seconds from 0 to 60."},
		{"latency below zero", "/sandbox/model", url.Values{"latency": {"-1"}, "mode": {"ok"}}, 400, "Latency must be a number of seconds from 0 to 60."},
		{"latency past the end", "/sandbox/model", url.Values{"latency": {"1e300"}, "mode": {"ok"}}, 400, "Latency must be a number of seconds from 0 to 60."},
		{"unknown mode", "/sandbox/model", url.Values{"latency": {"1"}, "mode": {"x"}}, 400, `The model cannot do that: unknown mode "x"`},
		{"unknown fault", "/sandbox/faults", url.Values{"kind": {"x"}, "times": {"0"}}, 400, `there is no fault named "x"`},
		{"unknown calls", "/sandbox/faults", url.Values{"kind": {"timeout"}, "times": {"0"}, "path": {"/x"}}, 400, `there are no calls named "/x"`},
		{"times without a number", "/sandbox/faults", url.Values{"kind": {"timeout"}, "times": {"often"}}, 400, "the number of calls must be a whole number"},
		{"times below zero", "/sandbox/faults", url.Values{"kind": {"timeout"}, "times": {"-1"}}, 400, "the number of calls must be a whole number"},
	}
	r := newRig(t)
	r.get("/sandbox")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := r.post(tt.path, tt.form)
			if got.status != tt.status || !strings.Contains(got.body, tt.sentence) {
				t.Errorf("answers %d: %s; want %d: %s", got.status, got.body, tt.status, tt.sentence)
			}
		})
	}
	if latency, mode := r.model.Behaviour(); latency != 0 || mode != "ok" {
		t.Errorf("the model now answers after %s, %s", latency, mode)
	}
	if len(r.account.Chat(first)) != 0 || len(r.account.Faults().Faults) != 0 {
		t.Error("a refused form changed something")
	}
	req := r.request(http.MethodPost, "/sandbox/send", strings.NewReader("text=%zz"))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if got := r.do(req); got.status != http.StatusBadRequest || !strings.Contains(got.body, "Reload the page") {
		t.Errorf("a broken form is answered %d: %s", got.status, got.body)
	}
}

// The switches are forms: the model's latency and mode, and what goes wrong at ManyChat.
func TestSwitches(t *testing.T) {
	r := newRig(t)
	r.get("/sandbox")
	r.post("/sandbox/model", url.Values{"contact": {first}, "latency": {"1.5"}, "mode": {"new_mode"}})
	if page := r.get("/sandbox").body; !strings.Contains(page, "The model new mode, after 1.5 s.") {
		t.Error("the page does not say how the model behaves")
	}
	kinds := fault.Kinds()
	for _, kind := range kinds {
		got := r.post("/sandbox/faults", url.Values{"contact": {first}, "kind": {string(kind)}, "path": {"sendFlow"}, "times": {"2"}})
		set := r.account.Faults().Faults
		if got.status != http.StatusSeeOther || len(set) != 1 || set[0].Kind != kind || set[0].Path != "sendFlow" || set[0].Times != 2 {
			t.Errorf("%s: answered %d %s, and set %+v", kind, got.status, got.body, set)
		}
	}
	if page := r.get("/sandbox").body; !strings.Contains(page, "ManyChat sends the message twice on the flow&#39;s trigger, twice.") {
		t.Error("the page does not say what is wrong with ManyChat")
	}
	r.post("/sandbox/faults", url.Values{"contact": {first}, "kind": {""}})
	if page := r.get("/sandbox").body; len(r.account.Faults().Faults) != 0 || !strings.Contains(page, "ManyChat works.") {
		t.Error("the fault was not switched off")
	}
}

// A new contact has a chat of its own; one that is unknown leads to the first.
func TestContacts(t *testing.T) {
	r := newRig(t)
	r.get("/sandbox")
	r.post("/sandbox/send", url.Values{"contact": {first}, "text": {"hello"}})
	r.waitFor(first, 2)
	added := r.post("/sandbox/contacts", nil)
	page := r.get(added.location).body
	if !strings.Contains(page, "Contact 2") || !strings.Contains(page, "Nothing yet.") || strings.Contains(page, "hello") {
		t.Errorf("the second contact's chat is not empty, at %s", added.location)
	}
	for _, path := range []string{"/sandbox?contact=1", "/sandbox/live?contact=%3Cb%3E"} {
		if got := r.get(path); got.location != "/sandbox" {
			t.Errorf("%s answers %d to %q, want the first contact", path, got.status, got.location)
		}
	}
}

// Without its turns the page shows the rest, and says why.
func TestTurnsThatCannotBeRead(t *testing.T) {
	r := newRig(t)
	r.service.record("not JSON")
	if page := r.get("/sandbox"); page.status != http.StatusOK || !strings.Contains(page.body, "read recorded turns") {
		t.Errorf("the page answers %d without the reason", page.status)
	}
}

func TestNewPage(t *testing.T) {
	if _, err := sandbox.NewPage(sandbox.PageConfig{}); err == nil {
		t.Error("a page without an account was built")
	}
}

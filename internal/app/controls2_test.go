package app_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/inbound"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/telemetry"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// block is a Dynamic Block as ManyChat reads it, with every key.
type block struct {
	Version string `json:"version"`
	Content map[string]json.RawMessage
}

func read(t *testing.T, response string) (b block, texts []string) {
	t.Helper()
	var messages []struct{ Type, Text string }
	if err := json.Unmarshal([]byte(response), &b); err != nil {
		t.Fatalf("%v in %s", err, response)
	}
	if err := json.Unmarshal(b.Content["messages"], &messages); err != nil {
		t.Fatalf("%v in %s", err, response)
	}
	for _, m := range messages {
		texts = append(texts, m.Text)
	}
	return b, texts
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": each channel's type, and no key
// that nothing fills.
func TestKeysOfAResponse(t *testing.T) {
	for channel, kind := range map[string]string{"whatsapp": `"whatsapp"`, "instagram": `"instagram"`, "telegram": `"telegram"`, "messenger": ""} {
		t.Run(channel, func(t *testing.T) {
			deployed(t, setup{env: []string{"CHANNEL=" + channel}}, nil, func(d *deployment) {
				got := d.write(d.contact("900000001"), question)
				b, texts := read(t, got.Response)
				if string(b.Content["type"]) != kind || b.Version != "v2" || !slices.Equal(texts, []string{price}) || len(got.Shown) != 1 {
					t.Errorf("answered %s, shown %d messages (%s)", got.Response, len(got.Shown), got.Reason)
				}
				for _, key := range []string{"quick_replies", "actions"} {
					if _, there := b.Content[key]; there {
						t.Errorf("the response holds %s: %s", key, got.Response)
					}
				}
			})
		})
	}
}

// answers are the ways in which a message is answered, by what the service is set up with.
func answers() map[string]setup {
	return map[string]setup{
		"a reply":           {},
		"an acknowledgment": {model: stuck{}, env: []string{"MODEL_ABORT_MS=20000"}},
		"a handoff":         {model: panics{}},
		"an overload":       {model: stuck{}, env: []string{"MAX_INFLIGHT_TURNS=1"}},
		"silence": {rules: func(r *tenant.Rules) {
			r.Audience = tenant.Audience{Mode: tenant.AudienceOnly, Subscribers: []contact.SubscriberID{"1"}}
		}},
	}
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": the callback, on every answer
// and to the letter, or on none.
func TestCallbackOfEveryAnswer(t *testing.T) {
	const callback = `{"url":"https://agent.example/v1/channels/manychat/message","method":"post",` +
		`"headers":{"Authorization":"Bearer ` + oldSecret + `","Content-Type":"application/json"},` +
		`"payload":{"text":"{{last_input_text}}","subscriber_id":"{{contact.id}}","ai_token":"{{ai_token}}","offering":"{{agent_course}}"},"timeout":86400}`
	const other = `{"url":"https://agent.example/v1/channels/manychat/message","method":"post",` +
		`"headers":{"Authorization":"Bearer ` + oldSecret + `","Content-Type":"application/json"},` +
		`"payload":{"text":"{{last_input_text}}","subscriber_id":"{{my id}}","ai_token":"{{my token}}","offering":"{{agent_course}}"},"timeout":86400}`
	for _, with := range []struct {
		name string
		env  []string
		want string
	}{
		{"as it comes", nil, callback},
		{"with other names", []string{"CALLBACK_CONTACT_ID={{my id}}", "MANYCHAT_TOKEN_FIELD=my token"}, other},
		{"off", []string{"CALLBACK=off"}, ""},
	} {
		for name, s := range answers() {
			t.Run(with.name+", "+name, func(t *testing.T) {
				s.env = append(slices.Clone(s.env), with.env...)
				deployed(t, s, nil, func(d *deployment) {
					if name == "an overload" {
						go d.post(inbound.MessagePath, bodyFor(inbound.MessagePath), bearer(oldSecret)...)
						time.Sleep(time.Second)
					}
					resp, answer := d.post(inbound.ContactPath, bodyFor(inbound.ContactPath), bearer(oldSecret)...)
					b, texts := read(t, answer)
					if with.want != "" {
						checkJSON(t, string(b.Content["external_message_callback"]), with.want)
					} else if got, there := b.Content["external_message_callback"]; there {
						t.Errorf("with CALLBACK=off the response asks for %s", got)
					}
					if resp.StatusCode != http.StatusOK || resp.Header.Get("Cache-Control") != "no-store" || (len(texts) == 0) != (name == "silence") {
						t.Errorf("answered %d %v %s", resp.StatusCode, resp.Header, answer)
					}
					time.Sleep(time.Minute)
				})
			})
		}
	}
}

func checkJSON(t *testing.T, got, want string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(got), &a); err != nil {
		t.Errorf("%v in %q", err, got)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b, a); diff != "" {
		t.Errorf("callback (-want +got):\n%s", diff)
	}
}

// writes is a model that replies with several messages and remembers what it was asked.
type writes struct {
	listener
	messages []string
}

func (w *writes) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	if _, err := w.listener.Generate(ctx, req); err != nil {
		return llm.Response{}, err
	}
	answer, err := json.Marshal(map[string]any{"messages": w.messages, "confidence": 1, "escalate": false})
	return llm.Response{Text: string(answer), Stop: llm.StopEnd}, err
}

// words are sentences of a length, each of them another one.
func words(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "This is sentence %d of many. ", i)
	}
	return strings.TrimSpace(b.String())
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": messages are joined and split as
// the channel takes them, and what does not fit goes out right behind; nothing is cut off.
func TestLongAndManyMessages(t *testing.T) {
	tests := []struct {
		name, channel  string
		env            []string
		messages       []string
		inline, behind int // bubbles
		limit          int // of a bubble, in UTF-16 units
	}{
		{"joined", "whatsapp", nil, []string{"One thing.", "Another."}, 1, 0, 2000},
		{"not joined", "whatsapp", []string{"WHATSAPP_JOIN=false"}, []string{"One thing.", "Another."}, 2, 0, 2000},
		{"apart", "instagram", nil, []string{"One thing.", "Another."}, 2, 0, 1000},
		{"longer than a message", "whatsapp", nil, []string{words(4500)}, 1, 2, 2000},
		{"longer than a message of Instagram", "instagram", nil, []string{words(2500)}, 3, 0, 1000},
		{"as long as Messenger takes", "messenger", nil, []string{words(1900)}, 1, 0, 2000},
		{"more messages than a response takes", "instagram", nil, []string{words(9500), words(2500)}, 10, 3, 1000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			deployed(t, setup{model: &writes{messages: tt.messages}, env: append(tt.env, "CHANNEL="+tt.channel)}, func(e *manychattest.Entry) {}, func(d *deployment) {
				id := d.contact("900000001")
				got := d.write(id, "hello")
				_, inline := read(t, got.Response)
				time.Sleep(time.Minute)
				var shown, behind []string
				for _, item := range d.account.Chat(id) {
					if item.From == phone.FromBusiness && item.Via == phone.ViaFlow {
						behind = append(behind, item.Text)
					}
				}
				shown = append(inline, behind...)
				if len(inline) != tt.inline || len(behind) != tt.behind {
					t.Errorf("%d messages in the response and %d behind it, want %d and %d (%s)", len(inline), len(behind), tt.inline, tt.behind, got.Reason)
				}
				for _, text := range shown {
					if n := manychat.UTF16Len(text); n > tt.limit {
						t.Errorf("a message of %d characters", n)
					}
				}
				if want, got := strings.Fields(strings.Join(tt.messages, " ")), strings.Fields(strings.Join(shown, " ")); !slices.Equal(got, want) {
					t.Errorf("%d of %d words arrived", len(got), len(want))
				}
			})
		})
	}
}

// changed is a service in serve mode whose options were changed behind the checks of its
// configuration. It returns what stops it.
func changed(t *testing.T, listener net.Listener, log io.Writer, change func(*app.Options)) (stop func()) {
	t.Helper()
	c, err := config.Load(config.Source{Mode: config.Serve, Environ: []string{
		"DATABASE_URL=sqlite:" + filepath.Join(t.TempDir(), "agent.db"), "AGENT_MODEL=mock:demo", "PUBLIC_BASE_URL=https://agent.example",
		"MANYCHAT_SHARED_SECRET=" + newSecret, "MANYCHAT_API_TOKEN=" + apiToken, "MANYCHAT_REPLY_FLOW_NS=content20260101000000_000002",
	}})
	if err != nil {
		t.Fatal(err)
	}
	business := academy(t, c.Tenant.ID)
	account := newAccount(t, manychat.WhatsApp, nil, nil)
	o := app.Options{
		Config: c, Tenant: business, Models: []attempt.Model{{Name: "mock:demo", Model: mock.New()}}, Now: time.Now, Transport: manychattest.Transport(account),
		Log: telemetry.NewLogger(io.MultiWriter(log, &captured), slog.LevelDebug, telemetry.JSON),
	}
	if change != nil {
		change(&o)
	}
	service, err := app.New(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	service.Register(mux)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- service.Serve(ctx, app.Front{Listener: listener, Handler: mux}) }()
	return func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := service.Close(); err != nil {
			t.Error(err)
		}
		account.Close()
	}
}

// unpublished makes every response one that ManyChat drops.
func unpublished(o *app.Options) { o.Config.Public.BaseURL = "http://agent.example" }

// stumble is a log that makes the endpoint panic where it refuses a request.
type stumble struct{ *safeBuffer }

func (s stumble) Write(p []byte) (int, error) {
	if strings.Contains(string(p), "request refused") {
		panic("a bug that quotes +49 170 5550199")
	}
	return s.safeBuffer.Write(p)
}

// Holds docs/spec/02-inbound.md, "Errors" and "Response: Dynamic Block v2": a response that
// ManyChat would drop is not written, and a bug of the endpoint's own hands off.
func TestFailuresOfTheEndpoint(t *testing.T) {
	for _, c := range []struct {
		name   string
		log    io.Writer
		change func(*app.Options)
		body   string
		check  func(answer string) bool
	}{
		{"what ManyChat would drop", io.Discard, unpublished, bodyFor(inbound.MessagePath), func(answer string) bool { return answer == `{"error":"internal"}` }},
		{"a bug", stumble{&safeBuffer{}}, nil, `{}`, func(answer string) bool {
			return strings.Contains(answer, escalation) && strings.Contains(answer, "external_message_callback") && !strings.Contains(answer, "bug")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				network := newPipes()
				stop := changed(t, network, c.log, c.change)
				r := &rig{t: t, base: "http://127.0.0.1:3000", http: &http.Client{Transport: &http.Transport{DialContext: network.dial}}}
				resp, answer := r.post(inbound.MessagePath, c.body, bearer(newSecret)...)
				if resp.StatusCode != http.StatusOK || resp.Header.Get("Cache-Control") != "no-store" || !c.check(answer) {
					t.Errorf("answered %d %s", resp.StatusCode, answer)
				}
				time.Sleep(time.Minute)
				r.http.CloseIdleConnections()
				stop()
			})
		})
	}
}

// Holds docs/spec/02-inbound.md, "Errors": a bug in a turn, and a database that does not take
// the message, hand off without the model; /ready says what is not.
func TestFailuresOfATurn(t *testing.T) {
	t.Run("a bug", func(t *testing.T) {
		deployed(t, setup{rules: func(r *tenant.Rules) { r.OpeningTrigger = nil }}, nil, func(d *deployment) { // its keyword is still known
			if got := d.write(d.contact("900000001"), "courses"); len(got.Shown) != 1 || got.Shown[0].Text != escalation {
				t.Errorf("answered %d %s", got.Status, got.Response)
			}
		})
	})
	for _, gone := range []string{"turns", "conversations"} {
		t.Run("a database without "+gone, func(t *testing.T) {
			ear := &listener{}
			deployed(t, setup{model: ear}, nil, func(d *deployment) {
				id := d.contact("900000001")
				synctest.Wait() // the service is up
				d.query("ALTER TABLE " + gone + " RENAME TO gone")
				got := d.write(id, "hello")
				if got.Status != http.StatusOK || len(got.Shown) != 1 || got.Shown[0].Text != escalation || !strings.Contains(got.Response, "external_message_callback") || ear.calls() != 0 {
					t.Errorf("answered %d %s after %d calls of the model", got.Status, got.Response, ear.calls())
				}
				synctest.Wait() // what follows the answer is logged
				if !strings.Contains(d.log.String(), `"msg":"load shed"`) {
					t.Error("the log does not say load shed")
				}
				d.query("ALTER TABLE gone RENAME TO " + gone)
				time.Sleep(time.Minute)
				if got := d.write(id, "hello"); !strings.Contains(got.Response, "Noted.") {
					t.Errorf("once the database is back: %s", got.Response)
				}
			})
		})
	}
}

// Holds docs/spec/02-inbound.md, "Errors": /ready says that the database does not answer, and
// whoever writes meanwhile is handed off.
func TestDatabaseThatIsGone(t *testing.T) {
	deployed(t, setup{}, nil, func(d *deployment) {
		id := d.contact("900000001")
		d.write(id, "hello")
		if err := d.service.Close(); err != nil {
			t.Fatal(err)
		}
		if status, body := d.get("/ready"); status != http.StatusServiceUnavailable || !strings.Contains(body, "database does not answer") {
			t.Errorf("/ready says %d %s", status, body)
		}
		if got := d.write(id, "hello"); len(got.Shown) != 1 || got.Shown[0].Text != escalation {
			t.Errorf("answered %d %s", got.Status, got.Response)
		}
	})
}

// Holds docs/spec/02-inbound.md, "Errors": a message that is not recorded within 3 s is handed
// off without the model, and sends nothing when it is recorded after all.
func TestDatabaseThatIsLocked(t *testing.T) {
	ear := &listener{}
	deployed(t, setup{model: ear}, nil, func(d *deployment) {
		id := d.contact("900000001")
		synctest.Wait()
		unlock := d.lock()
		got := d.write(id, "hello")
		if len(got.Shown) != 1 || got.Shown[0].Text != escalation || got.Duration != 3*time.Second {
			t.Errorf("answered %d %s after %s", got.Status, got.Response, got.Duration)
		}
		unlock()
		time.Sleep(time.Minute)
		if outcome := d.query("SELECT outcome || ' ' || escalation_reason FROM turns WHERE role = 'agent'"); outcome != "escalated_precheck overload" {
			t.Errorf("the message that was recorded later ended %s", outcome)
		}
		if got := d.account.Chat(id); len(got) != 2 || ear.calls() != 0 {
			t.Errorf("the phone shows %d messages, with %d calls of the model", len(got), ear.calls())
		}
	})
}

// lock takes the right to write from the program, as another program could.
func (r *rig) lock() (unlock func()) {
	r.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(r.folder, "agent.db")+"?_txlock=immediate")
	if err != nil {
		r.t.Fatal(err)
	}
	tx, err := db.Begin()
	if err != nil {
		r.t.Fatal(err)
	}
	return func() {
		if err := errors.Join(tx.Rollback(), db.Close()); err != nil {
			r.t.Error(err)
		}
	}
}

// query runs a statement on the program's database, as another program could, and returns the
// first value of its first row, if it has one.
func (r *rig) query(statement string) (first string) {
	r.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(r.folder, "agent.db")+"?_pragma=busy_timeout(5000)")
	if err != nil {
		r.t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(statement)
	if err != nil {
		r.t.Fatal(err)
	}
	defer rows.Close()
	if rows.Next() {
		if err := rows.Scan(&first); err != nil {
			r.t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		r.t.Fatal(err)
	}
	return first
}

// waits is a model that answers when it is told to.
type waits struct{ until chan struct{} }

func (w waits) Generate(ctx context.Context, _ llm.Request) (llm.Response, error) {
	select {
	case <-w.until:
	case <-ctx.Done():
	}
	return llm.Response{Text: `{"messages":["Noted."],"confidence":1,"escalate":false}`, Stop: llm.StopEnd}, ctx.Err()
}

// Holds docs/spec/16-operations.md, "Logs, metrics, traces", and docs/spec/02-inbound.md,
// "Order of checks", "Request body" and "Errors": every event of the endpoint is counted when
// it happens, and only then.
func TestEveryEventHappens(t *testing.T) {
	post := func(body string, headers ...string) func(*rig) {
		return func(r *rig) { r.post(inbound.MessagePath, body, headers...) }
	}
	with, hello := bearer(newSecret), bodyFor(inbound.MessagePath)
	tests := []struct {
		name   string
		change func(*app.Options)
		do     func(*rig)
		want   map[string]string // what else is counted than a plain request
	}{
		{"no secret", nil, post(`{}`), map[string]string{"refused_unauthorized": "1"}},
		{"too many without", func(o *app.Options) { o.Config.Turn.InboundRPM = 1 }, func(r *rig) { post(`{}`)(r); post(`{}`)(r) },
			map[string]string{"refused_unauthorized": "1", "refused_rate": "1"}},
		{"a message", nil, post(hello, with...), nil},
		{"an unknown key", nil, post(`{"subscriber_id":"900000001","text":"hello","extra":1}`, with...), map[string]string{"refused_body": "1"}},
		{"text", nil, post(hello, append([]string{"Content-Type", "text/plain"}, with...)...), map[string]string{"refused_body": "1"}},
		{"not JSON", nil, post(`{"subscriber_id":"900000001","text":"say "hi""}`, with...), map[string]string{"body_repaired": "1"}},
		{"two readings", nil, post(`{"text":"say "hi"","subscriber_id":"900000001","locale":"","subscriber_id":"900000002"}`, with...), map[string]string{"ambiguous_body": "1"}},
		{"no id", nil, post(`{"subscriber_id":"x","text":"hello"}`, with...), map[string]string{"subscriber_id_invalid": "1"}},
		{"a variable", nil, post(`{"subscriber_id":"{{user_id}}","text":"hello"}`, with...), map[string]string{"subscriber_id_unrendered": "1"}},
		{"what ManyChat would drop", unpublished, post(hello, with...), map[string]string{"render_failed": "1"}},
		{"a bug", nil, post(`{}`, with...), map[string]string{"subscriber_id_invalid": "1", "panic": "1"}},
		{"an overload", nil, nil, map[string]string{"load_shed": "1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			said := &safeBuffer{}
			var log io.Writer = said
			if tt.want["panic"] != "" {
				log = stumble{said}
			}
			until := make(chan struct{})
			stop := changed(t, listener, log, func(o *app.Options) {
				o.Config.Server.MetricsAddr = "127.0.0.1:0"
				if tt.do == nil {
					o.Config.Turn.MaxInFlight, o.Models = 1, []attempt.Model{{Name: "mock:demo", Model: waits{until}}}
				}
				if tt.change != nil {
					tt.change(o)
				}
			})
			defer stop()
			r := &rig{t: t, base: "http://" + listener.Addr().String(), http: http.DefaultClient}
			get(t, r.base+"/health") // it is up, and has said where the metrics are
			if tt.do != nil {
				tt.do(r)
			} else {
				r.overload(until)
			}
			got := map[string]string{}
			page := get(t, "http://"+regexp.MustCompile(`"metrics are served","address":"([^"]+)"`).FindStringSubmatch(said.String())[1]+"/metrics")
			for _, m := range regexp.MustCompile(`inbound_events_total\{event="(\w+)"\} ([1-9]\d*)`).FindAllStringSubmatch(page, -1) {
				if m[1] != "plain_request" {
					got[m[1]] = m[2]
				}
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
}

// overload sends two messages where one turn is too many, and lets the model answer once one
// of them was.
func (r *rig) overload(until chan struct{}) {
	answered := make(chan struct{}, 2)
	for _, id := range []string{"900000001", "900000002"} {
		go func() {
			r.post(inbound.MessagePath, `{"subscriber_id":"`+id+`","text":"hello"}`, bearer(newSecret)...)
			answered <- struct{}{}
		}()
	}
	<-answered
	close(until)
	<-answered
}

// Holds docs/spec/02-inbound.md, "Errors": the service speaks TLS itself, and a request over it
// is nothing to warn about.
func TestTLSOfItsOwn(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	issuer := httptest.NewUnstartedServer(nil) // for its certificate
	issuer.StartTLS()
	defer issuer.Close()
	log, folder := &safeBuffer{}, t.TempDir()
	stop := changed(t, listener, log, func(o *app.Options) {
		o.Config.Public.TLSCertFile, o.Config.Public.TLSKeyFile = keyPair(t, folder, issuer.TLS.Certificates[0])
	})
	defer stop()
	r := &rig{t: t, base: "https://" + listener.Addr().String(), http: issuer.Client()}
	if resp, answer := r.post(inbound.MessagePath, bodyFor(inbound.MessagePath), bearer(newSecret)...); resp.StatusCode != http.StatusOK {
		t.Errorf("answered %d %s", resp.StatusCode, answer)
	}
	resp, err := r.http.Get(r.base + "/ready")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || strings.TrimSpace(string(body)) != `{"status":"ready"}` || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("/ready says %s, %v", body, err)
	}
	if strings.Contains(log.String(), "TLS") || strings.Contains(log.String(), "plain HTTP") {
		t.Errorf("the log warns:\n%s", log)
	}
	issuer.Client().CloseIdleConnections()
}

// keyPair writes a certificate and its key as an operator keeps them.
func keyPair(t *testing.T, folder string, pair tls.Certificate) (cert, key string) {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	for file, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, key: {Type: "PRIVATE KEY", Bytes: der}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// Holds docs/spec/06-contact.md, "Contact token": how long an older token is known once a newer
// one was presented, and that one that is presented meanwhile stays.
func TestOldTokensAreForgotten(t *testing.T) {
	for _, c := range []struct {
		name  string
		after []time.Duration // when the old token is presented, from the write of the new one
		reads bool            // the last time
	}{
		{"within five minutes", []time.Duration{4*time.Minute + 50*time.Second}, true},
		{"behind them", []time.Duration{5*time.Minute + 10*time.Second}, false},
		{"behind them, and presented before", []time.Duration{time.Minute, 10 * time.Minute}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			ear := &listener{}
			inBubble(t, func(r *rig) {
				id := r.contact("900000001")
				r.write(id, "my word is alpha")
				time.Sleep(15 * time.Minute)
				old := r.tokenOf(id)
				r.forge(id, "", "hello") // brings the contact another token
				synctest.Wait()
				if r.tokenOf(id) == old {
					t.Fatal("there is no newer token")
				}
				r.forge(id, r.tokenOf(id), "hello") // that it was written is no proof; that it is presented is
				at := time.Duration(0)
				for _, after := range c.after {
					time.Sleep(after - at)
					at = after
					r.forge(id, old, "what was my word?")
				}
				if got := strings.Contains(ear.last(), "alpha"); got != c.reads {
					t.Errorf("%s behind the newer one the older token reads history: %v", at, got)
				}
			}, setup{model: ear})
		})
	}
}

// Holds docs/spec/06-contact.md, "Contact token": an unbound contact is issued a token once an
// hour, and no sooner.
func TestTokensOfUnboundRequests(t *testing.T) {
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		r.write(id, "hello")
		for _, c := range []struct {
			after time.Duration
			want  int // writes of the field so far
		}{{15 * time.Minute, 2}, {time.Minute, 2}, {58 * time.Minute, 2}, {2 * time.Minute, 3}, {30 * time.Minute, 3}} {
			time.Sleep(c.after)
			r.forge(id, "wrong", "hello")
			synctest.Wait()
			if got := r.tokenWrites(id); got != c.want {
				t.Errorf("%s after the start %d tokens were written, want %d", time.Since(r.start), got, c.want)
			}
		}
	})
}

// Holds docs/spec/06-contact.md, "Contact token": with four tokens of unknown outcome no more
// are minted until the contact writes, each of them binds, and no person is called for.
func TestTokensOfUnknownOutcome(t *testing.T) {
	ear := &listener{}
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		r.faults(fault.Fault{Kind: fault.LostAnswer, Path: "subscriber writes"})
		r.write(id, "my word is alpha")
		time.Sleep(30 * time.Minute)
		var all []string
		for _, c := range r.Account.Calls() {
			if writesToken(c) {
				all = append(all, c.Body)
			}
		}
		if len(all) != 4 {
			t.Errorf("%d tokens were written, want 4", len(all))
		}
		time.Sleep(30 * time.Minute)
		if got := r.tokenWrites(id); got != 4 {
			t.Errorf("%d tokens were written in an hour, want 4", got)
		}
		if r.query("SELECT needs_person FROM conversations") != "0" {
			t.Error("a token that could not be written calls for a person")
		}
		r.faults()
		r.forge(id, "wrong", "hello") // the contact writes: one more is minted
		synctest.Wait()
		if got := r.tokenWrites(id); got != 5 {
			t.Errorf("%d tokens were written once the contact wrote, want 5", got)
		}
		token := regexp.MustCompile(`"field_value":"([^"]+)"`).FindStringSubmatch(all[2])[1]
		if r.forge(id, token, "what was my word?"); !strings.Contains(ear.last(), "alpha") {
			t.Error("a token whose write lost its answer does not bind")
		}
	}, setup{model: ear})
}

// Holds docs/spec/06-contact.md, "Contact token": a token that was certainly not written is
// forgotten, and the contact's next message brings another at once.
func TestTokensThatAreRefused(t *testing.T) {
	ear := &listener{}
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		r.faults(fault.Fault{Kind: fault.MissingField, Name: "ai_token"})
		r.write(id, "my word is alpha")
		for i := range 4 { // each with two writes: beside the turn, and of its row
			time.Sleep(time.Minute)
			before := r.tokenWrites(id)
			r.write(id, fmt.Sprint("hello ", i))
			time.Sleep(30 * time.Second)
			if got := r.tokenWrites(id) - before; got != 2 {
				t.Errorf("message %d brought %d writes, want 2", i, got)
			}
		}
		if r.query("SELECT needs_person FROM conversations") != "0" {
			t.Error("a token that could not be written calls for a person")
		}
		r.faults()
		time.Sleep(time.Minute)
		r.write(id, "and now?")
		time.Sleep(time.Minute)
		if r.tokenOf(id) == "" || !strings.Contains(ear.last(), "hello 3") {
			t.Errorf("the contact has the token %q and the history\n%s", r.tokenOf(id), ear.last())
		}
	}, setup{model: ear})
}

// Holds docs/spec/06-contact.md, "Contact token": a row stands behind a token's write, writes
// another when it fails, and is gone when it does not.
func TestRowBehindATokenWrite(t *testing.T) {
	const rows = "SELECT count(*) || ' ' || coalesce(max(status), '') FROM outbox WHERE kind = 'contact_token'"
	for _, c := range []struct {
		name  string
		fault []manychattest.Fault
		want  string
	}{
		{"written", nil, "0 "},
		{"refused once", []manychattest.Fault{{Kind: fault.ServerError, Path: "subscriber writes", Times: 1}}, "1 delivered"},
		{"not answered once", []manychattest.Fault{{Kind: fault.Timeout, Path: "subscriber writes", Times: 1}}, "1 delivered"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				id := r.contact("900000001")
				r.faults(c.fault...)
				r.write(id, "hello")
				time.Sleep(14 * time.Second) // before the row would be due without a failure
				if got := r.query(rows); got != c.want || r.tokenOf(id) == "" {
					t.Errorf("rows: %s, want %s; the field holds %q", got, c.want, r.tokenOf(id))
				}
			})
		})
	}
}

// Holds docs/spec/06-contact.md, "Contact token" and "History": what a contact wrote before
// tokens is theirs only where tokens are not enforced yet, or were filled in.
func TestHistoryFromBeforeTokens(t *testing.T) {
	for _, c := range []struct {
		name   string
		env    []string
		filled bool
		reads  bool
	}{
		{"enforced", nil, false, false},
		{"a roll-out", []string{"CONTACT_TOKENS_ENFORCED=false"}, false, true},
		{"filled in", nil, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				ear := &listener{}
				r := start(t, folder, setup{model: ear, env: c.env})
				id, old := r.contact("900000001"), r.contact("900000002")
				r.write(id, "my word is alpha")
				r.write(old, "long ago")
				time.Sleep(5 * time.Minute)
				r.stop()
				r.query("DELETE FROM contacts")
				r.query("UPDATE conversations SET history_from = 0")
				r.query("UPDATE turns SET received_at = received_at - 31 * 86400000000 WHERE conversation_id IN (SELECT id FROM conversations WHERE subscriber_id = '900000002')")
				if c.filled {
					r.fillIn(1, 1)
					r.fillIn(1, 0) // it is queued
				}
				r = start(t, folder, setup{model: ear, env: c.env})
				time.Sleep(5 * time.Minute)
				r.write(id, "what was my word?")
				if got := strings.Contains(ear.last(), "alpha"); got != c.reads {
					t.Errorf("the contact reads what was before: %v, want %v", got, c.reads)
				}
				time.Sleep(time.Minute)
				r.write(id, "and what did I ask?")
				if !strings.Contains(ear.last(), "what was my word?") {
					t.Error("the contact does not read what it wrote since")
				}
				r.stop()
				if c.filled {
					r.fillIn(0, 0) // written; and nobody else wrote inside the window
				}
			})
		})
	}
}

// fillIn is what tokens backfill does on a program that does not run.
func (r *rig) fillIn(lacking, queued int) {
	r.t.Helper()
	ctx := context.Background()
	db, err := store.Open(ctx, store.Options{URL: "sqlite:" + filepath.Join(r.folder, "agent.db"), Now: time.Now})
	if err != nil {
		r.t.Fatal(err)
	}
	defer db.Close()
	got, err := db.BackfillTokens(ctx, "demo", time.Now().AddDate(0, 0, -30), false)
	if want := (store.Backfill{Lacking: lacking, Queued: queued}); err != nil || got != want {
		r.t.Errorf("backfill: %+v %v, want %+v", got, err, want)
	}
}

// Holds docs/spec/06-contact.md, "Contact token": a request without the token changes nothing
// of the contact: no offering, no time of a last text, no history, however its reply goes out.
func TestUnboundRequestsChangeNothing(t *testing.T) {
	model := &writes{messages: []string{words(2500)}}
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		r.write(id, "hello")
		time.Sleep(15 * time.Minute)

		r.tell(fmt.Sprintf(`{"subscriber_id":%q,"ai_token":"wrong","text":"hello","offering":"glaze_weekend"}`, id))
		model.messages = []string{"Short."}
		time.Sleep(10 * time.Second)
		r.forge(id, "wrong", "hello")
		if got := r.write(id, "and now?"); got.Duration != 0 {
			t.Errorf("the contact waited %s behind an answer to somebody else", got.Duration)
		}
		if strings.Contains(model.last(), "glaze_weekend") {
			t.Error("an unbound request set the contact's offering")
		}

		model.messages = []string{words(2500)} // its second half goes out behind it, and fails
		r.faults(fault.Fault{Kind: fault.MissingFlow, Name: "content20260101000000_000001"})
		r.forge(id, "wrong", "intruder")
		time.Sleep(time.Minute)
		r.faults()
		if got := r.newest(id).Deliveries; !slices.Equal(got, []string{"dead"}) {
			t.Errorf("the second half of the answer is %v, want dead", got)
		}
		model.messages = []string{"Short."}
		r.write(id, "what did I say?")
		if strings.Contains(model.last(), "intruder") || strings.Count(model.last(), "This is sentence 0 of many.") != 1 {
			t.Errorf("the contact's history is\n%s", model.last())
		}
	}, setup{model: model})
}

// Holds docs/spec/06-contact.md, "Contact token": what stands in the place of a token that was
// not filled in is none.
func TestUnrenderedTokens(t *testing.T) {
	ear := &listener{}
	inBubble(t, func(r *rig) {
		for i, token := range []string{`"{{ai_token}}"`, `""`, `" "`, `null`} {
			for _, text := range []string{"my word is alpha", "what was my word?"} {
				r.tell(fmt.Sprintf(`{"subscriber_id":"90000001%d","ai_token":%s,"text":%q}`, i, token, text))
				time.Sleep(3 * time.Second)
			}
			if !strings.Contains(ear.last(), "alpha") {
				t.Errorf("with the token %s the contact's first messages are not one history", token)
			}
		}
	}, setup{model: ear})
}

// Holds docs/spec/06-contact.md, "Caps, all before the model runs, all escalating": a day ends
// a conversation, also one without a gap.
func TestTurnCapOfADay(t *testing.T) {
	for _, c := range []struct {
		limit int
		want  string
	}{{5, "answered inline"}, {4, "escalated_precheck inline turn_cap"}} {
		inBubble(t, func(r *rig) {
			id := r.contact("900000001")
			for range 6 {
				r.write(id, "hello")
				time.Sleep(3 * time.Second)
				r.query("UPDATE turns SET received_at = received_at - 5 * 3600000000")
			}
			r.write(id, "hello")
			if got := r.outcome(id); got != c.want {
				t.Errorf("with four messages in the last day and two before, the next of %d ended %s", c.limit, got)
			}
		}, setup{model: &listener{}, rules: func(rules *tenant.Rules) {
			rules.MaxTurnsPerConversation, rules.IdleResetHours, rules.EscalationQuietMinutes = c.limit, 24, 0
		}})
	}
}

// Holds docs/spec/06-contact.md, "History": the last ten entries of the window.
func TestHistoryThatIsRead(t *testing.T) {
	ear := &listener{}
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		for i := range 8 {
			r.write(id, fmt.Sprintf("word %d", i))
			time.Sleep(3 * time.Second)
		}
		if !strings.Contains(ear.last(), "word 2") || strings.Contains(ear.last(), "word 1") {
			t.Errorf("with ten entries the model read\n%s", ear.last())
		}
		r.query("UPDATE turns SET received_at = received_at - 31 * 86400000000, settled_at = settled_at - 31 * 86400000000")
		r.write(id, "and now?")
		if strings.Contains(ear.last(), "word") {
			t.Errorf("behind the window the model read\n%s", ear.last())
		}
	}, setup{model: ear})
}

package inbound_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/inbound"
	"github.com/manychat-agent/manychat-agent/internal/inbound/gate"
	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/token"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

const (
	secret    = "an-invented-secret-of-32-letters"
	newSecret = "another-invented-secret-for-later"
)

// untouched is an account that nothing is done in, and no contact of which is a person's.
type untouched struct{ turn.Account }

func (untouched) HasTag(context.Context, contact.Key, string) (bool, error) { return false, nil }

// pauses are a database's.
type pauses struct{ db *store.DB }

func (p pauses) Pause(ctx context.Context, who contact.Key, until time.Time) (int, error) {
	paused, err := p.db.Pause(ctx, who, until)
	return paused.Withheld, err
}

func (p pauses) Resume(ctx context.Context, who contact.Key) error {
	_, err := p.db.Resume(ctx, who)
	return err
}

// echo is an agent that repeats what it was asked.
type echo struct{}

func (echo) Run(_ context.Context, in agent.Input) (agent.Result, error) {
	if in.Text == "panic" {
		panic("agent bug")
	}
	return agent.Result{Reply: reply.Reply{Messages: []string{"You wrote: " + in.Text}, Confidence: 1}}, nil
}

// takesTokens is a ManyChat that takes every token.
type takesTokens struct{}

func (takesTokens) WriteToken(context.Context, contact.SubscriberID, string) error { return nil }

// rig is the endpoint over a real database.
type rig struct {
	*httptest.Server
	db    *store.DB
	turns *turn.Runner
}

// drain waits for the turns and what follows their responses.
func (r *rig) drain(t *testing.T) {
	t.Helper()
	if err := r.turns.Drain(context.Background()); err != nil {
		t.Error(err)
	}
}

func newRig(t *testing.T, change func(*inbound.Config)) *rig {
	t.Helper()
	db, err := store.Open(t.Context(), store.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "agent.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	business, err := tenant.Load(demo.FS(), tenant.Options{ID: "test"})
	if err != nil {
		t.Fatal(err)
	}
	shapes, err := delivery.ShapesOf(true)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	tokens, err := token.NewKeeper(token.Config{Store: db, Writer: takesTokens{}, Count: func(string) {}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	turns, err := turn.New(turn.Config{
		Tokens: tokens, Enforced: true, Observe: func(conversation.Turn) {},
		Store: db, Lane: db, Acts: db, Alive: func() bool { return true }, MaxAge: time.Hour, Account: untouched{}, People: db, Agent: echo{}, Guard: guardrail.New(guardrail.Config{}), Tenant: func() *tenant.Tenant { return business },
		Wake: func() {}, Freed: func(string) {}, Shapes: shapes, Owner: func() string { return "p1" }, Deadline: 8 * time.Second, Abort: 30 * time.Second, MaxAttempts: 2, MaxInflight: 100,
		Now: time.Now, Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	door, err := gate.New(gate.Config{Secrets: []string{secret, newSecret}, PerMinute: 300, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	cfg := inbound.Config{
		Turns: turns, Pauses: pauses{db}, Tenant: func() *tenant.Tenant { return business }, Shapes: shapes, Channel: contact.WhatsApp, TenantID: "test",
		Gate: door, Token: "ai_token", Count: func(string) {}, Plain: func() {}, Now: time.Now, Log: log,
		Callback: inbound.Callback{BaseURL: "https://agent.example"},
	}
	if change != nil {
		change(&cfg)
	}
	h, err := inbound.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	h.Register(mux)
	r := &rig{Server: httptest.NewServer(mux), db: db, turns: turns}
	t.Cleanup(func() {
		r.Server.Close()
		r.drain(t)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

// post sends a body with headers given as name, value, name, value…
func (r *rig) post(t *testing.T, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, r.URL+inbound.MessagePath, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	resp, err := r.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(answer)
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2".
func TestResponse(t *testing.T) {
	r := newRig(t, nil)
	resp, body := r.post(t, `{"subscriber_id": 12345678901234567890, "text": "hello", "course": null}`, "Authorization", "bearer "+newSecret)
	if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("status %d, headers %v", resp.StatusCode, resp.Header)
	}
	want := `{"version":"v2","content":{"type":"whatsapp","messages":[{"type":"text","text":"You wrote: hello"}],` +
		`"external_message_callback":{"url":"https://agent.example/v1/channels/manychat/message","method":"post",` +
		`"headers":{"Authorization":"Bearer another-invented-secret-for-later","Content-Type":"application/json"},` +
		`"payload":{"ai_token":"{{ai_token}}","offering":"{{agent_course}}","subscriber_id":"{{contact.id}}","text":"{{last_input_text}}"},"timeout":86400}}}`
	if diff := cmp.Diff(want, body); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	// Every digit of an id beyond 2^53 is kept.
	turns, err := r.db.RecentTurns(t.Context(), "test", "12345678901234567890", 5)
	if err != nil || len(turns) != 1 || turns[0].Path != conversation.Inline {
		t.Errorf("recorded turns: %+v, %v", turns, err)
	}
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": CALLBACK=off.
func TestCallbackOff(t *testing.T) {
	r := newRig(t, func(c *inbound.Config) { c.Callback.BaseURL = "" })
	_, body := r.post(t, `{"subscriber_id":"1","text":"hello"}`, "Authorization", "Bearer "+secret)
	if want := `{"version":"v2","content":{"type":"whatsapp","messages":[{"type":"text","text":"You wrote: hello"}]}}`; body != want {
		t.Errorf("body is %s", body)
	}
}

// Holds docs/spec/02-inbound.md, "Order of checks".
func TestRefusals(t *testing.T) {
	const ok = `{"subscriber_id":"1","text":"hello"}`
	auth := []string{"Authorization", "Bearer " + secret}
	tests := []struct {
		name, body string
		headers    []string
		status     int
		want       string
	}{
		{"no secret", ok, nil, 401, `{"error":"unauthorized"}`},
		{"no secret and no JSON", `{`, nil, 401, `{"error":"unauthorized"}`},
		{"wrong secret", ok, []string{"Authorization", "Bearer an-invented-secret-of-32-lettert"}, 401, `{"error":"unauthorized"}`},
		{"a prefix of the secret", ok, []string{"Authorization", "Bearer an-invented-secret"}, 401, `{"error":"unauthorized"}`},
		{"another scheme", ok, []string{"Authorization", "Basic " + secret}, 401, `{"error":"unauthorized"}`},
		{"two secrets", ok, []string{"Authorization", "Bearer " + secret, "Authorization", "Bearer " + secret}, 401, `{"error":"unauthorized"}`},
		{"a form", ok, append(auth, "Content-Type", "application/x-www-form-urlencoded"), 415, `{"error":"unsupported_media_type","message":"send application/json"}`},
		{"compressed", ok, append(auth, "Content-Encoding", "gzip"), 415, `{"error":"unsupported_media_type","message":"send the body without compression"}`},
		{"too large", `{"subscriber_id":"1","text":"` + strings.Repeat("a", 64<<10) + `"}`, auth, 413, `{"error":"too_large","message":"the body is longer than 64 KiB"}`},
		{"not JSON", `{"subscriber_id":"1","txt":"say "hi""}`, auth, 400, `{"error":"bad_request","message":"the body is not JSON: in ManyChat, switch on \"Encode to JSON\" for the variables in it"}`},
		{"empty", ``, auth, 400, `{"error":"bad_request","message":"the body is not JSON: in ManyChat, switch on \"Encode to JSON\" for the variables in it"}`},
		{"an array", `[]`, auth, 400, `{"error":"bad_request","message":"the body is not a JSON object"}`},
		{"unknown key", `{"subscriber_id":"1","text":"hello","txet":"x"}`, auth, 400, `{"error":"bad_request","key":"txet","message":"not a key of this request"}`},
		{"key in another case", `{"subscriber_id":"1","Text":"hello"}`, auth, 400, `{"error":"bad_request","key":"Text","message":"not a key of this request"}`},
		{"key given twice", `{"subscriber_id":"1","text":"hello","text":"x"}`, auth, 400, `{"error":"bad_request","key":"text","message":"given twice"}`},
		{"text of a wrong type", `{"subscriber_id":"1","text":5}`, auth, 400, `{"error":"bad_request","key":"text","message":"of the wrong type"}`},
		{"no text", `{"subscriber_id":"1"}`, auth, 400, `{"error":"bad_request","key":"text","message":"required: the contact's message as a string"}`},
		{"no id", `{"text":"hello"}`, auth, 400, `{"error":"bad_request","key":"subscriber_id","message":"required: ManyChat's id of the contact"}`},
		{"unrendered id", `{"subscriber_id":"{{user_id}}","text":"hello"}`, auth, 400, `{"error":"bad_request","key":"subscriber_id","message":"ManyChat sent the name of a variable and not its value: pick the variable from ManyChat's list, names typed by hand stay as they are"}`},
		{"negative id", `{"subscriber_id":-5,"text":"hello"}`, auth, 400, `{"error":"bad_request","key":"subscriber_id","message":"must be 1 to 32 digits; check that the variable was picked from ManyChat's list"}`},
		{"fraction", `{"subscriber_id":5.0,"text":"hello"}`, auth, 400, `{"error":"bad_request","key":"subscriber_id","message":"must be 1 to 32 digits; check that the variable was picked from ManyChat's list"}`},
		{"exponent", `{"subscriber_id":1e9,"text":"hello"}`, auth, 400, `{"error":"bad_request","key":"subscriber_id","message":"must be 1 to 32 digits; check that the variable was picked from ManyChat's list"}`},
		{"33 digits", `{"subscriber_id":"` + strings.Repeat("1", 33) + `","text":"hello"}`, auth, 400, `{"error":"bad_request","key":"subscriber_id","message":"must be 1 to 32 digits; check that the variable was picked from ManyChat's list"}`},
		{"long token", `{"subscriber_id":"1","text":"hello","ai_token":"` + strings.Repeat("t", 257) + `"}`, auth, 400, `{"error":"bad_request","key":"ai_token","message":"longer than 256 characters"}`},
		{"bad UTF-8", "{\"subscriber_id\":\"1\",\"text\":\"\xff\"}", auth, 400, `{"error":"bad_request","message":"the body is not UTF-8"}`},
	}
	r := newRig(t, nil)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, body := r.post(t, tt.body, tt.headers...)
			if resp.StatusCode != tt.status || body != tt.want {
				t.Errorf("answer is %d %s, want %d %s", resp.StatusCode, body, tt.status, tt.want)
			}
		})
	}
	if turns, err := r.db.RecentTurns(t.Context(), "test", "1", 5); err != nil || len(turns) != 0 {
		t.Errorf("refused requests left %d turns, %v", len(turns), err)
	}
}

// Holds docs/spec/02-inbound.md, "Order of checks": authentication comes before a
// byte of the body is read.
func TestSecretIsCheckedBeforeTheBody(t *testing.T) {
	r := newRig(t, nil)
	conn, err := net.Dial("tcp", r.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: agent.example\r\nContent-Length: 100\r\n\r\n", inbound.MessagePath)
	// No byte of the body follows.
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("status is %d, want 401", resp.StatusCode)
	}
}

// Holds docs/spec/02-inbound.md, "Request body": NUL and a lone surrogate become U+FFFD.
func TestHalfAnEmojiIsNoReasonToRefuse(t *testing.T) {
	r := newRig(t, nil)
	if resp, body := r.post(t, `{"subscriber_id":"1","text":"a\ud83d b\u0000"}`, "Authorization", "Bearer "+secret); resp.StatusCode != http.StatusOK {
		t.Fatalf("answer is %d %s", resp.StatusCode, body)
	}
	turns, err := r.db.RecentTurns(t.Context(), "test", "1", 1)
	if err != nil || len(turns) != 1 || turns[0].Text != "a\uFFFD b\uFFFD" {
		t.Errorf("recorded turns: %+v, %v", turns, err)
	}
}

// Holds docs/spec/01-principles.md, C5: with variables pasted raw into the body, a
// contact's words can be a key; the caller is told, the log is not.
func TestUnknownKeysAreNotLogged(t *testing.T) {
	var log strings.Builder
	r := newRig(t, func(c *inbound.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	_, body := r.post(t, `{"subscriber_id":"1","text":"x","my phone is +100":"y"}`, "Authorization", "Bearer "+secret)
	if !strings.Contains(body, `"key":"my phone is +100"`) {
		t.Errorf("the answer does not name the key: %s", body)
	}
	if got := log.String(); strings.Contains(got, "+100") || !strings.Contains(got, "key=unknown") {
		t.Errorf("the log says %s", got)
	}
}

// Holds docs/spec/03-turn.md, "Steps": a response that was written and flushed counts
// as received, also by a caller who closes at once.
func TestPromptClose(t *testing.T) {
	r := newRig(t, nil)
	for i := range 300 {
		conn, err := net.Dial("tcp", r.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		body := fmt.Sprintf(`{"subscriber_id":"%d","text":"hello"}`, 1000+i)
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: agent.example\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s", inbound.MessagePath, secret, len(body), body)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(resp.Body); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		conn.Close()
	}
	r.Server.Close() // waits for the handlers
	r.drain(t)
	rows, err := r.db.ListOutbox(t.Context(), store.OutboxFilter{})
	if err != nil || len(rows) != 0 {
		t.Errorf("%d replies that were read are queued again, %v", len(rows), err)
	}
}

// Holds docs/spec/02-inbound.md, "Request body": a long text is cut, not refused, and
// so is nothing of an emoji.
func TestLongTextIsCut(t *testing.T) {
	r := newRig(t, nil)
	body, err := json.Marshal(map[string]string{"subscriber_id": "1", "text": strings.Repeat("😀", 5000)})
	if err != nil {
		t.Fatal(err)
	}
	if resp, answer := r.post(t, string(body), "Authorization", "Bearer "+secret); resp.StatusCode != http.StatusOK {
		t.Fatalf("answer is %d %s", resp.StatusCode, answer)
	}
	turns, err := r.db.RecentTurns(t.Context(), "test", "1", 1)
	if err != nil || len(turns) != 1 {
		t.Fatalf("recorded turns: %d, %v", len(turns), err)
	}
	if got := strings.Count(turns[0].Text, "😀"); got != 4096 || !cmp.Equal(turns[0].Interventions, []string{"text_truncated"}) {
		t.Errorf("kept %d characters with interventions %v", got, turns[0].Interventions)
	}
}

// Holds docs/spec/02-inbound.md, "Errors": a failure of ours is the escalation copy
// on a 200, with its callback.
func TestPanicHandsOff(t *testing.T) {
	r := newRig(t, nil)
	resp, body := r.post(t, `{"subscriber_id":"1","text":"panic"}`, "Authorization", "Bearer "+secret)
	if resp.StatusCode != http.StatusOK || !strings.Contains(body, "I would like a colleague") || !strings.Contains(body, "external_message_callback") {
		t.Errorf("answer is %d %s", resp.StatusCode, body)
	}
}

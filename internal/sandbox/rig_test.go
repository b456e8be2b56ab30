package sandbox_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/sandbox"
	"github.com/manychat-agent/manychat-agent/internal/sandbox/desk"
	"github.com/manychat-agent/manychat-agent/manychat"
)

const (
	messagePath = "/message"
	turnsPath   = "/turns"
	secret      = "invented-shared-secret"
	key         = "invented-console-key"
	first       = "900000001" // the id of the account's first contact
)

// service stands for the service behind the page: it answers every message with what
// reply makes of it, and lists recorded turns.
type service struct {
	*httptest.Server

	mu       sync.Mutex
	reply    func(text string) string
	turns    string // JSON list
	received []map[string]any
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{reply: func(text string) string { return "You wrote: " + text }, turns: `[]`}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+messagePath, s.message)
	mux.HandleFunc("GET "+turnsPath, s.list)
	s.Server = httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func (s *service) message(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || r.Header.Get("Authorization") != "Bearer "+secret {
		http.Error(w, "no", http.StatusUnauthorized)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.received = append(s.received, body)
	text, err := json.Marshal(s.reply(body["text"].(string)))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	_, _ = io.WriteString(w, `{"version":"v2","content":{"type":"whatsapp","messages":[{"type":"text","text":`+string(text)+`}],"actions":[],"quick_replies":[]}}`)
}

func (s *service) list(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+key {
		http.Error(w, "no", http.StatusUnauthorized)
		return
	}
	_, _ = io.WriteString(w, `{"turns":`+s.turns+`}`)
}

func (s *service) record(turns string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = turns
}

func (s *service) recorded() sandbox.Turns {
	return sandbox.Turns{Service: s.URL, Path: turnsPath, Key: key, Client: s.Client()}
}

// accountOf describes an account of the service that is kept in a file.
func accountOf(s *service, file string) sandbox.AccountConfig {
	return sandbox.AccountConfig{
		Channel: manychat.WhatsApp, Service: s.URL, Path: messagePath, Secret: secret,
		APIToken: "100000000000001:invented", ReplyField: "ai_message", ReplyFlow: "content20260101000000_000001",
		TokenField: "ai_token", File: file, Client: s.Client(), Now: time.Now, Log: slog.New(slog.DiscardHandler),
	}
}

func openAccount(t *testing.T, s *service, file string) *sandbox.Account {
	t.Helper()
	a, err := sandbox.OpenAccount(accountOf(s, file))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// rig is the page over an account of a stand-in service.
type rig struct {
	t       *testing.T
	service *service
	account *sandbox.Account
	page    *sandbox.Page
	desk    *desk.Desk
	model   *model
	url     string
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, service: newService(t), model: &model{mode: "ok"}, desk: desk.New(time.Now)}
	r.account = openAccount(t, r.service, "")
	t.Cleanup(r.account.Close)
	page, err := sandbox.NewPage(sandbox.PageConfig{
		Account: r.account, Turns: r.service.recorded(), Model: r.model, Desk: r.desk, Example: "how much is <it>?", Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	page.Register(mux)
	server := httptest.NewServer(mux)
	t.Cleanup(func() { page.Close(); server.Close() })
	r.page, r.url = page, server.URL
	return r
}

// answer is what a browser gets.
type answer struct {
	status   int
	body     string
	header   http.Header
	location string // after a redirect, which is not followed
}

func (r *rig) do(req *http.Request) answer {
	r.t.Helper()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer{resp.StatusCode, strings.TrimSpace(string(body)), resp.Header, resp.Header.Get("Location")}
}

func (r *rig) request(method, path string, body io.Reader) *http.Request {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, body)
	if err != nil {
		r.t.Fatal(err)
	}
	return req
}

func (r *rig) get(path string) answer { return r.do(r.request(http.MethodGet, path, nil)) }

// post posts a form, as a browser without a script does.
func (r *rig) post(path string, form url.Values) answer {
	req := r.request(http.MethodPost, path, strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r.do(req)
}

// model is a switchboard that takes two modes.
type model struct {
	mu      sync.Mutex
	latency time.Duration
	mode    string
}

func (m *model) Behaviour() (time.Duration, string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.latency, m.mode
}

func (m *model) Behave(latency time.Duration, mode string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if mode != "ok" && mode != "new_mode" {
		return fmt.Errorf("unknown mode %q", mode)
	}
	m.latency, m.mode = latency, mode
	return nil
}

func (*model) Modes() []string { return []string{"ok", "new_mode"} }

package app_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/console"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/inbound"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// contract holds requests and answers against a served document.
type contract struct {
	t         *testing.T
	doc       *openapi3.T
	exercised map[string]bool // "POST /path 200"
}

func newContract(t *testing.T, text string) *contract {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(context.Background()); err != nil {
		t.Fatalf("the document is not valid: %v", err)
	}
	return &contract{t: t, doc: doc, exercised: map[string]bool{}}
}

// exchange is a request and what is to be answered.
type exchange struct {
	name    string
	to      string // method, space, path with query
	body    string
	headers []string // name, value, name, value…
	status  int
	says    string // part of the answer
	allowed bool   // the document allows the request, also where it cannot say why the service refuses it
	slow    bool   // the body never ends
}

// request makes the exchange's request.
func (e exchange) request(base string) *http.Request {
	method, target, _ := strings.Cut(e.to, " ")
	req, err := http.NewRequest(method, base+target, strings.NewReader(e.body))
	if err != nil {
		panic(err) // the tables below hold no such target
	}
	for i := 0; i < len(e.headers); i += 2 {
		req.Header.Add(e.headers[i], e.headers[i+1])
	}
	return req
}

// hold sends an exchange's request and holds both sides of it against the document.
func (c *contract) hold(base string, do func(*http.Request) (*http.Response, error), e exchange) {
	c.t.Helper()
	req := e.request(base)
	if e.slow {
		over := make(chan struct{})
		defer close(over)
		req.Body, req.ContentLength = io.NopCloser(endless(over)), 1000
	}
	resp, err := do(req)
	if err != nil {
		c.t.Errorf("%s: %v", e.name, err)
		return
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != e.status || !strings.Contains(string(answer), e.says) {
		c.t.Errorf("%s: answered %d %s (%v), want %d with %s", e.name, resp.StatusCode, answer, err, e.status, e.says)
	}
	if got := resp.Header.Get("Cache-Control"); got != "no-store" {
		c.t.Errorf("%s: Cache-Control is %q", e.name, got)
	}
	resp.Body = io.NopCloser(bytes.NewReader(answer))
	asked, answered := c.judge(e.request(base), resp)
	if (asked == nil) != e.allowed {
		c.t.Errorf("%s: of the request the document says: %v", e.name, asked)
	}
	if answered != nil {
		c.t.Errorf("%s: the answer %d %s is not the document's: %v", e.name, resp.StatusCode, answer, answered)
	}
	c.exercised[fmt.Sprintf("%s %s %d", req.Method, req.URL.Path, resp.StatusCode)] = true
}

// judge says what the document has against a request and its answer.
func (c *contract) judge(req *http.Request, resp *http.Response) (asked, answered error) {
	item := c.doc.Paths.Find(req.URL.Path)
	if item == nil || item.GetOperation(req.Method) == nil {
		return errors.New("no such operation"), errors.New("no such operation")
	}
	in := &openapi3filter.RequestValidationInput{
		Request: req,
		Route:   &routers.Route{Spec: c.doc, Path: req.URL.Path, PathItem: item, Method: req.Method, Operation: item.GetOperation(req.Method)},
		Options: &openapi3filter.Options{IncludeResponseStatus: true, AuthenticationFunc: bearsSomething},
	}
	asked = openapi3filter.ValidateRequest(context.Background(), in)
	answered = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: resp.StatusCode, Header: resp.Header, Body: resp.Body, Options: in.Options,
	})
	return asked, answered
}

// bearsSomething is all that a document can say about a secret.
func bearsSomething(_ context.Context, in *openapi3filter.AuthenticationInput) error {
	if in.SecurityScheme.Scheme != "bearer" || !strings.HasPrefix(in.RequestValidationInput.Request.Header.Get("Authorization"), "Bearer ") {
		return errors.New("no bearer")
	}
	return nil
}

// endless is a body of which nothing comes before the exchange is over.
type endless chan struct{}

func (e endless) Read([]byte) (int, error) { <-e; return 0, io.EOF }

// documented lists every answer that the document has.
func (c *contract) documented() map[string]bool {
	all := map[string]bool{}
	for path, item := range c.doc.Paths.Map() {
		for method, operation := range item.Operations() {
			for status := range operation.Responses.Map() {
				all[method+" "+path+" "+status] = true
			}
		}
	}
	return all
}

// Holds docs/spec/02-inbound.md, "Errors": the document describes the requests that are
// taken and every answer that is given, and nothing that is not.
func TestContract(t *testing.T) {
	var c *contract
	deployed(t, setup{env: []string{"CONSOLE_API_KEY=" + operatorKey, "INBOUND_RPM=6"}, rules: func(rules *tenant.Rules) {
		rules.Audience = tenant.Audience{Mode: tenant.AudienceExcept, Subscribers: []contact.SubscriberID{"900000009"}}
	}}, nil, func(d *deployment) {
		_, text := d.document()
		c = newContract(t, text)
		if len(c.doc.Servers) != 1 || c.doc.Servers[0].URL != "https://agent.example" || c.doc.Info.Version != app.Version {
			t.Errorf("the document is of version %s, its servers are %v", c.doc.Info.Version, c.doc.Servers)
		}
		for _, e := range slices.Concat(messageExchanges(), contactExchanges(), pauseExchanges(), refusedExchanges(), processExchanges(), consoleExchanges()) {
			c.hold(d.base, d.http.Do, e)
		}
	})
	folder := t.TempDir()
	synctest.Test(t, func(t *testing.T) { c.holdBroken(t, folder) })
	if diff := cmp.Diff(c.documented(), c.exercised); diff != "" {
		t.Errorf("answers (-documented +given):\n%s", diff)
	}
}

// holdBroken holds the answers of services that cannot do their work against the document.
func (c *contract) holdBroken(t *testing.T, folder string) {
	t.Helper()
	message := exchange{
		name: "a callback that ManyChat would refuse", to: "POST " + inbound.MessagePath, headers: withJSON(newSecret),
		body: `{"subscriber_id":"900000001","text":"hello"}`, status: 200, says: `{"error":"internal"}`, allowed: true,
	}
	_, bad := bare(t, folder, "http://agent.example")
	c.hold("", bad, message)

	service, gone := bare(t, filepath.Join(folder, "gone"), "https://agent.example")
	if err := service.Close(); err != nil {
		t.Fatal(err)
	}
	message.name, message.says = "a message that cannot be recorded", escalation
	c.hold("", gone, message)
	c.hold("", gone, exchange{
		name: "a pause that is not kept", to: "POST " + inbound.PausePath, headers: withJSON(newSecret),
		body: `{"subscriber_id":"900000006"}`, status: 503, says: `{"error":"unavailable","message":"`, allowed: true,
	})
	c.hold("", gone, exchange{name: "not ready", to: "GET /ready", status: 503, says: `"status":"unavailable"`, allowed: true})
	c.hold("", gone, exchange{
		name: "no console", to: "GET " + console.TurnsPath + "?subscriber=900000001", headers: []string{"Authorization", "Bearer " + operatorKey},
		status: 503, says: `{"error":"unavailable"}`, allowed: true,
	})
}

// bare is a service that was not started, and how to ask it without a network. Its base
// URL is not checked.
func bare(t *testing.T, folder, baseURL string) (*app.Service, func(*http.Request) (*http.Response, error)) {
	t.Helper()
	c, err := config.Load(config.Source{Mode: config.Serve, Environ: []string{
		"DATABASE_URL=sqlite:" + filepath.Join(folder, "agent.db"), "AGENT_MODEL=mock:demo", "PUBLIC_BASE_URL=https://agent.example",
		"MANYCHAT_SHARED_SECRET=" + newSecret, "MANYCHAT_API_TOKEN=" + apiToken, "MANYCHAT_REPLY_FLOW_NS=content20260101000000_000002",
		"CONSOLE_API_KEY=" + operatorKey,
	}})
	if err != nil {
		t.Fatal(err)
	}
	c.Public.BaseURL = config.URL(baseURL)
	business := academy(t, c.Tenant.ID)
	service, err := app.New(t.Context(), app.Options{
		Config: c, Tenant: business, Models: []attempt.Model{{Name: "mock:demo", Model: mock.New()}}, Now: time.Now, Log: slog.New(slog.DiscardHandler), NoWorker: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	service.Register(mux)
	t.Cleanup(func() {
		service.Drain(context.Background())
		_ = service.Close() // of one that may be closed already
	})
	return service, func(req *http.Request) (*http.Response, error) {
		rec := httptest.NewRecorder()
		mux.ServeHTTP(rec, req)
		return rec.Result(), nil
	}
}

// Holds docs/spec/02-inbound.md, "Errors": the document is strict enough to tell when an
// answer changes.
func TestContractRefusesOtherAnswers(t *testing.T) {
	text, err := os.ReadFile(committedDocument)
	if err != nil {
		t.Fatal(err)
	}
	c := newContract(t, string(text))
	const (
		message  = "POST " + inbound.MessagePath
		turns    = "GET " + console.TurnsPath + "?subscriber=1"
		callback = `"external_message_callback":{"url":"https://agent.example/v1/channels/manychat/message","method":"post","timeout":86400,"payload":{"text":"x"}}`
	)
	block := func(content string) string { return `{"version":"v2","content":` + content + `}` }
	tests := []struct {
		name, to string
		status   int
		body     string
		retry    string // Retry-After
		want     bool   // the document has it
	}{
		{"a reply", message, 200, block(`{"type":"whatsapp","messages":[{"type":"text","text":"x"}],` + callback + `}`), "", true},
		{"not even a handoff", message, 200, `{"error":"internal"}`, "", true},
		{"another error", message, 200, `{"error":"other"}`, "", false},
		{"nothing", message, 200, `{}`, "", false},
		{"another version", message, 200, `{"version":"v1","content":{"messages":[]}}`, "", false},
		{"one more key", message, 200, `{"version":"v2","content":{"messages":[]},"more":1}`, "", false},
		{"both", message, 200, `{"version":"v2","content":{"messages":[]},"error":"internal"}`, "", false},
		{"no messages", message, 200, block(`{"type":"whatsapp"}`), "", false},
		{"messages that are null", message, 200, block(`{"messages":null}`), "", false},
		{"another channel", message, 200, block(`{"type":"pigeon","messages":[]}`), "", false},
		{"quick replies", message, 200, block(`{"messages":[],"quick_replies":[]}`), "", false},
		{"an empty text", message, 200, block(`{"messages":[{"type":"text","text":""}]}`), "", false},
		{"a long text", message, 200, block(`{"messages":[{"type":"text","text":"` + strings.Repeat("x", 2001) + `"}]}`), "", false},
		{"too many texts", message, 200, block(`{"messages":[` + strings.Repeat(`{"type":"text","text":"x"},`, 10) + `{"type":"text","text":"x"}]}`), "", false},
		{"an image", message, 200, block(`{"messages":[{"type":"image","url":"https://agent.example/a.jpg"}]}`), "", false},
		{"a callback over http", message, 200, block(`{"messages":[],` + strings.Replace(callback, "https", "http", 1) + `}`), "", false},
		{"a callback of another key", message, 200, block(`{"messages":[],` + strings.Replace(callback, `{"text"`, `{"txet"`, 1) + `}`), "", false},
		{"a callback for too long", message, 200, block(`{"messages":[],` + strings.Replace(callback, "86400", "86401", 1) + `}`), "", false},
		{"a refusal", message, 400, `{"error":"bad_request","key":"text","message":"x"}`, "", true},
		{"a refusal of another status", message, 400, `{"error":"unauthorized"}`, "", false},
		{"a refusal without a word", message, 400, `{"message":"x"}`, "", false},
		{"a refusal with more", message, 400, `{"error":"bad_request","value":"x"}`, "", false},
		{"wait", message, 429, `{"error":"too_many_requests"}`, "1", true},
		{"wait for how long", message, 429, `{"error":"too_many_requests"}`, "", false},
		{"wait for no time", message, 429, `{"error":"too_many_requests"}`, "0", false},
		{"wait for a word", message, 429, `{"error":"too_many_requests"}`, "soon", false},
		{"a status that is not there", message, 500, `{"error":"internal"}`, "", false},
		{"a method that is not there", "PUT " + inbound.MessagePath, 200, `{"error":"internal"}`, "", false},
		{"turns", turns, 200, `{"turns":[]}`, "", true},
		{"turns that are null", turns, 200, `{"turns":null}`, "", false},
		{"a turn without anything", turns, 200, `{"turns":[{}]}`, "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := httptest.NewRecorder()
			rec.Header().Set("Content-Type", "application/json")
			if tt.retry != "" {
				rec.Header().Set("Retry-After", tt.retry)
			}
			rec.WriteHeader(tt.status)
			rec.WriteString(tt.body)
			if _, err := c.judge(exchange{to: tt.to}.request(""), rec.Result()); (err == nil) != tt.want {
				t.Errorf("%d %s: the document has it: %t, %v", tt.status, tt.body, err == nil, err)
			}
		})
	}
}

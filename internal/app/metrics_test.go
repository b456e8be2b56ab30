package app_test

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/inbound"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/internal/telemetry"
	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
)

// Holds docs/spec/16-operations.md, "Logs, metrics, traces": what the endpoint and the turns
// did is on /metrics of METRICS_ADDR, and not on the service's own address.
func TestMetrics(t *testing.T) {
	service, metrics := serveOnSockets(t)
	post := func(body string, headers ...string) {
		t.Helper()
		r := &rig{t: t, base: service, http: http.DefaultClient}
		r.post(inbound.MessagePath, body, headers...)
	}
	withSecret := []string{"Authorization", "Bearer " + newSecret}
	post(`{"subscriber_id":"900000001","text":"hello"}`, withSecret...)
	post(`{"subscriber_id":"900000001","text":"hello","ai_token":"wrong"}`, withSecret...)
	post(`{"subscriber_id":"{{user_id}}","text":"x"}`, withSecret...)
	post(`{}`)
	page := get(t, metrics+"/metrics")
	for _, want := range []string{
		`manychat_agent_turn_bindings_total{bound="true",enforced="true"} 1`,
		`manychat_agent_turn_bindings_total{bound="false",enforced="true"} 1`,
		`manychat_agent_inbound_events_total{event="refused_unauthorized"} 1`,
		`manychat_agent_inbound_events_total{event="subscriber_id_unrendered"} 1`,
		`manychat_agent_inbound_events_total{event="plain_request"} 3`,
		`manychat_agent_contact_token_events_total{event="issued"} 2`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("/metrics lacks %s", want)
		}
	}
	if resp, err := http.Get(service + "/metrics"); err != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("the service's own address answers %v, %v for /metrics", resp, err)
	}
}

// Holds docs/spec/16-operations.md, "Logs, metrics, traces": every event of the endpoint has
// a name there.
func TestEveryEventIsCounted(t *testing.T) {
	m := telemetry.NewMetrics()
	for _, event := range inbound.Events() {
		m.Inbound(event)
	}
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, event := range inbound.Events() {
		if !strings.Contains(w.Body.String(), `event="`+event+`"} 1`) {
			t.Errorf("%s is counted as another event", event)
		}
	}
}

// serveOnSockets runs the service on real sockets and returns its address and that of its
// metrics.
func serveOnSockets(t *testing.T) (service, metrics string) {
	t.Helper()
	c, business := load(t, config.Serve, append(serving(t.TempDir()), "METRICS_ADDR=127.0.0.1:0"))
	log := &safeBuffer{}
	account := newAccount(t, manychat.WhatsApp, http.DefaultClient, nil)
	built, err := app.New(t.Context(), app.Options{
		Config: c, Tenant: business, Models: []attempt.Model{{Name: "mock:demo", Model: mock.New()}}, Now: time.Now, Transport: manychattest.Transport(account),
		Log: telemetry.NewLogger(io.MultiWriter(log, &captured), slog.LevelDebug, telemetry.JSON),
	})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	built.Register(mux)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- built.Serve(ctx, app.Front{Listener: listener, Handler: mux}) }()
	t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := built.Close(); err != nil {
			t.Error(err)
		}
		account.Close()
	})
	service = "http://" + listener.Addr().String()
	get(t, service+"/health") // it is up, and has said where the metrics are
	said := regexp.MustCompile(`"metrics are served","address":"([^"]+)"`).FindStringSubmatch(log.String())
	if said == nil {
		t.Fatalf("the log does not say where the metrics are:\n%s", log.String())
	}
	return service, "http://" + said[1]
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/config"
)

// variables is the table of docs/spec/10-config.md, "Variables", in its order.
const variables = `AGENT_MODEL AGENT_FALLBACK_MODEL AGENT_MAX_OUTPUT_TOKENS AGENT_TEMPERATURE AGENT_REASONING_EFFORT
ANTHROPIC_API_KEY OPENAI_API_KEY GOOGLE_GENERATIVE_AI_API_KEY OLLAMA_BASE_URL OPENAI_COMPATIBLE_BASE_URL OPENAI_COMPATIBLE_API_KEY
TRANSCRIPTION_MODEL INSIGHT_MODEL EVAL_JUDGE_MODEL
MANYCHAT_SHARED_SECRET MANYCHAT_API_TOKEN MANYCHAT_API_BASE MANYCHAT_REPLY_FIELD MANYCHAT_REPLY_FLOW_NS MANYCHAT_TOKEN_FIELD MANYCHAT_REPLY_GAP_MS MANYCHAT_RPS_SCALE
PUBLIC_BASE_URL
CALLBACK CALLBACK_CONTACT_ID WHATSAPP_JOIN MEDIA_HOSTS HANDOFF_WEBHOOK_SECRET TLS_CERT_FILE TLS_KEY_FILE
OUTBOX_MAX_ATTEMPTS OUTBOX_MAX_AGE_MIN RETENTION_DAYS
CHANNEL DATABASE_URL TENANT_ID
RACE_DEADLINE_MS MODEL_ABORT_MS SHUTDOWN_GRACE_MS PROCESS_LEASE_MS TURN_MAX_ATTEMPTS MAX_INFLIGHT_TURNS INBOUND_RPM TRUST_PROXY MERGE_WAITING CONTACT_TOKENS_ENFORCED
CONSOLE_PASSWORD CONSOLE_PASSWORD_HASH CONSOLE_API_KEY
PORT HOST LOG_LEVEL LOG_FORMAT METRICS_ADDR OTEL_EXPORTER_OTLP_ENDPOINT
CONFIG_DIR EVAL_DIR`

// planned are the variables that nothing reads yet.
const planned = `AGENT_FALLBACK_MODEL AGENT_REASONING_EFFORT
ANTHROPIC_API_KEY OPENAI_API_KEY GOOGLE_GENERATIVE_AI_API_KEY OLLAMA_BASE_URL OPENAI_COMPATIBLE_BASE_URL OPENAI_COMPATIBLE_API_KEY
TRANSCRIPTION_MODEL INSIGHT_MODEL EVAL_JUDGE_MODEL
MEDIA_HOSTS HANDOFF_WEBHOOK_SECRET
RETENTION_DAYS
PROCESS_LEASE_MS INBOUND_RPM TRUST_PROXY MERGE_WAITING CONTACT_TOKENS_ENFORCED
CONSOLE_PASSWORD CONSOLE_PASSWORD_HASH
METRICS_ADDR OTEL_EXPORTER_OTLP_ENDPOINT
EVAL_DIR`

// Holds docs/spec/10-config.md, "Variables": every one is read, and documented in
// .env.example.
func TestNames(t *testing.T) {
	want := strings.Fields(variables)
	if diff := cmp.Diff(want, config.Names()); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	example, err := os.ReadFile("../../.env.example")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	for _, match := range regexp.MustCompile(`(?m)^# ([A-Z][A-Z_]+)=`).FindAllSubmatch(example, -1) {
		documented = append(documented, string(match[1]))
	}
	if diff := cmp.Diff(want, documented); diff != "" {
		t.Errorf(".env.example (-want +got):\n%s", diff)
	}
}

// Every line of .env.example is valid once it is uncommented, and those without effect
// stand under a comment that begins "Planned".
func TestExampleLoads(t *testing.T) {
	example, err := os.ReadFile("../../.env.example")
	if err != nil {
		t.Fatal(err)
	}
	variable := regexp.MustCompile(`(?m)^# ([A-Z][A-Z_]+)=`)
	source := config.Source{Mode: config.Serve, Providers: []string{config.Mock}}
	source.DotEnv = variable.ReplaceAll(example, []byte("$1="))
	got, err := config.Load(source)
	if err != nil {
		t.Fatal(err)
	}
	var marked []string
	comment := ""
	for line := range strings.Lines(string(example)) {
		if match := variable.FindStringSubmatch(line); match == nil {
			comment = line
		} else if strings.HasPrefix(comment, "# Planned") && match[1] != "CONSOLE_PASSWORD_HASH" { // empty there
			marked = append(marked, match[1]+" is set and has no effect in this version")
		}
	}
	if diff := cmp.Diff(marked, strings.Split(got.Warnings().Error(), "\n")); diff != "" {
		t.Errorf("warnings (-marked +got):\n%s", diff)
	}
}

// Holds docs/spec/10-config.md, "Variables": boot prints what is in force, secrets
// masked.
func TestSecretsAreMasked(t *testing.T) {
	const secret = "hush-hush-hush-hush"
	got, err := config.Load(served(
		"MANYCHAT_SHARED_SECRET="+secret+","+secret, "MANYCHAT_API_TOKEN=1:"+secret, "OPENAI_API_KEY="+secret,
		"DATABASE_URL=postgres://agent:"+secret+"@db/agent?sslpassword="+secret, "OTEL_EXPORTER_OTLP_ENDPOINT=https://u:"+secret+"@otel",
		"CONSOLE_PASSWORD="+secret, "CONSOLE_API_KEY="+secret, "HANDOFF_WEBHOOK_SECRET="+secret,
	))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := got.Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`(?m)^MANYCHAT_SHARED_SECRET +\[secret\],\[secret\] +environment$`,
		`(?m)^DATABASE_URL +postgres://agent@db/agent +environment$`,
		`(?m)^RACE_DEADLINE_MS +8000 +default$`,
		`(?m)^CALLBACK +on +default$`,
		`(?m)^AGENT_FALLBACK_MODEL +- +default; no effect in this version$`,
		`(?m)^CONSOLE_PASSWORD +\[secret\] +environment; no effect in this version$`,
	} {
		if !regexp.MustCompile(want).Match(out.Bytes()) {
			t.Errorf("Print lacks %s:\n%s", want, out.String())
		}
	}
	fmt.Fprintf(&out, "%v %+v %#v %s %q", got, got, got, got.Console, got.Keys)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("boot", "token", got.ManyChat.APIToken, "database", got.Tenant.Database, "config", got)
	if err := json.NewEncoder(&out).Encode(got); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "hush") {
		t.Errorf("a secret is shown:\n%s", out.String())
	}
	if got.ManyChat.APIToken.Reveal() != "1:"+secret || got.ManyChat.SharedSecrets[1].Reveal() != secret {
		t.Error("Reveal does not give the secret out")
	}
}

// Holds docs/spec/02-inbound.md, "Order of checks": addresses, ranges and names.
func TestTrustedProxies(t *testing.T) {
	got, err := config.Load(dev("TRUST_PROXY=192.0.2.7, 198.51.100.0/24,loopback,uniquelocal,linklocal"))
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{
		"192.0.2.7": true, "192.0.2.8": false, "::ffff:192.0.2.7": true, "198.51.100.200": true, "127.1.2.3": true, "::1": true,
		"172.20.0.1": true, "fd00::1": true, "fe80::1%eth0": true, "169.254.1.1": true, "203.0.113.1": false, "2001:db8::1": false,
	} {
		if got := got.Turn.TrustProxy.Trusts(netip.MustParseAddr(address)); got != want {
			t.Errorf("Trusts(%s) = %v, want %v", address, got, want)
		}
	}
	if (config.TrustedProxies{}).Trusts(netip.MustParseAddr("127.0.0.1")) {
		t.Error("no entry trusts the loopback address")
	}
}

func TestSQLiteFile(t *testing.T) {
	if file, ok := config.Database("sqlite:data/agent.db").SQLiteFile(); file != "data/agent.db" || !ok {
		t.Errorf("file = %q, %v", file, ok)
	}
	if _, ok := config.Database("postgres://h/d").SQLiteFile(); ok {
		t.Error("PostgreSQL has a file")
	}
}

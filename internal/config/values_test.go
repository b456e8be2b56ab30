package config_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
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
const planned = `TRANSCRIPTION_MODEL INSIGHT_MODEL EVAL_JUDGE_MODEL
MEDIA_HOSTS
CONSOLE_PASSWORD CONSOLE_PASSWORD_HASH
OTEL_EXPORTER_OTLP_ENDPOINT
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
	source := config.Source{Mode: config.Serve}
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
		"CONSOLE_PASSWORD="+secret, "CONSOLE_API_KEY="+secret, "HANDOFF_WEBHOOK_SECRET=another-"+secret,
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
		`(?m)^TRANSCRIPTION_MODEL +- +default; no effect in this version$`,
		`(?m)^HANDOFF_WEBHOOK_SECRET +\[secret\] +environment$`,
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
	tests := []struct{ name, value, want string }{
		{"address", "192.0.2.7", "192.0.2.7/32"},
		{"IPv6 address", "2001:db8::7", "2001:db8::7/128"},
		{"address mapped into IPv6", "::ffff:192.0.2.7", "192.0.2.7/32"},
		{"range", "198.51.100.0/24", "198.51.100.0/24"},
		{"range by one of its addresses", "198.51.100.9/24", "198.51.100.0/24"},
		{"IPv6 range", "2001:db8::1/32", "2001:db8::/32"},
		{"range mapped into IPv6", "::ffff:198.51.100.0/120", "198.51.100.0/24"},
		{"every address", "0.0.0.0/0,::/0", "0.0.0.0/0,::/0"},
		{"loopback", "loopback", "127.0.0.0/8,::1/128"},
		{"link-local", "linklocal", "169.254.0.0/16,fe80::/10"},
		{"private", "uniquelocal", "10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7"},
		{"several", "192.0.2.7, 198.51.100.0/24 ,loopback", "192.0.2.7/32,198.51.100.0/24,127.0.0.0/8,::1/128"},
		{"none", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := config.Load(dev("TRUST_PROXY=" + tt.value))
			if err != nil {
				t.Fatal(err)
			}
			if got := got.Turn.TrustProxy.String(); got != tt.want {
				t.Errorf("trusts %s, want %s", got, tt.want)
			}
		})
	}
}

// Holds docs/spec/02-inbound.md, "Order of checks": an entry that is none of these
// fails boot.
func TestNoTrustedProxies(t *testing.T) {
	for _, entry := range []string{
		"proxy.example", "192.0.2", "192.0.2.256", "192.0.2.7:80", "[::1]", "fe80::1%eth0", "fe80::%eth0/64", "10.0.0.0/33", "10.0.0.0/", "/8",
		"::1/129", "::ffff:10.0.0.0/90", "Loopback", "local", "*", "true", "1", "",
	} {
		t.Run(entry, func(t *testing.T) {
			_, err := config.Load(dev("TRUST_PROXY=loopback," + entry))
			want := []string{fmt.Sprintf("TRUST_PROXY holds the entry %q: set each to an address, a range such as 10.0.0.0/8, loopback, linklocal or uniquelocal", entry)}
			if diff := cmp.Diff(want, sentences(t, err)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
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

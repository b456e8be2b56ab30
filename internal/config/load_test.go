package config_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/contact"
)

// namespace is what a flow's has to be.
const namespace = "the namespace of a flow, such as content20260101000000_000001, which is the last part of its address in the browser: letters, digits and _ only"

// served is the least that serve starts with.
func served(more ...string) config.Source {
	return config.Source{
		Mode: config.Serve,

		Environ: append([]string{
			"AGENT_MODEL=mock:demo",
			"MANYCHAT_SHARED_SECRET=invented-secret-1",
			"MANYCHAT_API_TOKEN=1:invented",
			"MANYCHAT_REPLY_FLOW_NS=ns",
			"PUBLIC_BASE_URL=https://agent.example/",
		}, more...),
	}
}

func dev(environ ...string) config.Source {
	return config.Source{Mode: config.Dev, Environ: environ}
}

// Holds docs/spec/10-config.md, "Variables": the defaults; dev needs nothing.
func TestLoadDefaults(t *testing.T) {
	got, err := config.Load(dev())
	if err != nil {
		t.Fatal(err)
	}
	want := config.Config{
		Mode:     config.Dev,
		Agent:    config.Agent{Model: config.Model{Provider: "mock", Name: "demo"}, MaxOutputTokens: 800, Temperature: 0.3},
		ManyChat: config.ManyChat{APIBase: "https://api.manychat.com", ReplyField: "ai_message", TokenField: "ai_token", ReplyGap: 2 * time.Second, RPSScale: 1},
		Public:   config.Public{Callback: true, WhatsAppJoin: true},
		Outbox:   config.Outbox{MaxAttempts: 12, MaxAge: 6 * time.Hour},
		Tenant:   config.Tenant{Channel: contact.WhatsApp, Database: "sqlite:data/agent.db", ID: "demo"},
		Turn: config.Turn{
			RaceDeadline: 8 * time.Second, ModelAbort: 30 * time.Second, ShutdownGrace: 25 * time.Second, ProcessLease: 15 * time.Second,
			MaxAttempts: 2, MaxInFlight: 10000, InboundRPM: 300, MergeWaiting: true, EnforceTokens: true,
		},
		Server:  config.Server{Port: 3000, Host: "127.0.0.1", LogLevel: "info", LogFormat: "json"},
		Folders: config.Folders{Config: "config", Eval: "evals/golden"},
	}
	if diff := cmp.Diff(want, got, ignoreUnexported); diff != "" {
		t.Errorf("config (-want +got):\n%s", diff)
	}
}

var ignoreUnexported = cmp.FilterPath(func(p cmp.Path) bool {
	field, ok := p.Last().(cmp.StructField)
	return ok && strings.ToLower(field.Name()[:1]) == field.Name()[:1]
}, cmp.Ignore())

// Holds docs/spec/10-config.md, "Variables": one sentence a problem, each saying what
// to do.
func TestLoadProblems(t *testing.T) {
	tests := []struct {
		name    string
		environ []string
		want    []string
	}{
		{"nothing is wrong", nil, nil},
		{"model", []string{"AGENT_MODEL=claude"}, []string{`AGENT_MODEL is "claude": set it to provider:model, such as mock:demo`}},
		{"provider", []string{"AGENT_MODEL=antropic:x"}, []string{`AGENT_MODEL names the provider "antropic": set it to one of anthropic, openai, google, ollama, openai-compatible, mock (did you mean anthropic?)`}},
		{"provider like no other", []string{"AGENT_MODEL=oracle:wise"}, []string{`AGENT_MODEL names the provider "oracle": set it to one of anthropic, openai, google, ollama, openai-compatible, mock`}},
		{"model with white space", []string{"AGENT_MODEL=anthropic: claude"}, []string{`AGENT_MODEL is "anthropic: claude": set it to provider:model without white space, such as mock:demo`}},
		{"fallback without its key", []string{"AGENT_FALLBACK_MODEL=openai:gpt"}, []string{`OPENAI_API_KEY is required, since AGENT_FALLBACK_MODEL is openai:gpt: set it in .env or in the environment`}},
		{"fallback like the model", []string{"AGENT_MODEL=mock:demo", "AGENT_FALLBACK_MODEL=mock:demo"}, []string{`AGENT_FALLBACK_MODEL is "mock:demo" like AGENT_MODEL: set it to another model, or unset it`}},
		{"mock model that there is none of", []string{"AGENT_MODEL=mock:wise"}, []string{`AGENT_MODEL is "mock:wise": the provider mock has one model, so set it to mock:demo`}},
		{"api token", []string{"MANYCHAT_API_TOKEN=hush"}, []string{`MANYCHAT_API_TOKEN is not of the form <account id>:<secret>: copy it whole from ManyChat, Settings, API`}},
		{"api token without its secret", []string{"MANYCHAT_API_TOKEN=1234567:"}, []string{`MANYCHAT_API_TOKEN is not of the form <account id>:<secret>: copy it whole from ManyChat, Settings, API`}},
		{"flow with white space", []string{"MANYCHAT_REPLY_FLOW_NS=content 1"}, []string{`MANYCHAT_REPLY_FLOW_NS is "content 1": set it to ` + namespace}},
		{"flow by its address", []string{"MANYCHAT_REPLY_FLOW_NS=https://app.example/fb1/content1"}, []string{`MANYCHAT_REPLY_FLOW_NS is "https://app.example/fb1/content1": set it to ` + namespace}},
		{"short console key", []string{"CONSOLE_API_KEY=hush"}, []string{`CONSOLE_API_KEY has 4 characters: it needs at least 16 (openssl rand -hex 32 makes one)`}},
		{"whole number", []string{"AGENT_MAX_OUTPUT_TOKENS=many"}, []string{`AGENT_MAX_OUTPUT_TOKENS is "many": set it to a whole number from 1 to 100000`}},
		{"number", []string{"AGENT_TEMPERATURE=NaN"}, []string{`AGENT_TEMPERATURE is "NaN": set it to a number from 0 to 2`}},
		{"effort", []string{"AGENT_REASONING_EFFORT=max"}, []string{`AGENT_REASONING_EFFORT is "max": set it to one of minimal, low, medium, high`}},
		{"short secret", []string{"MANYCHAT_SHARED_SECRET=abc"}, []string{`MANYCHAT_SHARED_SECRET holds a secret of 3 characters: each needs at least 16 (openssl rand -hex 32 makes one)`}},
		{"trailing comma", []string{"MANYCHAT_SHARED_SECRET=invented-secret-1,"}, []string{`MANYCHAT_SHARED_SECRET holds a secret of 0 characters: each needs at least 16 (openssl rand -hex 32 makes one)`}},
		{"three secrets", []string{"MANYCHAT_SHARED_SECRET=a,b,c"}, []string{`MANYCHAT_SHARED_SECRET holds 3 secrets: set one, or two during a rotation, with a comma between them`}},
		{"api base", []string{"MANYCHAT_API_BASE=api.manychat.com"}, []string{`MANYCHAT_API_BASE is not a URL: set it to an address that begins with https:// or http://`}},
		{"api base with a port that there is not", []string{"MANYCHAT_API_BASE=https://api.example:70000"}, []string{`MANYCHAT_API_BASE is not a URL: set it to an address that begins with https:// or http://`}},
		{"api base with a space", []string{"MANYCHAT_API_BASE=https://api.example/a b"}, []string{`MANYCHAT_API_BASE is not a URL: set it to an address that begins with https:// or http://`}},
		{"gap", []string{"MANYCHAT_REPLY_GAP_MS=10001"}, []string{`MANYCHAT_REPLY_GAP_MS is "10001": set it to a whole number from 0 to 10000 (milliseconds)`}},
		{"scale", []string{"MANYCHAT_RPS_SCALE=0"}, []string{`MANYCHAT_RPS_SCALE is "0": set it to a number from 0.01 to 1000`}},
		{"fields of delivery", []string{"MANYCHAT_TOKEN_FIELD=ai_message"}, []string{`MANYCHAT_TOKEN_FIELD is "ai_message" like MANYCHAT_REPLY_FIELD: set it to a custom field of its own`}},
		{"public address", []string{"PUBLIC_BASE_URL=http://agent.example"}, []string{`PUBLIC_BASE_URL is "http://agent.example": set it to an address that begins with https://, since ManyChat calls no other`}},
		{"public address with a query", []string{"PUBLIC_BASE_URL=https://agent.example/?a=b"}, []string{`PUBLIC_BASE_URL holds a query or a fragment: set it to the address alone, such as https://agent.example.com`}},
		{"no public address", []string{"PUBLIC_BASE_URL="}, []string{`PUBLIC_BASE_URL is required: set it to the https address of this service, or set CALLBACK=off`}},
		{"no public address and no callback", []string{"PUBLIC_BASE_URL=", "CALLBACK=off"}, nil},
		{"switch", []string{"CALLBACK=maybe"}, []string{`CALLBACK is "maybe": set it to true or false (on and off do too)`}},
		{"certificate alone", []string{"TLS_CERT_FILE=c"}, []string{`TLS_KEY_FILE is required beside TLS_CERT_FILE: set both, or neither behind a TLS proxy`}},
		{"key alone", []string{"TLS_KEY_FILE=k"}, []string{`TLS_CERT_FILE is required beside TLS_KEY_FILE: set both, or neither behind a TLS proxy`}},
		{"compatible server", []string{"OPENAI_COMPATIBLE_BASE_URL=http://u:hush@127.0.0.1/"}, []string{`OPENAI_COMPATIBLE_BASE_URL is "http://u@127.0.0.1": set it to an address that ends in /v1`}},
		{"compatible server with the path of its requests", []string{"OPENAI_COMPATIBLE_BASE_URL=http://u:hush@127.0.0.1/v1/chat/completions"}, []string{`OPENAI_COMPATIBLE_BASE_URL is "http://u@127.0.0.1/v1/chat/completions": leave /chat/completions out, which is added to it, so that it ends in /v1`}},
		{"channel", []string{"CHANNEL=WhatsApp"}, []string{`CHANNEL is "WhatsApp": set it to one of whatsapp, instagram, messenger, telegram`}},
		{"database", []string{"DATABASE_URL=mysql://u:hush@h/d"}, []string{`DATABASE_URL names no known database: set it to sqlite: and a file, or to postgres://user:password@host/database`}},
		{"database without a file", []string{"DATABASE_URL=sqlite:"}, []string{`DATABASE_URL names no file: set it to sqlite: and a file, such as sqlite:data/agent.db`}},
		{"database with a raw password", []string{"DATABASE_URL=postgres://u:p%ss@h/d"}, []string{`DATABASE_URL is not a PostgreSQL URL: set it to postgres://user:password@host/database (percent-encode special characters of the password)`}},
		{"tenant", []string{"TENANT_ID=A b"}, []string{`TENANT_ID is "A b": set it to an id of lower-case letters, digits, _ and -`}},
		{"deadline", []string{"RACE_DEADLINE_MS=8501"}, []string{`RACE_DEADLINE_MS is "8501": set it to a whole number from 1 to 8500 (milliseconds)`}},
		{"abort", []string{"MODEL_ABORT_MS=8000"}, []string{`MODEL_ABORT_MS is 8000: set it to more than RACE_DEADLINE_MS, which is 8000`}},
		{"proxy", []string{"TRUST_PROXY=loopback,10.0.0.0/40"}, []string{`TRUST_PROXY holds the entry "10.0.0.0/40": set each to an address, a range such as 10.0.0.0/8, loopback, linklocal or uniquelocal`}},
		{"two passwords", []string{"CONSOLE_PASSWORD=a", "CONSOLE_PASSWORD_HASH=b"}, []string{`CONSOLE_PASSWORD is set beside CONSOLE_PASSWORD_HASH: set one of the two`}},
		{"metrics address", []string{"METRICS_ADDR=9090"}, []string{`METRICS_ADDR is "9090": set it to an address such as 127.0.0.1:9090`}},
		{"all at once, in the order of the page, with a misspelling", []string{"PORT=x", "MANYCHAT_API_TOKEN=", "MANYCHAT_API_TOKN=hush", "AGENT_MODEL="}, []string{
			`AGENT_MODEL is required: set it in .env or in the environment`,
			`MANYCHAT_API_TOKEN is required: set it in .env or in the environment`,
			`PORT is "x": set it to a whole number from 0 to 65535`,
			`MANYCHAT_API_TOKN is not a variable of this program and is ignored: did you mean MANYCHAT_API_TOKEN?`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := config.Load(served(tt.environ...))
			if diff := cmp.Diff(tt.want, sentences(t, err)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// Holds docs/spec/13-sandbox.md: the sandbox is for this machine alone. Commands that
// run once serve nobody, and take the HOST of a deployment.
func TestLoadDevHost(t *testing.T) {
	for host, want := range map[string]string{
		"":          "",
		"localhost": "",
		"127.0.0.2": "",
		"::1":       "",
		"0.0.0.0":   `HOST is "0.0.0.0": dev listens on this machine only; unset HOST, or use serve`,
		"box.lan":   `HOST is "box.lan": dev listens on this machine only; unset HOST, or use serve`,
	} {
		_, err := config.Load(dev("HOST=" + host))
		if got := strings.Join(sentences(t, err), "\n"); got != want {
			t.Errorf("HOST=%s in dev: problems = %q, want %q", host, got, want)
		}
		if _, err := config.Load(served("HOST=" + host)); err != nil {
			t.Errorf("HOST=%s in serve: %v", host, err)
		}
		once := dev("HOST=" + host)
		once.Mode = config.Once
		if _, err := config.Load(once); err != nil {
			t.Errorf("HOST=%s of a command: %v", host, err)
		}
	}
}

// Holds docs/spec/10-config.md, "Variables": what a version accepts and does not use is
// said.
func TestLoadWithoutEffect(t *testing.T) {
	got, err := config.Load(dev("MEDIA_HOSTS=media.example", "CONSOLE_PASSWORD=hush", "PORT=1"))
	if err != nil {
		t.Fatal(err)
	}
	want := "MEDIA_HOSTS is set and has no effect in this version\nCONSOLE_PASSWORD is set and has no effect in this version"
	if diff := cmp.Diff(want, got.Warnings().Error()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
	for _, v := range got.Values() {
		if planned := slices.Contains(strings.Fields(planned), v.Name); v.Planned != planned {
			t.Errorf("%s: planned is %v, want %v", v.Name, v.Planned, planned)
		}
	}
	_, err = config.Load(dev("MEDIA_HOSTS=media.example", "PORT=x"))
	if diff := cmp.Diff([]string{`PORT is "x": set it to a whole number from 0 to 65535`}, sentences(t, err)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// The values are there beside the problems, and none is shown that was not set.
func TestLoadValuesWithProblems(t *testing.T) {
	got, err := config.Load(served("PORT=x", "MODEL_ABORT_MS=100", "OUTBOX_MAX_AGE_MIN=30", "CALLBACK=no", "MANYCHAT_API_TOKEN="))
	if err == nil {
		t.Fatal("Load accepts a port that is none")
	}
	shown := map[string]string{}
	for _, v := range got.Values() {
		shown[v.Name] = v.Value
	}
	for name, want := range map[string]string{
		"PORT": "(not valid)", "MODEL_ABORT_MS": "100", "OUTBOX_MAX_AGE_MIN": "30", "CALLBACK": "off", "WHATSAPP_JOIN": "true",
		"MANYCHAT_API_TOKEN": "", "RETENTION_DAYS": "0", "MANYCHAT_REPLY_GAP_MS": "2000", "RACE_DEADLINE_MS": "8000",
	} {
		if shown[name] != want {
			t.Errorf("%s is shown as %q, want %q", name, shown[name], want)
		}
	}
}

func sentences(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var problems config.Problems
	if !errors.As(err, &problems) {
		t.Fatalf("Load returned a %T, want Problems", err)
	}
	if strings.Contains(err.Error(), "hush") {
		t.Errorf("the error holds a secret: %v", err)
	}
	return strings.Split(err.Error(), "\n")
}

// Holds docs/spec/10-config.md, "Variables": only the active provider's key is needed.
func TestLoadProviderKeys(t *testing.T) {
	tests := []struct {
		model, key, want string
	}{
		{"anthropic:m", "", "ANTHROPIC_API_KEY is required, since AGENT_MODEL is anthropic:m: set it in .env or in the environment"},
		{"anthropic:m", "ANTHROPIC_API_KEY=k", ""},
		{"openai:m", "ANTHROPIC_API_KEY=k", "OPENAI_API_KEY is required, since AGENT_MODEL is openai:m: set it in .env or in the environment"},
		{"google:m", "", "GOOGLE_GENERATIVE_AI_API_KEY is required, since AGENT_MODEL is google:m: set it in .env or in the environment"},
		{"ollama:m:8b", "", "OLLAMA_BASE_URL is required, since AGENT_MODEL is ollama:m:8b: set it in .env or in the environment"},
		{"openai-compatible:m", "OPENAI_COMPATIBLE_BASE_URL=http://h/v1", ""},
		{"openai-compatible:m", "", "OPENAI_COMPATIBLE_BASE_URL is required, since AGENT_MODEL is openai-compatible:m: set it in .env or in the environment"},
		{"mock:demo", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.model+" "+tt.key, func(t *testing.T) {
			source := dev("AGENT_MODEL="+tt.model, "INSIGHT_MODEL="+tt.model, tt.key)
			_, err := config.Load(source)
			if got := strings.Join(sentences(t, err), "\n"); got != tt.want {
				t.Errorf("problems = %q, want %q", got, tt.want)
			}
		})
	}
}

// Holds docs/spec/10-config.md, "Variables": white space around a value is no part of it,
// wherever it comes from, and a value of nothing else counts as unset.
func TestLoadTrims(t *testing.T) {
	for _, space := range []string{" ", "\t", "\n", "\r\n", " \n\n"} {
		source := served(
			"AGENT_MODEL="+space+"openai:gpt"+space, "OPENAI_API_KEY="+space+"invented"+space, "OPENAI_COMPATIBLE_API_KEY="+space,
			"MANYCHAT_API_TOKEN="+space+"1:invented"+space, "MANYCHAT_SHARED_SECRET=invented-secret-1"+space+","+space+"invented-secret-2"+space,
			"PORT="+space+"1"+space, "CALLBACK="+space+"off"+space, "CONFIG_DIR="+space+"shop"+space, "PUBLIC_BASE_URL="+space,
			"LOG_LEVEL="+space,
		)
		source.DotEnv = []byte("LOG_LEVEL=' warn '\n")
		got, err := config.Load(source)
		if err != nil {
			t.Fatalf("with %q around every value: %v", space, err)
		}
		shown := []string{
			got.Agent.Model.String(), got.Keys.OpenAI.Reveal(), got.Keys.OpenAICompatible.Reveal(), got.ManyChat.APIToken.Reveal(),
			got.ManyChat.SharedSecrets[0].Reveal(), got.ManyChat.SharedSecrets[1].Reveal(), got.Folders.Config, got.Server.LogLevel,
		}
		want := []string{"openai:gpt", "invented", "", "1:invented", "invented-secret-1", "invented-secret-2", "shop", "warn"}
		if diff := cmp.Diff(want, shown); diff != "" || got.Server.Port != 1 || got.Public.Callback {
			t.Errorf("with %q around every value (-want +got):\n%s", space, diff)
		}
	}
}

// Holds docs/spec/10-config.md, "Variables": a key of blanks is missing, and one with what
// no key has is refused, alike for every provider.
func TestLoadKeys(t *testing.T) {
	const odd = " holds a space, a quote or another character that no key has: copy it again"
	const inQuotes = " is in quotes, which would be a part of it: write it without them"
	for model, name := range map[string]string{
		"anthropic:m": "ANTHROPIC_API_KEY", "openai:m": "OPENAI_API_KEY", "google:m": "GOOGLE_GENERATIVE_AI_API_KEY",
		"openai-compatible:m": "OPENAI_COMPATIBLE_API_KEY",
	} {
		missing := name + " is required, since AGENT_MODEL is " + model + ": set it in .env or in the environment"
		if model == "openai-compatible:m" {
			missing = "" // not every server asks for a key
		}
		for value, want := range map[string]string{
			"": missing, "  ": missing, "\n": missing, "hush": "", "\thush\r\n": "",
			"hu sh": name + odd, "hush\nhush": name + odd, "hush’": name + odd, "\"hush": name + odd, "hush'": name + odd,
			`"hush"`: name + inQuotes, `'hush'`: name + inQuotes, `""`: name + inQuotes, " 'hush' ": name + inQuotes,
		} {
			_, err := config.Load(dev("AGENT_MODEL="+model, "OPENAI_COMPATIBLE_BASE_URL=http://h/v1", name+"="+value))
			if got := strings.Join(sentences(t, err), "\n"); got != want {
				t.Errorf("%s=%q: problems = %q, want %q", name, value, got, want)
			}
		}
	}
}

// Holds docs/spec/10-config.md, "Variables": quotes that were left around a secret are not
// taken for a part of it.
func TestLoadQuotedSecrets(t *testing.T) {
	for _, name := range []string{"MANYCHAT_SHARED_SECRET", "MANYCHAT_API_TOKEN", "HANDOFF_WEBHOOK_SECRET", "CONSOLE_PASSWORD", "CONSOLE_PASSWORD_HASH", "CONSOLE_API_KEY"} {
		for _, value := range []string{`"hush-hush-hush-hush"`, `'hush-hush-hush-hush'`} {
			_, err := config.Load(served(name + "=" + value))
			want := []string{name + " is in quotes, which would be a part of it: write it without them"}
			if diff := cmp.Diff(want, sentences(t, err)); diff != "" {
				t.Errorf("%s=%s: problems (-want +got):\n%s", name, value, diff)
			}
		}
	}
	for _, value := range []string{"it's 'fine'", `5" and 7"`, `"`} {
		if got, err := config.Load(served("CONSOLE_PASSWORD=" + value)); err != nil || got.Console.Password.Reveal() != value {
			t.Errorf("the password %s is refused or changed: %v", value, err)
		}
	}
	_, err := config.Load(served(`MANYCHAT_SHARED_SECRET="hush-hush-hush-hush","hush-hush-hush-hush"`))
	if err == nil {
		t.Error("two secrets in quotes of their own are taken as they are")
	}
}

// Holds docs/spec/10-config.md, "Variables": the process environment wins over .env,
// and an empty variable counts as unset.
func TestLoadSources(t *testing.T) {
	source := dev("PORT=1", "HOST=", "LOG_LEVEL=warn")
	source.DotEnv = []byte("PORT=2\nHOST='127.0.0.1' # here\nexport TENANT_ID=shop\nCHANNEL=\nTRUST_PROXI=loopback\nUNRELATED=1\n")
	source.Terminal = true
	got, err := config.Load(source)
	if err != nil {
		t.Fatal(err)
	}
	if got.Server.Port != 1 || got.Server.Host != "127.0.0.1" || got.Tenant.ID != "shop" || got.Tenant.Channel != contact.WhatsApp || got.Server.LogFormat != "text" {
		t.Errorf("config = %+v", got)
	}
	origins := map[string]config.Origin{}
	for _, v := range got.Values() {
		origins[v.Name] = v.Origin
	}
	for name, want := range map[string]config.Origin{"PORT": config.Environment, "HOST": config.DotEnv, "CHANNEL": config.Default, "LOG_FORMAT": config.Default} {
		if origins[name] != want {
			t.Errorf("%s comes from %q, want %q", name, origins[name], want)
		}
	}
	want := "TRUST_PROXI is not a variable of this program and is ignored: did you mean TRUST_PROXY?"
	if diff := cmp.Diff(want, got.Warnings().Error()); diff != "" {
		t.Errorf("warnings (-want +got):\n%s", diff)
	}
}

// Holds docs/spec/10-config.md, "Variables": nothing of .env is cut short in silence.
func TestLoadDotEnvWithReferences(t *testing.T) {
	tests := []struct {
		name, text string
		problem    bool
	}{
		{"unquoted", "TENANT_ID=abc$TAIL", true},
		{"alone", "TENANT_ID=$TAIL", true},
		{"in double quotes", `export TENANT_ID = "abc$TAIL"`, true},
		{"in single quotes", "TENANT_ID='abc$TAIL'", false},
		{"in a comment", "# TENANT_ID=abc$TAIL\nTENANT_ID=abc # costs 5$", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			source := dev()
			source.DotEnv = []byte(tt.text)
			_, err := config.Load(source)
			const want = "TENANT_ID holds a $ in .env, which begins a reference there and would cut the value short: put the value in single quotes"
			if got := err != nil && strings.Contains(err.Error(), want); got != tt.problem {
				t.Errorf("Load reports %v, a problem was wanted: %t", err, tt.problem)
			}
		})
	}
}

func TestLoadBrokenDotEnv(t *testing.T) {
	source := dev()
	source.DotEnv = []byte("MANYCHAT_API_TOKEN=\"hush\nhush hush")
	_, err := config.Load(source)
	want := []string{".env cannot be read: write one NAME=value a line, and close every quote"}
	if diff := cmp.Diff(want, sentences(t, err)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func BenchmarkLoad(b *testing.B) {
	source := served("TRUST_PROXY=loopback")
	for b.Loop() {
		if _, err := config.Load(source); err != nil {
			b.Fatal(err)
		}
	}
}

// Holds docs/spec/10-config.md, "Variables": a webhook secret in the form of the Standard
// Webhooks specification is base64; any other text is taken as it is.
func TestLoadWebhookSecret(t *testing.T) {
	for secret, valid := range map[string]bool{
		"whsec_AAECAwQFBgcICQoLDA0ODxAREhM=": true, "whsec_AAECAwQFBgcICQoLDA0ODxAREhM": true, "invented-webhook-secret": true,
		"a-key-of-16-char": true, "whsec_AAECAwQFBgcICQoLDA0ODw": true,
		"whsec_": false, "whsec_==": false, "whsec_n*pe": false, "whsec_invented-webhook-secret": false,
	} {
		got, err := config.Load(dev("HANDOFF_WEBHOOK_SECRET=" + secret))
		switch {
		case valid && (err != nil || got.Public.HandoffWebhookSecret.Reveal() != secret):
			t.Errorf("%s is refused or changed: %v", secret, err)
		case !valid:
			want := []string{"HANDOFF_WEBHOOK_SECRET begins with whsec_ and has no base64 behind it: copy it whole, or set it to a text of your own"}
			if diff := cmp.Diff(want, sentences(t, err)); diff != "" {
				t.Errorf("%s: problems (-want +got):\n%s", secret, diff)
			}
		}
	}
}

// Holds docs/spec/10-config.md, "Variables": a webhook secret is not to be guessed, and opens
// nothing of the service for whoever receives the notices. No problem quotes it.
func TestLoadWeakWebhookSecret(t *testing.T) {
	const (
		key   = "AAECAwQFBgcICQoLDA0ODxAREhM=" // base64 of 20 bytes
		own   = ": set it to one of its own (openssl rand -hex 32 makes one)"
		of    = "HANDOFF_WEBHOOK_SECRET is that of "
		would = " too, which whoever receives the notices would have" + own
	)
	decoded := "invented-secret-1"
	tests := []struct {
		name, secret string
		more         []string
		want         []string
	}{
		{"one character", "x", nil, []string{"HANDOFF_WEBHOOK_SECRET has 1 characters: it needs at least 16 (openssl rand -hex 32 makes one)"}},
		{"15 characters", "hush-hush-hush-", nil, []string{"HANDOFF_WEBHOOK_SECRET has 15 characters: it needs at least 16 (openssl rand -hex 32 makes one)"}},
		{"15 bytes", "whsec_AAECAwQFBgcICQoLDA0O", nil, []string{"HANDOFF_WEBHOOK_SECRET is a key of 15 bytes behind whsec_: it needs at least 16 (openssl rand -base64 32 makes one)"}},
		{"the shared secret", decoded, nil, []string{of + "MANYCHAT_SHARED_SECRET" + would}},
		{"the second shared secret", "invented-secret-2", []string{"MANYCHAT_SHARED_SECRET=invented-secret-1,invented-secret-2"}, []string{of + "MANYCHAT_SHARED_SECRET" + would}},
		{"the shared secret as base64", "whsec_aW52ZW50ZWQtc2VjcmV0LTE=", nil, []string{of + "MANYCHAT_SHARED_SECRET" + would}},
		{"the shared secret behind whsec_", "whsec_" + key, []string{"MANYCHAT_SHARED_SECRET=" + key}, []string{of + "MANYCHAT_SHARED_SECRET" + would}},
		{"the API token", "1234567:invented-token", []string{"MANYCHAT_API_TOKEN=1234567:invented-token"}, []string{of + "MANYCHAT_API_TOKEN" + would}},
		{"the secret of the API token", "invented-token-1", []string{"MANYCHAT_API_TOKEN=1234567:invented-token-1"}, []string{of + "MANYCHAT_API_TOKEN" + would}},
		{"the console's key", "invented-console-key", []string{"CONSOLE_API_KEY=invented-console-key"}, []string{of + "CONSOLE_API_KEY" + would}},
		{"its own", "invented-secret-3", []string{"CONSOLE_API_KEY=invented-console-key"}, nil},
	}
	for _, tt := range tests {
		got, err := config.Load(served(append(tt.more, "HANDOFF_WEBHOOK_SECRET="+tt.secret)...))
		if diff := cmp.Diff(tt.want, sentences(t, err)); diff != "" {
			t.Errorf("%s: problems (-want +got):\n%s", tt.name, diff)
		}
		if !got.Set("HANDOFF_WEBHOOK_SECRET") || got.Set("CHANNEL") {
			t.Errorf("%s: what is set is not known", tt.name)
		}
	}
}

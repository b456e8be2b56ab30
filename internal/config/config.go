// Package config reads the environment: every variable of docs/spec/10-config.md in
// one typed value, with everything that is wrong reported at once. The process
// environment wins over .env, white space around a value is no part of it, and an empty
// variable counts as unset.
//
// A field's tags say all there is to say about its variable: env its name, default
// and dev its default in both modes and in dev, need the mode it is required in,
// unit the unit of a duration written as a number, min and max its range in that
// unit, enum its values, and pattern with expect a pattern in words. planned marks what
// is read and checked, and used by nothing yet.
package config

import (
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
)

// Mode is what the program is started for; it decides what is required.
type Mode string

// The modes. Dev brings its own ManyChat, needs nothing and listens on this machine
// alone. Once is a command that ends by itself: it needs nothing and serves nobody.
const (
	Dev   Mode = "dev"
	Serve Mode = "serve"
	Once  Mode = "once"
)

// Config is the environment in force. The zero value is not valid; see [Load].
type Config struct {
	Mode Mode

	Agent    Agent
	Keys     ProviderKeys
	Second   SecondModels
	ManyChat ManyChat
	Public   Public
	Outbox   Outbox
	Tenant   Tenant
	Turn     Turn
	Console  Console
	Server   Server
	Folders  Folders

	values   []Value
	warnings Problems
}

// Agent is the model that answers.
type Agent struct {
	Model           Model   `env:"AGENT_MODEL" dev:"mock:demo" need:"serve"`
	FallbackModel   Model   `env:"AGENT_FALLBACK_MODEL"` // used when the first one errors
	MaxOutputTokens int     `env:"AGENT_MAX_OUTPUT_TOKENS" default:"800" min:"1" max:"100000"`
	Temperature     float64 `env:"AGENT_TEMPERATURE" default:"0.3" min:"0" max:"2"`
	ReasoningEffort string  `env:"AGENT_REASONING_EFFORT" enum:"minimal,low,medium,high"` // empty: not sent
}

// ProviderKeys are credentials and addresses of model providers. Only those of the
// providers in use are required.
type ProviderKeys struct {
	Anthropic               Secret `env:"ANTHROPIC_API_KEY"`
	OpenAI                  Secret `env:"OPENAI_API_KEY"`
	Google                  Secret `env:"GOOGLE_GENERATIVE_AI_API_KEY"`
	OllamaBaseURL           URL    `env:"OLLAMA_BASE_URL"`
	OpenAICompatibleBaseURL URL    `env:"OPENAI_COMPATIBLE_BASE_URL"` // ends in /v1
	OpenAICompatible        Secret `env:"OPENAI_COMPATIBLE_API_KEY"`
}

// SecondModels do other work than answering; each is the zero Model when unset.
type SecondModels struct {
	Transcription Model `env:"TRANSCRIPTION_MODEL" planned:"true"`
	Insight       Model `env:"INSIGHT_MODEL" planned:"true"`
	EvalJudge     Model `env:"EVAL_JUDGE_MODEL" planned:"true"`
}

// ManyChat is the account that delivers, and the secret it calls with.
type ManyChat struct {
	SharedSecrets Secrets       `env:"MANYCHAT_SHARED_SECRET" need:"serve"` // one, or two during a rotation
	APIToken      Secret        `env:"MANYCHAT_API_TOKEN" need:"serve"`     // <account id>:<secret>
	APIBase       URL           `env:"MANYCHAT_API_BASE" default:"https://api.manychat.com"`
	ReplyField    string        `env:"MANYCHAT_REPLY_FIELD" default:"ai_message"`
	ReplyFlowNs   string        `env:"MANYCHAT_REPLY_FLOW_NS" need:"serve" pattern:"^[A-Za-z0-9_]+$" expect:"the namespace of a flow, such as content20260101000000_000001, which is the last part of its address in the browser: letters, digits and _ only"`
	TokenField    string        `env:"MANYCHAT_TOKEN_FIELD" default:"ai_token"`
	ReplyGap      time.Duration `env:"MANYCHAT_REPLY_GAP_MS" default:"2000" unit:"ms" min:"0" max:"10000"`
	RPSScale      float64       `env:"MANYCHAT_RPS_SCALE" default:"1.0" min:"0.01" max:"1000"` // of ManyChat's own limits
}

// Public is how the outside reaches this service, and what it is told.
type Public struct {
	BaseURL              URL      `env:"PUBLIC_BASE_URL"` // https; without a trailing slash
	Callback             bool     `env:"CALLBACK" default:"on"`
	CallbackContactID    string   `env:"CALLBACK_CONTACT_ID"` // the ManyChat variable of the contact's id; empty: the channel's own
	WhatsAppJoin         bool     `env:"WHATSAPP_JOIN" default:"true"`
	MediaHosts           []string `env:"MEDIA_HOSTS" planned:"true"` // hosts whose links are media, besides the known ones
	HandoffWebhookSecret Secret   `env:"HANDOFF_WEBHOOK_SECRET"`     // signs the notices of rules.json handoff.webhook
	TLSCertFile          string   `env:"TLS_CERT_FILE"`
	TLSKeyFile           string   `env:"TLS_KEY_FILE"`
}

// Outbox bounds retries and how long anything is kept.
type Outbox struct {
	MaxAttempts int           `env:"OUTBOX_MAX_ATTEMPTS" default:"12" min:"1" max:"100"`
	MaxAge      time.Duration `env:"OUTBOX_MAX_AGE_MIN" default:"360" unit:"min" min:"1" max:"10080"`
	Retention   time.Duration `env:"RETENTION_DAYS" default:"0" unit:"days" min:"0" max:"36500"` // 0 keeps everything
}

// Tenant is which business answers on which channel, and where its rows are.
type Tenant struct {
	Channel  contact.Channel `env:"CHANNEL" default:"whatsapp" enum:"whatsapp,instagram,messenger,telegram"`
	Database Database        `env:"DATABASE_URL" default:"sqlite:data/agent.db"`
	ID       string          `env:"TENANT_ID" default:"demo" pattern:"^[a-z0-9][a-z0-9_-]*$" expect:"an id of lower-case letters, digits, _ and -"`
}

// Turn bounds a turn and what runs beside it; docs/spec/03-turn.md.
type Turn struct {
	RaceDeadline  time.Duration  `env:"RACE_DEADLINE_MS" default:"8000" unit:"ms" min:"1" max:"8500"`
	ModelAbort    time.Duration  `env:"MODEL_ABORT_MS" default:"30000" unit:"ms" min:"1" max:"600000"`
	ShutdownGrace time.Duration  `env:"SHUTDOWN_GRACE_MS" default:"25000" unit:"ms" min:"0" max:"600000"`
	ProcessLease  time.Duration  `env:"PROCESS_LEASE_MS" default:"15000" unit:"ms" min:"1000" max:"600000"`
	MaxAttempts   int            `env:"TURN_MAX_ATTEMPTS" default:"2" min:"1" max:"10"`
	MaxInFlight   int            `env:"MAX_INFLIGHT_TURNS" default:"10000" min:"1" max:"1000000"`
	InboundRPM    int            `env:"INBOUND_RPM" default:"300" min:"1" max:"1000000"` // per address, requests without a valid secret
	TrustProxy    TrustedProxies `env:"TRUST_PROXY"`
	MergeWaiting  bool           `env:"MERGE_WAITING" default:"true"`
	EnforceTokens bool           `env:"CONTACT_TOKENS_ENFORCED" default:"true"`
}

// Console is the operator's pages; they are off without a password.
type Console struct {
	Password     Secret `env:"CONSOLE_PASSWORD" planned:"true"`
	PasswordHash Secret `env:"CONSOLE_PASSWORD_HASH" planned:"true"`
	APIKey       Secret `env:"CONSOLE_API_KEY"` // at least 16 characters
}

// Server is where the program listens and what it tells its operator.
type Server struct {
	Port         int    `env:"PORT" default:"3000" min:"0" max:"65535"` // 0: any free one
	Host         string `env:"HOST" default:"0.0.0.0" dev:"127.0.0.1"`
	LogLevel     string `env:"LOG_LEVEL" default:"info" enum:"debug,info,warn,error"`
	LogFormat    string `env:"LOG_FORMAT" enum:"json,text"` // json; text in a terminal
	MetricsAddr  string `env:"METRICS_ADDR" pattern:"^[^ /]*:[0-9]{1,5}$" expect:"an address such as 127.0.0.1:9090"`
	OTLPEndpoint URL    `env:"OTEL_EXPORTER_OTLP_ENDPOINT" planned:"true"`
}

// Folders are where files are read from.
type Folders struct {
	Config string `env:"CONFIG_DIR" default:"config"`
	Eval   string `env:"EVAL_DIR" planned:"true" default:"evals/golden"`
}

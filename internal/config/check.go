package config

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// check holds the rules that concern several variables.
func (l *loader) check() {
	l.checkModels()
	l.checkSecrets()
	l.checkAddresses()
	l.checkHost()
	l.checkTurn()
	m := l.config.ManyChat
	if tenant.SameField(m.ReplyField, m.TokenField) {
		l.problem("MANYCHAT_TOKEN_FIELD", fmt.Sprintf("is %q like MANYCHAT_REPLY_FIELD: set it to a custom field of its own", m.TokenField))
	}
	if l.config.Console.Password != "" && l.config.Console.PasswordHash != "" {
		l.problem("CONSOLE_PASSWORD", "is set beside CONSOLE_PASSWORD_HASH: set one of the two")
	}
}

// tokenForm is a ManyChat API token: the account's id, and a secret.
var tokenForm = regexp.MustCompile(`^[0-9]+:[^[:space:]]+$`)

// checkSecrets looks at the credentials that have a form; no problem quotes one.
func (l *loader) checkSecrets() {
	if t := l.config.ManyChat.APIToken; t != "" && !tokenForm.MatchString(t.Reveal()) {
		l.problem("MANYCHAT_API_TOKEN", "is not of the form <account id>:<secret>: copy it whole from ManyChat, Settings, API")
	}
	k := l.config.Keys
	for _, key := range []struct {
		variable string
		value    Secret
	}{
		{"ANTHROPIC_API_KEY", k.Anthropic},
		{"OPENAI_API_KEY", k.OpenAI},
		{"GOOGLE_GENERATIVE_AI_API_KEY", k.Google},
		{"OPENAI_COMPATIBLE_API_KEY", k.OpenAICompatible},
	} {
		if !key.value.isKey() {
			l.problem(key.variable, "holds a space, a quote or another character that no key has: copy it again")
		}
	}
	l.checkWebhookSecret(l.config.Public.HandoffWebhookSecret)
	if n := len(l.config.Console.APIKey); n > 0 && n < minSecret {
		l.problem("CONSOLE_API_KEY", fmt.Sprintf("has %d characters: it needs at least %d (openssl rand -hex 32 makes one)", n, minSecret))
	}
}

// checkWebhookSecret holds that what signs notices is not to be guessed, and opens nothing
// here: whoever receives notices has it too.
func (l *loader) checkWebhookSecret(secret Secret) {
	const name = "HANDOFF_WEBHOOK_SECRET"
	key := secret.Reveal()
	encoded, standard := strings.CutPrefix(key, "whsec_")
	if standard {
		decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "="))
		if err != nil || len(decoded) == 0 {
			l.problem(name, "begins with whsec_ and has no base64 behind it: copy it whole, or set it to a text of your own")
			return
		}
		key = string(decoded)
	}
	switch n := len(key); {
	case n == 0:
	case n < minSecret && standard:
		l.problem(name, fmt.Sprintf("is a key of %d bytes behind whsec_: it needs at least %d (openssl rand -base64 32 makes one)", n, minSecret))
	case n < minSecret:
		l.problem(name, fmt.Sprintf("has %d characters: it needs at least %d (openssl rand -hex 32 makes one)", n, minSecret))
	default:
		if other := l.opens(secret.Reveal(), encoded, key); other != "" {
			l.problem(name, "is that of "+other+" too, which whoever receives the notices would have: set it to one of its own (openssl rand -hex 32 makes one)")
		}
	}
}

// opens names the variable whose secret is among some texts; empty: none is.
func (l *loader) opens(texts ...string) (variable string) {
	c := l.config
	for _, s := range c.ManyChat.SharedSecrets {
		if slices.Contains(texts, s.Reveal()) {
			return "MANYCHAT_SHARED_SECRET"
		}
	}
	_, token, _ := strings.Cut(c.ManyChat.APIToken.Reveal(), ":")
	switch {
	case token != "" && (slices.Contains(texts, token) || slices.Contains(texts, c.ManyChat.APIToken.Reveal())):
		return "MANYCHAT_API_TOKEN"
	case c.Console.APIKey != "" && slices.Contains(texts, c.Console.APIKey.Reveal()):
		return "CONSOLE_API_KEY"
	}
	return ""
}

// checkHost keeps dev, whose sandbox asks nobody for a password, on this machine.
func (l *loader) checkHost() {
	host := l.config.Server.Host
	if address, err := netip.ParseAddr(host); l.source.Mode == Dev && !strings.EqualFold(host, "localhost") && (err != nil || !address.Unmap().IsLoopback()) {
		l.problem("HOST", fmt.Sprintf("is %q: dev listens on this machine only; unset HOST, or use serve", host))
	}
}

func (l *loader) checkTurn() {
	t := l.config.Turn
	if t.RaceDeadline > 0 && t.ModelAbort > 0 && t.ModelAbort <= t.RaceDeadline {
		l.problem("MODEL_ABORT_MS", fmt.Sprintf("is %d: set it to more than RACE_DEADLINE_MS, which is %d", t.ModelAbort.Milliseconds(), t.RaceDeadline.Milliseconds()))
	}
}

func (l *loader) checkAddresses() {
	p := l.config.Public
	switch {
	case l.wrong("PUBLIC_BASE_URL"):
	case p.BaseURL != "" && !p.BaseURL.isHTTPS():
		l.problem("PUBLIC_BASE_URL", fmt.Sprintf("is %q: set it to an address that begins with https://, since ManyChat calls no other", p.BaseURL))
	case strings.ContainsAny(p.BaseURL.Reveal(), "?#"):
		l.problem("PUBLIC_BASE_URL", "holds a query or a fragment: set it to the address alone, such as https://agent.example.com")
	case p.BaseURL == "" && p.Callback && l.source.Mode == Serve:
		l.problem("PUBLIC_BASE_URL", "is required: set it to the https address of this service, or set CALLBACK=off")
	}
	if (p.TLSCertFile == "") != (p.TLSKeyFile == "") {
		missing, other := "TLS_KEY_FILE", "TLS_CERT_FILE"
		if p.TLSCertFile == "" {
			missing, other = other, missing
		}
		l.problem(missing, "is required beside "+other+": set both, or neither behind a TLS proxy")
	}
	const chat = "/chat/completions"
	switch base := l.config.Keys.OpenAICompatibleBaseURL; {
	case strings.HasSuffix(base.Reveal(), chat):
		l.problem("OPENAI_COMPATIBLE_BASE_URL", fmt.Sprintf("is %q: leave %s out, which is added to it, so that it ends in /v1", base, chat))
	case base != "" && !strings.HasSuffix(base.Reveal(), "/v1"):
		l.problem("OPENAI_COMPATIBLE_BASE_URL", fmt.Sprintf("is %q: set it to an address that ends in /v1", base))
	}
}

// checkModels holds that every model's provider has what it needs.
func (l *loader) checkModels() {
	c := l.config
	needed := map[string]string{} // variable to the first model that needs it
	for _, m := range []struct {
		variable string
		model    Model
	}{
		{"AGENT_MODEL", c.Agent.Model},
		{"AGENT_FALLBACK_MODEL", c.Agent.FallbackModel},
		{"TRANSCRIPTION_MODEL", c.Second.Transcription},
		{"INSIGHT_MODEL", c.Second.Insight},
		{"EVAL_JUDGE_MODEL", c.Second.EvalJudge},
	} {
		if m.model == (Model{}) {
			continue
		}
		if m.model.Provider == Mock && m.model != mockModel {
			l.problem(m.variable, fmt.Sprintf("is %q: the provider mock has one model, so set it to %s", m.model, mockModel))
			continue
		}
		if m.variable == "AGENT_FALLBACK_MODEL" && m.model == c.Agent.Model {
			l.problem(m.variable, fmt.Sprintf("is %q like AGENT_MODEL: set it to another model, or unset it", m.model))
			continue
		}
		name, missing := c.Keys.missing(m.model.Provider)
		if missing && needed[name] == "" && !l.wrong(name) {
			needed[name] = m.variable
			l.problem(name, "is required, since "+m.variable+" is "+m.model.String()+": set it in .env or in the environment")
		}
	}
}

// missing names the variable that a provider needs and that is not set.
func (k ProviderKeys) missing(provider string) (name string, missing bool) {
	switch provider {
	case Anthropic:
		return "ANTHROPIC_API_KEY", k.Anthropic == ""
	case OpenAI:
		return "OPENAI_API_KEY", k.OpenAI == ""
	case Google:
		return "GOOGLE_GENERATIVE_AI_API_KEY", k.Google == ""
	case Ollama:
		return "OLLAMA_BASE_URL", k.OllamaBaseURL == ""
	case OpenAICompatible:
		return "OPENAI_COMPATIBLE_BASE_URL", k.OpenAICompatibleBaseURL == ""
	}
	return "", false
}

// wrong reports whether a variable has a problem already.
func (l *loader) wrong(name string) bool {
	return slices.ContainsFunc(l.problems, func(p Problem) bool { return p.Variable == name })
}

// sorted orders the problems like the variables, and puts first what is none.
func (l *loader) sorted() Problems {
	place := map[string]int{}
	for i, v := range l.variables {
		place[v.name] = i + 1
	}
	slices.SortStableFunc(l.problems, func(a, b Problem) int { return cmp.Compare(place[a.Variable], place[b.Variable]) })
	return l.problems
}

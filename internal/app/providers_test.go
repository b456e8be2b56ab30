package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/console"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/anthropicapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/chatapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/googleapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/ollamaapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/openaiapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// maker is a provider of models, as an operator configures it and as its server sees it.
type maker struct {
	model      string // AGENT_MODEL
	host       string // to which its requests go
	credential string // empty: none
	header     string // that carries the credential
	serve      func(m llm.Model, key string) *provider.Server
}

func makers() []maker {
	return []maker{
		{"anthropic:claude-haiku-4-5", "api.anthropic.com", "anthropic-key-0123456789", "X-Api-Key", anthropicapi.New},
		{"openai:gpt-5-mini", "api.openai.com", "openai-key-0123456789", "Authorization", openaiapi.New},
		{"google:gemini-2.5-flash", "generativelanguage.googleapis.com", "google-key-0123456789", "X-Goog-Api-Key", googleapi.New},
		{"ollama:clay", "ollama.example:11434", "", "", ollamaapi.New},
		{"openai-compatible:clay", "models.example", "compatible-key-0123456789", "Authorization", chatapi.New},
	}
}

// credentials are those of every provider, whichever of them is used.
func credentials() []string {
	return []string{
		"ANTHROPIC_API_KEY=anthropic-key-0123456789", "OPENAI_API_KEY=openai-key-0123456789",
		"GOOGLE_GENERATIVE_AI_API_KEY=google-key-0123456789", "OLLAMA_BASE_URL=http://ollama.example:11434",
		"OPENAI_COMPATIBLE_BASE_URL=https://models.example/v1", "OPENAI_COMPATIBLE_API_KEY=compatible-key-0123456789",
	}
}

// keepCredentials notes the providers' keys as what no log may hold.
func keepCredentials() {
	for _, m := range makers() {
		captured.keep("provider's key", m.credential)
	}
}

// wiretap is a way to a server that notes where requests go.
type wiretap struct {
	to http.RoundTripper

	mu   sync.Mutex
	urls []string
}

func (w *wiretap) RoundTrip(req *http.Request) (*http.Response, error) {
	w.mu.Lock()
	w.urls = append(w.urls, req.URL.String())
	w.mu.Unlock()
	return w.to.RoundTrip(req)
}

// scenario is a conversation of which the third message says nothing without the second.
func scenario() []string {
	return []string{"hello", question, "and when does it start?", "how can I pay?", "can you make it cheaper?"}
}

// talk has the scenario with the program and returns what the phone showed.
func (r *rig) talk(id string) (texts []string) {
	for _, text := range scenario() {
		r.write(id, text)
		time.Sleep(5 * time.Second)
	}
	for _, b := range r.phone(id, time.Minute) {
		if b.Via != phone.ViaInline {
			r.t.Errorf("%q came by %s", b.Text, b.Via)
		}
		texts = append(texts, b.Text)
	}
	return texts
}

// Holds docs/spec/04-agent.md, "Models" and "The mock": whichever provider is configured,
// the same answer of the model is the same conversation. Nothing differs but AGENT_MODEL.
func TestEveryProvider(t *testing.T) {
	var want []string
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		want = r.talk(id)
		r.checkSpend(id, "mock:demo")
	}, setup{env: credentials()})
	for i, part := range []string{"", "240 EUR", "Tuesdays or Thursdays", "By card", escalation} {
		if len(want) != len(scenario()) || !strings.Contains(want[i], part) {
			t.Fatalf("the mock's side of the conversation is %q, want %q in text %d", want, part, i)
		}
	}
	if strings.Contains(want[2], "Wednesdays") {
		t.Errorf("%q is not about the course that was asked for before", want[2])
	}
	for _, m := range makers() {
		t.Run(m.model, func(t *testing.T) {
			keepCredentials()
			server := m.serve(mock.New(), m.credential)
			tap := &wiretap{to: server.Transport()}
			inBubble(t, func(r *rig) {
				id := r.contact("900000001")
				if diff := cmp.Diff(want, r.talk(id)); diff != "" {
					t.Errorf("the phone shows (-of the mock +got):\n%s", diff)
				}
				if got := r.outcome(id); got != "escalated inline price_negotiation" {
					t.Errorf("the last turn ended %s", got)
				}
				r.checkSpend(id, m.model)
				checkCredential(t, m, server.Requests(), tap.urls)
				r.holdNowhere(id, "anthropic-key", "openai-key", "google-key", "compatible-key")
			}, setup{env: append(credentials(), "AGENT_MODEL="+m.model), provider: tap})
		})
	}
}

// checkCredential asserts that a provider's requests carry its own credential, in its
// place, and no other.
func checkCredential(t *testing.T, m maker, requests []provider.Request, urls []string) {
	t.Helper()
	if len(requests) != len(scenario())+1 || len(urls) != len(requests) {
		t.Errorf("%d requests came to the provider, want one a message and one more for the note of the handoff", len(requests))
	}
	for i, req := range requests {
		if !strings.Contains(urls[i], "://"+m.host+"/") || strings.Contains(urls[i], "key") {
			t.Errorf("a request went to %s", urls[i])
		}
		if got := strings.TrimPrefix(req.Header.Get(m.header), "Bearer "); got != m.credential {
			t.Errorf("the header %s holds %q, want %q", m.header, got, m.credential)
		}
		req.Header.Del(m.header)
		rest := fmt.Sprint(req.Header) + string(req.Body)
		for _, secret := range []string{"key-0123456789", devSecret, "100000000000001:sandbox", "sandbox-console-key", "Zerbinetta", "900000001"} {
			if strings.Contains(rest, secret) {
				t.Errorf("a request holds %q beside its credential", secret)
			}
		}
	}
}

// holdNowhere asserts that nothing that the contact's turns sent or recorded, nor the log,
// holds one of the words.
func (r *rig) holdNowhere(id string, words ...string) {
	r.t.Helper()
	all := fmt.Sprint(r.Account.Calls(), r.Account.Chat(id), r.turnsOf(id), r.log.String())
	for _, word := range words {
		if strings.Contains(all, word) {
			r.t.Errorf("%q stands in a call to ManyChat, a record or the log", word)
		}
	}
}

// recorded is a turn with all that the console tells of its model.
type recorded struct {
	Model         string             `json:"model"`
	PromptVersion string             `json:"promptVersion"`
	Spend         conversation.Spend `json:"spend"`
	Micros        struct {
		Steps []int64 `json:"steps"`
	} `json:"micros"`
}

// turnsOf are a contact's recorded turns, newest first.
func (r *rig) turnsOf(id string) []recorded {
	r.t.Helper()
	req, err := http.NewRequest(http.MethodGet, r.base+console.TurnsPath+"?subscriber="+id, http.NoBody)
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer sandbox-console-key")
	resp, err := r.http.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	var list struct {
		Turns []recorded `json:"turns"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&list); err != nil {
		r.t.Fatal(err)
	}
	return list.Turns
}

// checkSpend asserts that every turn of the scenario names its model and what it cost.
func (r *rig) checkSpend(id, model string) {
	r.t.Helper()
	price, _ := llm.PriceOf(model)
	turns := r.turnsOf(id)
	if len(turns) != len(scenario()) {
		r.t.Errorf("%d turns are recorded", len(turns))
	}
	slices.Reverse(turns)
	for i, turn := range turns {
		s, steps := turn.Spend, 1
		if i == len(turns)-1 {
			steps = 2 // a note for the colleague, and then the handoff
		}
		if turn.Model != model || len(turn.PromptVersion) != 12 || len(turn.Micros.Steps) != steps {
			r.t.Errorf("turn %d is recorded as %+v", i, turn)
		}
		if s.TokensIn < 1000 || s.TokensOut < 10 || s.TokensCached > s.TokensIn {
			r.t.Errorf("turn %d counts %+v tokens", i, s)
		}
		want := price.Cost(llm.Usage{Input: s.TokensIn, Cached: s.TokensCached, Output: s.TokensOut})
		// Each step's cost is rounded up.
		if s.CostMicros < want || s.CostMicros >= want+int64(steps) || (want == 0) != (model == "mock:demo" || model == "ollama:clay") {
			r.t.Errorf("turn %d of %d tokens costs %d micro-dollars, want %d", i, s.TokensIn+s.TokensOut, s.CostMicros, want)
		}
	}
}

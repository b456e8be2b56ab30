package app_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/manychat-agent/manychat-agent/internal/inbound"
	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// devSecret is the shared secret of a program that dev runs.
const devSecret = "sandbox-shared-secret"

// listener is a model that remembers what it was asked.
type listener struct {
	mu    sync.Mutex
	asked []string // all messages of each request, joined
}

func (l *listener) Generate(_ context.Context, req llm.Request) (llm.Response, error) {
	var all strings.Builder
	for _, m := range req.Messages {
		all.WriteString(m.Text + "\n")
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, all.String())
	return llm.Response{
		Text:  `{"messages":["Noted."],"confidence":1,"escalate":false}`,
		Stop:  llm.StopEnd,
		Usage: llm.Usage{Input: 100, Output: 10},
	}, nil
}

// last is what the newest request held.
func (l *listener) last() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.asked) == 0 {
		return ""
	}
	return l.asked[len(l.asked)-1]
}

func (l *listener) calls() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.asked)
}

// post sends a request to the program as anybody on the internet could, with headers given
// as name, value, name, value….
func (r *rig) post(path, body string, headers ...string) (*http.Response, string) {
	r.t.Helper()
	req, err := http.NewRequest(http.MethodPost, r.base+path, strings.NewReader(body))
	if err != nil {
		r.t.Error(err)
		return &http.Response{}, ""
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Add(headers[i], headers[i+1])
	}
	resp, err := r.http.Do(req)
	if err != nil {
		r.t.Error(err)
		return &http.Response{}, ""
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Error(err)
	}
	return resp, string(answer)
}

// forge is a request of somebody who holds the secret and names a contact.
func (r *rig) forge(id, token, text string) (*http.Response, string) {
	r.t.Helper()
	captured.keep("token", token)
	captured.keep("message", text)
	body := fmt.Sprintf(`{"subscriber_id":%q,"ai_token":%q,"text":%q}`, id, token, text)
	return r.post(inbound.MessagePath, body, "Authorization", "Bearer "+devSecret)
}

// stuck is a model that does not answer in time.
type stuck struct{}

func (stuck) Generate(ctx context.Context, _ llm.Request) (llm.Response, error) {
	<-ctx.Done()
	return llm.Response{}, ctx.Err()
}

// panics is a model whose adapter has a bug.
type panics struct{}

func (panics) Generate(context.Context, llm.Request) (llm.Response, error) {
	panic("a bug that quotes +49 170 5550199")
}

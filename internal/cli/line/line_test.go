package line_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/cli/line"
)

// service answers messages, and lists turns to whoever has a sandbox's key: of the nth
// reading what turns says.
func service(t *testing.T, turns ...string) (url string, keys *atomic.Int32) {
	t.Helper()
	keys = &atomic.Int32{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/channels/manychat/message", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"version":"v2","content":{"messages":[{"type":"text","text":"hi"}]}}`)
	})
	mux.HandleFunc("GET /console/api/turns", func(w http.ResponseWriter, r *http.Request) {
		n := int(keys.Add(1))
		if r.Header.Get("Authorization") != "Bearer sandbox-console-key" || len(turns) == 0 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		fmt.Fprintf(w, `{"turns":[%s]}`, turns[min(n, len(turns))-1])
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL, keys
}

// Holds docs/spec/13-sandbox.md, "The phone page (`/sandbox`)": what a sandbox at a URL
// recorded is read once the turn and its actions have ended, and of no other turn than the
// message's own. Of any other service nothing is read, and nothing but the message is sent.
func TestRemote(t *testing.T) {
	const (
		old     = `{"id":"turn-1","state":"settled","path":"inline"}`
		running = `{"id":"turn-2","state":"running"}`
		staged  = `{"id":"turn-2","state":"settled","path":"outbox","actions":[{"tool":"add_tag","id":"vip","status":"staged"}]}`
		sending = `{"id":"turn-2","state":"settled","path":"outbox","actions":[{"tool":"add_tag","id":"vip","status":"sending"}]}`
		ended   = `{"id":"turn-2","state":"settled","path":"outbox","actions":[{"tool":"add_tag","id":"vip","status":"performed"}]}`
	)
	tests := []struct {
		name   string
		secret string
		turns  []string
		turn   string // its id and its action's status; empty: nothing is known
		path   string
		asked  int32 // how often the console was asked
	}{
		{"a first message", "sandbox-shared-secret", []string{"", running, staged, sending, ended}, "turn-2 performed", "outbox", 5},
		{"a later message", "sandbox-shared-secret", []string{old, staged, ended}, "turn-2 performed", "outbox", 3},
		{"a message that is no turn", "sandbox-shared-secret", []string{old, old, ended}, "", "inline", 2},
		{"a console that refuses", "sandbox-shared-secret", nil, "", "inline", 1},
		{"a service of somebody's", "invented-shared-secret", []string{old, ended}, "", "inline", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			url, keys := service(t, tt.turns...)
			got, err := line.NewRemote(url+"/", tt.secret, "900000001").Write(t.Context(), "hello")
			if err != nil || len(got.Texts) != 1 || got.Texts[0] != "hi" || got.Path != tt.path {
				t.Errorf("%+v, %v", got, err)
			}
			turn := ""
			if got.Turn != nil {
				turn = got.Turn.ID + " " + got.Turn.Actions[0].Status
			}
			if turn != tt.turn {
				t.Errorf("the turn is %q, want %q", turn, tt.turn)
			}
			if keys.Load() != tt.asked {
				t.Errorf("the console was asked %d times, want %d", keys.Load(), tt.asked)
			}
		})
	}
}

package console_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/console"
	"github.com/manychat-agent/manychat-agent/internal/contact"
)

const key = "an-invented-console-key"

// none are the turns of contacts who never wrote.
type none struct{}

func (none) RecentTurns(context.Context, contact.SubscriberID, int) ([]console.Recorded, error) {
	return nil, nil
}

func get(t *testing.T, authorization ...string) *httptest.ResponseRecorder {
	t.Helper()
	h, err := console.New(console.Config{Turns: none{}, Key: key, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	h.Register(mux)
	r := httptest.NewRequest(http.MethodGet, console.TurnsPath+"?subscriber=900000001", nil)
	for _, value := range authorization {
		r.Header.Add("Authorization", value)
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	return w
}

// Holds docs/spec/14-console.md: the API is for whoever presents the console's key, as
// a bearer token and in no other way.
func TestKey(t *testing.T) {
	tests := []struct {
		name   string
		header []string
		want   int
	}{
		{"the key", []string{"Bearer " + key}, http.StatusOK},
		{"the scheme in any case", []string{"bEARER " + key}, http.StatusOK},
		{"nothing", nil, http.StatusUnauthorized},
		{"no scheme", []string{key}, http.StatusUnauthorized},
		{"another scheme", []string{"Basic " + key}, http.StatusUnauthorized},
		{"another key", []string{"Bearer " + key + "x"}, http.StatusUnauthorized},
		{"no key", []string{"Bearer "}, http.StatusUnauthorized},
		{"two headers", []string{"Bearer " + key, "Bearer " + key}, http.StatusUnauthorized},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := get(t, tt.header...); got.Code != tt.want {
				t.Errorf("got %d %s, want %d", got.Code, got.Body, tt.want)
			}
		})
	}
}

// What a contact wrote is read as JSON only, and kept nowhere.
func TestHeaders(t *testing.T) {
	want := map[string]string{"Content-Type": "application/json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
	for _, header := range []string{"Bearer " + key, "Bearer another"} {
		got := get(t, header)
		for name, value := range want {
			if got.Header().Get(name) != value {
				t.Errorf("status %d: %s is %q, want %q", got.Code, name, got.Header().Get(name), value)
			}
		}
	}
}

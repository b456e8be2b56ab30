package manychat_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat"
)

// Holds docs/spec/07-tools.md, "get_contact": what is not needed does not keep a contact from
// being read.
func TestGetInfoWithOddFields(t *testing.T) {
	for _, odd := range []string{
		`"phone":49170`, `"optin_whatsapp":1`, `"subscribed":false`, `"custom_fields":{}`, `"name":{"first":"x"}`, `"last_seen":[]`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"status":"success","data":{"id":"111111111",` + odd + `,"tags":[{"id":1,"name":"vip"}]}}`))
		}))
		defer server.Close()
		client, err := manychat.NewClient(manychat.ClientConfig{Token: "1:x", BaseURL: server.URL, RPSScale: 1, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		s, err := client.GetInfo(context.Background(), "111111111")
		if err != nil || !s.HasTag("vip") {
			t.Errorf("%s: read as %v, %v", odd, s.Tags, err)
		}
	}
}

package app_test

import (
	"flag"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/app/openapi"
)

var update = flag.Bool("update", false, "write docs/reference/openapi.json anew, and docs/images/phone.png in a browser test")

// committedDocument is the document for whoever reads the repository.
const committedDocument = "../../docs/reference/openapi.json"

// document asks for the OpenAPI document as anybody on the internet could.
func (r *rig) document() (*http.Response, string) {
	r.t.Helper()
	resp, err := r.http.Get(r.base + openapi.Path)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return resp, string(text)
}

// Holds docs/spec/02-inbound.md, "Errors": what is served is what is committed, whoever the
// tenant is.
func TestCommittedDocument(t *testing.T) {
	deployed(t, setup{env: []string{
		"CONSOLE_API_KEY=" + operatorKey, "CALLBACK=off", "PUBLIC_BASE_URL=", "CHANNEL=telegram", "TENANT_ID=lantern",
		"MANYCHAT_REPLY_FIELD=lantern_reply", "MANYCHAT_TOKEN_FIELD=lantern_token", "MANYCHAT_REPLY_FLOW_NS=content20260101000000_000009",
	}}, nil, func(d *deployment) {
		resp, served := d.document()
		if resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != "application/json" || resp.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("status %d, headers %v", resp.StatusCode, resp.Header)
		}
		if *update {
			if err := os.WriteFile(committedDocument, []byte(served), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		committed, err := os.ReadFile(committedDocument)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(committed), served); diff != "" {
			t.Errorf("%s (-committed +served); go test ./internal/app -run TestCommittedDocument -update rewrites it:\n%s", openapi.Path, diff)
		}
		if resp, _ := d.post(openapi.Path, ""); resp.StatusCode != http.StatusMethodNotAllowed {
			t.Errorf("a POST was answered %d", resp.StatusCode)
		}
	})
}

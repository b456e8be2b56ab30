package openapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/app/openapi"
	"github.com/manychat-agent/manychat-agent/internal/console"
)

// state stands for what /health answers.
type state struct {
	Status string `json:"status"`
	Detail string `json:"detail,omitempty"`
}

func text(t testing.TB, cfg openapi.Config) string {
	t.Helper()
	cfg.Version, cfg.Status = "1.2.3", state{}
	d, err := openapi.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	d.ServeHTTP(rec, nil)
	return rec.Body.String()
}

// load reads a document and checks it against OpenAPI 3.1.
func load(text string) (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData([]byte(text))
	if err != nil {
		return nil, err
	}
	return doc, doc.Validate(context.Background(), openapi3.EnableExamplesValidation())
}

// Holds docs/spec/02-inbound.md, "Errors": the document is valid, and the same every time.
func TestDocument(t *testing.T) {
	tests := []struct {
		name   string
		config openapi.Config
		server string
		turns  bool
	}{
		{"alone", openapi.Config{}, "", false},
		{"with a console", openapi.Config{Console: true}, "", true},
		{"behind an address", openapi.Config{BaseURL: "https://agent.example:8443/agent"}, "https://agent.example:8443/agent", false},
		{"behind an address with a password", openapi.Config{BaseURL: "https://user:pass@agent.example"}, "https://agent.example", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			first := text(t, tt.config)
			doc, err := load(first)
			if err != nil {
				t.Fatal(err)
			}
			server := ""
			if len(doc.Servers) > 0 {
				server = doc.Servers[0].URL
			}
			if server != tt.server || (doc.Paths.Find(console.TurnsPath) != nil) != tt.turns || strings.Contains(first, "onsole") != tt.turns {
				t.Errorf("the server is %q, the paths are %v", server, doc.Paths.Keys())
			}
			if doc.OpenAPI != "3.1.0" || doc.Info.Version != "1.2.3" {
				t.Errorf("OpenAPI %s, version %s", doc.OpenAPI, doc.Info.Version)
			}
			if diff := cmp.Diff(first, text(t, tt.config)); diff != "" {
				t.Errorf("another time it is (-first +second):\n%s", diff)
			}
		})
	}
}

// Holds docs/spec/02-inbound.md, "Errors": a document without its version or the type of a
// status is not made.
func TestConfig(t *testing.T) {
	for name, cfg := range map[string]openapi.Config{
		"no version": {Status: state{}}, "no status": {Version: "1"}, "no struct": {Version: "1", Status: "up"},
		"no URL": {Version: "1", Status: state{}, BaseURL: "https://user:pass@agent.example:port"},
	} {
		if d, err := openapi.New(cfg); err == nil || d != nil || strings.Contains(err.Error(), "pass") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Holds docs/spec/02-inbound.md, "Errors": whatever is wrong with a document, the check of
// it sees it.
func TestBrokenDocument(t *testing.T) {
	good := text(t, openapi.Config{Console: true})
	tests := []struct{ name, old, with string }{
		{"another version of OpenAPI", `"openapi": "3.1.0"`, `"openapi": "3.0.3"`},
		{"no version", `"version": "1.2.3"`, `"version": ""`},
		{"an unknown key of an operation", `"responses": {`, `"respnses": {`},
		{"an unknown method", `"post": {`, `"psot": {`},
		{"a path that is none", `"/health"`, `"health"`},
		{"an operation given twice", `"operationId": "ready"`, `"operationId": "health"`},
		{"a reference to nothing", `schemas/Refusal"`, `schemas/Refused"`},
		{"a credential that is not declared", `"sharedSecret": []`, `"secret": []`},
		{"an unknown type", `"type": "object"`, `"type": "objekt"`},
		{"an unknown type beside null", `"null"`, `"nil"`},
		{"a length that is text", `"maxLength": 256`, `"maxLength": "256"`},
		{"a negative length", `"maxLength": 256`, `"maxLength": -1`},
		{"a pattern that is none", `^[0-9]{1,32}$`, `^[0-9{1,32}$`},
		{"a limit of OpenAPI 3.0", `"minimum": 0`, `"exclusiveMinimum": true`},
		{"required as text", `"required": [`, `"required": "x", "x-was": [`},
		{"an answer without a description", `"description": "It is."`, `"x-description": "It is."`},
		{"a parameter of nowhere", `"in": "query"`, `"in": "qurey"`},
		{"an example of another version", `"version": "v2"`, `"version": "v3"`},
		{"an example with one key more", `"version": "v2"`, `"more": 1, "version": "v2"`},
		{"an example of a request with a wrong type", `"subscriber_id": "1234567890"`, `"subscriber_id": "x"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(good, tt.old) {
				t.Fatal("the document has nothing to break")
			}
			if _, err := load(strings.Replace(good, tt.old, tt.with, 1)); err == nil {
				t.Error("it is taken for valid")
			}
		})
	}
}

// Holds docs/spec/02-inbound.md, "Errors": everything that is sent and taken has a word
// about it.
func TestEverythingIsDescribed(t *testing.T) {
	type described struct {
		Description string
		Properties  map[string]struct{ Description string }
	}
	var doc struct {
		Components struct{ Schemas map[string]described }
	}
	if err := json.NewDecoder(bytes.NewBufferString(text(t, openapi.Config{Console: true}))).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Components.Schemas) != 17 {
		t.Errorf("the document has %d schemas", len(doc.Components.Schemas))
	}
	for name, s := range doc.Components.Schemas {
		if s.Description == "" || len(s.Properties) == 0 {
			t.Errorf("%s has %d properties and is about %q", name, len(s.Properties), s.Description)
		}
		for property, p := range s.Properties {
			if p.Description == "" {
				t.Errorf("nothing is said about %s of %s", property, name)
			}
		}
	}
}

func BenchmarkNew(b *testing.B) {
	cfg := openapi.Config{Version: "1.2.3", Status: state{}, Console: true, BaseURL: "https://agent.example"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := openapi.New(cfg); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(text(b, openapi.Config{Console: true}))), "bytes")
}

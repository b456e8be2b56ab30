// Package openapi describes the program's HTTP API as an OpenAPI 3.1 document
// (docs/spec/02-inbound.md, "Errors"). The schemas of answers are read from the types that
// are encoded, those of requests from the list of keys that the readers of bodies go by;
// what is written here by hand is the words, and which parts of a Dynamic Block are sent.
//
// The document describes the contract and nothing of who runs it: no name of a field, no
// id and no text of a tenant is in it, so that it needs no secret.
package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
)

// Path is where the document is served.
const Path = "/openapi.json"

// Config is what a [Document] needs; Version and Status are required.
type Config struct {
	Version string // of the program
	BaseURL string // PUBLIC_BASE_URL; empty: no server is named, and paths are relative to where the document came from
	Console bool   // the console's API is served
	Status  any    // a value of the struct type that /health and /ready encode
}

// Document is the finished text. It serves itself.
type Document struct{ text []byte }

// New writes the document: the same bytes for the same config.
func New(cfg Config) (*Document, error) {
	if cfg.Version == "" || cfg.Status == nil || reflect.TypeOf(cfg.Status).Kind() != reflect.Struct {
		return nil, errors.New("openapi: the version must be set, and a status of a struct type")
	}
	d, err := describe(cfg)
	if err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(d); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	return &Document{text: relocated(b.Bytes())}, nil
}

// relocated points references to where an OpenAPI document keeps schemas.
func relocated(text []byte) []byte {
	return bytes.ReplaceAll(text, []byte(`"#/$defs/`), []byte(`"`+schemaRef))
}

// ServeHTTP writes the document, as plain JSON: the type that every tool reads.
func (d *Document) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Content-Length", strconv.Itoa(len(d.text)))
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(d.text) // whoever asked is gone
}

// describe puts the parts together. Only a base URL that is none can fail of what an
// operator sets.
func describe(cfg Config) (document, error) {
	schemas, err := allSchemas(cfg)
	if err != nil {
		return document{}, err
	}
	replies, err := replyExamples()
	if err != nil {
		return document{}, err
	}
	d := document{
		OpenAPI: "3.1.0",
		Info: info{
			Title:       "ManyChat AI Agent",
			Version:     cfg.Version,
			Description: aboutAPI,
			License:     license{Name: "MIT", Identifier: "MIT"},
		},
		Tags:       tags(cfg),
		Paths:      allPaths(cfg),
		Components: components{Schemas: schemas, Responses: sharedResponses(replies), SecuritySchemes: schemes(cfg)},
	}
	if cfg.BaseURL != "" {
		address, err := url.Parse(cfg.BaseURL)
		if err != nil {
			return document{}, errors.New("the base URL is not a URL")
		}
		address.User = nil // everybody may read the document
		d.Servers = []server{{URL: address.String()}}
	}
	return d, nil
}

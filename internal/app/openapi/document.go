package openapi

import "github.com/invopop/jsonschema"

const mediaType = "application/json"

// Where a document keeps what is used in several places.
const (
	schemaRef   = "#/components/schemas/"
	responseRef = "#/components/responses/"
)

// The parts of an OpenAPI 3.1 document that this one has, under the names and in the order
// of its specification.
type (
	document struct {
		OpenAPI    string              `json:"openapi"`
		Info       info                `json:"info"`
		Servers    []server            `json:"servers,omitempty"`
		Tags       []tag               `json:"tags"`
		Paths      map[string]pathItem `json:"paths"`
		Components components          `json:"components"`
	}
	info struct {
		Title       string  `json:"title"`
		Version     string  `json:"version"`
		Description string  `json:"description"`
		License     license `json:"license"`
	}
	license struct {
		Name       string `json:"name"`
		Identifier string `json:"identifier"` // of SPDX
	}
	server struct {
		URL string `json:"url"`
	}
	tag struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	pathItem struct {
		Get  *operation `json:"get,omitempty"`
		Post *operation `json:"post,omitempty"`
	}
	operation struct {
		OperationID string                `json:"operationId"`
		Tags        []string              `json:"tags"`
		Summary     string                `json:"summary"`
		Description string                `json:"description,omitempty"`
		Security    []map[string][]string `json:"security,omitempty"`
		Parameters  []parameter           `json:"parameters,omitempty"`
		RequestBody *requestBody          `json:"requestBody,omitempty"`
		Responses   map[string]response   `json:"responses"` // by status
	}
	parameter struct {
		Name        string             `json:"name"`
		In          string             `json:"in"`
		Description string             `json:"description"`
		Required    bool               `json:"required,omitempty"`
		Schema      *jsonschema.Schema `json:"schema"`
	}
	requestBody struct {
		Description string               `json:"description"`
		Required    bool                 `json:"required"`
		Content     map[string]mediaBody `json:"content"`
	}
	// response is one answer, or a reference to one.
	response struct {
		Ref         string               `json:"$ref,omitempty"`
		Description string               `json:"description,omitempty"`
		Headers     map[string]header    `json:"headers,omitempty"`
		Content     map[string]mediaBody `json:"content,omitempty"`
	}
	header struct {
		Description string             `json:"description"`
		Required    bool               `json:"required"`
		Schema      *jsonschema.Schema `json:"schema"`
	}
	mediaBody struct {
		Schema   *jsonschema.Schema `json:"schema"`
		Examples map[string]example `json:"examples,omitempty"`
	}
	example struct {
		Summary string `json:"summary"`
		Value   any    `json:"value"`
	}
	components struct {
		Schemas         map[string]*jsonschema.Schema `json:"schemas"`
		Responses       map[string]response           `json:"responses"`
		SecuritySchemes map[string]securityScheme     `json:"securitySchemes"`
	}
	securityScheme struct {
		Type        string `json:"type"`
		Scheme      string `json:"scheme"`
		Description string `json:"description"`
	}
)

// holds is a body of JSON.
func holds(s *jsonschema.Schema, examples map[string]example) map[string]mediaBody {
	return map[string]mediaBody{mediaType: {Schema: s, Examples: examples}}
}

// ref refers to a schema of the document.
func ref(name string) *jsonschema.Schema { return &jsonschema.Schema{Ref: schemaRef + name} }

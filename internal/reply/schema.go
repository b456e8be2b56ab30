package reply

import (
	"encoding/json"
	"fmt"

	"github.com/invopop/jsonschema"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
)

// Schema is the JSON Schema of a [Reply] for providers that enforce one: every
// property required, none beside them, null where a field may be absent. It is
// reflected anew at each call, so callers keep it.
func Schema() ([]byte, error) {
	r := jsonschema.Reflector{DoNotReference: true, ExpandedStruct: true, Anonymous: true}
	s := r.Reflect(Reply{})
	s.Version = "" // providers refuse or ignore $schema
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("reflect the reply schema: %w", err)
	}
	return b, nil
}

// JSONSchemaExtend lets the two fields that a reply may leave out be null: strict
// providers want every property present.
func (Reply) JSONSchemaExtend(s *jsonschema.Schema) {
	orNull(s, "escalation_reason", &jsonschema.Schema{Type: "string", Enum: reasons()})
	orNull(s, "closing_question", &jsonschema.Schema{Type: "string"})
}

func orNull(s *jsonschema.Schema, name string, value *jsonschema.Schema) {
	p := s.Properties.Value(name)
	s.Properties.Set(name, &jsonschema.Schema{
		Description: p.Description,
		AnyOf:       []*jsonschema.Schema{value, {Type: "null"}},
	})
}

func reasons() []any {
	var out []any
	for _, r := range conversation.ModelReasons() {
		out = append(out, r)
	}
	return out
}

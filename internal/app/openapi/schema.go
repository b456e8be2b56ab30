package openapi

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/console"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/inbound"
	"github.com/manychat-agent/manychat-agent/internal/inbound/body"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// The names of the schemas.
const (
	messageRequest = "MessageRequest"
	contactRequest = "FullContactData"
	pauseRequest   = "PauseRequest"
	pausedAnswer   = "Paused"
	dynamicBlock   = "DynamicBlock"
	blockContent   = "Content"
	textMessage    = "TextMessage"
	callback       = "Callback"
	refusal        = "Refusal"
	statusAnswer   = "Status"
	turnList       = "TurnList"
	recordedTurn   = "Turn"
	consoleFailure = "ConsoleFailure"
)

// named are the types of the answers, by what the document calls them.
func named(cfg Config) map[reflect.Type]string {
	all := map[reflect.Type]string{
		reflect.TypeFor[manychat.Response](): dynamicBlock,
		reflect.TypeFor[manychat.Content]():  blockContent,
		reflect.TypeFor[manychat.Message]():  textMessage,
		reflect.TypeFor[manychat.Callback](): callback,
		reflect.TypeFor[inbound.Refusal]():   refusal,
		reflect.TypeFor[inbound.Paused]():    pausedAnswer,
		reflect.TypeOf(cfg.Status):           statusAnswer,
	}
	if cfg.Console {
		all[reflect.TypeFor[console.List]()] = turnList
		all[reflect.TypeFor[console.Turn]()] = recordedTurn
		all[reflect.TypeFor[console.Failure]()] = consoleFailure
		all[reflect.TypeFor[conversation.Spend]()] = "Spend"
		all[reflect.TypeFor[conversation.Timings]()] = "Timings"
		all[reflect.TypeFor[action.Record]()] = "Action"
		all[reflect.TypeFor[action.Call]()] = "Call"
	}
	return all
}

// allSchemas reads the schemas from the types and the lists of keys.
func allSchemas(cfg Config) (map[string]*jsonschema.Schema, error) {
	names := named(cfg)
	reflector := jsonschema.Reflector{Anonymous: true, Namer: func(t reflect.Type) string { return names[t] }}
	all := schemas{byName: map[string]*jsonschema.Schema{
		messageRequest: requestSchema(body.MessageKeys(), jsonschema.FalseSchema),
		contactRequest: requestSchema(body.FullContactKeys(), jsonschema.TrueSchema),
		pauseRequest:   requestSchema(body.PauseKeys(), jsonschema.FalseSchema),
	}}
	for t, name := range names {
		all.byName[name] = reflector.ReflectFromType(t).Definitions[name]
	}
	all.limitBlock()
	all.allowNull(pausedAnswer, reflect.TypeFor[inbound.Paused]())
	if cfg.Console {
		all.allowNull(recordedTurn, reflect.TypeFor[console.Turn]())
	}
	all.describe(allWords())
	if all.missing != nil {
		return nil, fmt.Errorf("the types have no %s", strings.Join(all.missing, ", "))
	}
	return all.byName, nil
}

// schemas are the document's, while they are completed with what types do not say.
type schemas struct {
	byName  map[string]*jsonschema.Schema
	missing []string // what was to be completed and is not there
}

// at is a property of a schema.
func (s *schemas) at(name, property string) *jsonschema.Schema {
	if p, ok := s.byName[name].Properties.Get(property); ok {
		return p
	}
	s.missing = append(s.missing, name+"."+property)
	return &jsonschema.Schema{}
}

// describe gives the schemas and their properties their words.
func (s *schemas) describe(said words) {
	for name, schema := range s.byName {
		schema.Description = said.schemas[name]
		for p := schema.Properties.Oldest(); p != nil; p = p.Next() {
			p.Value.Description = said.properties[name][p.Key]
		}
	}
}

// only leaves out all properties of a schema but some.
func (s *schemas) only(name string, properties ...string) {
	kept := jsonschema.NewProperties()
	for _, p := range properties {
		kept.Set(p, s.at(name, p))
	}
	s.byName[name].Properties = kept
}

// limitBlock leaves of a Dynamic Block what internal/delivery sends: texts and the
// callback, within the widest limits of any channel.
func (s *schemas) limitBlock() {
	var widest manychat.Capabilities
	var kinds []any
	for _, c := range manychat.Channels() {
		caps, _ := manychat.CapabilitiesOf(c)
		widest.Messages = max(widest.Messages, caps.Messages)
		widest.TextUnits = max(widest.TextUnits, caps.TextUnits)
		if kind := c.ContentType(); kind != "" {
			kinds = append(kinds, kind)
		}
	}
	s.only(blockContent, "type", "messages", "external_message_callback")
	s.only(textMessage, "type", "text")
	s.byName[textMessage].Required = []string{"type", "text"}
	s.at(dynamicBlock, "version").Const = manychat.Version
	s.at(blockContent, "type").Enum = kinds
	s.at(blockContent, "messages").MaxItems = number(widest.Messages)
	s.at(textMessage, "type").Const = manychat.TextMessage
	s.at(textMessage, "text").MinLength = number(1)
	s.at(textMessage, "text").MaxLength = number(widest.TextUnits)
	s.limitCallback()
}

// limitCallback says what a registered callback is here.
func (s *schemas) limitCallback() {
	s.at(callback, "url").Pattern = "^https://.+" + inbound.MessagePath + "$"
	s.at(callback, "method").Const = strings.ToLower(http.MethodPost)
	s.at(callback, "timeout").Minimum = "1"
	s.at(callback, "timeout").Maximum = decimal(manychat.MaxTimeout)
	s.at(callback, "payload").PropertyNames = &jsonschema.Schema{Enum: keyNames(body.MessageKeys())}
}

// allowNull marks the properties that are encoded as null while they hold nothing.
func (s *schemas) allowNull(name string, t reflect.Type) {
	for i := range t.NumField() {
		f := t.Field(i)
		wire, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if k := f.Type.Kind(); k == reflect.Pointer || k == reflect.Slice {
			p := s.at(name, wire)
			orNull(p, p.Type)
		}
	}
}

// orNull makes a schema take null besides its type.
func orNull(p *jsonschema.Schema, kind string) {
	p.Type = ""
	p.Extras = map[string]any{"type": []string{kind, "null"}}
}

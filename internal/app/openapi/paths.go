package openapi

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/manychat-agent/manychat-agent/internal/console"
	"github.com/manychat-agent/manychat-agent/internal/inbound"
)

// The groups of operations, and the credentials.
const (
	manychatTag  = "ManyChat"
	processTag   = "Process"
	consoleTag   = "Console"
	sharedSecret = "sharedSecret"
	consoleKey   = "consoleKey"
)

// replyAnswer is the name of the answer to a turn.
const replyAnswer = "Reply"

// allPaths lists every route.
func allPaths(cfg Config) map[string]pathItem {
	all := map[string]pathItem{
		inbound.MessagePath: {Post: messageOperation()},
		inbound.ContactPath: {Post: contactOperation()},
		inbound.PausePath:   {Post: pauseOperation()},
		"/health":           {Get: healthOperation()},
		"/ready":            {Get: readyOperation()},
		Path:                {Get: documentOperation()},
	}
	if cfg.Console {
		all[console.TurnsPath] = pathItem{Get: turnsOperation()}
	}
	return all
}

func messageOperation() *operation {
	return &operation{
		OperationID: "postMessage",
		Tags:        []string{manychatTag},
		Summary:     "Answer a contact's message",
		Description: aboutMessage,
		Security:    bearer(sharedSecret),
		RequestBody: &requestBody{Description: aboutMessageBody(), Required: true, Content: holds(ref(messageRequest), messageExamples())},
		Responses:   messageResponses(),
	}
}

func contactOperation() *operation {
	return &operation{
		OperationID: "postFullContactData",
		Tags:        []string{manychatTag},
		Summary:     "Answer a contact's message, sent as Full Contact Data",
		Description: aboutContact,
		Security:    bearer(sharedSecret),
		RequestBody: &requestBody{Description: aboutContactBody(), Required: true, Content: holds(ref(contactRequest), contactExamples())},
		Responses:   messageResponses(),
	}
}

func pauseOperation() *operation {
	all := refusals()
	all["200"] = response{Description: aboutPaused, Content: holds(ref(pausedAnswer), pausedExamples())}
	all["503"] = response{Description: "The database does not answer, and nothing was changed.", Content: holds(refusalOf(inbound.Unavailable), nil)}
	return &operation{
		OperationID: "postPause",
		Tags:        []string{manychatTag},
		Summary:     "Give a contact to a person, or back to the agent",
		Description: aboutPause,
		Security:    bearer(sharedSecret),
		RequestBody: &requestBody{Description: aboutPauseBody(), Required: true, Content: holds(ref(pauseRequest), pauseExamples())},
		Responses:   all,
	}
}

// messageResponses are the answers to a contact's message, as references.
func messageResponses() map[string]response {
	all := refusals()
	all["200"] = response{Ref: responseRef + replyAnswer}
	return all
}

// refusals are the answers to whoever may not ask, or asks for nothing that makes sense, as
// references.
func refusals() map[string]response {
	all := map[string]response{}
	for code := range inbound.Refusals() {
		all[strconv.Itoa(code)] = response{Ref: responseRef + responseName(code)}
	}
	return all
}

// sharedResponses are the answers to a contact's message: the one to a turn, and those
// that begin none, one for each status.
func sharedResponses(replies map[string]example) map[string]response {
	either := &jsonschema.Schema{OneOf: []*jsonschema.Schema{ref(dynamicBlock), refusalOf(inbound.Internal)}}
	all := map[string]response{replyAnswer: {Description: aboutReply, Content: holds(either, replies)}}
	for code, what := range inbound.Refusals() {
		r := response{Description: aboutRefusal(code), Content: holds(refusalOf(what), nil)}
		if code == http.StatusTooManyRequests {
			r.Headers = map[string]header{"Retry-After": {
				Description: aboutRetryAfter, Required: true, Schema: &jsonschema.Schema{Type: "integer", Minimum: "1"},
			}}
		}
		all[responseName(code)] = r
	}
	return all
}

// responseName is a status in one word.
func responseName(code int) string { return strings.ReplaceAll(http.StatusText(code), " ", "") }

// refusalOf is a refusal for one reason.
func refusalOf(what string) *jsonschema.Schema {
	s := ref(refusal)
	s.Properties = jsonschema.NewProperties()
	s.Properties.Set("error", &jsonschema.Schema{Const: what})
	return s
}

func healthOperation() *operation {
	return &operation{
		OperationID: "health",
		Tags:        []string{processTag},
		Summary:     "Ask whether the process is up",
		Responses:   map[string]response{"200": {Description: "It is.", Content: holds(ref(statusAnswer), nil)}},
	}
}

func readyOperation() *operation {
	return &operation{
		OperationID: "ready",
		Tags:        []string{processTag},
		Summary:     "Ask whether the service should be sent requests",
		Responses: map[string]response{
			"200": {Description: aboutReady, Content: holds(ref(statusAnswer), nil)},
			"503": {Description: aboutNotReady, Content: holds(ref(statusAnswer), nil)},
		},
	}
}

func documentOperation() *operation {
	return &operation{
		OperationID: "document",
		Tags:        []string{processTag},
		Summary:     "Read this document",
		Responses: map[string]response{"200": {
			Description: "An OpenAPI 3.1 document.", Content: holds(&jsonschema.Schema{Type: "object"}, nil),
		}},
	}
}

func turnsOperation() *operation {
	failed := func(description string) response {
		return response{Description: description, Content: holds(ref(consoleFailure), nil)}
	}
	return &operation{
		OperationID: "listTurns",
		Tags:        []string{consoleTag},
		Summary:     "Read a contact's recorded turns, newest first",
		Security:    bearer(consoleKey),
		Parameters: []parameter{
			{Name: "subscriber", In: "query", Description: aboutSubscriber, Required: true, Schema: &jsonschema.Schema{Type: "string", Pattern: digits}},
			{Name: "limit", In: "query", Description: "How many turns at most.", Schema: &jsonschema.Schema{
				Type: "integer", Minimum: "1", Maximum: decimal(console.MaxLimit), Default: console.DefaultLimit,
			}},
		},
		Responses: map[string]response{
			"200": {Description: aboutTurns, Content: holds(ref(turnList), nil)},
			"400": failed("A parameter is missing or not valid."),
			"401": failed("The request does not carry the console's key."),
			"503": failed("The database does not answer."),
		},
	}
}

// bearer is the demand for a credential.
func bearer(name string) []map[string][]string { return []map[string][]string{{name: {}}} }

// schemes are the credentials.
func schemes(cfg Config) map[string]securityScheme {
	all := map[string]securityScheme{sharedSecret: {Type: "http", Scheme: "bearer", Description: aboutSharedSecret}}
	if cfg.Console {
		all[consoleKey] = securityScheme{Type: "http", Scheme: "bearer", Description: aboutConsoleKey}
	}
	return all
}

func tags(cfg Config) []tag {
	all := []tag{
		{Name: manychatTag, Description: "What ManyChat calls with what a contact wrote."},
		{Name: processTag, Description: "What whoever runs the service asks it."},
	}
	if cfg.Console {
		all = append(all, tag{Name: consoleTag, Description: "What an operator reads."})
	}
	return all
}

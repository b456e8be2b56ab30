package google

import (
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// failure is what Google says of a request that it did not do:
// https://google.aip.dev/193. Details are of several types; each has its own members.
type failure struct {
	Code    int              `json:"code"`
	Status  string           `json:"status"`
	Message string           `json:"message"`
	Details []jsontext.Value `json:"details"`

	all detail // of all of Details together
}

type detail struct {
	Reason     string `json:"reason"`     // ErrorInfo
	RetryDelay string `json:"retryDelay"` // RetryInfo, such as 13.5s
	Violations []struct {
		QuotaID    string `json:"quotaId"`
		QuotaValue string `json:"quotaValue"`
	} `json:"violations"` // QuotaFailure
	Fields []struct {
		Field string `json:"field"`
	} `json:"fieldViolations"` // BadRequest
}

// failureOf reads the body of an error: an object, the same in a list, as for requests
// that stream, or with no more than a text.
func failureOf(body []byte) failure {
	var list []jsontext.Value
	if wire.Read(body, &list) == nil && len(list) > 0 {
		body = list[0]
	}
	var whole struct {
		Error jsontext.Value `json:"error"`
	}
	_ = wire.Read(body, &whole)
	var f failure
	if whole.Error.Kind() == '"' {
		_ = wire.Read(whole.Error, &f.Message)
		return f
	}
	_ = wire.Read(whole.Error, &f)
	for _, raw := range f.Details {
		var d detail
		_ = wire.Read(raw, &d)
		f.all.Reason += d.Reason
		f.all.RetryDelay += d.RetryDelay
		f.all.Violations = append(f.all.Violations, d.Violations...)
		f.all.Fields = append(f.all.Fields, d.Fields...)
	}
	return f
}

// refused is the error of an answer that is none.
func (m *Model) refused(a wire.Answer, req llm.Request) error {
	f := failureOf(a.Body)
	if a.OK() && f.Code >= 400 { // an error under the status of an answer, as proxies send it
		a.Status = f.Code
	}
	e := m.client.Failed(a, f.Message)
	switch {
	case f.accountIsRefused(a.Status), a.Status == http.StatusTooManyRequests && f.isSpent():
		e.Kind, e.RetryAfter = llm.KindUnauthorized, 0
	case e.Kind == llm.KindRejected && a.Status == http.StatusBadRequest:
		e.Unsupported = f.unsupported(e.Message, req)
	case e.Retryable() && e.RetryAfter == 0:
		e.RetryAfter = f.wait()
	}
	return e
}

// accountIsRefused reports whether the key or its project is what is wrong, for which
// Google has 400 too: https://ai.google.dev/gemini-api/docs/troubleshooting.
func (f failure) accountIsRefused(status int) bool {
	return strings.HasPrefix(f.all.Reason, "API_KEY_") || status == http.StatusBadRequest &&
		(f.Status == "FAILED_PRECONDITION" || strings.HasPrefix(f.Message, "API key "))
}

// isSpent reports whether a quota is out for longer than any turn: that of a day, one of
// none at all, or money.
func (f failure) isSpent() bool {
	for _, v := range f.all.Violations {
		if strings.Contains(v.QuotaID, "PerDay") || v.QuotaValue == "0" {
			return true
		}
	}
	return strings.Contains(f.Message, "limit: 0,") ||
		strings.Contains(f.Message, "credits are depleted") || strings.Contains(f.Message, "spending cap")
}

// longestWait bounds what Google may ask for.
const longestWait = time.Hour

// wait is how long Google asks to wait in the body; it sends no header for it.
func (f failure) wait() time.Duration {
	d, err := time.ParseDuration(f.all.RetryDelay)
	if err != nil {
		return 0
	}
	return min(max(d, 0), longestWait)
}

// unsupported is the part of a request that the model does not take, by the names in the
// fields and in the message, which quotes nothing of the request any more. A contact's
// message or one tool's declaration that is refused says nothing about the model.
func (f failure) unsupported(message string, req llm.Request) llm.Feature {
	said := message
	for _, v := range f.all.Fields {
		said += " " + v.Field
	}
	names := func(any ...string) bool { return wire.Has(said, any...) }
	switch {
	case names("contents[", "function_declarations["):
		return ""
	case names("thinking") && (req.Effort != "" || req.ReasoningTokens > 0):
		return llm.Reasoning
	case names("temperature") && req.Temperature != nil:
		return llm.Temperature
	case names("response mime type", "response_mime_type", "responsemimetype", "response_schema", "response_json_schema",
		"responsejsonschema", "json mode", "specified schema") && req.Schema != nil:
		return llm.Schema
	case names("image input") && hasImages(req.Messages):
		return llm.Images
	case names("function calling", "function_calling", "tool use", "tools are not") && len(req.Tools) > 0:
		return llm.Tools
	}
	return ""
}

func hasImages(messages []llm.Message) bool {
	for _, m := range messages {
		if len(m.Images) > 0 {
			return true
		}
	}
	return false
}

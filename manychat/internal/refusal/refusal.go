// Package refusal reads what ManyChat answers when it does not do what it was asked,
// and makes the text of it safe to log.
package refusal

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// MaxRetryAfter is the longest refusal that ManyChat names: 24 hours.
const MaxRetryAfter = 24 * time.Hour

// Decode reads the error forms of ManyChat: a message, with details.messages that is a
// list of objects or strings or one bare string, or with an integer code. It returns
// zero values for what is not there, and for a body that is not a JSON object. A detail
// that repeats what is already said is left out.
func Decode(body []byte) (message string, code int) {
	var root map[string]any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if dec.Decode(&root) != nil {
		return "", 0
	}
	if n, ok := root["code"].(json.Number); ok {
		code, _ = strconv.Atoi(n.String())
	}
	parts := texts(root["message"], nil)
	parts = texts(root["details"], parts)
	return strings.Join(parts, ": "), code
}

// texts appends the strings of an error's message or details to parts.
func texts(v any, parts []string) []string {
	switch v := v.(type) {
	case string:
		if v = oneLine(v); v != "" && !slices.Contains(parts, v) {
			parts = append(parts, v)
		}
	case []any:
		for _, element := range v {
			parts = texts(element, parts)
		}
	case map[string]any:
		parts = texts(v["message"], parts)
		parts = texts(v["messages"], parts)
	}
	return parts
}

// RetryAfter reads both forms of the header, seconds and an HTTP date. A value that is
// neither, or lies in the past, is 0; none is longer than [MaxRetryAfter].
func RetryAfter(header string, now func() time.Time) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.Atoi(header); err == nil {
		wait = time.Duration(min(seconds, int(MaxRetryAfter/time.Second))) * time.Second
	} else if date, err := http.ParseTime(header); err == nil {
		wait = date.Sub(now())
	}
	return min(max(wait, 0), MaxRetryAfter)
}

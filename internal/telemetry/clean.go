package telemetry

import (
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/redact"
)

// mark stands for whatever stood under a private key.
const mark = "[redacted]"

// longNumber stands for a number that may be somebody's.
const longNumber = "[number]"

// fewestLong is the least value of a number that may be somebody's: 9 digits, as the
// shortest subscriber ids have.
const fewestLong = 100_000_000

var hidden = slog.StringValue(mark)

// clean returns an attribute without anything to hide; ok is false for an empty string.
func clean(a slog.Attr) (_ slog.Attr, ok bool) {
	key := redact.Text(a.Key)
	if isPrivate(a.Key) {
		return slog.Attr{Key: key, Value: hidden}, true
	}
	v := cleanValue(a.Key, a.Value.Resolve())
	return slog.Attr{Key: key, Value: v}, v.Kind() != slog.KindString || v.String() != ""
}

// cleanValue returns a resolved value without anything to hide.
func cleanValue(key string, v slog.Value) slog.Value {
	switch v.Kind() {
	case slog.KindString:
		return slog.StringValue(cleanText(key, v.String()))
	case slog.KindInt64:
		return cleanNumber(key, v, float64(v.Int64()))
	case slog.KindUint64:
		return cleanNumber(key, v, float64(v.Uint64()))
	case slog.KindFloat64:
		return cleanNumber(key, v, v.Float64())
	case slog.KindGroup:
		attrs := make([]slog.Attr, 0, len(v.Group()))
		for _, a := range v.Group() {
			if a, ok := clean(a); ok {
				attrs = append(attrs, a)
			}
		}
		return slog.GroupValue(attrs...)
	case slog.KindAny:
		return cleanAny(key, v)
	}
	return v // true and false, times and durations
}

// cleanText returns a text without anything to hide. Of a link only one to this machine
// stays, and a text that is JSON is cleaned by its keys too.
func cleanText(key, text string) string {
	out := redact.Text(text)
	switch {
	case isLinkKey(key) && text != "" && (out != text || !strings.Contains(text, "://")):
		return mark
	case strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[{"):
		if doc, ok := cleanJSON(key, []byte(text)); ok {
			return doc
		}
	}
	return out
}

// cleanNumber replaces a number that may be somebody's.
func cleanNumber(key string, v slog.Value, size float64) slog.Value {
	if isLong(key, size) {
		return slog.StringValue(longNumber)
	}
	return v
}

// isLong reports whether a number may be somebody's: it is long, and its key does not
// say that it measures something.
func isLong(key string, size float64) bool {
	return math.Abs(size) >= fewestLong && !math.IsInf(size, 0) && !isMeasure(key)
}

// cleanAny returns a value of any type as plain data without anything to hide. Named
// strings and numbers, which are the commonest, keep to slog's own kinds.
func cleanAny(key string, v slog.Value) (out slog.Value) {
	held := v.Any()
	if texts, ok := held.([]string); ok && isClean(texts) {
		return v
	}
	defer func() {
		if p := recover(); p != nil {
			out = slog.StringValue(fmt.Sprintf("[a value of type %T that panicked]", held))
		}
	}()
	return slog.AnyValue(data(key, reflect.ValueOf(held), 0))
}

func isClean(texts []string) bool {
	for _, text := range texts {
		if cleanText("", text) != text {
			return false
		}
	}
	return true
}

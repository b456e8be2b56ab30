package telemetry

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/redact"
)

// deepest is how many levels of a value are shown; a value that holds itself has no end.
const deepest = 8

// data is a value as plain data, strings, numbers, lists and maps, without anything to
// hide: by its keys, which are those of maps and the names of fields, and by its shapes.
func data(key string, v reflect.Value, depth int) any {
	switch {
	case !v.IsValid() || isNil(v):
		return nil
	case depth > deepest:
		return "…"
	case isPrivate(key):
		return mark
	}
	if v.CanInterface() {
		if said, ok := own(key, v.Interface(), depth); ok {
			return said
		}
	}
	return ofKind(key, v, depth)
}

func isNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan:
		return v.IsNil()
	}
	return false
}

// own is what a value says of itself; ok is false for one that says nothing.
func own(key string, held any, depth int) (said any, ok bool) {
	switch held := held.(type) {
	case slog.Attr:
		return resolved(key, slog.GroupValue(held), depth), true
	case slog.Value:
		return resolved(key, held.Resolve(), depth), true
	case slog.LogValuer:
		return resolved(key, slog.AnyValue(held).Resolve(), depth), true
	case time.Time:
		return held.Format(time.RFC3339Nano), true
	case time.Duration:
		return held.String(), true
	case json.Number:
		if size, err := held.Float64(); err != nil || isLong(key, size) {
			return longNumber, true
		}
		return held, true
	case json.RawMessage:
		return ofBytes(key, held), true
	case error:
		return cleanText(key, held.Error()), true
	case fmt.Stringer:
		return cleanText(key, held.String()), true
	case encoding.TextMarshaler:
		text, err := held.MarshalText()
		if err != nil {
			return unreadable(held), true
		}
		return cleanText(key, string(text)), true
	case json.Marshaler:
		doc, err := held.MarshalJSON()
		if err != nil {
			return unreadable(held), true
		}
		return ofBytes(key, doc), true
	}
	return nil, false
}

func unreadable(held any) string { return fmt.Sprintf("[a value of type %T]", held) }

// resolved is a value of slog's as plain data.
func resolved(key string, v slog.Value, depth int) any {
	switch v.Kind() {
	case slog.KindAny:
		return data(key, reflect.ValueOf(v.Any()), depth+1)
	case slog.KindGroup:
		out := make(map[string]any, len(v.Group()))
		for _, a := range v.Group() {
			out[redact.Text(a.Key)] = data(a.Key, reflect.ValueOf(a.Value), depth+1)
		}
		return out
	}
	return cleanValue(key, v).Any()
}

// ofKind is a value that says nothing of itself, by what it is made of.
func ofKind(key string, v reflect.Value, depth int) any {
	switch v.Kind() {
	case reflect.String:
		return cleanText(key, v.String())
	case reflect.Bool:
		return v.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return cleanNumber(key, slog.Int64Value(v.Int()), float64(v.Int())).Any()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return cleanNumber(key, slog.Uint64Value(v.Uint()), float64(v.Uint())).Any()
	case reflect.Float32, reflect.Float64:
		return cleanNumber(key, slog.Float64Value(v.Float()), v.Float()).Any()
	case reflect.Pointer, reflect.Interface:
		return data(key, v.Elem(), depth+1)
	case reflect.Slice, reflect.Array:
		return ofList(key, v, depth)
	case reflect.Map:
		return ofMap(v, depth)
	case reflect.Struct:
		return ofStruct(v, depth)
	}
	return fmt.Sprintf("[a value of type %s]", v.Type())
}

func ofList(key string, v reflect.Value, depth int) any {
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		return ofBytes(key, v.Bytes())
	}
	out := make([]any, v.Len())
	for i := range out {
		out[i] = data(key, v.Index(i), depth+1)
	}
	return out
}

func ofMap(v reflect.Value, depth int) any {
	out := make(map[string]any, v.Len())
	for each := v.MapRange(); each.Next(); {
		key := fmt.Sprint(data("", each.Key(), depth+1))
		out[key] = data(key, each.Value(), depth+1)
	}
	return out
}

// ofStruct is a struct's exported fields under their names in JSON.
func ofStruct(v reflect.Value, depth int) any {
	out := map[string]any{}
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.IsExported() || name == "-" {
			continue
		}
		value := data(field.Name, v.Field(i), depth+1)
		if name == "" {
			name = field.Name
		} else if isPrivate(name) {
			value = mark
		}
		out[name] = value
	}
	return out
}

// ofBytes is bytes as what they are: JSON, a text, or how many there are.
func ofBytes(key string, b []byte) any {
	if tree, err := parse(b); err == nil {
		return data(key, reflect.ValueOf(tree), 0)
	}
	if !utf8.Valid(b) {
		return fmt.Sprintf("[%d bytes]", len(b))
	}
	return cleanText(key, string(b))
}

// cleanJSON is a JSON document without anything to hide; ok is false for what is none.
func cleanJSON(key string, doc []byte) (clean string, ok bool) {
	tree, err := parse(doc)
	if err != nil {
		return "", false
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data(key, reflect.ValueOf(tree), 0)); err != nil {
		return "", false
	}
	return strings.TrimSuffix(out.String(), "\n"), true
}

// parse reads a JSON document with its numbers as they are written.
func parse(doc []byte) (tree any, err error) {
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, fmt.Errorf("more than one document")
	}
	return tree, nil
}

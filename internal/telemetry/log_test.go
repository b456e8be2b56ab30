package telemetry_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/telemetry"
)

// logged is the line that a call writes, without its time, level and message.
func logged(t *testing.T, write func(*slog.Logger)) map[string]any {
	t.Helper()
	var out bytes.Buffer
	write(telemetry.NewLogger(&out, slog.LevelInfo, telemetry.JSON))
	var line map[string]any
	if err := json.Unmarshal(out.Bytes(), &line); err != nil {
		t.Fatalf("the line is no JSON: %v\n%s", err, out.String())
	}
	for _, key := range []string{"time", "level", "msg"} {
		delete(line, key)
	}
	return line
}

// Holds docs/spec/01-principles.md, "Rules nothing may break": C5.
func TestPrivateKeysAreRedacted(t *testing.T) {
	for _, format := range []telemetry.Format{telemetry.JSON, telemetry.Text} {
		t.Run(string(format), func(t *testing.T) {
			var out bytes.Buffer
			log := telemetry.NewLogger(&out, slog.LevelInfo, format)
			log.Info("turn", "turn", "t-1", "text", "my secret words", "subscriber", "900000001",
				"id", contact.SubscriberID("900000002"), slog.Group("request", "Token", "tok_abcdef"))
			got := out.String()
			for _, leak := range []string{"my secret words", "900000001", "900000002", "tok_abcdef"} {
				if strings.Contains(got, leak) {
					t.Errorf("the line holds %q:\n%s", leak, got)
				}
			}
			if !strings.Contains(got, "t-1") {
				t.Errorf("the line lost the turn's id:\n%s", got)
			}
		})
	}
}

// Holds docs/spec/01-principles.md, "Rules nothing may break": C5.
func TestKeys(t *testing.T) {
	private := []string{
		"subscriber", "subscriber_id", "subscriber-id", "subscriberId", "SubscriberID", "SUBSCRIBER_ID", "contact.subscriber",
		"phone", "whatsapp_phone", "phoneNumber", "name", "first_name", "FirstName", "last-name", "email", "replyToEmail",
		"text", "message", "body", "last_input_text", "lastInputText", "token", "ai_token", "accessToken", "secret",
		"sharedSecret", "password", "db_password", "api_key", "apiKey", "X-Api-Key", "authorization", "Authorization",
		"cookie", "Set-Cookie", "flow_ns", "replyFlowNs", "flow", "media_url", "mediaUrl", "profile_pic", "url", "publicUrl",
		strings.Repeat("k", 65),
	}
	public := []string{
		"turn", "conversation", "row", "outcome", "path", "reason", "model", "attempt", "error", "tokens_in", "tokens_out",
		"key", "status", "code", "endpoint", "kind", "variable", "hostname", "address", "tool", "file", "stack", "id",
	}
	for _, key := range private {
		if got := logged(t, func(log *slog.Logger) { log.Info("x", key, "Ada") })[key]; got != "[redacted]" {
			t.Errorf("%s is %v", key, got)
		}
	}
	for _, key := range public {
		if got := logged(t, func(log *slog.Logger) { log.Info("x", key, "Ada") })[key]; got != "Ada" {
			t.Errorf("%s is %v", key, got)
		}
	}
}

const dialled = "+49 170 1234567"

type (
	list   = []any
	object = map[string]any

	word         string
	micros       int64
	person       struct{ FirstName, City string }
	stringy      struct{ words string }
	texty        struct{ words string }
	jsony        struct{ doc string }
	valuer       struct{ value slog.Value }
	failingText  struct{}
	failing      struct{}
	broken       struct{}
	brokenValuer struct{}
	nested       struct {
		ID     contact.SubscriberID `json:"id"`
		Phone  string               `json:"whatsapp"`
		City   string               `json:"phone,omitempty"`
		Err    error
		Hidden string `json:"-"`
		Next   *nested
	}
)

func (s stringy) String() string                 { return s.words }
func (x texty) MarshalText() ([]byte, error)     { return []byte(x.words), nil }
func (j jsony) MarshalJSON() ([]byte, error)     { return []byte(j.doc), nil }
func (v valuer) LogValue() slog.Value            { return v.value }
func (failing) MarshalJSON() ([]byte, error)     { return nil, errors.New(dialled) }
func (failingText) MarshalText() ([]byte, error) { return nil, errors.New(dialled) }
func (broken) Error() string                     { panic(dialled) }
func (brokenValuer) LogValue() slog.Value        { panic(dialled) }

// Holds docs/spec/01-principles.md, "Rules nothing may break": C5. A value of any type is
// cleaned by its shape and by its keys, at any depth.
func TestValues(t *testing.T) {
	circle := &nested{City: "Rome"}
	circle.Next = circle
	number := 7
	tests := []struct {
		name  string
		value any
		want  any // nil: the attribute says null
	}{
		{"string", "call " + dialled, "call [phone]"},
		{"named string", word("call " + dialled), "call [phone]"},
		{"JSON text", `{"first_name":"Ada","n":[1,900000001],"at":"` + dialled + `"}`, `{"at":"[phone]","first_name":"[redacted]","n":[1,"[number]"]}`},
		{"JSON list", `[{"phone":1}]`, `[{"phone":"[redacted]"}]`},
		{"nearly JSON", `{"first_name":` + dialled, `{"first_name":[phone]`},
		{"error", fmt.Errorf("send: %w", errors.New("to "+dialled)), "send: to [phone]"},
		{"stringer", stringy{"to " + dialled}, "to [phone]"},
		{"pointer to a stringer", &stringy{"to " + dialled}, "to [phone]"},
		{"text marshaler", texty{dialled}, "[phone]"},
		{"JSON marshaler", jsony{`{"name":"Ada","ok":true}`}, object{"name": "[redacted]", "ok": true}},
		{"JSON marshaler that fails", failing{}, "[a value of type telemetry_test.failing]"},
		{"valuer", valuer{slog.StringValue(dialled)}, "[phone]"},
		{"valuer of a group", valuer{slog.GroupValue(slog.String("name", "Ada"), slog.Int("n", 1))}, object{"name": "[redacted]", "n": 1.0}},
		{"list of valuers", []any{valuer{slog.GroupValue(slog.String("name", "Ada"), slog.Any("id", contact.SubscriberID("7")))}}, list{object{"name": "[redacted]", "id": "[subscriber]"}}},
		{"list of attributes", []any{slog.String("name", "Ada"), slog.StringValue(dialled)}, list{object{"name": "[redacted]"}, "[phone]"}},
		{"strings", []string{"a", dialled}, list{"a", "[phone]"}},
		{"harmless strings", []string{"text_truncated", "body_repaired"}, list{"text_truncated", "body_repaired"}},
		{"anything", []any{dialled, 900000001, nil, true, errors.New(dialled)}, list{"[phone]", "[number]", nil, true, "[phone]"}},
		{"numbers", []any{uint16(7), float32(0.5), micros(1), word("a")}, list{7.0, 0.5, 1.0, "a"}},
		{"valuer of a struct in a list", []any{valuer{slog.AnyValue(person{"Ada", "Rome"})}}, list{object{"FirstName": "[redacted]", "City": "Rome"}}},
		{"text marshaler that fails", failingText{}, "[a value of type telemetry_test.failingText]"},
		{"array", [2]word{"a", word(dialled)}, list{"a", "[phone]"}},
		{"map", map[string]any{"first_name": "Ada", "city": dialled, dialled: 1}, object{"first_name": "[redacted]", "city": "[phone]", "[phone]": "[redacted]"}},
		{"map by id", map[contact.SubscriberID]int{"7": 1}, object{"[subscriber]": "[redacted]"}},
		{"map by number", map[int64]bool{900000001: true}, object{"[number]": true}},
		{"struct", person{"Ada", "Rome"}, object{"FirstName": "[redacted]", "City": "Rome"}},
		{"pointer", &person{"Ada", dialled}, object{"FirstName": "[redacted]", "City": "[phone]"}},
		{"struct with tags", nested{ID: "7", Phone: "x", City: "Rome", Err: errors.New(dialled), Hidden: "h"},
			object{"id": "[subscriber]", "whatsapp": "[redacted]", "phone": "[redacted]", "Err": "[phone]", "Next": nil}},
		{"raw JSON", json.RawMessage(`{"email":"x","at":"` + dialled + `","n":900000001,"us":12}`), object{"email": "[redacted]", "at": "[phone]", "n": "[number]", "us": 12.0}},
		{"raw and no JSON", json.RawMessage("to " + dialled), "to [phone]"},
		{"bytes of text", []byte("to " + dialled), "to [phone]"},
		{"bytes of JSON", []byte(`{"name":"Ada"}`), object{"name": "[redacted]"}},
		{"two documents", []byte(`1 ` + dialled), "1 [phone]"},
		{"bytes", []byte{0xff, 0xd8, 0xff}, "[3 bytes]"},
		{"link", &url.URL{Scheme: "https", Host: "school.example", Path: "/ada"}, "[url]"},
		{"pointer to a number", &number, 7.0},
		{"nil", nil, nil},
		{"nil pointer", (*person)(nil), nil},
		{"nil error", (*broken)(nil), nil},
		{"nil map", map[string]any(nil), nil},
		{"function", func() {}, "[a value of type func()]"},
		{"channel", make(chan int), "[a value of type chan int]"},
		{"id", 900000001, "[number]"},
		{"named id", micros(900000001), "[number]"},
		{"negative id", int64(-900000001), "[number]"},
		{"unsigned id", uint64(math.MaxUint64), "[number]"},
		{"fractional id", 900000001.5, "[number]"},
		{"small number", micros(99_999_999), 99_999_999.0},
		{"confidence", 0.987654321, 0.987654321},
		{"unsigned", uint8(7), 7.0},
		{"JSON number", json.Number("900000001"), "[number]"},
		{"broken JSON number", json.Number("Ada"), "[number]"},
		{"duration", 8500 * time.Millisecond, 8.5e9},
		{"durations", []time.Duration{8500 * time.Millisecond}, list{"8.5s"}},
		{"times", []time.Time{time.Date(2026, 1, 2, 3, 4, 5, 987654321, time.UTC)}, list{"2026-01-02T03:04:05.987654321Z"}},
		{"boolean", true, true},
		{"endless", circle, "…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := logged(t, func(log *slog.Logger) { log.Info("x", "held", tt.value) })["held"]
			for next, ok := got.(map[string]any); tt.name == "endless" && ok && next["Next"] != nil; next, ok = got.(map[string]any) {
				got = next["Next"]
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("the line says (-want +got):\n%s", diff)
			}
			for _, format := range []telemetry.Format{telemetry.JSON, telemetry.Text} {
				var out bytes.Buffer
				telemetry.NewLogger(&out, slog.LevelInfo, format).With("held", tt.value).WithGroup("g").Info("x", "held", tt.value)
				for _, leak := range []string{"1234567", "Ada", "900000001", "school"} {
					if strings.Contains(out.String(), leak) {
						t.Errorf("the line holds %q:\n%s", leak, out.String())
					}
				}
			}
		})
	}
}

// Holds docs/spec/16-operations.md, "Logs": a value that breaks takes down no caller.
func TestValuesThatPanic(t *testing.T) {
	var out bytes.Buffer
	log := telemetry.NewLogger(&out, slog.LevelInfo, telemetry.JSON)
	log.With("first", broken{}).Info("x", "error", error(broken{}), "inside", []any{broken{}}, "valuer", brokenValuer{}, "after", "kept")
	for _, want := range []string{
		`"first":"[a value of type telemetry_test.broken that panicked]"`,
		`"error":"[a value of type telemetry_test.broken that panicked]"`,
		`"inside":"[a value of type []interface {} that panicked]"`,
		`"valuer":"LogValue panicked`,
		`"after":"kept"`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the line lacks %s:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "1234567") {
		t.Errorf("the line holds what the panic said:\n%s", out.String())
	}
}

// Holds docs/spec/01-principles.md, "Rules nothing may break": C5, wherever in a line it is.
func TestPlaces(t *testing.T) {
	tests := []struct {
		name  string
		write func(*slog.Logger)
		want  string
	}{
		{"message", func(log *slog.Logger) { log.Info("wrote to " + dialled) }, `"msg":"wrote to [phone]"}`},
		{"key", func(log *slog.Logger) { log.Info("x", dialled, 1) }, `"msg":"x","[phone]":1}`},
		{"group", func(log *slog.Logger) { log.Info("x", slog.Group("g", "a", dialled, "name", "Ada")) }, `"g":{"a":"[phone]","name":"[redacted]"}}`},
		{"inline group", func(log *slog.Logger) { log.Info("x", slog.Group("", "a", dialled)) }, `"msg":"x","a":"[phone]"}`},
		{"group of a group", func(log *slog.Logger) { log.Info("x", slog.Group("g", slog.Group("h", "a", dialled))) }, `"g":{"h":{"a":"[phone]"}}}`},
		{"private group", func(log *slog.Logger) { log.Info("x", slog.Group("body", "a", 1)) }, `"body":"[redacted]"}`},
		{"attributes of a logger", func(log *slog.Logger) { log.With("a", dialled, "name", "Ada").Info("x") }, `"a":"[phone]","name":"[redacted]"}`},
		{"group of a logger", func(log *slog.Logger) { log.WithGroup("g").With("a", dialled).Info("x", "b", dialled) }, `"g":{"a":"[phone]","b":"[phone]"}}`},
		{"private group of a logger", func(log *slog.Logger) { log.WithGroup("contact_phone").WithGroup("g").With("a", 1).Info("x", "b", "c") }, `"contact_phone":{"g":{"a":"[redacted]","b":"[redacted]"}}}`},
		{"name of a group", func(log *slog.Logger) { log.WithGroup(dialled).Info("x", "b", 1) }, `"[phone]":{"b":1}}`},
		{"missing value", func(log *slog.Logger) { log.Info("x", []any{dialled}...) }, `"!BADKEY":"[phone]"}`},
		{"empty strings", func(log *slog.Logger) { log.Info("x", "a", "", "b", word(""), "c", 0, slog.Group("g", "d", "")) }, `"msg":"x","c":0}`},
		{"empty private string", func(log *slog.Logger) { log.Info("x", "name", "") }, `"msg":"x","name":"[redacted]"}`},
		{"measures", func(log *slog.Logger) {
			log.Info("x", "total_us", micros(900000001), "hold_ms", 900000001, "size_bytes", 900000001.0, "cost_micros", uint64(900000001), "wait_ns", 900000001)
		}, `"total_us":900000001,"hold_ms":900000001,"size_bytes":900000001,"cost_micros":900000001,"wait_ns":900000001}`},
		{"link to this machine", func(log *slog.Logger) { log.Info("x", "url", "http://127.0.0.1:3000/sandbox") }, `"url":"http://127.0.0.1:3000/sandbox"}`},
		{"any other link", func(log *slog.Logger) { log.Info("x", "url", "school.example", "at", "https://school.example") }, `"url":"[redacted]","at":"[url]"}`},
		{"ids", func(log *slog.Logger) { log.Info("x", "turn", "0193a1b2-c3d4-7e5f-8a9b-123456789012") }, `"turn":"0193a1b2-c3d4-7e5f-8a9b-123456789012"}`},
		{"time", func(log *slog.Logger) { log.Info("x", "at", time.Date(2026, 1, 2, 3, 4, 5, 123456789, time.UTC)) }, `"at":"2026-01-02T03:04:05.123456789Z"}`},
		{"many attributes", func(log *slog.Logger) { log.Info("x", numbered(40)...) }, `"k39":39}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			tt.write(telemetry.NewLogger(&out, slog.LevelInfo, telemetry.JSON))
			if got := strings.TrimSpace(out.String()); !strings.HasSuffix(got, tt.want) {
				t.Errorf("the line is %s\nwant at its end %s", got, tt.want)
			}
		})
	}
}

// numbered are n attributes.
func numbered(n int) []any {
	var args []any
	for i := range n {
		args = append(args, fmt.Sprintf("k%d", i), i)
	}
	return args
}

// Holds docs/spec/16-operations.md, "Logs".
func TestLevel(t *testing.T) {
	var out bytes.Buffer
	log := telemetry.NewLogger(&out, slog.LevelWarn, telemetry.Text)
	log.Info("below")
	log.Warn("above", "names", []string{"a", "b"}, "path", word("inline"))
	if got := out.String(); strings.Contains(got, "below") || !strings.Contains(got, `msg=above names="[a b]" path=inline`) {
		t.Errorf("the log is %s", got)
	}
}

package manychat_test

import (
	"context"
	"strings"
	"testing"
	"unicode/utf8"
)

// Holds docs/spec/17-quality.md, the fuzzing row: whatever ManyChat answers, a call ends
// in success or in a typed error whose message is short, on one line and without
// secrets.
func FuzzDecodeError(f *testing.F) {
	const value = "Ada lives in Springfield"
	bodies := []string{
		``, `null`, `[]`, `{}`, `"text"`, `<html>502</html>`,
		`{"status":"success"}`,
		`{"status":"error","message":"Wrong token"}`,
		`{"status":"error","message":"Validation error","details":{"messages":[{"message":"Wrong field"}]}}`,
		`{"status":"error","message":"Validation error","details":{"messages":["Wrong field",1,null]}}`,
		`{"status":"error","message":"Validation error","details":{"messages":"Wrong field"}}`,
		`{"status":"error","message":"Too late","code":3011}`,
		`{"status":"error","message":"Too late","code":1e400}`,
		`{"status":1,"message":{"message":["a",["b"]]},"details":"c","code":"3011"}`,
		`{"message":"Ada lives in Springfield, ` + testSubscriber + `, ` + testToken + `"}`,
		`{"message":"Ada lives\nin Springfield"}`,
		"{\"message\":\"\xff\u2028\"}",
	}
	for _, body := range bodies {
		f.Add(200, []byte(body))
		f.Add(400, []byte(body))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if status < 200 || status > 999 {
			return // net/http reads three digits and takes the informational ones itself
		}
		c := newClient(t, answering(status, string(body), nil))
		err := c.SetCustomFieldByName(context.Background(), testSubscriber, "ai_message", value)
		if err == nil {
			if status >= 300 {
				t.Errorf("status %d is a success", status)
			}
			return
		}
		e := asError(t, err)
		if e.Status != status || e.Kind == "" || e.Message == "" {
			t.Errorf("error is %#v", e)
		}
		if n := utf8.RuneCountInString(e.Message); n > 301 || !utf8.ValidString(e.Message) || strings.ContainsAny(e.Message, "\r\n\x00") {
			t.Errorf("message of %d runes: %q", n, e.Message)
		}
		for _, secret := range []string{value, testSubscriber, testToken} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("error shows %q: %v", secret, err)
			}
		}
	})
}

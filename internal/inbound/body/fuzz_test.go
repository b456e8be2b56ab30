package body_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/inbound/body"
)

// Holds docs/spec/02-inbound.md, "Request body": whatever arrives is a message within its
// limits or a refusal, and only what is not JSON is repaired.
func FuzzMessage(f *testing.F) {
	_, cases := corpus(f, "testdata/message.txtar")
	for _, c := range cases {
		f.Add(c.sent)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, bad := body.Message(data)
		checkLimits(t, r, bad)
		if bad == nil && r.Repaired == json.Valid(data) {
			t.Errorf("repaired is %t", r.Repaired)
		}
	})
}

// Holds docs/spec/02-inbound.md, "Full Contact Data": whatever arrives is a message within
// its limits or a refusal.
func FuzzFullContact(f *testing.F) {
	_, cases := corpus(f, "testdata/fullcontact.txtar")
	for _, c := range cases {
		f.Add(c.sent)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, bad := fullContact(data)
		checkLimits(t, r, bad)
		if bad == nil && (r.Repaired || !json.Valid(data)) {
			t.Errorf("repaired is %t", r.Repaired)
		}
	})
}

func checkLimits(t *testing.T, r body.Read, bad *body.Problem) {
	t.Helper()
	if bad != nil {
		if bad.Status != 400 || bad.Message == "" || bad.Event == "" || r.Interventions != nil || r.Text != "" {
			t.Errorf("the problem is %+v with %+v", bad, r)
		}
		return
	}
	if _, err := contact.ParseSubscriberID(string(r.SubscriberID)); err != nil {
		t.Errorf("the subscriber id is %q", string(r.SubscriberID))
	}
	if n := utf8.RuneCountInString(r.Text); n > 4096 {
		t.Errorf("the text has %d characters", n)
	}
	for _, name := range []string{r.Token, r.Offering} {
		if utf8.RuneCountInString(name) > 256 || strings.Contains(name, "{{") || strings.TrimSpace(name) != name {
			t.Errorf("a name is %q", name)
		}
	}
	for _, s := range []string{r.Text, r.Token, r.Offering, string(r.Channel), r.FirstName} {
		if !utf8.ValidString(s) || strings.Contains(s, "\x00") {
			t.Errorf("%q is read", s)
		}
	}
}

// Holds docs/spec/02-inbound.md, "Raw templating": the quick way to judge all readings
// finds what listing them finds.
func FuzzRepair(f *testing.F) {
	_, cases := corpus(f, "testdata/message.txtar")
	for _, c := range cases {
		f.Add(c.sent)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if comparable(data) {
			compareWithReference(t, data)
		}
	})
}

// fataler is what a test and a property share.
type fataler interface {
	Fatalf(format string, args ...any)
}

func compareWithReference(t fataler, data []byte) {
	values, differ := reference(string(data))
	r, bad := body.Message(data)
	switch {
	case differ != "":
		if bad == nil || bad.Event != body.AmbiguousBody {
			t.Fatalf("%s is read as %+v, %+v, but its readings differ in %s", data, r, bad, differ)
		}
	case values == nil:
		if bad == nil || bad.Event != body.RefusedBody || bad.Key != "" {
			t.Fatalf("%s is read as %+v, %+v, but has no reading", data, r, bad)
		}
	case bad != nil:
		if bad.Event == body.AmbiguousBody || bad.Key == "" || lawful(values) {
			t.Fatalf("%s is refused with %+v, but says %q", data, bad, values)
		}
	default:
		got := []string{string(r.SubscriberID), r.Token, string(r.Channel), r.Text, r.FirstName}
		name := matters("offering", values["offering"])
		if name == "" {
			name = matters("course", values["course"])
		}
		want := []string{values["subscriber_id"], matters("ai_token", values["ai_token"]), matters("channel", values["channel"]), values["text"], matters("first_name", values["first_name"])}
		for i, s := range append(got, r.Offering) {
			w := append(want, name)[i]
			w = strings.ReplaceAll(w, "\x00", "\uFFFD")
			if i == 3 {
				w = fmt.Sprintf("%.4096s", w)
			}
			if s != w {
				t.Fatalf("of %s is read %q and not %q", data, s, w)
			}
		}
	}
}

// lawful reports whether values break no rule.
func lawful(values map[string]string) bool {
	_, err := contact.ParseSubscriberID(values["subscriber_id"])
	for _, k := range []string{"ai_token", "course", "offering"} {
		if utf8.RuneCountInString(values[k]) > 256 {
			return false
		}
	}
	return err == nil && values["text"] != absent
}

package app_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
)

// tokenOf is what the contact's field holds at ManyChat.
func (r *rig) tokenOf(id string) string {
	r.t.Helper()
	c, err := r.Account.Contact(id)
	if err != nil {
		r.t.Fatal(err)
	}
	token, _ := c.Fields["ai_token"].(string)
	return token
}

// Holds docs/spec/06-contact.md, "Contact token": a contact's first messages, all sent
// before the field is written, are one bound history; a wrong token among them is not.
func TestFirstBurstIsOneHistory(t *testing.T) {
	ear := &listener{}
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		r.faults(fault.Fault{Kind: fault.Timeout, Path: "subscriber writes", Times: 1})
		words := []string{"alpha", "bravo", "charlie", "delta", "echo"}
		var all sync.WaitGroup
		for _, word := range words {
			all.Go(func() { r.write(id, "my word is "+word) })
			time.Sleep(1300 * time.Millisecond)
			if r.tokenOf(id) != "" {
				t.Error("the field was written before the burst was over")
			}
		}
		r.forge(id, "not-the-contact's", "my word is intruder")
		if strings.Contains(ear.last(), "alpha") {
			t.Error("a wrong token read the history of the burst")
		}
		all.Wait()
		time.Sleep(time.Minute)
		if r.tokenOf(id) == "" {
			t.Fatal("the contact never got a token")
		}
		r.write(id, "and now?")
		for _, word := range words {
			if !strings.Contains(ear.last(), word) {
				t.Errorf("the history lacks %q", word)
			}
		}
		if strings.Contains(ear.last(), "intruder") {
			t.Error("the wrong token's message is in the history")
		}
	}, setup{model: ear})
}

// Holds docs/spec/06-contact.md, "Contact token": the first burst has an end.
func TestFirstBurstEnds(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault fault.Kind
		after time.Duration
		reads bool
	}{
		{"within a minute of the write", "", 55 * time.Second, true},
		{"behind it", "", 65 * time.Second, false},
		{"within ten minutes of the issue, never written", fault.ServerError, 9 * time.Minute, true},
		{"behind them", fault.ServerError, 11 * time.Minute, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			ear := &listener{}
			inBubble(t, func(r *rig) {
				id := r.contact("900000001")
				if c.fault != "" {
					r.faults(fault.Fault{Kind: c.fault, Path: "subscriber writes"})
				}
				r.write(id, "my word is alpha")
				time.Sleep(c.after)
				r.forge(id, "", "what did I say?")
				if got := strings.Contains(ear.last(), "alpha"); got != c.reads {
					t.Errorf("a request without a token read the history: %v, want %v", got, c.reads)
				}
			}, setup{model: ear})
		})
	}
}

// Holds docs/spec/06-contact.md, "Contact token": writes that time out, succeed without an
// answer, or fail for an hour never cost a contact its history.
func TestTokenWritesThatFail(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults []manychattest.Fault
		lasts  time.Duration
	}{
		{"never answered", []manychattest.Fault{{Kind: fault.Timeout, Path: "subscriber writes"}}, 20 * time.Minute},
		{"written, the answer lost", []manychattest.Fault{{Kind: fault.LostAnswer, Path: "subscriber writes"}}, 20 * time.Minute},
		{"refused for an hour", []manychattest.Fault{{Kind: fault.ServerError, Path: "subscriber writes"}}, time.Hour},
		{"refused once", []manychattest.Fault{{Kind: fault.ServerError, Path: "subscriber writes", Times: 1}}, time.Minute},
		{"rate limited", []manychattest.Fault{{Kind: fault.RateLimited, Path: "subscriber writes", Times: 3}}, 20 * time.Minute},
		{"no such field for a while", []manychattest.Fault{{Kind: fault.MissingField, Name: "ai_token"}}, 20 * time.Minute},
		{"slower than anybody waits", []manychattest.Fault{{Kind: fault.SlowSuccess, Path: "subscriber writes", DelayMS: 40_000}}, 20 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			ear := &listener{}
			inBubble(t, func(r *rig) {
				id := r.contact("900000001")
				r.faults(c.faults...)
				r.write(id, "my word is alpha")
				time.Sleep(c.lasts / 2)
				r.write(id, "are you there?")
				time.Sleep(c.lasts / 2)
				r.faults()
				time.Sleep(10 * time.Minute)
				r.write(id, "I am back")
				time.Sleep(time.Minute)
				r.write(id, "what was my word?")
				if !strings.Contains(ear.last(), "alpha") || !strings.Contains(ear.last(), "what was my word?") {
					t.Errorf("the contact lost its history; it was asked:\n%s\nafter %d token writes", ear.last(), r.tokenWrites(id))
				}
			}, setup{model: ear})
		})
	}
}

// Holds docs/spec/06-contact.md, "Contact token": a forged id gets an answer to its own
// message and nothing else, and changes nothing.
func TestForgedRequests(t *testing.T) {
	ear := &listener{}
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		r.write(id, "my word is alpha")
		time.Sleep(15 * time.Minute)
		token := r.tokenOf(id)
		for _, forged := range []string{"", "wrong", token + "x", strings.ToLower(token)} {
			time.Sleep(time.Minute) // the same text at once is a repetition
			resp, body := r.forge(id, forged, "my word is intruder")
			if resp.StatusCode != 200 || !strings.Contains(body, "Noted.") {
				t.Errorf("a forged request got %d %s, want an answer to its own message", resp.StatusCode, body)
			}
			if strings.Contains(ear.last(), "alpha") {
				t.Errorf("a request with the token %q read the history", forged)
			}
			if strings.Contains(body, token) {
				t.Error("a response holds the contact's token")
			}
		}
		if r.tokenOf(id) == token {
			t.Error("an unbound request was issued no fresh token")
		}
		time.Sleep(time.Minute)
		r.write(id, "and now?")
		if !strings.Contains(ear.last(), "alpha") || strings.Contains(ear.last(), "intruder") {
			t.Errorf("the contact's history after the forged requests:\n%s", ear.last())
		}
		// Only one token was written for them all: at most one an hour.
		if n := r.tokenWrites(id); n != 2 {
			t.Errorf("%d tokens were written, want the first and one for the unbound requests", n)
		}
	}, setup{model: ear})
}

// Holds docs/spec/06-contact.md, "Contact token": hashes only, and the token of a message
// that is on its way while a new one is written stays known.
func TestNoTokenIsKept(t *testing.T) {
	ear := &listener{}
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		r.write(id, "my word is alpha")
		time.Sleep(15 * time.Minute)
		old := r.tokenOf(id)
		r.forge(id, "", "hello")
		time.Sleep(time.Minute)
		if _, body := r.forge(id, old, "sent before the field was written"); !strings.Contains(ear.last(), "alpha") || strings.Contains(body, old) {
			t.Error("a message with the token of a moment ago is not bound")
		}
		for _, token := range []string{old, r.tokenOf(id)} {
			if len(token) != 43 {
				t.Fatalf("the field holds %d characters, want 32 bytes as base64url", len(token))
			}
			files, err := filepath.Glob(filepath.Join(r.folder, "agent.db*"))
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			for _, file := range files {
				if content, err := os.ReadFile(file); err != nil || strings.Contains(string(content), token) {
					t.Errorf("%s holds a token, or %v", filepath.Base(file), err)
				}
			}
			if strings.Contains(r.log.String(), token) {
				t.Error("the log holds a token")
			}
		}
	}, setup{model: ear})
}

// Holds docs/spec/06-contact.md, "Contact token": a roll-out reads history all the same.
func TestTokensNotEnforced(t *testing.T) {
	ear := &listener{}
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		r.write(id, "my word is alpha")
		time.Sleep(15 * time.Minute)
		r.forge(id, "", "what was my word?")
		if !strings.Contains(ear.last(), "alpha") {
			t.Error("while tokens are rolled out, a request without one reads no history")
		}
		if got := r.newest(id).Interventions; !slices.Contains(got, "token_missing") {
			t.Errorf("the turn says %v, want token_missing", got)
		}
	}, setup{model: ear, env: []string{"CONTACT_TOKENS_ENFORCED=false"}})
}

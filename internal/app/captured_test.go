package app_test

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
)

// captured is every log line of every program that the tests of this package ran, and
// everything that must not be in them.
var captured capture

// capture is the one place in which docs/spec/01-principles.md, C5, is asserted for the
// whole end-to-end suite.
type capture struct {
	mu      sync.Mutex
	log     strings.Builder
	private map[string]string // what it is by what it says
}

func (c *capture) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.log.Write(p)
}

// keep notes something private. What is short is also part of words that are not.
func (c *capture) keep(kind, value string) {
	if len(value) < 8 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.private == nil {
		c.private = map[string]string{}
	}
	c.private[value] = kind
}

// leaks are the private things that a log holds.
func (c *capture) leaks() (all []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	log := c.log.String()
	for value, kind := range c.private {
		if at := strings.Index(log, value); at >= 0 {
			line := log[strings.LastIndexByte(log[:at], '\n')+1:]
			line, _, _ = strings.Cut(line, "\n")
			all = append(all, fmt.Sprintf("%s %q in the line\n  %s", kind, value, line))
		}
	}
	return all
}

// TestMain holds docs/spec/01-principles.md, "Rules nothing may break": C5, over the
// captured logs of every scenario.
func TestMain(m *testing.M) {
	code := m.Run()
	if leaks := captured.leaks(); len(leaks) > 0 {
		fmt.Fprintf(os.Stderr, "--- FAIL: the logs of the whole suite hold personal data or secrets:\n%s\n", strings.Join(leaks, "\n"))
		code = 1
	}
	os.Exit(code)
}

// somebody is a contact whose profile holds everything that a profile can.
func somebody(id string) manychattest.Contact {
	return manychattest.Contact{
		ID: id, FirstName: "Zerbinetta", LastName: "Quillfeather",
		Phone: "+49 170 5550199", WhatsAppPhone: "491705550199", Email: "zerbinetta@quillfeather.example",
		ProfilePic: "https://media.quillfeather.example/profile/zerbinetta-7731.jpg",
	}
}

// keepAll notes what the account knows of its contacts, and the program's own secrets.
func (r *rig) keepAll() {
	for _, secret := range []string{devSecret, "100000000000001:sandbox", "sandbox-console-key"} {
		captured.keep("secret", secret)
	}
	captured.keep("flow", "content20260101000000_000001")
	keepContacts(r.Account.Server)
}

func keepContacts(account *manychattest.Server) {
	for _, c := range account.Contacts() {
		for kind, value := range map[string]string{
			"subscriber id": c.ID, "first name": c.FirstName, "last name": c.LastName, "phone": c.Phone,
			"WhatsApp phone": c.WhatsAppPhone, "e-mail": c.Email, "media URL": c.ProfilePic, "last text": c.LastInput,
		} {
			captured.keep(kind, value)
		}
		for name, value := range c.Fields {
			switch name {
			case "agent_intent", "agent_funnel_stage", "agent_course":
				continue // they hold an id that the business configured, or the program's own word
			}
			captured.keep("field "+name, fmt.Sprint(value))
		}
		for _, item := range account.Chat(c.ID) {
			captured.keep("message", item.Text)
		}
	}
}

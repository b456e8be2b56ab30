package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

const (
	kills      = 5
	perRound   = 3 // messages of a contact between two kills
	secret     = "invented-shared-secret"
	consoleKey = "invented-console-key"

	messagePath = "/v1/channels/manychat/message"
	flow        = "content20260101000000_000001"
	escalation  = "I would like a colleague from the studio to answer that."
)

// offerings are what each contact asks about, and nobody else: an answer at the wrong
// phone shows by its name.
var offerings = map[string]string{"900000001": "wheel course", "900000002": "glaze weekend", "900000003": "family clay morning"}

// Holds docs/spec/03-turn.md, "Crash recovery": serve is killed at random moments while
// three contacts write. ManyChat lives on in this process, as it would. In the end
// every message that was recorded has its answer, on its own contact's phone.
func TestKilledAtRandom(t *testing.T) {
	for _, merging := range []string{"true", "false"} {
		t.Run("merging "+merging, func(t *testing.T) {
			t.Parallel()
			killAtRandom(t, "MERGE_WAITING="+merging)
		})
	}
}

func killAtRandom(t *testing.T, merging string) {
	d := newDeployment(t)
	d.env = append(d.env, merging)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	dice := rand.New(rand.NewPCG(seed, 0))
	for round := range kills {
		p := d.serve()
		// Each message is a request that begins and one that ends; a late reply is calls.
		messages := perRound * len(offerings)
		moment := d.after(messages + dice.IntN(messages))
		var writing sync.WaitGroup
		for id, offering := range offerings {
			for i := range perRound {
				// The last two are the same message twice.
				people := 2*round + min(i, perRound-2) + 2
				writing.Go(func() { d.write(id, fmt.Sprintf("how much is the %s for %d people?", offering, people)) })
			}
		}
		<-moment
		p.kill()
		writing.Wait()
	}
	d.serve()
	for id, offering := range offerings {
		d.write(id, "how much is the "+offering+" for me?")
		d.check(id, offering)
	}
}

// after is closed when so many more requests have begun or ended at ManyChat.
func (d *deployment) after(events int) <-chan struct{} {
	reached := make(chan struct{})
	var mu sync.Mutex
	cancel := d.at.Subscribe(func(e manychattest.Event) {
		if e.Type != phone.EventExchangeStarted && e.Type != phone.EventExchangeFinished && e.Type != phone.EventCall {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if events--; events == 0 {
			close(reached)
		}
	})
	d.t.Cleanup(cancel)
	return reached
}

// deployment is a serve that is started again and again on one folder, and the ManyChat
// account it belongs to.
type deployment struct {
	t       *testing.T
	program []string // of [start]
	folder  string
	url     string
	env     []string
	at      *manychattest.Server

	mu       sync.Mutex
	accepted map[string]int // messages of each contact that got a response
}

func newDeployment(t *testing.T) *deployment {
	t.Helper()
	d := &deployment{t: t, folder: t.TempDir(), accepted: map[string]int{}}
	writeFrontDesk(t, filepath.Join(d.folder, "config"))
	// A turn that is killed twice hands off; each such handoff is to be said and counted.
	rules := filepath.Join(d.folder, "config", "rules.json")
	content, err := os.ReadFile(rules)
	if err != nil {
		t.Fatal(err)
	}
	loud := strings.Replace(string(content), `"escalationQuietMinutes": 30`, `"escalationQuietMinutes": 0`, 1)
	if loud == string(content) {
		t.Fatal("the demo's quiet time is not where this test looks for it")
	}
	if err := os.WriteFile(rules, []byte(loud), 0o600); err != nil {
		t.Fatal(err)
	}
	// The port stays the same, because ManyChat's side of a deployment does.
	free := httptest.NewServer(nil)
	d.url = free.URL
	free.Close()
	d.openAccount()
	return d
}

// relax takes the caps out of the way that keep one contact, or one day, from costing much.
func (d *deployment) relax() {
	d.t.Helper()
	path := filepath.Join(d.folder, "config", "rules.json")
	content, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	rules := string(content)
	for key, usual := range map[string]string{
		"maxTurnsPerConversation": "25", "turnsPerSubscriberPerHour": "60", "dailyTokenCap": "1000000", "dailyCostCapUsd": "5",
	} {
		old := fmt.Sprintf("%q: %s", key, usual)
		if !strings.Contains(rules, old) {
			d.t.Fatalf("the demo's rules lack %s", old)
		}
		rules = strings.Replace(rules, old, fmt.Sprintf("%q: 1000000000000", key), 1)
	}
	if err := os.WriteFile(path, []byte(rules), 0o600); err != nil {
		d.t.Fatal(err)
	}
}

func (d *deployment) openAccount() {
	d.t.Helper()
	const token = "1234567:invented"
	var err error
	d.at, err = manychattest.New(manychattest.Config{
		Channel: manychat.WhatsApp, Token: token, Unlimited: true,
		Hosts: map[string]string{"agent.example": d.url},
		Entry: manychattest.Entry{
			URL:        "https://agent.example" + messagePath,
			Header:     map[string]string{"Authorization": "Bearer " + secret},
			Body:       `{"subscriber_id": {{user_id}}, "text": {{last_input_text}}, "ai_token": {{ai_token}}}`,
			EncodeJSON: true,
		},
	})
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(d.at.Close)
	for _, field := range []string{"ai_message", "ai_token"} {
		if _, err := d.at.DefineField(field, phone.Text); err != nil {
			d.t.Fatal(err)
		}
	}
	d.at.DefineFlow(manychattest.Flow{Name: "AI reply", NS: flow, Steps: []manychattest.Step{{Text: "{{ai_message}}"}}})
	for id := range offerings {
		if _, err := d.at.AddContact(manychattest.Contact{ID: id}); err != nil {
			d.t.Fatal(err)
		}
	}
	api := httptest.NewServer(d.at)
	d.t.Cleanup(api.Close)
	d.env = []string{
		"AGENT_MODEL=mock:demo", "MANYCHAT_SHARED_SECRET=" + secret, "MANYCHAT_API_TOKEN=" + token, "MANYCHAT_API_BASE=" + api.URL,
		"MANYCHAT_REPLY_FLOW_NS=" + flow, "MANYCHAT_REPLY_GAP_MS=0", "CALLBACK=off", "CONSOLE_API_KEY=" + consoleKey,
		"HOST=127.0.0.1", "PORT=" + d.url[strings.LastIndex(d.url, ":")+1:],
	}
}

// serve starts the service and waits until it is ready.
func (d *deployment) serve() *process {
	d.t.Helper()
	p := run(d.t, start{program: d.program, folder: d.folder, env: d.env, args: []string{"serve"}})
	err := poll(func() error {
		resp, err := p.http.Get(d.url + "/ready")
		if err != nil {
			return err
		}
		return resp.Body.Close()
	})
	if err != nil {
		d.t.Fatalf("serve is not ready: %v\n%s", err, p.log.String())
	}
	return p
}

// write sends a message as a contact. What the killed service did not take is lost, as
// it is at ManyChat.
func (d *deployment) write(id, text string) {
	exchange, err := d.at.Send(context.Background(), id, manychattest.Input{Text: text})
	if err != nil {
		d.t.Errorf("ManyChat did not take a message: %v", err)
	}
	if exchange.Failure == "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.accepted[id]++
	}
}

// check waits until every recorded turn of a contact has ended, and looks at the phone.
func (d *deployment) check(id, offering string) {
	d.t.Helper()
	var recorded []recordedTurn
	err := poll(func() (err error) {
		if recorded, err = recent(d.url, consoleKey, id); err != nil {
			return err
		}
		for _, turn := range recorded {
			undelivered := slices.ContainsFunc(turn.Deliveries, func(status string) bool { return status != "delivered" })
			if turn.State != "settled" && turn.State != "merged" || undelivered {
				return fmt.Errorf("turn %s is %s, its deliveries %s", turn.ID, turn.State, turn.Deliveries)
			}
		}
		return d.at.WaitIdle(context.Background())
	})
	if err != nil {
		d.t.Fatal(err)
	}
	if len(recorded) < d.accepted[id] {
		d.t.Errorf("%d messages of %s got a response, and %d are recorded", d.accepted[id], id, len(recorded))
	}
	answers := 0
	for _, item := range d.at.Chat(id) {
		if item.From == phone.FromContact || item.Text == ack {
			continue
		}
		for answer := range strings.SplitSeq(item.Text, "\n\n") {
			if answers++; !strings.Contains(strings.ToLower(answer), offering) && !strings.HasPrefix(answer, escalation) {
				d.t.Errorf("%s, who asked for the %s, was shown %q", id, offering, answer)
			}
		}
	}
	want := d.answered(id, recorded)
	if answers < want {
		d.t.Errorf("%s was shown %d answers of %d that are recorded", id, answers, want)
	}
	d.t.Logf("%s: %d messages got a response, %d are recorded with %d answers, %d are shown", id, d.accepted[id], len(recorded), want, answers)
}

// answered asserts that every recorded message has a turn that answers it, and counts what
// those turns say: a bubble may hold several replies, with blank lines between.
func (d *deployment) answered(id string, recorded []recordedTurn) (answers int) {
	d.t.Helper()
	says := map[string]bool{}
	for _, turn := range recorded {
		says[turn.ID] = len(turn.Replies) > 0
		for _, reply := range turn.Replies {
			answers += len(strings.Split(reply, "\n\n"))
		}
	}
	for _, turn := range recorded {
		switch {
		case turn.Outcome == "duplicate":
		case turn.Outcome == "escalated_precheck" && len(turn.Replies) == 0: // handed off in its response, and recorded too late
		case turn.Outcome == "merged" && says[turn.MergedInto], turn.Outcome != "merged" && says[turn.ID]:
		default:
			d.t.Errorf("no turn answers message %s of %s, which is %s", turn.ID, id, turn.Outcome)
		}
	}
	return answers
}

package manychattest_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Holds docs/spec/13-sandbox.md, "The emulator": it holds contacts (tags, custom
// fields, last input, 24-hour window), across a restart.
func TestSnapshotKeepsThePhone(t *testing.T) {
	changes := 0
	before := open(t, reply(whatsapp("hello", fmt.Sprintf(callbackKey, ""))), callbackOn, func(c *manychattest.Config) {
		c.OnChange = func() { changes++ }
	})
	before.field("count", phone.Number)
	before.tag("lead")
	id := before.add(manychattest.Contact{FirstName: "Ada", Tags: []string{"lead"}, Fields: map[string]any{"count": 3.0}})
	before.send(id, "hi")
	before.input(id, manychattest.Input{Kind: phone.KindVoice, Data: []byte("recording")})
	data, err := before.Snapshot()
	if err != nil || changes == 0 {
		t.Fatalf("%v, %d changes", err, changes)
	}

	after := open(t, reply(whatsapp("again")), callbackOn)
	if err := after.Restore(data); err != nil {
		t.Fatal(err)
	}
	same := cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })
	if diff := cmp.Diff(before.Contacts(), after.Contacts(), same); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(before.Chat(id), after.Chat(id), same); diff != "" {
		t.Error(diff)
	}
	if ex := after.send(id, "armed?"); ex.Trigger != phone.TriggerCallback {
		t.Errorf("the callback was lost: %+v", ex)
	}
	if next := after.add(manychattest.Contact{}); next == id {
		t.Error("an id was given out twice")
	}
	for _, bad := range []string{"", "{}", `{"version":1,"account":{"contacts":{"1":null}}}`} {
		if err := after.Restore([]byte(bad)); err == nil {
			t.Errorf("%q must be refused", bad)
		}
	}
	if len(after.Contacts()) != 2 {
		t.Error("a refused snapshot changed the account")
	}
}

// Holds docs/spec/13-sandbox.md, "The phone page": live, what happened. Events come in the order of
// the chat, and a subscriber may call back.
func TestEventsFollowTheAccount(t *testing.T) {
	a := open(t, reply(whatsapp("hello")))
	id := a.add(manychattest.Contact{})
	var got []string
	cancel := a.Subscribe(func(e manychattest.Event) {
		entry := string(e.Type)
		if e.Item != nil {
			entry += " " + e.Item.Text + fmt.Sprint(" ", len(a.Chat(id)) > 0)
		}
		if e.Type != phone.EventContact {
			got = append(got, entry)
		}
	})
	a.DefineFlow(manychattest.Flow{NS: "content1", Steps: []manychattest.Step{{Text: "flow"}}})
	a.send(id, "hi")
	a.trigger(id, "content1")
	cancel()
	a.send(id, "unseen")
	want := []string{"item hi true", "exchange_started", "item hello true", "exchange_finished", "flow_started", "item flow true", "flow_finished", "call"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Holds "log of each API call ... for asserting paths", with a bounded memory.
func TestCallLog(t *testing.T) {
	a := open(t, nil, func(c *manychattest.Config) { c.CallLog, c.Unlimited = 2, true })
	for i := range 7 {
		a.api(fmt.Sprintf("/fb/page/getTags?n=%d", i), "")
	}
	var got []string
	for _, c := range a.Calls() {
		if strings.Contains(fmt.Sprint(c), token) {
			t.Error("the log holds the token")
		}
		got = append(got, c.Method+" "+c.Path+" "+c.Query)
	}
	if diff := cmp.Diff([]string{"GET /fb/page/getTags n=5", "GET /fb/page/getTags n=6"}, got); diff != "" {
		t.Error(diff)
	}
	a.ForgetCalls()
	if len(a.Calls()) != 0 {
		t.Error("the log was not emptied")
	}
}

// Holds docs/spec/17-quality.md, "Reliability": the race detector over everything at
// once.
func TestEverythingAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := open(t, reply(whatsapp("hello", fmt.Sprintf(callbackKey, ""))), callbackOn, func(c *manychattest.Config) { c.Unlimited = true })
		a.field("reply", phone.Text)
		a.DefineFlow(manychattest.Flow{NS: "content1", Steps: []manychattest.Step{{Delay: time.Second, Text: "{{reply}}"}}})
		seen := 0
		a.Subscribe(func(manychattest.Event) { seen++ })
		a.fault(fault.Fault{Kind: fault.SlowSuccess, Probability: 0.3}, fault.Fault{Kind: fault.Latency, DelayMS: 7})
		var wg sync.WaitGroup
		ids := []string{a.add(manychattest.Contact{}), a.add(manychattest.Contact{}), a.add(manychattest.Contact{})}
		for i := range 30 {
			id := ids[i%3]
			wg.Go(func() {
				a.send(id, "hi")
				a.write(id, "reply", fmt.Sprint(i))
				a.trigger(id, "content1")
				_, _ = a.Chat(id), a.Contacts()
				if _, err := a.Snapshot(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if err := a.WaitIdle(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, id := range ids {
			if n := len(a.texts(id)); n != 20 {
				t.Errorf("%s: %d messages", id, n)
			}
		}
		if seen == 0 || len(a.Calls()) != 60 {
			t.Errorf("%d events, %d calls", seen, len(a.Calls()))
		}
	})
}

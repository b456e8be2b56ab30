package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/inbound"
	"github.com/manychat-agent/manychat-agent/internal/sandbox"
	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
)

// local writes as a contact of the emulated account beside the service.
type local struct {
	dev *app.Dev
	id  string
}

func newLocal(d *app.Dev, subscriber string) (local, error) {
	_, err := d.Account.AddContact(manychattest.Contact{ID: subscriber, FirstName: "Contact 1"})
	if err != nil {
		return local{}, usageError{fmt.Errorf("--subscriber: %w", err)}
	}
	return local{d, subscriber}, nil
}

// The wait for a late reply: as long as a whole turn and its delivery may take.
const (
	lateWithin = time.Minute
	lookEvery  = 20 * time.Millisecond
)

// write sends a text through the emulated ManyChat and waits until the turn has
// ended and everything of it is on the phone.
func (l local) write(ctx context.Context, text string) (simulated, error) {
	start, before := time.Now(), len(l.dev.Account.Chat(l.id))
	exchange, err := l.dev.Account.Write(ctx, l.id, text)
	if err != nil {
		return simulated{}, err
	}
	if exchange.Reason != "" {
		return simulated{}, fmt.Errorf("ManyChat would show nothing: %s", exchange.Reason)
	}
	ctx, cancel := context.WithTimeout(ctx, lateWithin)
	defer cancel()
	turn, err := l.ended(ctx)
	if err != nil {
		return simulated{}, err
	}
	got := simulated{Path: turn.Path, Warnings: exchange.Warnings, Recorded: &recordedTurn{
		Turn: turn.ID, State: turn.State, Outcome: turn.Outcome, Reason: turn.Reason, Model: turn.Model,
		Interventions: turn.Interventions, Deliveries: turn.Deliveries,
	}}
	if err := l.dev.Account.WaitIdle(ctx); err != nil {
		return simulated{}, err
	}
	for _, item := range l.dev.Account.Chat(l.id)[before+1:] {
		got.Replies = append(got.Replies, item.Text)
	}
	got.Millis = millis(time.Since(start))
	return got, nil
}

// ended waits until the contact's newest turn is settled and nothing of it is queued.
func (l local) ended(ctx context.Context) (sandbox.Turn, error) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		turns, err := l.dev.Turns.Recent(ctx, l.id, 1)
		if err != nil {
			return sandbox.Turn{}, err
		}
		if len(turns) == 1 && over(turns[0]) {
			return turns[0], nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return sandbox.Turn{}, fmt.Errorf("the turn did not end within %s", lateWithin)
		}
	}
}

func over(t sandbox.Turn) bool {
	for _, d := range t.Deliveries {
		if d == "pending" || d == "delivering" {
			return false
		}
	}
	return t.State == "settled"
}

// remote writes to a running service, as ManyChat would. What the service sends
// later goes to its own ManyChat account and is not seen here.
type remote struct {
	endpoint, secret, id string
	client               *http.Client
}

// manychatTimeout is how long ManyChat waits for a response.
const manychatTimeout = 10 * time.Second

func newRemote(base, secret, id string) remote {
	return remote{strings.TrimRight(base, "/") + inbound.MessagePath, secret, id, &http.Client{Timeout: manychatTimeout}}
}

func (r remote) write(ctx context.Context, text string) (simulated, error) {
	body, err := json.Marshal(map[string]string{"subscriber_id": r.id, "text": text})
	if err != nil {
		return simulated{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.endpoint, bytes.NewReader(body))
	if err != nil {
		return simulated{}, usageError{fmt.Errorf("--url: %w", err)}
	}
	req.Header.Set("Authorization", "Bearer "+r.secret)
	req.Header.Set("Content-Type", "application/json")
	start := time.Now()
	resp, err := r.client.Do(req)
	if err != nil {
		return simulated{}, fmt.Errorf("the service does not answer: %w", err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return simulated{}, fmt.Errorf("read the response: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return simulated{}, fmt.Errorf("the service answered %s: %s", resp.Status, answer)
	}
	var block manychat.Response
	if err := json.Unmarshal(answer, &block); err != nil {
		return simulated{}, fmt.Errorf("the response is not a Dynamic Block: %w", err)
	}
	got := simulated{Path: "inline", Millis: millis(time.Since(start))}
	for _, m := range block.Content.Messages {
		got.Replies = append(got.Replies, m.Text)
	}
	if len(got.Replies) == 0 {
		got.Path = "silent"
	}
	return got, nil
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

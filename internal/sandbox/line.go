package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/sandbox/flow"
	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
)

// Reply is what a message led to.
type Reply struct {
	Texts    []string
	Path     string // inline, outbox or silent
	Took     time.Duration
	Turn     *Turn    // as it was recorded; nil where that is not shown
	Warnings []string // of ManyChat, about the response
}

// The wait for a late reply: as long as a whole turn and its delivery may take.
const (
	lateWithin = time.Minute
	lookEvery  = 20 * time.Millisecond
)

// Line writes as one contact of the emulated account.
type Line struct {
	account *Account
	turns   Turns
	id      string
}

// NewLine adds a contact to the account to write as.
func NewLine(a *Account, t Turns, subscriber string) (*Line, error) {
	if _, err := a.AddContact(manychattest.Contact{ID: subscriber, FirstName: "Contact 1"}); err != nil {
		return nil, err
	}
	return &Line{account: a, turns: t, id: subscriber}, nil
}

// Write sends a text through the emulated ManyChat and waits until the turn has ended
// and everything of it is on the phone.
func (l *Line) Write(ctx context.Context, text string) (Reply, error) {
	start, before := time.Now(), len(l.account.Chat(l.id))
	exchange, err := l.account.Write(ctx, l.id, text)
	if err != nil {
		return Reply{}, err
	}
	if exchange.Failure != "" {
		return Reply{}, fmt.Errorf("ManyChat would show nothing: %s", exchange.Reason)
	}
	ctx, cancel := context.WithTimeout(ctx, lateWithin)
	defer cancel()
	turn, err := l.ended(ctx)
	if err != nil {
		return Reply{}, err
	}
	if err := l.account.WaitIdle(ctx); err != nil {
		return Reply{}, err
	}
	got := Reply{Path: turn.Path, Turn: &turn, Warnings: exchange.Warnings, Took: time.Since(start)}
	for _, item := range l.account.Chat(l.id)[before+1:] {
		got.Texts = append(got.Texts, wordsOf(item))
	}
	return got, nil
}

// wordsOf is what there is to read of a message: of a picture without a caption, its name.
func wordsOf(item manychattest.ChatItem) string {
	if item.Text == "" && item.URL != "" {
		return flow.MediumOf(item).Name
	}
	return item.Text
}

// ended waits until the contact's newest turn is settled and nothing of it is queued.
func (l *Line) ended(ctx context.Context) (Turn, error) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		turns, err := l.turns.Recent(ctx, l.id, 1)
		if err != nil {
			return Turn{}, err
		}
		if len(turns) == 1 && turns[0].ended() {
			return turns[0], nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return Turn{}, fmt.Errorf("the turn did not end within %s", lateWithin)
		}
	}
}

// ended reports whether nothing of the turn is under way or queued.
func (t Turn) ended() bool {
	for _, d := range t.Deliveries {
		if d == "pending" || d == "delivering" {
			return false
		}
	}
	return t.State == "settled"
}

// Remote writes to a running service as ManyChat would. What the service sends later
// goes to its own ManyChat account and is not seen.
type Remote struct {
	Endpoint   string // of messages
	Secret     string // MANYCHAT_SHARED_SECRET
	Subscriber string
	Client     *http.Client
}

// maxResponse bounds what is read of a response, in bytes.
const maxResponse = 1 << 20

// Write posts a text and returns what ManyChat would show.
func (r Remote) Write(ctx context.Context, text string) (Reply, error) {
	body, err := json.Marshal(map[string]string{"subscriber_id": r.Subscriber, "text": text})
	if err != nil {
		return Reply{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.Endpoint, bytes.NewReader(body))
	if err != nil {
		return Reply{}, err
	}
	req.Header.Set("Authorization", "Bearer "+r.Secret)
	req.Header.Set("Content-Type", "application/json")
	start := time.Now()
	resp, err := r.Client.Do(req)
	if err != nil {
		return Reply{}, fmt.Errorf("the service does not answer: %w", err)
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	if err != nil {
		return Reply{}, fmt.Errorf("read the response: %w", err)
	}
	if resp.StatusCode == http.StatusUnauthorized {
		return Reply{}, errors.New("the service refuses the secret: give its MANYCHAT_SHARED_SECRET")
	}
	if resp.StatusCode != http.StatusOK {
		return Reply{}, fmt.Errorf("the service answered %s: %s", resp.Status, strings.TrimSpace(string(answer)))
	}
	var block manychat.Response
	if err := json.Unmarshal(answer, &block); err != nil || block.Version != manychat.Version {
		return Reply{}, fmt.Errorf("the response is not a Dynamic Block: %.200s", answer)
	}
	got := Reply{Path: "inline", Took: time.Since(start)}
	for _, m := range block.Content.Messages {
		got.Texts = append(got.Texts, m.Text)
	}
	if len(got.Texts) == 0 {
		got.Path = "silent"
	}
	return got, nil
}

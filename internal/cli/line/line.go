// Package line is the two ways in which simulate writes as a contact: to a service that was
// started for the command alone, and to one that runs somewhere.
package line

import (
	"context"
	"net/http"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/cli/show"
	"github.com/manychat-agent/manychat-agent/internal/sandbox"
	"github.com/manychat-agent/manychat-agent/internal/sandbox/flow"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

const (
	// manychatWaits is how long ManyChat waits for a response (docs/deadlines.md).
	manychatWaits = 10 * time.Second
	// recordedWithin is how long a turn's end and its actions are waited for behind the
	// response. What is not known by then is shown as it stands.
	recordedWithin = 10 * time.Second
	lookEvery      = 20 * time.Millisecond
)

// Own writes to a service of this process.
type Own struct {
	line       *sandbox.Line
	account    *sandbox.Account
	turns      sandbox.Turns
	subscriber string
	flows      map[string]string // ids by namespace
}

// NewOwn adds a contact to write as. The tools name the flows.
func NewOwn(d *app.Dev, tools *tenant.Tools, subscriber string) (Own, error) {
	l := Own{account: d.Account, turns: d.Turns, subscriber: subscriber, flows: map[string]string{}}
	if tools != nil {
		for _, f := range tools.Flows {
			l.flows[f.FlowNs] = f.ID
		}
	}
	var err error
	l.line, err = sandbox.NewLine(d.Account, d.Turns, subscriber)
	return l, err
}

// Write also waits for the actions, and says of each message which flow showed it.
func (l Own) Write(ctx context.Context, text string) (sandbox.Reply, error) {
	before := len(l.account.Chat(l.subscriber))
	got, err := l.line.Write(ctx, text)
	if err != nil {
		return got, err
	}
	if t := recorded(ctx, l.turns, l.subscriber, ""); t != nil {
		got.Turn = t
	}
	if err := l.account.WaitIdle(ctx); err != nil {
		return got, err
	}
	got.Texts = nil
	for _, item := range l.account.Chat(l.subscriber)[before+1:] {
		var titles []string
		if item.URL != "" {
			titles = append(titles, flow.MediumOf(item).Name)
		}
		for _, c := range item.Cards {
			titles = append(titles, c.Title)
		}
		got.Texts = append(got.Texts, show.Message(l.flows[item.Flow], titles, item.Text))
	}
	return got, nil
}

// Remote writes to a service that runs somewhere.
type Remote struct {
	line  sandbox.Remote
	turns sandbox.Turns // without a key: of a service that is no sandbox
}

// NewRemote writes to the service at a base URL.
func NewRemote(base, secret, subscriber string) Remote {
	client := &http.Client{Timeout: manychatWaits}
	return Remote{
		line:  sandbox.Remote{Endpoint: app.MessageURL(base), Secret: secret, Subscriber: subscriber, Client: client},
		turns: app.TurnsAt(base, secret, client),
	}
}

// Write also reads what a sandbox recorded. Of any other service, and of one that does not
// answer that, nothing is said.
func (r Remote) Write(ctx context.Context, text string) (sandbox.Reply, error) {
	before, err := r.turns.Recent(ctx, r.line.Subscriber, 1)
	got, failed := r.line.Write(ctx, text)
	if failed != nil || err != nil {
		return got, failed
	}
	last := ""
	if len(before) > 0 {
		last = before[0].ID
	}
	if got.Turn = recorded(ctx, r.turns, r.line.Subscriber, last); got.Turn != nil && got.Turn.Path != "" {
		got.Path = got.Turn.Path // the response may have been no more than the acknowledgement
	}
	return got, nil
}

// recorded is the contact's newest turn, once it is settled and its actions have ended, or
// as it stands when they take too long. Nil: there is none but the one before.
func recorded(ctx context.Context, turns sandbox.Turns, subscriber, before string) *sandbox.Turn {
	ctx, cancel := context.WithTimeout(ctx, recordedWithin)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	var last *sandbox.Turn
	for {
		found, err := turns.Recent(ctx, subscriber, 1)
		if err != nil || len(found) == 0 || found[0].ID == before {
			return last
		}
		last = &found[0]
		if last.State == "settled" && acted(last.Actions) {
			return last
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return last
		}
	}
}

// acted reports whether no action waits or is under way.
func acted(actions []sandbox.Action) bool {
	for _, a := range actions {
		if a.Status == "staged" || a.Status == "sending" {
			return false
		}
	}
	return true
}

package outbox_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// limited is an account behind the client's rate limits, whose actions are in the background.
type limited struct {
	*manychat.Client
	behind *manychat.Client
}

// limits puts the client of an account that takes everything before the rig's worker, and
// returns when ManyChat was asked to start a contact's flow.
func (r *rig) limits() (shown func(contact string) time.Duration) {
	r.t.Helper()
	client, err := manychat.NewClient(manychat.ClientConfig{Token: "1:invented", Transport: takes{r.account}})
	if err != nil {
		r.t.Fatal(err)
	}
	r.sender = client
	r.work(limited{client, client.For(manychat.Actions)}, 3)
	return func(contact string) time.Duration {
		for _, c := range r.after(0) {
			if at, rest, _ := strings.Cut(c, " "); strings.Contains(rest, "sendFlow") && strings.Contains(rest, `"`+contact+`"`) {
				d, err := time.ParseDuration(at)
				if err != nil {
					r.t.Fatal(err)
				}
				return d
			}
		}
		return time.Hour
	}
}

// takes is the way to an account that takes everything.
type takes struct{ *account }

func (t takes) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	if err := t.call(req.URL.Path+" "+string(body), func() {}); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"status":"success"}`)), Request: req}, nil
}

func (l limited) Perform(ctx context.Context, row outbox.Row) (ended []action.Ended) {
	for _, p := range row.Payload.Actions {
		e := action.Ended{Place: p.Place, Status: action.Performed}
		if err := l.behind.AddTagByName(ctx, string(row.Key.SubscriberID), p.ID); err != nil {
			e = action.Ended{Place: p.Place, Status: action.Failed, Error: "not started in time"}
		}
		ended = append(ended, e)
	}
	return ended
}

func (l limited) Notify(ctx context.Context, row outbox.Row, part action.Pending) error {
	return l.behind.AddTagByName(ctx, string(row.Key.SubscriberID), part.ID)
}

// Holds docs/spec/05-delivery.md, "ManyChat client" and "Outbox": a reply does not wait for the
// actions of those before it, as many as there may be, and none of the actions is lost.
func TestRepliesDoNotWaitForActions(t *testing.T) {
	inBubble(t, func(r *rig) {
		shown := r.limits()
		var eight outbox.Payload
		for i := range 8 {
			eight.Actions = append(eight.Actions, action.Pending{Place: i, Tool: action.AddTag, ID: fmt.Sprint("t", i)})
		}
		eight.Texts = []string{"hello"}
		var rows []string
		for i := range 100 {
			rows = append(rows, r.settle(fmt.Sprintf("9000001%02d", i), outbox.Reply, eight))
		}
		r.queue("900000200", "behind all texts")
		r.run()
		r.after(30 * time.Second)
		queued := time.Since(r.account.start)
		r.queue("900000201", "behind none")
		r.after(3 * time.Minute)
		if at := shown("900000200"); at > 21*time.Second { // 101 writes at 5 a second
			t.Errorf("behind 100 texts with eight actions each a text is shown after %v", at)
		}
		if at := shown("900000201"); at-queued > time.Second {
			t.Errorf("behind the actions alone a text is shown after %v", at-queued)
		}
		for _, id := range rows {
			for _, got := range r.became(id) {
				if !strings.HasSuffix(got, " performed") {
					t.Fatalf("recorded of %s is %q", id, r.became(id))
				}
			}
		}
	})
}

package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/sandbox"
)

// manychatWaits is how long ManyChat waits for a response (docs/deadlines.md).
const manychatWaits = 10 * time.Second

type simulateCommand struct {
	Text       *string       `arg:"" optional:"" help:"What the contact writes. Without it, a chat opens."`
	Subscriber string        `help:"The contact's id." default:"900000001"`
	URL        string        `help:"A running service; without it one is started for this command alone." placeholder:"URL"`
	Secret     string        `help:"The running service's MANYCHAT_SHARED_SECRET." env:"MANYCHAT_SHARED_SECRET" placeholder:"SECRET"`
	Latency    time.Duration `help:"How long the mock model takes, to see a late reply; not with --url." default:"0s"`
	JSON       bool          `help:"Print one JSON object a message."`
}

// subscriberForm is a ManyChat id (docs/spec/02-inbound.md).
var subscriberForm = regexp.MustCompile(`^[0-9]{1,32}$`)

// Help shows examples.
func (simulateCommand) Help() string {
	return `Examples:

    manychat-agent simulate "how much is the wheel course?"
    manychat-agent simulate --json < questions.txt
    manychat-agent simulate --url https://agent.example.com --secret SECRET "hello"`
}

// contactLine is one way to write as a contact and see what comes of it.
type contactLine interface {
	// Write sends a text and returns when there is a reply, or none to come.
	Write(ctx context.Context, text string) (sandbox.Reply, error)
}

// simulated is a reply as JSON.
type simulated struct {
	Replies  []string      `json:"replies"`
	Path     string        `json:"path"` // inline, outbox or silent
	Millis   float64       `json:"millis"`
	Recorded *recordedTurn `json:"recorded,omitempty"` // not known of a service at a URL
	Warnings []string      `json:"warnings,omitempty"`
}

// recordedTurn is the part of the recorded turn that the terminal shows.
type recordedTurn struct {
	Turn          string   `json:"turn"`
	State         string   `json:"state"`
	Outcome       string   `json:"outcome"`
	Reason        string   `json:"escalationReason,omitempty"`
	Model         string   `json:"model,omitempty"`
	Interventions []string `json:"interventions,omitempty"`
	Deliveries    []string `json:"deliveries,omitempty"`
}

func simulation(r sandbox.Reply) simulated {
	s := simulated{Replies: r.Texts, Path: r.Path, Millis: float64(r.Took.Microseconds()) / 1000, Warnings: r.Warnings}
	if t := r.Turn; t != nil {
		s.Recorded = &recordedTurn{
			Turn: t.ID, State: t.State, Outcome: t.Outcome, Reason: t.Reason, Model: t.Model,
			Interventions: t.Interventions, Deliveries: t.Deliveries,
		}
	}
	return s
}

// Run writes one text, or every line of a chat.
func (s simulateCommand) Run(ctx context.Context, std Streams) error {
	if s.Text != nil && strings.TrimSpace(*s.Text) == "" {
		return usageError{errors.New("the text is empty: give what the contact writes, or no text for a chat")}
	}
	if !subscriberForm.MatchString(s.Subscriber) {
		return usageError{fmt.Errorf("--subscriber is %q: give the id of a contact, 1 to 32 digits", s.Subscriber)}
	}
	if s.URL != "" {
		return s.talkTo(ctx, std)
	}
	return s.withOwnService(ctx, std, func(ctx context.Context, line contactLine) error {
		return s.talk(ctx, std, line)
	})
}

// talkTo writes to the running service at the URL.
func (s simulateCommand) talkTo(ctx context.Context, std Streams) error {
	if u, err := url.Parse(s.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return usageError{fmt.Errorf("--url is %q: give an address that begins with https:// or http://", s.URL)}
	}
	secret, _, _ := strings.Cut(s.Secret, ",") // during a rotation there are two
	if secret = strings.TrimSpace(secret); secret == "" {
		return usageError{errors.New("--url needs --secret, the MANYCHAT_SHARED_SECRET of the service there")}
	}
	err := s.talk(ctx, std, sandbox.Remote{
		Endpoint: app.MessageURL(s.URL), Secret: secret, Subscriber: s.Subscriber, Client: &http.Client{Timeout: manychatWaits},
	})
	var unreached *url.Error
	if errors.As(err, &unreached) {
		return fmt.Errorf("%w; start the service, or correct --url", err)
	}
	return err
}

func (s simulateCommand) talk(ctx context.Context, std Streams, line contactLine) error {
	said := map[string]bool{} // warnings; each is said once a chat
	if s.Text != nil {
		return s.one(ctx, std, line, *s.Text, said)
	}
	person := terminal(std.In)
	if person {
		fmt.Fprintln(std.Err, "Write as the contact; an empty line or Ctrl+D ends the chat.")
	}
	next := lines(std.In)
	for {
		prompt(std)
		var read typed
		select {
		case read = <-next:
		case <-ctx.Done():
			return ctx.Err()
		}
		text := strings.TrimSpace(read.text)
		switch {
		case read.end, text == "" && person:
			return read.err
		case text == "":
			continue
		}
		if err := s.one(ctx, std, line, text, said); err != nil {
			return err
		}
	}
}

// typed is a line that was read, or the end of all lines.
type typed struct {
	text string
	end  bool
	err  error // of the end, when it is not the end of the file
}

// lines reads in the background: a read that waits for a person does not see an
// interrupt. It ends with the program.
func lines(in io.Reader) <-chan typed {
	next := make(chan typed)
	go func() {
		scanner := bufio.NewScanner(in)
		for scanner.Scan() {
			next <- typed{text: scanner.Text()}
		}
		next <- typed{end: true, err: scanner.Err()}
	}()
	return next
}

func prompt(std Streams) {
	if terminal(std.In) {
		fmt.Fprint(std.Err, "> ")
	}
}

func (s simulateCommand) one(ctx context.Context, std Streams, line contactLine, text string, said map[string]bool) error {
	reply, err := line.Write(ctx, text)
	if err != nil {
		return err
	}
	got := simulation(reply)
	if s.JSON {
		return json.NewEncoder(std.Out).Encode(got)
	}
	return got.print(std, said)
}

// print writes the replies to the standard output and the facts about them beside.
func (g simulated) print(std Streams, said map[string]bool) error {
	for _, r := range g.Replies {
		if _, err := fmt.Fprintln(std.Out, r); err != nil {
			return err
		}
	}
	facts := fmt.Sprintf("%s, %.1f ms", g.Path, g.Millis)
	if r := g.Recorded; r != nil {
		facts += fmt.Sprintf(", %s", r.Outcome)
		if r.Reason != "" {
			facts += " for " + r.Reason
		}
		facts += ", turn " + r.Turn
	}
	fmt.Fprintln(std.Err, "  ["+facts+"]")
	for _, w := range g.Warnings {
		if said[w] {
			continue
		}
		said[w] = true
		fmt.Fprintln(std.Err, "  warning: "+w)
	}
	return nil
}

// withOwnService runs a service with an emulated ManyChat in a temporary folder for
// as long as use takes.
func (s simulateCommand) withOwnService(ctx context.Context, std Streams, use func(context.Context, contactLine) error) (err error) {
	c, t, err := configured(config.Once, std)
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "manychat-agent-")
	if err != nil {
		return fmt.Errorf("make a temporary folder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	c.Tenant.Database = config.Database("sqlite:" + filepath.Join(folder, "agent.db"))
	c.Server.LogLevel = "error"
	ln, err := app.Listen("127.0.0.1", 0)
	if err != nil {
		return err
	}
	d, err := app.NewDev(ctx, app.DevOptions{Config: c, Tenant: t, Listener: ln, Log: logger(c, std), Now: time.Now})
	if err != nil {
		return errors.Join(err, ln.Close())
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	if err := d.SetLatency(s.Latency); err != nil {
		return usageError{fmt.Errorf("--latency: %w", err)}
	}
	serving, stop := context.WithCancel(ctx)
	served := make(chan error, 1)
	go func() { served <- d.Serve(serving) }()
	line, err := sandbox.NewLine(d.Account, d.Turns, s.Subscriber)
	if err != nil {
		err = usageError{fmt.Errorf("--subscriber: %w", err)}
	} else {
		err = use(ctx, line)
	}
	stop()
	if ended := <-served; !errors.Is(ended, context.Canceled) {
		err = errors.Join(err, ended)
	}
	return err
}

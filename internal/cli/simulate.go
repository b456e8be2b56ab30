package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/cli/line"
	"github.com/manychat-agent/manychat-agent/internal/cli/show"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/sandbox"
)

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
	return s.withOwnService(ctx, std, func(ctx context.Context, to contactLine) error {
		return s.talk(ctx, std, to)
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
	err := s.talk(ctx, std, line.NewRemote(s.URL, secret, s.Subscriber))
	var unreached *url.Error
	if errors.As(err, &unreached) {
		return fmt.Errorf("%w; start the service, or correct --url", err)
	}
	return err
}

func (s simulateCommand) talk(ctx context.Context, std Streams, to contactLine) error {
	said := map[string]bool{} // warnings; each is said once a chat
	if s.Text != nil {
		return s.one(ctx, std, to, *s.Text, said)
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
		if err := s.one(ctx, std, to, text, said); err != nil {
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

func (s simulateCommand) one(ctx context.Context, std Streams, to contactLine, text string, said map[string]bool) error {
	reply, err := to.Write(ctx, text)
	if err != nil {
		return err
	}
	got := show.SimulatedOf(reply, s.URL != "")
	if s.JSON {
		return json.NewEncoder(std.Out).Encode(got)
	}
	if err := got.Messages(std.Out); err != nil {
		return err
	}
	for _, fact := range got.Facts() {
		fmt.Fprintln(std.Err, "  "+fact)
	}
	for _, w := range got.Warnings {
		if !said[w] {
			fmt.Fprintln(std.Err, "  warning: "+w)
		}
		said[w] = true
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
	own, err := line.NewOwn(d, t.Tools, s.Subscriber)
	if err != nil {
		err = usageError{fmt.Errorf("--subscriber: %w", err)}
	} else {
		err = use(ctx, own)
	}
	stop()
	if ended := <-served; !errors.Is(ended, context.Canceled) {
		err = errors.Join(err, ended)
	}
	return err
}

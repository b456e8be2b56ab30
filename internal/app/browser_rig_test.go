//go:build browser

package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// within bounds a whole test, and patience one wait of it: longer than any retry of a
// reply takes.
const (
	within   = 2 * time.Minute
	patience = 30 * time.Second
)

// viewport is a size of the window, in CSS pixels.
type viewport struct {
	name          string
	width, height int64
}

var (
	desk      = viewport{"desk", 1280, 800}
	phoneSize = viewport{"phone", 390, 844}
	narrow    = viewport{"narrow", 320, 568}
)

// running is the program on a real port, with the demo tenant and a deadline that a
// person need not wait for.
type running struct {
	url  string
	stop func()
}

func openSandbox(t *testing.T) running {
	t.Helper()
	c, business := load(t, config.Dev, []string{
		"DATABASE_URL=sqlite:" + filepath.Join(t.TempDir(), "agent.db"), "RACE_DEADLINE_MS=700", "MANYCHAT_REPLY_GAP_MS=200",
	}, setup{rules: func(r *tenant.Rules) { r.EscalationQuietMinutes = 0 }}) // each of several handoffs is to be seen
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	dev, err := app.NewDev(ctx, app.DevOptions{
		Config: c, Tenant: business, Listener: listener, Now: time.Now, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		cancel()
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- dev.Serve(ctx) }()
	stop := sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return running{dev.URL, stop}
}

// browser is a Chromium window that notes what it asks for and what goes wrong in it.
type browser struct {
	t   *testing.T
	ctx context.Context
	url string

	mu         sync.Mutex
	requests   []string
	complaints []string
}

// openBrowser starts a browser of its own on a running program.
func openBrowser(t *testing.T, program running) *browser {
	t.Helper()
	opts := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.DisableGPU,
		chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-quic", true),
		chromedp.Flag("hide-scrollbars", true),
	)
	if os.Geteuid() == 0 {
		opts = append(opts, chromedp.NoSandbox) // Chromium's own needs a user
	}
	b := &browser{t: t, url: program.url}
	timed, cancel := context.WithTimeout(context.Background(), within)
	t.Cleanup(cancel)
	allocator, cancel := chromedp.NewExecAllocator(timed, opts...)
	t.Cleanup(cancel)
	b.ctx, cancel = chromedp.NewContext(allocator, chromedp.WithListener(b.note))
	t.Cleanup(func() {
		if err := chromedp.Cancel(b.ctx); err != nil {
			t.Errorf("closing the browser: %v", err)
		}
		cancel()
	})
	if err := chromedp.Do(b.ctx); err != nil { // starts it; its life is that of the context given here
		t.Fatal(err)
	}
	return b
}

// note is told of every event of the page.
func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, fmt.Sprintf("%s %v", e.ExceptionDetails.Text, e.ExceptionDetails.Exception))
	case *log.EventEntryAdded:
		b.complaints = append(b.complaints, fmt.Sprintf("%s: %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL))
	case *runtime.EventConsoleAPICalled:
		b.complaints = append(b.complaints, fmt.Sprintf("console.%s", e.Type))
	}
}

// quiet asserts that nothing went wrong in the browser, and that all it asked for is
// the program's.
func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		b.t.Errorf("the browser complains: %s", c)
	}
	if len(b.requests) == 0 {
		b.t.Error("no request was seen")
	}
	for _, r := range b.requests {
		if u, err := url.Parse(r); err != nil || "http://"+u.Host != b.url {
			b.t.Errorf("the page asks for %s", r)
		}
	}
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) open(path string) { b.t.Helper(); b.do(chromedp.Navigate(b.url + path)) }

// wait waits until an expression of JavaScript is true; the page itself looks with
// every frame that it draws.
func (b *browser) wait(expression string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(patience))); err != nil {
		shown, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText")) // says more than the error
		b.t.Fatalf("waiting for %s: %v; the page shows:\n%s", expression, err, shown)
	}
}

func (b *browser) size(s viewport) { b.t.Helper(); b.do(chromedp.EmulateViewport(s.width, s.height)) }

// scheme sets what the person prefers: light or dark.
func (b *browser) scheme(name string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		prefers := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: prefers})
		return err
	}))
}

// noScript switches the page's script off.
func (b *browser) noScript() {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
}

// picture is what the window shows, as PNG.
func (b *browser) picture() []byte {
	b.t.Helper()
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	return png
}

// quoted is a value as JavaScript.
func quoted(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // strings always have a form
	}
	return string(text)
}

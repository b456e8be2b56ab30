//go:build browser

package sandbox_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/manychat-agent/manychat-agent/internal/sandbox"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// within bounds a test in a browser.
const within = 90 * time.Second

// browser is a Chromium window on a rig's page.
type browser struct {
	*rig
	ctx context.Context

	mu         sync.Mutex
	complaints []string
}

func (r *rig) browse() *browser {
	r.t.Helper()
	b := &browser{rig: r}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.DisableGPU, chromedp.UserDataDir(r.t.TempDir()), chromedp.Flag("hide-scrollbars", true))
	if os.Geteuid() == 0 {
		opts = append(opts, chromedp.NoSandbox) // Chromium's own needs a user
	}
	timed, cancel := context.WithTimeout(context.Background(), within)
	r.t.Cleanup(cancel)
	allocator, cancel := chromedp.NewExecAllocator(timed, opts...)
	r.t.Cleanup(cancel)
	b.ctx, cancel = chromedp.NewContext(allocator, chromedp.WithListener(b.note))
	r.t.Cleanup(func() { _ = chromedp.Cancel(b.ctx); cancel() })
	b.do()
	return b
}

// note keeps what goes wrong on the page.
func (b *browser) note(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		b.complaints = append(b.complaints, e.Entry.Text+" "+e.Entry.URL)
	}
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// wait waits until an expression of JavaScript is true.
func (b *browser) wait(expression string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(within/3))); err != nil {
		b.t.Fatalf("waiting for %s: %v", expression, err)
	}
}

// look sets the window's size, in CSS pixels, and what the person prefers, light or dark;
// nothing may be wider than the window. A picture is kept under ARTIFACTS.
func (b *browser) look(width, height int64, scheme string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height), chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		prefers := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: prefers})
		return err
	}))
	b.wait(`document.documentElement.scrollWidth <= innerWidth && document.getElementById("chat").scrollWidth <= document.getElementById("chat").clientWidth`)
	folder := os.Getenv("ARTIFACTS")
	if folder == "" {
		folder = "../../artifacts"
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.MkdirAll(folder, 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, fmt.Sprintf("sandbox-timeline-%d-%s.png", width, scheme)), png, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// Holds docs/spec/13-sandbox.md, "The phone page (`/sandbox`)": timelines and cards work on
// a narrow screen, with the keyboard alone and in dark mode; what a person closed stays
// closed when something happens.
func TestBrowserTimeline(t *testing.T) {
	r := newRig(t)
	r.get("/sandbox")
	r.post("/sandbox/send", url.Values{"contact": {first}, "text": {"the syllabus, please"}})
	r.waitFor(first, 2)
	ns := r.account.DefineFlow(manychattest.Flow{Name: "syllabus", Steps: []manychattest.Step{
		{Media: &manychattest.Media{Kind: phone.KindFile, URL: sandbox.MediaPath + "/file.svg?title=Wheel+course", Caption: "All of it."}},
		{Media: &manychattest.Media{Kind: phone.KindFile, URL: "https://cdn.example.test/" + fmt.Sprintf("%0200d.pdf", 0)}},
		{Text: "Want a place?", Buttons: []phone.Button{{Type: "url", Caption: "Book a place", URL: "https://book.example.test"}}},
	}})
	if err := r.account.PlayFlow(first, ns); err != nil {
		t.Fatal(err)
	}
	r.waitFor(first, 5)
	long := fmt.Sprintf("%0200d", 0)
	if _, err := r.account.DefineTag("needs-a-person-of-the-studio"); err != nil {
		t.Fatal(err)
	}
	if err := r.account.EditContact(first, func(c *manychattest.Contact) {
		c.Tags, c.Fields = []string{"needs-a-person-of-the-studio"}, map[string]any{"ai_token": long}
	}); err != nil {
		t.Fatal(err)
	}
	stopped := `{"id":"t0","state":"settled","text":"hello","outcome":"escalated","path":"outbox","escalationReason":"complaint","deliveries":["dead"],"model":"m",
		"interventions":["price"],"calls":[{"step":1,"tool":"add_tag","id":"` + long + `","answer":"not staged","reason":"` + long + `"}]}`
	r.service.record("[" + told + "," + stopped + "]")

	b := r.browse()
	b.do(chromedp.EmulateViewport(1280, 900), chromedp.Navigate(r.url+"/sandbox"))
	b.wait(`document.getElementById("t-t1").open && !document.getElementById("t-t0").open`)
	b.wait(`[...document.images].length === 1 && [...document.images].every(i => i.complete && i.naturalWidth > 0)`)
	b.wait(`new Set([...document.querySelectorAll(".line .badge")].map(e => getComputedStyle(e).backgroundColor)).size === 4`)

	// The keyboard closes one and opens the other; they stay so when the page is told of a change.
	for _, id := range []string{"t-t1", "t-t0"} {
		b.do(chromedp.Focus(chromedp.CSS("#"+id+" summary")), chromedp.SendKeys(chromedp.CSS("#"+id+" summary"), "\r"))
	}
	b.wait(`!document.getElementById("t-t1").open && document.getElementById("t-t0").open`)
	if err := r.account.PlayFlow(first, ns); err != nil {
		t.Fatal(err)
	}
	b.wait(`document.querySelectorAll(".bubble.media").length === 4`)
	b.wait(`!document.getElementById("t-t1").open && document.getElementById("t-t0").open`)
	b.do(chromedp.SendKeys(chromedp.CSS("#t-t1 summary"), "\r"))
	b.wait(`document.getElementById("t-t1").open`)

	for _, scheme := range []string{"light", "dark"} {
		b.look(320, 568, scheme)
		b.look(1280, 900, scheme)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		t.Errorf("the browser complains: %s", c)
	}
}

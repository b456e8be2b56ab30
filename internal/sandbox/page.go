package sandbox

import (
	"context"
	"embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/sandbox/desk"
	"github.com/manychat-agent/manychat-agent/internal/sandbox/flow"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Path is where the page lives, ManyChatPath where the emulated account's public API
// does, and MediaPath where the pictures of its flows are.
const (
	Path         = "/sandbox"
	ManyChatPath = Path + "/manychat"
	MediaPath    = flow.MediaPath
)

// assets are served as they are; the templates beside them are not.
//
//go:embed page/*.css page/*.js page/*.svg
var assets embed.FS

//go:embed page/*.html
var sources embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"clock":   func(t time.Time) string { return t.Local().Format("15:04:05") },
	"micros":  micros,
	"rounded": rounded,
}).ParseFS(sources, "page/*.html"))

func micros(n int64) string { return rounded(time.Duration(n) * time.Microsecond) }

// rounded is a duration for a person to read.
func rounded(d time.Duration) string {
	if d >= time.Second {
		return d.Round(10 * time.Millisecond).String()
	}
	return d.Round(100 * time.Microsecond).String()
}

// Model is the switchboard of the mock model.
type Model interface {
	// Behaviour is how the model behaves now.
	Behaviour() (latency time.Duration, mode string)
	// Behave changes it from the next request on; the error says what is wrong with
	// the values.
	Behave(latency time.Duration, mode string) error
	// Modes lists the modes.
	Modes() []string
}

// PageConfig is what a [Page] needs; every field but Desk, Model and Example is
// required.
type PageConfig struct {
	Account *Account
	Turns   Turns
	Desk    *desk.Desk // nil: nobody is told of a handoff
	Model   Model      // nil: the model has no switches
	Example string     // a question an empty chat suggests; empty: none
	Log     *slog.Logger
}

// Page is the phone page.
type Page struct {
	cfg  PageConfig
	stop context.CancelFunc
	ctx  context.Context // ends with the page: what contacts wrote outlives their requests
	sent sync.WaitGroup

	mu      sync.Mutex
	waiting map[string]int                     // contacts' messages that wait for a response
	recent  map[string][]manychattest.Exchange // contacts' exchanges, the newest last
	watch   map[chan struct{}]bool             // open event streams
}

// NewPage checks the config and follows the account.
func NewPage(cfg PageConfig) (*Page, error) {
	if cfg.Account == nil || cfg.Log == nil {
		return nil, errors.New("sandbox: account and log must be set")
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &Page{
		cfg: cfg, ctx: ctx, stop: cancel,
		waiting: map[string]int{}, recent: map[string][]manychattest.Exchange{}, watch: map[chan struct{}]bool{},
	}
	cfg.Account.Subscribe(p.follow)
	if cfg.Desk != nil {
		cfg.Desk.Subscribe(p.tell)
	}
	return p, nil
}

// Close ends the open event streams and waits for messages under way.
func (p *Page) Close() {
	p.mu.Lock()
	p.stop()
	p.mu.Unlock()
	p.sent.Wait()
}

// Register adds the page's routes to a mux. Its forms only take posts that come from
// the page itself.
func (p *Page) Register(mux *http.ServeMux) {
	own := http.NewCrossOriginProtection()
	page := http.NewServeMux()
	page.HandleFunc("GET "+Path, p.show)
	page.HandleFunc("GET "+Path+"/live", p.live)
	page.HandleFunc("GET "+Path+"/events", p.events)
	page.HandleFunc("GET "+Path+"/page/{file}", asset)
	page.HandleFunc("GET "+MediaPath+"/{file}", flow.Serve)
	page.HandleFunc("POST "+Path+"/send", p.send)
	page.HandleFunc("POST "+Path+"/contacts", p.addContact)
	page.HandleFunc("POST "+Path+"/model", p.setModel)
	page.HandleFunc("POST "+Path+"/faults", p.setFaults)
	mux.Handle(Path, secured(own.Handler(page)))
	mux.Handle(Path+"/", secured(own.Handler(page)))
	mux.Handle(ManyChatPath+"/", http.StripPrefix(ManyChatPath, p.cfg.Account))
}

// asset serves one file of the page. There is no list of them.
func asset(w http.ResponseWriter, r *http.Request) {
	http.ServeFileFS(w, r, assets, "page/"+r.PathValue("file"))
}

// secured sends the headers that keep the page to itself: no foreign request, no
// frame, nothing inline.
func secured(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

// follow keeps what the page shows beside the chats, and tells open pages.
func (p *Page) follow(e manychattest.Event) {
	p.mu.Lock()
	switch e.Type {
	case phone.EventExchangeStarted:
		p.waiting[e.Contact]++
	case phone.EventExchangeFinished:
		if p.waiting[e.Contact]--; p.waiting[e.Contact] <= 0 {
			delete(p.waiting, e.Contact)
		}
		if e.Exchange != nil {
			all := append(p.recent[e.Contact], *e.Exchange)
			p.recent[e.Contact] = all[max(0, len(all)-shownTurns):]
		}
	}
	p.mu.Unlock()
	p.tell()
}

// tell makes open pages ask for what they show.
func (p *Page) tell() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for ch := range p.watch {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// events tells a page that something changed; the page then asks for what it shows.
func (p *Page) events(w http.ResponseWriter, r *http.Request) {
	ch := make(chan struct{}, 1)
	p.mu.Lock()
	p.watch[ch] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.watch, ch)
		p.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	stream := http.NewResponseController(w)
	for {
		if _, err := w.Write([]byte("event: change\ndata:\n\n")); err != nil || stream.Flush() != nil {
			return
		}
		select {
		case <-ch:
		case <-r.Context().Done():
			return
		case <-p.ctx.Done():
			return
		}
	}
}

package manychattest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/jsonpath"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/placeholder"
)

// Config describes an emulated account. Channel and Token are required.
type Config struct {
	Channel manychat.Channel // of contacts that name none
	Token   string           // the API token, "<account id>:<secret>"; the id is the page id too
	Page    Page

	Entry    Entry // what a contact's message starts when no callback takes it
	Settings Settings

	// Hosts sends requests for a public host (with its port, if the URL names one) to
	// a local base URL, path and query kept: "agent.example.test" to
	// "http://127.0.0.1:3000".
	Hosts   map[string]string
	Client  *http.Client     // makes the requests, each once if its transport is an *http.Transport; nil: one of its own
	Timeout time.Duration    // of such a request, headers and body; 0: 10 s (platform notes, 4.3)
	Now     func() time.Time // nil: time.Now

	Unlimited bool   // no rate limits
	CallLog   int    // calls that [Server.Calls] remembers; 0: 10 000
	OnChange  func() // called after every change that a snapshot would hold; may take one, must be quick
}

// EntryMode says which block of the entry flow makes the request.
type EntryMode string

// The two blocks that make requests.
const (
	DynamicBlock    EntryMode = ""                 // renders the answer as a Dynamic Block v2
	ExternalRequest EntryMode = "external_request" // maps values of the answer to custom fields
)

// Entry is the Default Reply of the account: one request, then perhaps some steps.
// With an empty URL the contact's messages start nothing.
type Entry struct {
	Mode   EntryMode
	URL    string            // http or https; may hold variables
	Method string            // GET, POST, PUT or DELETE; empty: POST
	Header map[string]string // static headers; values may hold variables

	// The body is one of two: the template Body, a JSON text with variables, or
	// the object that ManyChat builds itself.
	Body            string
	EncodeJSON      bool // "Encode to JSON" is on for every variable in Body: they arrive quoted and escaped; off: pasted raw
	FullContactData bool

	Mapping  map[string]string // JSONPath to custom field, for an external request
	After    []Step            // played after an external request, whether it worked or not
	Fallback []Step            // played when a Dynamic Block's request failed
}

// Switch is a setting with a default of its own.
type Switch string

// The positions of a [Switch].
const (
	Auto Switch = ""
	On   Switch = "on"
	Off  Switch = "off"
)

// Settings decide what is not known about ManyChat. The zero value is the reading
// under which a server that works here works there.
type Settings struct {
	Callback           Switch // external_message_callback fires. Auto: on Messenger only, the one channel it is documented for
	CallbackOnTap      bool   // it fires on a tap on a quick reply or button too, as was seen on Messenger
	RawCallbackPayload bool   // variables in its payload are pasted unescaped
	WhatsAppImages     Switch // images reach WhatsApp. Auto: by sendContent, not inline
	InlineMessages     int    // messages of an inline answer that arrive; 0: what was seen on the channel (1 on WhatsApp); -1: all
	AnyContentType     bool   // an inline answer with the content.type of another channel is shown
	RefuseEmpty        bool   // an empty messages array is refused
	RefuseUnknownKeys  bool   // a key that the documents do not name is refused, not ignored
	PickerOnly         bool   // {{field name}} typed by hand stays literal
	HideMedia          bool   // media leaves last_input_text as it was
	LongFlowTexts      bool   // a flow shows texts above the limit of a message
	OmitContentType    bool   // requests carry no Content-Type of their own

	BlockAfterLimit time.Duration // everything is refused for so long after a 429; ManyChat threatens 24 h
}

// withDefaults fills in what may be left out.
func (c Config) withDefaults() Config {
	if c.Timeout == 0 {
		c.Timeout = 10 * time.Second
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.CallLog == 0 {
		c.CallLog = 10_000
	}
	if c.Entry.Method == "" {
		c.Entry.Method = http.MethodPost
	}
	c.Entry.Method = strings.ToUpper(c.Entry.Method)
	return c
}

func (c Config) validate() error {
	if _, ok := manychat.CapabilitiesOf(c.Channel); !ok {
		return fmt.Errorf("manychattest: Config.Channel %q is not a channel of ManyChat", c.Channel)
	}
	if id, secret, ok := strings.Cut(c.Token, ":"); !ok || id == "" || secret == "" {
		return errors.New("manychattest: Config.Token must have the shape <account id>:<secret>")
	}
	for host, base := range c.Hosts {
		if u, err := url.Parse(base); err != nil || u.Scheme == "" || u.Host == "" {
			return fmt.Errorf("manychattest: Config.Hosts[%q] must be a base URL like http://127.0.0.1:3000", host)
		}
	}
	if err := c.Entry.validate(); err != nil {
		return fmt.Errorf("manychattest: Config.Entry: %w", err)
	}
	return nil
}

func (e Entry) validate() error {
	switch {
	case !slices.Contains([]string{"GET", "POST", "PUT", "DELETE"}, e.Method):
		return fmt.Errorf("the method %q is not GET, POST, PUT or DELETE", e.Method)
	case e.Mode != DynamicBlock && e.Mode != ExternalRequest:
		return fmt.Errorf("unknown mode %q", e.Mode)
	case e.Body != "" && e.FullContactData:
		return errors.New("the body is either a template or the full contact data")
	case e.Body != "" && !json.Valid([]byte(e.sample())):
		return errors.New("the body is not JSON; with EncodeJSON a variable must stand without quotes, without it within quotes")
	}
	for _, path := range slices.Sorted(maps.Keys(e.Mapping)) {
		if _, err := jsonpath.Parse(path); err != nil {
			return err
		}
	}
	return nil
}

// sample is the body with harmless values: the builder refuses a body that is no
// JSON (platform notes, 4.1).
func (e Entry) sample() string {
	render := placeholder.Raw
	if e.EncodeJSON {
		render = placeholder.Encoded
	}
	return render(e.Body, func(string) (any, bool) { return 0.0, true })
}

// callbacks reports whether external_message_callback fires on the channel.
func (s Settings) callbacks(ch manychat.Channel) bool {
	if s.Callback == Auto {
		caps, _ := manychat.CapabilitiesOf(ch)
		return caps.CallbackVerified
	}
	return s.Callback == On
}

func (s Settings) whatsAppImages(inline bool) bool {
	if s.WhatsAppImages == Auto {
		return !inline
	}
	return s.WhatsAppImages == On
}

// inlineMessages is how many messages of an inline answer arrive; 0: all.
func (s Settings) inlineMessages(ch manychat.Channel) int {
	switch {
	case s.InlineMessages < 0:
		return 0
	case s.InlineMessages > 0:
		return s.InlineMessages
	}
	caps, _ := manychat.CapabilitiesOf(ch)
	return caps.Delivered
}

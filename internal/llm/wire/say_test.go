package wire_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// Holds docs/spec/04-agent.md, "Loop": what a status means to the loop.
func TestFailedKind(t *testing.T) {
	kinds := map[llm.ErrorKind][]int{
		llm.KindProtocol:     {301, 302, 304, 307, 308},
		llm.KindRejected:     {400, 404, 405, 413, 415, 422},
		llm.KindUnauthorized: {401, 402, 403},
		llm.KindRateLimited:  {429},
		llm.KindOverloaded:   {503, 529},
		llm.KindServer:       {408, 409, 425, 500, 501, 502, 504, 520, 599},
	}
	for kind, statuses := range kinds {
		for _, status := range statuses {
			c, a := posted(t, status, nil, nil)
			if e := c.Failed(a, "told"); e.Kind != kind || e.Status != status || e.Message != "told" || e.Provider != "fictional" {
				t.Errorf("%d: %#v, want %s", status, e, kind)
			}
		}
	}
}

// Holds docs/spec/04-agent.md, "Loop": Retry-After in every spelling, at most an hour.
func TestFailedRetryAfter(t *testing.T) {
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // the clock of a bubble
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	tests := []struct {
		name   string
		header map[string]string
		want   time.Duration
	}{
		{"none", nil, 0},
		{"seconds", map[string]string{"Retry-After": "20"}, 20 * time.Second},
		{"a fraction", map[string]string{"Retry-After": "1.5"}, 1500 * time.Millisecond},
		{"milliseconds", map[string]string{"Retry-After-Ms": "250"}, 250 * time.Millisecond},
		{"milliseconds before seconds", map[string]string{"Retry-After-Ms": "250", "Retry-After": "20"}, 250 * time.Millisecond},
		{"broken milliseconds", map[string]string{"Retry-After-Ms": "soon", "Retry-After": "20"}, 20 * time.Second},
		{"date", map[string]string{"Retry-After": date(time.Minute)}, time.Minute},
		{"date on the server's clock", map[string]string{"Retry-After": date(time.Hour), "Date": date(time.Hour - 5*time.Second)}, 5 * time.Second},
		{"date and a broken clock", map[string]string{"Retry-After": date(time.Minute), "Date": "today"}, time.Minute},
		{"date in the past", map[string]string{"Retry-After": date(-time.Minute)}, 0},
		{"nothing to wait", map[string]string{"Retry-After": "0"}, 0},
		{"below nothing", map[string]string{"Retry-After": "-5"}, 0},
		{"a day", map[string]string{"Retry-After": "86400"}, time.Hour},
		{"for ever", map[string]string{"Retry-After": "Inf"}, time.Hour},
		{"more than a number holds", map[string]string{"Retry-After": "1e300"}, time.Hour},
		{"no number", map[string]string{"Retry-After": "NaN"}, 0},
		{"words", map[string]string{"Retry-After": "soon"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			header := http.Header{}
			for name, value := range tt.header {
				header.Set(name, value)
			}
			synctest.Test(t, func(t *testing.T) {
				c, a := posted(t, 429, header, nil)
				if got := c.Failed(a, "").RetryAfter; got != tt.want {
					t.Errorf("wait = %v, want %v", got, tt.want)
				}
			})
		})
	}
}

// Holds docs/spec/01-principles.md, C5: an error says what a provider says, without what
// it quotes of a request, a key, or personal data.
func TestFailedMessage(t *testing.T) {
	asked := map[string]string{"text": "my name is Ada and\nI paint \"leaded glass\" at home"}
	html := http.Header{"Content-Type": {"text/html"}}
	tests := []struct {
		name, message string
		header        http.Header
		want          string
	}{
		{"plain", "The engine is overloaded.", nil, "The engine is overloaded."},
		{"white space", " a\n\n b\t", nil, "a b"},
		{"name in quotation marks", "Unsupported parameter: 'max_tokens' with \"gpt-x\" and `tools`", nil, "Unsupported parameter: 'max_tokens' with \"gpt-x\" and `tools`"},
		{"names in a row", "In context=('properties', 'x'), 'oneOf' is not permitted", nil, "In context=('properties', 'x'), 'oneOf' is not permitted"},
		{"text in quotation marks", `cannot parse "call me soon" here`, nil, "cannot parse … here"},
		{"text in other marks", "a 'b c' d `e f` g “h i” j «k l» m", nil, "a … d … g … j … m"},
		{"marks that are not closed", `cannot parse "call me soon`, nil, "cannot parse …"},
		{"marks that are not closed in other looks", "cannot parse “call me", nil, "cannot parse …"},
		{"apostrophe", "This model's limit is 8192 tokens", nil, "This model's limit is 8192 tokens"},
		{"words of the request", "cannot parse: my name is Ada and, so stop", nil, "cannot parse: and, so stop"},
		{"all words of the request", "cannot parse my name is Ada and so stop", nil, "cannot parse so stop"},
		{"words across lines", "bad: Ada and I paint here", nil, "bad: here"},
		{"words with marks in them", `bad: paint "leaded glass" at home`, nil, "bad: paint … at home"},
		{"three words of the request", "bad: my name is unknown", nil, "bad: my name is unknown"},
		{"key", "Incorrect key " + key + ", sorry", nil, "Incorrect key [secret], sorry"},
		{"nothing", "", nil, "status 400"},
		{"only a quotation of the request", "my name is Ada", nil, "status 400"},
		{"page", "", html, "status 400 with a page instead of JSON: is the address right?"},
		{"long", strings.Repeat("e ", 500), nil, strings.Repeat("e ", 150) + "…"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, a := posted(t, 400, tt.header, asked)
			if got := c.Failed(a, tt.message).Message; got != tt.want {
				t.Errorf("message = %q, want %q", got, tt.want)
			}
		})
	}
	c, a := posted(t, 400, nil, asked)
	if got := c.Failed(a, "send it to ada@example.com now").Message; strings.Contains(got, "ada@") {
		t.Errorf("message = %q", got)
	}
}

// Holds docs/spec/01-principles.md, C5: of any four words in a row that a request has, an
// error holds none, wherever they are quoted.
func TestFailedQuotesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOfN(rapid.StringMatching(`[a-z]{2,6}x`), 4, 30).Draw(rt, "words")
		from := rapid.IntRange(0, len(words)-4).Draw(rt, "from")
		to := rapid.IntRange(from+4, len(words)).Draw(rt, "to")
		gap := rapid.SampledFrom([]string{" ", "\n", "  ", "\t"}).Draw(rt, "gap")
		c, a := posted(t, 400, nil, strings.Join(words, gap))
		got := c.Failed(a, "BEFORE "+strings.Join(words[from:to], " ")+" AFTER").Message
		if got != "BEFORE AFTER" {
			rt.Fatalf("message = %q", got)
		}
	})
}

// Holds docs/spec/01-principles.md, C5: a message of any bytes and any length is bounded,
// readable text.
func TestFailedBounds(t *testing.T) {
	for _, message := range []string{strings.Repeat("a", 4<<20), strings.Repeat("\"", 1<<20), strings.Repeat("a b ", 1<<20), "\xff\xfe\x00" + strings.Repeat("é", 9000), strings.Repeat(key, 9000)} {
		c, a := posted(t, 400, nil, strings.Repeat("a b c d ", 1<<12))
		got := c.Failed(a, message).Message
		if utf8.RuneCountInString(got) > 301 || !utf8.ValidString(got) || strings.Contains(got, key) {
			t.Errorf("message of %d bytes: %.80q", len(message), got)
		}
	}
}

// Holds docs/spec/04-agent.md, "Models": a client keeps no state, so that one serves all
// turns.
func TestClientIsShared(t *testing.T) {
	c := wire.New("fictional", answering(200, "{}", nil))
	done := make(chan error)
	for range 8 {
		go func() {
			_, err := c.Post(t.Context(), "https://llm.example.com/", http.Header{"X": {"y"}}, "x")
			done <- err
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// Holds docs/spec/01-principles.md, C5: an error quotes no contact, in scripts without spaces
// too, nor in another case, nor escaped as JSON.
func TestFailedQuotesNoScript(t *testing.T) {
	for _, c := range []struct{ asked, message, secret string }{
		{"我叫王小明我住在北京我怀孕了", `Invalid prompt: "我叫王小明我住在北京我怀孕了" was flagged`, "王小明"},
		{"我叫王小明我住在北京我怀孕了", `Invalid prompt: 我叫王小明我住在北京我怀孕了 was flagged`, "王小明"},
		{"ฉันชื่อสมหญิงฉันติดเชื้อเอชไอวี", `cannot parse 'ฉันชื่อสมหญิงฉันติดเชื้อเอชไอวี'`, "สมหญิง"},
		{"私は山田花子です、妊娠しています", "Could not process 私は山田花子です、妊娠しています", "山田花子"},
		{"Soy María González y vivo aquí", `flagged: Soy Mar\u00eda Gonz\u00e1lez y vivo aqu\u00ed`, "Gonz"},
		{"my name is Ada Lovelace", "bad: MY NAME IS ADA LOVELACE", "LOVELACE"},
	} {
		cl, a := posted(t, 400, nil, map[string]string{"text": c.asked})
		if got := cl.Failed(a, c.message).Message; strings.Contains(got, c.secret) {
			t.Errorf("%q is told as %q", c.message, got)
		}
	}
}

package wire

import (
	"bytes"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/manychat-agent/manychat-agent/internal/redact"
)

// maxQuoted bounds a provider's message, in runes.
const maxQuoted = 300

// maxRead bounds what is looked at of it, in bytes.
const maxRead = 2 << 10

// maxRetryAfter bounds what a provider may ask for; nothing here waits that long.
const maxRetryAfter = time.Hour

// isPage reports whether an answer is HTML, as of a proxy or a wrong address.
func isPage(a Answer) bool {
	return strings.Contains(a.Header.Get("Content-Type"), "html") || bytes.HasPrefix(bytes.TrimSpace(a.Body), []byte("<"))
}

// A quotation in pairs of marks, so that what stands between two names in quotation marks
// is none. One that is not closed goes on to the end; an apostrophe within a word opens none.
var quotation = regexp.MustCompile("\"[^\"]*(?:\"|\\z)|\\B'[^']*'|`[^`]*`|“[^”]*(?:”|\\z)|«[^»]*(?:»|\\z)")

// A name in quotation marks: of a parameter, a model or a type.
var quotedName = regexp.MustCompile("^[\"'`][A-Za-z0-9_.,:/\\[\\]<>{}$*+-]*[\"'`]$")

// unlessName leaves out a quotation that is not the name of something, but a text.
func unlessName(quoted string) string {
	if !quotedName.MatchString(quoted) {
		return "…"
	}
	return quoted
}

// quotable is a provider's message without what it may quote of the request: texts in
// quotation marks, runs of four words that the request has too, words that no provider
// writes, since they are not English, secrets, and personal data by its shape.
func (c *Client) quotable(a Answer, message string) string {
	for _, secret := range c.secrets {
		if secret != "" {
			message = strings.ReplaceAll(message, secret, "[secret]")
		}
	}
	message = quotation.ReplaceAllStringFunc(message[:min(len(message), maxRead)], unlessName)
	runes := []rune(redact.Text(unquoted(strings.Fields(message), said(a.asked))))
	if len(runes) > maxQuoted {
		return string(runes[:maxQuoted]) + "…"
	}
	return string(runes)
}

// isForeign reports whether a word holds a letter beyond ASCII, be it escaped.
func isForeign(word string) bool {
	return strings.Contains(word, `\u`) || strings.ContainsFunc(word, func(r rune) bool { return r >= 0x80 && (unicode.IsLetter(r) || unicode.IsMark(r)) })
}

// unquoted joins the words that are in no run that was asked too, in any case.
func unquoted(words []string, asked string) string {
	asked = strings.ToLower(asked)
	quoted := make([]bool, len(words))
	for i := range words {
		quoted[i] = isForeign(words[i])
	}
	for i := range max(len(words)-runOfWords+1, 0) {
		if strings.Contains(asked, strings.ToLower(strings.Join(words[i:i+runOfWords], " "))) {
			for j := range runOfWords {
				quoted[i+j] = true
			}
		}
	}
	var kept []string
	for i, w := range words {
		if !quoted[i] {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

// said is the text of a request with single spaces, not escaped as JSON has it.
func said(asked []byte) string {
	text := strings.NewReplacer(`\n`, " ", `\t`, " ", `\"`, `"`).Replace(string(asked))
	return strings.Join(strings.Fields(text), " ")
}

// runOfWords is how many words in a row are taken for a quotation of the request.
const runOfWords = 4

// retryAfter is how long a provider asks to wait, in its three spellings: milliseconds,
// seconds with or without a fraction, and a date. A date counts from the provider's own
// clock where it tells it.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil {
		return bounded(ms / 1000)
	}
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return bounded(seconds)
	}
	until, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	if date, err := http.ParseTime(header.Get("Date")); err == nil {
		now = date
	}
	return bounded(until.Sub(now).Seconds())
}

func bounded(seconds float64) time.Duration {
	switch {
	case !(seconds > 0):
		return 0
	case seconds >= maxRetryAfter.Seconds():
		return maxRetryAfter
	}
	return time.Duration(seconds * float64(time.Second))
}

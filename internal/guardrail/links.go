package guardrail

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// A link as people and phones recognise one: with a scheme, with www, or a bare host
// name with a path or one of the endings that no sentence runs into by mistake.
var link = regexp.MustCompile(`(?i)(?:[a-z][a-z0-9+-]*://|www[.。])` + target + `+` +
	`|(?:https?:)?/{0,2}` + host + ending + port + `/` + target + `*` +
	`|//` + host + ending + port +
	`|\d{1,3}(?:\.\d{1,3}){3}` + port + `/` + target + `*` +
	`|(?:https?:)?/{0,2}` + host + `[.。](?:` + endings + `)` + port)

// The parts of a link. A country's ending may follow one of the endings.
const (
	target  = `(?:[^\s<>"“”«»()]|\([^\s()]*\))`
	host    = `[\pL\pN][\pL\pM\pN-]*(?:[.。][\pL\pM\pN-]+)*`
	ending  = `[.。](?:\pL{2,24}|xn--[a-z0-9-]+)`
	port    = `(?::\d{1,5})?`
	endings = `(?:com|net|org)(?:[.。][a-z]{2})?|co[.。][a-z]{2}|info|biz|io|app|dev|shop|store|online|site|xyz|link|page|ly|gle|me|click|tech|ru|рф|uk|br|pt|gr|nl|pl|tv|cc`
)

// The rest of an e-mail address whose beginning looks like a host.
var mailbox = regexp.MustCompile(`^[\pL\pN._%+-]*@\pL`)

// What a removed link leaves behind: the brackets of a markdown link, or round the
// link, and space.
var (
	emptied     = regexp.MustCompile(`\(\s*\)|<\s*>|\[\s*\]`)
	emptyTarget = regexp.MustCompile(`\[([^\]]*)\]\(\s*\)`)
	spaces      = regexp.MustCompile(`[ \t]{2,}`)
	spaceAtEnd  = regexp.MustCompile(`[ \t]+(\n|$)`)
)

// links takes out every link that neither the catalog nor the persona holds; a reply
// of nothing else hands off.
type links struct {
	facts *factCache
}

func (l links) run(d *draft) finding {
	allowed := l.facts.of(d.tenant).allowed
	changed := d.rewrite(func(text string) string { return withoutLinks(text, allowed) })
	switch {
	case !changed:
		return finding{}
	case len(d.messages) == 0:
		return broken()
	}
	return finding{noted: true}
}

// withoutLinks removes links until none is left, since what stood round one may form
// another. A text that hides one in invisible or compatibility characters is written
// without them.
func withoutLinks(text string, allowed map[string]bool) string {
	for {
		bare := plain(text)
		seen := removeLinks(bare, allowed)
		if seen == bare {
			return text
		}
		if text = removeLinks(text, allowed); plain(text) != seen {
			text = seen
		}
	}
}

func removeLinks(text string, allowed map[string]bool) string {
	var b strings.Builder
	kept := 0
	for _, at := range findLinks(text) {
		if !allowed[linkKey(text[at[0]:at[1]])] {
			b.WriteString(text[kept:at[0]])
			kept = at[1]
		}
	}
	if kept == 0 {
		return text
	}
	b.WriteString(text[kept:])
	text = emptied.ReplaceAllString(emptyTarget.ReplaceAllString(b.String(), "$1"), "")
	text = spaceAtEnd.ReplaceAllString(spaces.ReplaceAllString(text, " "), "$1")
	text = strings.TrimSpace(text)
	if strings.Trim(text, ".,:;!()[]-–—…/@ \n") == "" {
		return ""
	}
	return text
}

// findLinks returns where the links of a text are, without the punctuation of the
// sentence round them.
func findLinks(text string) [][2]int {
	if !strings.ContainsAny(text, ".。") && !strings.Contains(text, "://") {
		return nil
	}
	var out [][2]int
	for from := 0; ; {
		at := link.FindStringIndex(text[from:])
		if at == nil {
			return out
		}
		start := from + at[0]
		found := strings.TrimRight(text[start:from+at[1]], ".,:;!?'*_…")
		from = start + len(found)
		if !strings.Contains(found, "://") && inWord(text, start, from) {
			continue
		}
		out = append(out, [2]int{start, from})
	}
}

// inWord reports whether what looks like a bare host is part of a longer word or of an
// e-mail address.
func inWord(text string, start, end int) bool {
	if strings.Contains(text[start:end], "/") {
		return false
	}
	before, after := text[:start], text[end:]
	next, _ := utf8.DecodeRuneInString(after)
	return strings.HasSuffix(before, "@") || mailbox.MatchString(after) || unicode.IsLetter(next) || unicode.IsDigit(next)
}

// linkKey is what two spellings of one address share: no web scheme, no leading www,
// the host in lower case, no slash at the end.
func linkKey(found string) string {
	found = plain(found)
	if scheme, rest, ok := strings.Cut(found, "://"); ok && (strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http")) {
		found = rest
	}
	host, path, _ := strings.Cut(found, "/")
	host = strings.TrimPrefix(strings.ToLower(host), "www.")
	return strings.TrimSuffix(host+"/"+path, "/")
}

// allowedLinks collects the links of everything the tenant wrote for contacts to read.
func allowedLinks(t *tenant.Tenant) map[string]bool {
	allowed := map[string]bool{}
	for _, text := range append(catalogTexts(&t.Catalog), t.Prompt) {
		for _, at := range findLinks(text) {
			allowed[linkKey(text[at[0]:at[1]])] = true
		}
	}
	for _, o := range t.Catalog.Offerings {
		allowed[linkKey(o.URL)] = true
	}
	delete(allowed, "")
	return allowed
}

// catalogTexts lists every free text of a catalog.
func catalogTexts(c *tenant.Catalog) []string {
	texts := []string{c.BusinessName}
	for _, o := range c.Offerings {
		texts = append(texts, o.Name, o.Description, o.Schedule, o.URL)
	}
	for _, q := range c.FAQ {
		texts = append(texts, q.Question, q.Answer)
	}
	for _, p := range c.PaymentOptions {
		texts = append(texts, p.Description)
	}
	return texts
}

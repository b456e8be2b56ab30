package guardrail

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/guardrail/visible"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// A link as people and phones recognise one: with a scheme, with www, or a host name,
// which [bareHost] judges. What a model hides in invisible or compatibility characters
// is found without them.
//
// Known limits: an address spelled in words ("pay dot com"), an e-mail address and a
// user name are no links; an ending with a capital letter is the beginning of a sentence
// ("Yes.It is"), but for com and its like; and a path behind any ending is a link.
var link = regexp.MustCompile(`(?i)(?:[a-z][a-z0-9+-]*://|www[.。])` + target + `+` +
	`|\b(?:` + schemes + `):` + target + `+|\b(?-i:tel):[+\d(]` + target + `+` +
	`|\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5})?/` + target + `*|\d{1,3}(?:\.\d{1,3}){3}:\d{2,5}` +
	`|(?:(?:https?:)?/{1,2})?` + host + ending + `(?::\d{1,5})?(?:[/?#]` + target + `*)?`)

// The parts of a link.
const (
	schemes = `mailto|sms|smsto|whatsapp|tg|skype|callto|facetime|sip|intent|javascript|data|upi|bitcoin|ethereum`
	target  = `(?:[^\s<>"“”«»()。，、！？；：（）「」『』【】｡､،؟؛।]|\([^\s()]*\))`
	host    = `[\pL\pN][\pL\pM\pN-]*(?:[.。][\pL\pM\pN-]+)*`
	ending  = `(?:\.(?:xn--[a-z0-9-]+|\pL[\pL\pM]{1,23})|。[a-z]{2,24})`
)

// The rest of an e-mail address whose beginning looks like a host.
var mailbox = regexp.MustCompile(`^[\pL\pN._%+-]*@\pL`)

// What a removed link leaves behind: the brackets of a markdown link, or round the
// link, and space.
var (
	emptied     = regexp.MustCompile("\\(\\s*\\)|<\\s*>|\\[\\s*\\]|``")
	emptyTarget = regexp.MustCompile(`\[([^\]]*)\]\(\s*(?:"[^"]*"|'[^']*')?\s*\)`)
	spaces      = regexp.MustCompile(`[ \t]{2,}`)
	spaceAtEnd  = regexp.MustCompile(`[ \t]+(\n|$)`)
)

// links takes out every link that neither the catalog nor the persona holds, and every
// echo that this puts together; a reply of nothing else hands off.
type links struct {
	facts *factCache
}

func (l links) run(d *draft) finding {
	left := d.leftover(l.facts.of(d.tenant).allowed)
	if !left.changed {
		return finding{}
	}
	if d.messages, d.closing = left.messages, left.closing; len(d.messages) == 0 {
		return broken()
	}
	return finding{noted: true}
}

// withoutLinksAndEchoes removes both until neither is left, since one may stand in the
// other; nothing is left of a text that needs more than maxPasses.
func withoutLinksAndEchoes(text string, allowed map[string]bool) string {
	for range maxPasses {
		mended := withoutEchoes(withoutLinks(text, allowed))
		if mended == text {
			return text
		}
		text = mended
	}
	return ""
}

// maxPasses is how often links and echoes that the removal of others formed are removed.
// Only a text that is made to hide them needs more than two or three.
const maxPasses = 5

// withoutLinks removes links until none is left, since what stood round one may form
// another; nothing is left of a text that needs more than maxPasses. A text that hides a
// link in invisible or compatibility characters, or in another link, is written without
// them.
func withoutLinks(text string, allowed map[string]bool) string {
	for pass := range maxPasses {
		bare := visible.Text(text)
		seen := removeLinks(bare, allowed)
		if seen == bare {
			return text
		}
		if pass == 0 && text != bare {
			text = removeLinks(text, allowed)
		}
		if pass > 0 || visible.Text(text) != seen {
			text = seen
		}
	}
	return ""
}

func removeLinks(text string, allowed map[string]bool) string {
	var b strings.Builder
	kept := 0
	for _, at := range findLinks(text) {
		if isAllowed(text[at[0]:at[1]], allowed) {
			continue
		}
		before := text[kept:at[0]]
		if at[1] < len(text) && strings.IndexByte(",.;", text[at[1]]) >= 0 {
			before = strings.TrimRight(before, " ")
		}
		b.WriteString(before)
		kept = at[1]
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

// isAllowed reports whether a link is one of the allowed, alone or with words of a script
// without spaces right behind it, which a phone opens on the same page.
func isAllowed(found string, allowed map[string]bool) bool {
	if allowed[linkKey(found)] {
		return true
	}
	i := strings.IndexFunc(found, func(r rune) bool { return unicode.In(r, unspacedScripts...) })
	return i > 0 && !strings.ContainsAny(found[i:], "./@:?#&=%") && allowed[linkKey(strings.TrimRight(found[:i], trailing))]
}

// unspacedScripts write no space between a link and the words round it.
var unspacedScripts = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai}

// trailing is the punctuation of a sentence behind a link.
const trailing = ".,:;!?'*_…`"

// findLinks returns where the links of a text are, without the punctuation of the
// sentence round them.
func findLinks(text string) [][2]int {
	var out [][2]int
	for at := 0; at < len(text); {
		run := text[at:]
		if end := strings.IndexAny(run, " \t\n\f\r"); end >= 0 {
			run = run[:end]
		}
		if mayHoldLink(run) {
			for _, found := range linksIn(run) {
				out = append(out, [2]int{at + found[0], at + found[1]})
			}
		}
		at += len(run) + 1
	}
	return out
}

// mayHoldLink reports whether a link may be in a text without spaces; most hold none of
// what one is made of.
func mayHoldLink(run string) bool {
	for i := 0; i+1 < len(run); i++ {
		switch next := run[i+1]; run[i] {
		case '.':
			if next > '9' || next == '/' {
				return true
			}
		case '/':
			if next == '/' {
				return true
			}
		case ':':
			if next > '9' || i > 0 && run[i-1] > '9' || strings.Count(run, ".") > 2 {
				return true
			}
		case "。"[0]:
			if strings.HasPrefix(run[i:], "。") && i+3 < len(run) && run[i+3] < 0x80 {
				return true
			}
		}
	}
	return strings.Count(run, ".") > 2 && strings.Contains(run, "/")
}

// linksIn returns where the links of a text without spaces are.
func linksIn(run string) [][2]int {
	var out [][2]int
	for from := 0; ; {
		at := link.FindStringIndex(run[from:])
		if at == nil {
			return out
		}
		start := from + at[0]
		found := strings.TrimRight(run[start:from+at[1]], trailing)
		from = start + len(found)
		if !hasScheme(found) && !strings.Contains(found, "/") {
			start += strings.Index(found, asciiHost(found))
			found = asciiHost(found)
			name := bareHost(found)
			if name == "" {
				if i := strings.LastIndexAny(found, ".。"); i > 0 {
					from = start + i + 1 // a scheme may begin behind its last point
				}
				continue
			}
			if from = start + len(name); inWord(run, start, from) {
				from = start + len(found)
				continue
			}
		}
		out = append(out, [2]int{start, from})
	}
}

var withScheme = regexp.MustCompile(`(?i)^(?:[a-z][a-z0-9+-]*://|www[.。]|(?:` + schemes + `|tel):|[\d.]+:\d)`)

func hasScheme(found string) bool { return withScheme.MatchString(found) }

// asciiHost takes the words of a script without spaces off both ends of a host in ASCII.
func asciiHost(found string) string {
	isUnspaced := func(r rune) bool { return unicode.In(r, unspacedScripts...) }
	inner := strings.TrimFunc(found, isUnspaced)
	if len(inner) < 3 || inner[0] < '0' || inner[0] >= 0x80 || inner[len(inner)-1] >= 0x80 || !strings.Contains(inner, ".") {
		return found
	}
	return inner
}

// bareHost is the part of what looks like a host name that is one: it ends in one of
// the endings. A query or a port may follow. Empty: it is none.
func bareHost(found string) string {
	name := found
	if i := strings.IndexAny(found, ":?#"); i > 0 {
		name = found[:i]
	}
	for rest := found; ; {
		if isHost(name) {
			return rest
		}
		i := strings.LastIndexAny(name, ".。")
		if i <= 0 {
			return ""
		}
		name = name[:i]
		rest = name
	}
}

// isHost reports whether a dotted name ends as a host does and not as a sentence that
// runs into the next one.
func isHost(name string) bool {
	i := strings.LastIndexAny(name, ".。")
	if i <= 0 {
		return false
	}
	before, end := lastLabel(name[:i]), lastLabel(name)
	lower := strings.ToLower(end)
	letters := utf8.RuneCountInString(before)
	switch {
	case notHosts[strings.ToLower(name)], !endings[lower] && !strings.HasPrefix(lower, "xn--"):
		return false
	case letters == 1 && !lettersEndings[lower] && !strings.ContainsAny(name[:i], ".。"):
		return false
	case letters < 3 && strings.Trim(before, "0123456789") == "":
		return false
	}
	first, size := utf8.DecodeRuneInString(end)
	return firmEndings[lower] || !unicode.IsUpper(first) || end[size:] != lower[size:]
}

// lastLabel is what stands behind the last point of a dotted name.
func lastLabel(name string) string {
	i := strings.LastIndexAny(name, ".。")
	if i < 0 {
		return name
	}
	_, size := utf8.DecodeRuneInString(name[i:])
	return name[i+size:]
}

// inWord reports whether what looks like a bare host is part of a longer word or of an
// e-mail address.
func inWord(text string, start, end int) bool {
	before, after := text[:start], text[end:]
	next, size := utf8.DecodeRuneInString(after)
	if next == '-' {
		next, _ = utf8.DecodeRuneInString(after[size:])
	}
	if unicode.In(next, unspacedScripts...) && text[end-1] < 0x80 {
		return strings.HasSuffix(before, "@")
	}
	return strings.HasSuffix(before, "@") || mailbox.MatchString(after) || unicode.IsLetter(next) || unicode.IsDigit(next)
}

// linkKey is what two spellings of one address share: no web scheme, no leading www,
// the host in lower case, no slash at the end.
func linkKey(found string) string {
	found = visible.Text(found)
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

package guardrail

import (
	"regexp"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// A link as people and phones recognise one: with a scheme, with www, or a bare host
// name with a path or one of the endings that no sentence runs into by mistake.
var link = regexp.MustCompile(`(?i)(?:https?://|www\.)[^\s<>"“”«»]+` +
	`|[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*\.[a-z]{2,24}/[^\s<>"“”«»]*` +
	`|[a-z0-9][a-z0-9-]*(?:\.[a-z0-9-]+)*\.(?:com|net|org|info|biz|io|app|dev|shop|store|online|site|xyz|link|page|ly|gle|me)\b`)

// What a removed link leaves behind: the brackets of a markdown link, and space.
var (
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

func withoutLinks(text string, allowed map[string]bool) string {
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
	text = emptyTarget.ReplaceAllString(b.String(), "$1")
	text = spaceAtEnd.ReplaceAllString(spaces.ReplaceAllString(text, " "), "$1")
	text = strings.TrimSpace(text)
	if strings.Trim(text, ".,:;!()[]-–—… \n") == "" {
		return ""
	}
	return text
}

// findLinks returns where the links of a text are, without the punctuation of the
// sentence round them. A host after an @ belongs to an e-mail address.
func findLinks(text string) [][2]int {
	if !strings.Contains(text, ".") && !strings.Contains(text, "://") {
		return nil
	}
	var out [][2]int
	for _, at := range link.FindAllStringIndex(text, -1) {
		if at[0] > 0 && (text[at[0]-1] == '@' || text[at[0]-1] == '.') {
			continue
		}
		found := strings.TrimRight(text[at[0]:at[1]], ".,:;!?'*_…")
		if !strings.Contains(found, "(") {
			found, _, _ = strings.Cut(found, ")")
		}
		if rest := text[at[0]+len(found):]; strings.HasPrefix(rest, "@") {
			continue
		}
		out = append(out, [2]int{at[0], at[0] + len(found)})
	}
	return out
}

// linkKey is what two spellings of one address share: no scheme, no leading www, the
// host in lower case, no slash at the end.
func linkKey(found string) string {
	if _, rest, ok := strings.Cut(found, "://"); ok {
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

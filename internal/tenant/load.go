package tenant

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/tenant/document"
	"github.com/manychat-agent/manychat-agent/internal/tenant/keyword"
)

// Options is what a tenant's files are checked against besides themselves.
type Options struct {
	ID string // the tenant's id, kept in the result

	// What delivery uses in the tenant's ManyChat account: no tool may name it.
	// Empty when it is not configured, and then not checked.
	ReplyField, TokenField, ReplyFlowNs string

	// NoWebhookSecret says that HANDOFF_WEBHOOK_SECRET is not set: then no notice can be
	// signed, and rules.json may name no address for one.
	NoWebhookSecret bool

	// MaxTextUnits is the channel's longest text in UTF-16 code units, which every
	// text the service itself sends is measured against. 0 measures nothing: a longer
	// text is split when it goes out, so only `config check` need refuse it.
	MaxTextUnits int
}

// Problems are all that is wrong with a tenant's files, in the order of the files
// and of their lines.
type Problems = document.Problems

// Load reads the tenant's files from a folder. Its error is a [Problems] that lists
// everything wrong with every file, a file that cannot be read included.
func Load(folder fs.FS, o Options) (*Tenant, error) {
	l := &loader{folder: folder, options: o, hash: sha256.New()}
	t := &Tenant{ID: o.ID, Prompt: l.prompt()}
	catalog := l.decode(CatalogFile, &t.Catalog)
	rules := l.decode(RulesFile, &t.Rules)
	tools := l.tools(t)

	l.checkCatalog(catalog, &t.Catalog)
	l.checkRules(rules, t)
	if t.Tools != nil {
		l.checkTools(tools, t)
	}
	if len(l.problems) > 0 {
		return nil, l.problems.Sort()
	}
	t.Keywords = compile(&t.Rules)
	t.withoutEffect = withoutEffect(rules)
	t.Hash = hex.EncodeToString(l.hash.Sum(nil))
	return t, nil
}

func compile(r *Rules) Keywords {
	k := Keywords{
		Escalation: keyword.NewSet(r.EscalationKeywords),
		OptOut:     keyword.NewSet(r.OptOutKeywords),
		OptIn:      keyword.NewSet(r.OptInKeywords),
	}
	if r.OpeningTrigger != nil {
		k.Opening = keyword.NewSet(r.OpeningTrigger.Keywords)
	}
	return k
}

// loader collects what is wrong while the files are read.
type loader struct {
	folder   fs.FS
	options  Options
	hash     hash.Hash
	problems Problems
}

// prompt reads the persona, which is any text that is not empty.
func (l *loader) prompt() string {
	text, err := l.read(PromptFile)
	switch {
	case err != nil:
		l.unreadable(PromptFile, err)
	case !utf8.Valid(text):
		l.problems = append(l.problems, document.Problem{File: PromptFile, Found: "bytes that are not UTF-8", Expected: "the persona as UTF-8 text"})
	case strings.TrimSpace(string(text)) == "":
		l.problems = append(l.problems, document.Problem{File: PromptFile, Found: "an empty file", Expected: "the persona: who the agent is, its tone and its language"})
	}
	return strings.TrimPrefix(string(text), "\ufeff")
}

// tools reads tools.json, which may be absent.
func (l *loader) tools(t *Tenant) *document.Document {
	if !exists(l.folder, ToolsFile) {
		return nil
	}
	tools := new(Tools)
	doc := l.decode(ToolsFile, tools)
	if doc != nil {
		t.Tools = tools
	}
	return doc
}

// decode reads a JSON file. It returns nil when there is nothing to check further.
func (l *loader) decode(name string, into any) *document.Document {
	text, err := l.read(name)
	if err != nil {
		l.unreadable(name, err)
		return nil
	}
	doc, problem := document.Parse(name, text)
	if problem != nil {
		l.problems = append(l.problems, *problem)
		return nil
	}
	l.problems = append(l.problems, doc.Decode(into)...)
	return doc
}

// read returns a file's content and adds it to the hash, framed by name and length.
func (l *loader) read(name string) ([]byte, error) {
	text, err := fs.ReadFile(l.folder, name)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(l.hash, "%s %d\n", name, len(text))
	l.hash.Write(text)
	return text, nil
}

func (l *loader) unreadable(name string, err error) {
	p := document.Problem{File: name, Found: "a file that cannot be read (" + reason(err) + ")", Expected: "a readable file"}
	if errors.Is(err, fs.ErrNotExist) {
		p.Found, p.Expected, p.Hint = "no file", "one of this name in the configuration folder", "copy "+name+".example and edit it, or set CONFIG_DIR"
		for _, m := range MisnamedFiles(l.folder) {
			if m.Meant == name {
				p.Hint = m.String()
			}
		}
	}
	l.problems = append(l.problems, p)
}

// reason leaves the path out, which the problem's File already says.
func reason(err error) string {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

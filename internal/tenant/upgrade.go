package tenant

import (
	"fmt"

	"github.com/manychat-agent/manychat-agent/internal/tenant/document"
)

// A Rename is a key that [Upgrade] gave its new name.
type Rename = document.Rename

// Upgrade rewrites the keys of a file that docs/spec/10-config.md renames and returns
// the new text and which they were, in the order of the file; comments and layout stay. The name is one of
// the JSON files; the error is a [Problems] when the text is not JSON.
func Upgrade(name string, text []byte) (upgraded []byte, renamed []Rename, err error) {
	var into any
	switch name {
	case CatalogFile:
		into = new(Catalog)
	case RulesFile:
		into = new(Rules)
	case ToolsFile:
		into = new(Tools)
	default:
		return nil, nil, fmt.Errorf("upgrade %s: not a JSON file of a tenant; expected %s, %s or %s", name, CatalogFile, RulesFile, ToolsFile)
	}
	doc, problem := document.Parse(name, text)
	if problem != nil {
		return nil, nil, Problems{*problem}
	}
	upgraded, renamed = doc.Upgrade(into)
	return upgraded, renamed, nil
}

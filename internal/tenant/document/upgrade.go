package document

import (
	"slices"
	"strconv"

	"github.com/tailscale/hujson"
)

// rename is an old key, quotes included, by its bytes in the file.
type rename struct {
	start, end int
	key        string // the new key
}

// renamed reports an old key and notes how to rewrite it.
func (d *decoder) renamed(name *hujson.Value, at *pointer, key string) {
	d.report(name, at, Problem{
		Found:    "the old key " + strconv.Quote(unquote(name.Value.(hujson.Literal))),
		Expected: strconv.Quote(key),
		Hint:     "`config upgrade` rewrites it",
	})
	d.renames = append(d.renames, rename{name.StartOffset, name.EndOffset, key})
}

// Upgrade returns the file with every old key, as the `was` tags of the type of into
// name them, replaced by its new one, and how many there were. Comments, order and
// layout stay. What into points to is filled as by [Document.Decode].
func (d *Document) Upgrade(into any) (text []byte, renamed int) {
	renames := d.decode(into).renames
	slices.SortFunc(renames, func(a, b rename) int { return a.start - b.start })
	from := 0
	for _, r := range renames {
		text = append(text, d.text[from:r.start]...)
		text = strconv.AppendQuote(text, r.key)
		from = r.end
	}
	return append(text, d.text[from:]...), len(renames)
}

package document

import (
	"slices"
	"strconv"

	"github.com/tailscale/hujson"
)

// A Rename is an old key that was given its new name.
type Rename struct {
	Line int    // from 1
	From string // JSON Pointer, with the old key
	To   string // the new key
}

// rename is an old key, quotes included, by its bytes in the file.
type rename struct {
	start, end int
	Rename
}

// renamed reports an old key and notes how to rewrite it.
func (d *decoder) renamed(name *hujson.Value, at *pointer, key string) {
	d.report(name, at, Problem{
		Found:    "the old key " + strconv.Quote(unquote(name.Value.(hujson.Literal))),
		Expected: strconv.Quote(key),
		Hint:     "`config upgrade` rewrites it",
	})
	line := d.doc.places.line(name.StartOffset)
	d.renames = append(d.renames, rename{name.StartOffset, name.EndOffset, Rename{line, at.String(), key}})
}

// Upgrade returns the file with every old key, as the `was` tags of the type of into
// name them, replaced by its new one, and which they were. Comments, order and layout
// stay. What into points to is filled as by [Document.Decode].
func (d *Document) Upgrade(into any) (text []byte, renamed []Rename) {
	renames := d.decode(into).renames
	slices.SortFunc(renames, func(a, b rename) int { return a.start - b.start })
	from := 0
	for _, r := range renames {
		text = append(text, d.text[from:r.start]...)
		text = strconv.AppendQuote(text, r.To)
		from = r.end
		renamed = append(renamed, r.Rename)
	}
	return append(text, d.text[from:]...), renamed
}

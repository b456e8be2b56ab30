// Package style turns the Markdown that models write into what a channel shows:
// WhatsApp's own marks there, plain text elsewhere.
//
// It is a scanner of its own and not a CommonMark library. CommonMark says how a
// document becomes HTML, and takes plain text apart on the way: it joins lines, eats the
// spaces of a price list, and reads 2*3*4 as emphasis. A chat message is mostly plain
// text, so here the burden of proof is on the markup: what is not clearly Markdown goes
// out as it was written, byte for byte, and no URL is ever altered. What is left is
// small: one pass over the lines, and one over the characters of each paragraph with a
// stack of open marks. Both take time in proportion to the text.
//
// # Lines
//
// Headings lose their signs and underlines, rules and the separator rows of tables
// disappear, and the cells of a row are joined by " | ". A bullet * becomes "- "; -, •
// and numbers stay, and so does +, which may mean plus. Boxes to tick become ☐ and ☑.
// Fences disappear and what is between them is untouched, unless the fence says that it
// is Markdown. A quote keeps its "> " on WhatsApp, which shows quotes, and loses it
// elsewhere.
//
// # Marks
//
// Bold and italic text become *bold* and _italic_ on WhatsApp and plain text elsewhere.
// Struck text becomes ~struck~ everywhere: without a mark, an old price would stand beside
// the new one as if it held. A single pair of asterisks is WhatsApp's own bold and stays bold
// there, unless the message also has ** or __: then it is Markdown, where it means
// italic. WhatsApp shows a mark beside a letter, a digit or a link as the character it
// is, so such a pair is dropped instead, and marks are closed and opened again at the
// end of a line. A mark without its other half stays.
//
// # Links
//
// A link becomes "label: url", or the URL alone where the label says nothing else. A
// reference is replaced by its definition the first time; a definition that nothing
// refers to stays. E-mail addresses and numbers lose their mailto: and tel:, which no
// phone needs.
//
// HTML that stands for any of this is read too, and so are escapes and entities; a tag that
// is not known stays.
//
// Rendering twice is not rendering once: what an escape, an entity or code protected the
// first time is Markdown the second time.
package style

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/delivery/style/inline"
)

// Render returns the text as the channel shows it best; bold says that it renders
// WhatsApp's marks (manychat.Capabilities.Bold). A text without Markdown comes back as
// it is. The result is valid UTF-8, and empty when the text was nothing but rules.
// (docs/spec/02-inbound.md, "Response: Dynamic Block v2".)
func Render(text string, bold bool) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if !marked(text) {
		return text
	}
	p := page{src: text, w: inline.NewWriter(text, bold), quotes: bold, lone: loneFootnote(text)}
	p.render()
	if p.w.Unused() {
		p = page{src: text, w: p.w, quotes: bold, lone: p.lone}
		p.render()
	}
	if string(p.w.Out) == text {
		return text
	}
	return string(p.w.Out)
}

// marked reports whether a text has a character that may be Markdown.
func marked(text string) bool {
	return strings.ContainsAny(text, "*_~`[<&\\|#>=") || strings.Contains(text, "--") || strings.Contains(text, "- -")
}

// page is one message on its way through the lines.
type page struct {
	src    string
	w      *inline.Writer
	quotes bool // the channel shows quotes

	eol     string // what joins the next line to the lines before it
	started bool   // a line was written
	blank   bool   // the last line written was empty
	trim    bool   // a line disappeared: blank lines that stood around it go too
	quoted  bool   // the line before was a quote
	lone    bool   // the only "* " line is a footnote
	fenced  bool   // within a fence
	fences  [2]int // no fence of so many ` or ~ closes any more; 0: not known
}

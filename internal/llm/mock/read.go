package mock

import (
	"regexp"
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// The parts of a prompt that the desk reads. The tests hold them equal to what the
// prompt package writes.
const (
	personaHeading = "## PERSONA"
	catalogHeading = "## CATALOG"
	fenceOpen      = "<<<CONTACT_MESSAGE>>>"
	fenceClose     = "<<<END_CONTACT_MESSAGE>>>"
	offeringNotice = "OFFERING: "
	nameNotice     = "FIRST NAME"
)

// desk is what the static part of a prompt tells.
type desk struct {
	system    string // the text it was read from
	heading   string // the prompt's first heading
	business  string
	currency  string
	offerings []offering
	faq       []faq
	payments  []payment
	closing   string // the persona's closing question; empty: none
}

type offering struct {
	id, name, price, duration, schedule, link, description string

	nameWords, allWords, timeWords []string

	ownWords []string // of its name, without those of the business's name
}

type faq struct {
	question, answer string

	questionWords, allWords []string
}

type payment struct {
	description string
	words       []string
}

func readDesk(system string) *desk {
	d := &desk{system: system}
	d.heading, _, _ = strings.Cut(system, "\n")
	persona, catalog := sections(system)
	d.closing = closingQuestion(persona)
	blocks := strings.Split("\n"+catalog, "\n### ")
	top := fields(blocks[0])
	d.business, d.currency = top["Business"], top["Currency"]
	for _, block := range blocks[1:] {
		title, body, _ := strings.Cut(block, "\n")
		d.add(title, fields(body))
	}
	common := words(d.business)
	for i := range d.offerings {
		o := &d.offerings[i]
		o.ownWords = slices.DeleteFunc(slices.Clone(o.nameWords), func(w string) bool { return slices.Contains(common, w) })
	}
	return d
}

// add takes one block of the catalog: an offering, a question or a payment option.
func (d *desk) add(title string, f map[string]string) {
	kind, id, _ := strings.Cut(title, " ")
	switch kind {
	case "OFFERING":
		o := offering{id: id, name: f["Name"], price: f["Price"], duration: f["Duration"],
			schedule: f["Schedule"], link: f["Link"], description: f["Description"]}
		o.nameWords = words(o.name)
		o.allWords = words(o.name + " " + o.description + " " + id)
		o.timeWords = words(o.schedule)
		d.offerings = append(d.offerings, o)
	case "FAQ":
		q := faq{question: f["Question"], answer: f["Answer"]}
		q.questionWords = words(q.question)
		q.allWords = words(q.question + " " + q.answer)
		d.faq = append(d.faq, q)
	case "PAYMENT":
		d.payments = append(d.payments, payment{f["Description"], words(id + " " + f["Description"])})
	}
}

// sections cuts out the persona and the catalog. The last catalog heading counts:
// what a tenant wrote above it cannot stand in for it.
func sections(system string) (persona, catalog string) {
	above := system
	if i := strings.LastIndex(system, "\n"+catalogHeading+"\n"); i >= 0 {
		above = system[:i]
		catalog, _, _ = strings.Cut(system[i+len(catalogHeading)+2:], "\n## ")
	}
	_, persona, _ = strings.Cut(above, "\n"+personaHeading+"\n")
	return persona, catalog
}

// fields reads "Key: value" lines; an indented line goes on the value above it.
func fields(block string) map[string]string {
	out := map[string]string{}
	var last string
	for line := range strings.SplitSeq(block, "\n") {
		if more, indented := strings.CutPrefix(line, "  "); indented && last != "" {
			out[last] += "\n" + more
			continue
		}
		key, value, found := strings.Cut(line, ": ")
		if last = key; found {
			out[key] = value
		} else {
			last = ""
		}
	}
	return out
}

// A persona gives a closing question in quotation marks or after a colon, at the end
// of a line. Greek asks with a semicolon.
var closingForm = regexp.MustCompile(`(?:["“«„]|: *)([^"“”«»„:]*(?:[?؟？]|\p{Greek};))["”»“]?$`)

func closingQuestion(persona string) string {
	for line := range strings.SplitSeq(persona, "\n") {
		if m := closingForm.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			return strings.TrimSpace(m[1])
		}
	}
	return ""
}

// conversation is what the messages of a request tell.
type conversation struct {
	message  string      // the last fenced text
	earlier  []utterance // what was said before it, newest first
	offering string      // id in the server's notice; empty: none
}

// utterance is a text of the history.
type utterance struct {
	text    string
	byAgent bool
}

// lastAnswer is what the agent said last; empty: nothing.
func (c conversation) lastAnswer() string {
	for _, u := range c.earlier {
		if u.byAgent {
			return u.text
		}
	}
	return ""
}

func readConversation(messages []llm.Message) conversation {
	if len(messages) == 0 {
		return conversation{}
	}
	before, message := lastFenced(messages[len(messages)-1].Text)
	contacts, notices := earlierFenced(before)
	c := conversation{message: message, earlier: contacts, offering: notice(notices, offeringNotice)}
	for _, msg := range slices.Backward(messages[:len(messages)-1]) {
		switch msg.Role {
		case llm.User:
			fenced, _ := earlierFenced(msg.Text)
			c.earlier = append(c.earlier, fenced...)
		case llm.Assistant:
			c.earlier = append(c.earlier, utterance{msg.Text, true})
		}
	}
	return c
}

// lastFenced is the text of the last fence, and what stands before it.
func lastFenced(text string) (before, inside string) {
	i := strings.LastIndex(text, fenceOpen)
	if i < 0 {
		return "", text
	}
	inside, _, _ = strings.Cut(text[i+len(fenceOpen):], fenceClose)
	return text[:i], strings.TrimSpace(inside)
}

// notice is the rest of the last line that begins with name.
func notice(text, name string) string {
	i := strings.LastIndex("\n"+text, "\n"+name)
	if i < 0 {
		return ""
	}
	line, _, _ := strings.Cut(text[i+len(name):], "\n")
	return strings.TrimSpace(line)
}

// earlierFenced are the fenced texts of a message, newest first, and what the server
// wrote outside of them. A fence behind the notice of a name holds no text.
func earlierFenced(text string) (fenced []utterance, rest string) {
	parts := strings.Split(text, fenceOpen)
	outside := []string{parts[0]}
	for _, part := range parts[1:] {
		before := strings.TrimSpace(outside[len(outside)-1])
		inside, after, _ := strings.Cut(part, fenceClose)
		if !strings.HasPrefix(before[strings.LastIndex(before, "\n")+1:], nameNotice) {
			fenced = append(fenced, utterance{text: strings.TrimSpace(inside)})
		}
		outside = append(outside, after)
	}
	slices.Reverse(fenced)
	return fenced, strings.Join(outside, "\n")
}

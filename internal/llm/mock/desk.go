package mock

import (
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm/mock/fold"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/read"
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
	persona, catalog := read.Sections(system)
	d.closing = read.ClosingQuestion(persona)
	blocks := strings.Split("\n"+catalog, "\n### ")
	top := read.Fields(blocks[0])
	d.business, d.currency = top["Business"], top["Currency"]
	for _, block := range blocks[1:] {
		title, body, _ := strings.Cut(block, "\n")
		d.add(title, read.Fields(body))
	}
	common := fold.Words(d.business)
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
		o.nameWords = fold.Words(o.name)
		o.allWords = fold.Words(o.name + " " + o.description + " " + id)
		o.timeWords = fold.Words(o.schedule)
		d.offerings = append(d.offerings, o)
	case "FAQ":
		q := faq{question: f["Question"], answer: f["Answer"]}
		q.questionWords = fold.Words(q.question)
		q.allWords = fold.Words(q.question + " " + q.answer)
		d.faq = append(d.faq, q)
	case "PAYMENT":
		d.payments = append(d.payments, payment{f["Description"], fold.Words(id + " " + f["Description"])})
	}
}

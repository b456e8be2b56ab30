package mock

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm/mock/catalog"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/read"
)

// desk is what the static part of a prompt tells.
type desk struct {
	system    string // the text it was read from
	heading   string // the prompt's first heading
	business  string
	currency  string
	offerings []catalog.Offering
	faq       []catalog.Question
	payments  []catalog.Payment
	closing   string // the persona's closing question; empty: none

	sale read.SaleFields
	says map[string]string // the persona's sentences, by their occasions in a sale
}

func readDesk(system string) *desk {
	d := &desk{system: system}
	d.heading, _, _ = strings.Cut(system, "\n")
	persona, catalog := read.Sections(system)
	d.closing = read.ClosingQuestion(persona)
	if d.sale = read.SaleOf(system); d.sale.Intent != "" {
		d.says = read.Occasions(persona)
	}
	blocks := strings.Split("\n"+catalog, "\n### ")
	top := read.Fields(blocks[0])
	d.business, d.currency = top["Business"], top["Currency"]
	for _, block := range blocks[1:] {
		title, body, _ := strings.Cut(block, "\n")
		d.add(title, read.Fields(body))
	}
	for i := range d.offerings {
		d.offerings[i].Of(d.business)
	}
	return d
}

// add takes one block of the catalog: an offering, a question or a payment option.
func (d *desk) add(title string, f map[string]string) {
	kind, id, _ := strings.Cut(title, " ")
	switch kind {
	case "OFFERING":
		d.offerings = append(d.offerings, catalog.OfferingOf(id, f))
	case "FAQ":
		d.faq = append(d.faq, catalog.QuestionOf(f))
	case "PAYMENT":
		d.payments = append(d.payments, catalog.PaymentOf(id, f))
	}
}

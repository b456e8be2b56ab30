package prompt

import (
	"strconv"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// catalog renders what the agent may state, one fact a line. A fact of several lines
// goes on in indented ones, so that no text of the catalog can pass for a heading.
func catalog(c *tenant.Catalog) string {
	var b strings.Builder
	fact(&b, "Business", c.BusinessName)
	fact(&b, "Currency", string(c.Currency))
	for _, o := range c.Offerings {
		offering(&b, o)
	}
	for i, q := range c.FAQ {
		b.WriteString("\n### FAQ " + strconv.Itoa(i+1) + "\n")
		fact(&b, "Question", q.Question)
		fact(&b, "Answer", q.Answer)
	}
	for _, p := range c.PaymentOptions {
		b.WriteString("\n### PAYMENT " + p.ID + "\n")
		fact(&b, "Description", p.Description)
	}
	return b.String()
}

func offering(b *strings.Builder, o tenant.Offering) {
	b.WriteString("\n### OFFERING " + o.ID + "\n")
	fact(b, "Name", o.Name)
	fact(b, "Price", price(o.Price))
	if o.DurationHours > 0 {
		fact(b, "Duration", strconv.FormatFloat(o.DurationHours, 'f', -1, 64)+" h")
	}
	fact(b, "Schedule", o.Schedule)
	fact(b, "Link", o.URL)
	fact(b, "Description", o.Description)
}

// fact writes one line, or nothing for a fact that the catalog leaves out.
func fact(b *strings.Builder, name, value string) {
	if value = strings.TrimSpace(value); value == "" {
		return
	}
	value = strings.ReplaceAll(value, "\r\n", "\n")
	b.WriteString(name + ": " + strings.ReplaceAll(value, "\n", "\n  ") + "\n")
}

// price is an amount as people write it: without minor units when they are zero.
func price(m tenant.Money) string {
	amount := m.Decimal()
	if whole, minor, found := strings.Cut(amount, "."); found && strings.Trim(minor, "0") == "" {
		amount = whole
	}
	return amount + " " + string(m.Currency)
}

package prompt

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// catalog renders what the agent may state, one fact a line. A fact of several lines
// goes on in indented ones, so that no text of the catalog can pass for a heading.
func catalog(t *tenant.Tenant) string {
	var b strings.Builder
	c := &t.Catalog
	fact(&b, "Business", c.BusinessName)
	fact(&b, "Currency", string(c.Currency))
	fact(&b, "People answer", weekly(&t.Rules))
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
	b.WriteString(name + ": " + strings.ReplaceAll(unixLines(value), "\n", "\n  ") + "\n")
}

// unixLines writes every end of a line that Unicode knows as \n.
func unixLines(text string) string {
	if !strings.ContainsAny(text, "\r\v\f\u0085\u2028\u2029") {
		return text
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
}

// weekly are the hours of a week in the order of the file, and their zone; empty: there
// are none.
func weekly(r *tenant.Rules) string {
	h := r.BusinessHours
	if h == nil {
		return ""
	}
	entries := make([]string, len(h.Weekly))
	for i, w := range h.Weekly {
		days := make([]string, len(w.Days))
		for j, d := range w.Days {
			days[j] = string(d)
		}
		entries[i] = fmt.Sprintf("%s %s-%s", strings.Join(days, ", "), w.From, w.To)
	}
	return strings.Join(entries, "; ") + " (" + cmp.Or(h.Timezone, r.Timezone) + ")"
}

// price is an amount as people write it: without minor units when they are zero.
func price(m tenant.Money) string {
	amount := m.Decimal()
	if whole, minor, found := strings.Cut(amount, "."); found && strings.Trim(minor, "0") == "" {
		amount = whole
	}
	return amount + " " + string(m.Currency)
}

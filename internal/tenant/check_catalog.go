package tenant

import "github.com/manychat-agent/manychat-agent/internal/tenant/document"

// checkCatalog checks what the types of catalog.json do not say.
func (l *loader) checkCatalog(doc *document.Document, c *Catalog) {
	if doc == nil {
		return
	}
	check := check{doc, &l.problems}
	check.currency(c.Currency, "currency")
	for i, o := range c.Offerings {
		check.currency(o.Price.Currency, "offerings", i, "price", "currency")
	}
	check.distinct(names("offerings", c.Offerings, "id", func(o Offering) string { return o.ID }), "an id of its own for each offering")
	check.distinct(names("paymentOptions", c.PaymentOptions, "id", func(p PaymentOption) string { return p.ID }), "an id of its own for each payment option")
}

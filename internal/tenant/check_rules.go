package tenant

import (
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones must load on a machine and in an image that has none

	"github.com/manychat-agent/manychat-agent/internal/tenant/document"
)

// checkRules checks what the types of rules.json do not say, and what they say about
// the other files.
func (l *loader) checkRules(doc *document.Document, t *Tenant) {
	if doc == nil {
		return
	}
	c, r := check{doc, &l.problems}, &t.Rules
	t.Zone = c.zone("/timezone", r.Timezone)
	c.keywords("/escalationKeywords", r.EscalationKeywords)
	c.keywords("/optOutKeywords", r.OptOutKeywords)
	c.keywords("/optInKeywords", r.OptInKeywords, r.OptOutKeywords...)
	l.checkMessages(c, r)
	c.hours(r.BusinessHours, t.Zone)
	c.models(r.Budget.Prices)
	if r.Audience.Mode == AudienceOnly && len(r.Audience.Subscribers) == 0 {
		c.report("/audience", `the mode "only" without subscribers`, "at least one subscriber", "with none, nobody is answered")
	}
	if r.Handoff != nil {
		c.handoff(r.Handoff, t.Tools, l.options)
	}
	if r.Learning != nil && (t.Tools == nil || t.Tools.FunnelField() == nil) && !l.reported(ToolsFile) {
		c.report("/learning", "learning without a funnel", "a field of tools.json with \"funnel\": true", "")
	}
}

// checkMessages measures the texts that reach a contact.
func (l *loader) checkMessages(c check, r *Rules) {
	limit := l.options.MaxTextUnits
	c.message("/messages/acknowledgement", r.Messages.Acknowledgement, limit)
	c.message("/messages/escalation", r.Messages.Escalation, limit)
	c.message("/messages/mediaFallback", r.Messages.MediaFallback, limit)
	c.message("/messages/closer", r.Messages.Closer, limit)
	c.message("/messages/optOut", r.Messages.OptOut, limit)
	if o := r.OpeningTrigger; o != nil {
		c.keywords("/openingTrigger/keywords", o.Keywords)
		c.message("/openingTrigger/message", o.Message, limit)
	}
	if h := r.BusinessHours; h != nil {
		c.message("/businessHours/outsideMessage", h.OutsideMessage, limit)
	}
}

func (c check) hours(h *BusinessHours, zone *time.Location) {
	if h == nil {
		return
	}
	if h.zone = zone; h.Timezone != "" {
		h.zone = c.zone("/businessHours/timezone", h.Timezone)
	}
	for i, w := range h.Weekly {
		valid := len(w.From) == len("00:00") && len(w.To) == len("00:00") && w.To <= "24:00"
		if valid && w.From >= w.To {
			c.report(at("businessHours", "weekly", i, "to"), strconv.Quote(string(w.To)), "a time later than "+string(w.From), "hours past midnight are two entries")
		}
	}
}

// models checks the names that prices are given for.
func (c check) models(prices map[string]ModelPrice) {
	for name := range prices {
		if provider, model, _ := strings.Cut(name, ":"); provider == "" || model == "" {
			escaped := strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
			c.report("/budget/prices/"+escaped, strconv.Quote(name), "a model as provider:model", "")
		}
	}
}

// reported tells whether a file has problems already, which others may follow from.
func (l *loader) reported(file string) bool {
	return slices.ContainsFunc(l.problems, func(p document.Problem) bool { return p.File == file })
}

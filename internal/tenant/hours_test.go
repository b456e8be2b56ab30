package tenant_test

import (
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Holds docs/spec/10-config.md, "rules.json": business hours have a time zone, by
// default that of the rules.
func TestBusinessHoursOpen(t *testing.T) {
	const weekly = `"weekly":[{"days":["mon","tue"],"from":"09:00","to":"18:00"},{"days":["tue"],"from":"20:00","to":"24:00"}]`
	tests := []struct {
		name, rules, instant string
		want                 bool
	}{
		{"first minute", `"businessHours":{` + weekly + `}`, "2026-03-02T09:00:00Z", true},
		{"a second before", `"businessHours":{` + weekly + `}`, "2026-03-02T08:59:59Z", false},
		{"the minute they end", `"businessHours":{` + weekly + `}`, "2026-03-02T18:00:00Z", false},
		{"second entry of a day", `"businessHours":{` + weekly + `}`, "2026-03-03T23:59:59Z", true},
		{"another day", `"businessHours":{` + weekly + `}`, "2026-03-04T12:00:00Z", false},
		{"zone of the rules", `"timezone":"Asia/Tokyo","businessHours":{` + weekly + `}`, "2026-03-02T00:00:00Z", true},
		{"zone of its own", `"timezone":"Asia/Tokyo","businessHours":{"timezone":"UTC",` + weekly + `}`, "2026-03-02T00:00:00Z", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			loaded, err := tenant.Load(folder(map[string]string{"rules.json": with(tt.rules)}), tenant.Options{})
			if err != nil {
				t.Fatal(err)
			}
			instant, err := time.Parse(time.RFC3339, tt.instant)
			if err != nil {
				t.Fatal(err)
			}
			if got := loaded.Rules.BusinessHours.Open(instant); got != tt.want {
				t.Errorf("Open(%s) = %v, want %v", tt.instant, got, tt.want)
			}
		})
	}
}

// Holds docs/spec/10-config.md, "rules.json": audience.
func TestAudienceIncludes(t *testing.T) {
	listed := []contact.SubscriberID{"111"}
	tests := []struct {
		audience tenant.Audience
		id       contact.SubscriberID
		want     bool
	}{
		{tenant.Audience{}, "222", true},
		{tenant.Audience{Mode: tenant.AudienceAll, Subscribers: listed}, "222", true},
		{tenant.Audience{Mode: tenant.AudienceOnly, Subscribers: listed}, "111", true},
		{tenant.Audience{Mode: tenant.AudienceOnly, Subscribers: listed}, "222", false},
		{tenant.Audience{Mode: tenant.AudienceExcept, Subscribers: listed}, "111", false},
		{tenant.Audience{Mode: tenant.AudienceExcept, Subscribers: listed}, "222", true},
	}
	for _, tt := range tests {
		if got := tt.audience.Includes(tt.id); got != tt.want {
			t.Errorf("%s %s = %v, want %v", tt.audience.Mode, tt.id, got, tt.want)
		}
	}
}

// Holds docs/spec/08-sales.md, "Markers": the sale finds what is marked.
func TestToolsMarks(t *testing.T) {
	loaded, err := tenant.Load(folder(map[string]string{"tools.json": `{"fields":[` + intent + `,` + funnel + `],
		"flows":[{"id":"p","flowNs":"1","description":"d","role":"payment_link","settleSeconds":1.5},{"id":"x","flowNs":"3","description":"d","onStage":"offered"}],
		"events":[{"id":"e","stage":"link_sent","flowNs":"4"}]}`}), tenant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tools := loaded.Tools
	if f, ok := tools.FlowWithRole(tenant.RolePaymentLink); !ok || f.ID != "p" || f.Settle() != 1500*time.Millisecond {
		t.Errorf("payment link = %+v, %v", f, ok)
	}
	if _, ok := tools.FlowWithRole(tenant.RoleOpening); ok {
		t.Error("an opening was found")
	}
	if f, ok := tools.FlowOnStage(contact.Offered); !ok || f.ID != "x" {
		t.Errorf("flow on offered = %v, %v", f.ID, ok)
	}
	if e, ok := tools.EventAt(contact.LinkSent); !ok || e.ID != "e" {
		t.Errorf("event at link_sent = %v, %v", e.ID, ok)
	}
	if _, ok := tools.EventAt(contact.Offered); ok {
		t.Error("an event at offered was found")
	}
	if tools.OfferingField() != nil {
		t.Error("an offering field was found")
	}
}

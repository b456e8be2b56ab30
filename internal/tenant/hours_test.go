package tenant_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

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

// hoursOf loads business hours as rules.json writes them.
func hoursOf(t testing.TB, zone, weekly string) *tenant.BusinessHours {
	t.Helper()
	loaded, err := tenant.Load(folder(map[string]string{"rules.json": with(`"timezone":"` + zone + `","businessHours":{"weekly":[` + weekly + `]}`)}), tenant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return loaded.Rules.BusinessHours
}

// Holds docs/spec/10-config.md, "rules.json": business hours, as the server's notice of
// 04-agent.md, "Prompt", tells when they change.
func TestBusinessHoursChange(t *testing.T) {
	const week = `{"days":["mon","tue"],"from":"09:00","to":"18:00"},{"days":["tue"],"from":"20:00","to":"24:00"},{"days":["wed"],"from":"00:00","to":"02:00"}`
	const nights = `{"days":["sat","sun"],"from":"01:30","to":"04:00"}`
	tests := []struct{ name, zone, weekly, at, want string }{
		{"closed, opens today", "UTC", week, "2026-03-02T08:59:59Z", "2026-03-02T09:00:00Z"},
		{"open, closes today", "UTC", week, "2026-03-02T09:00:00Z", "2026-03-02T18:00:00Z"},
		{"closed at the minute they end", "UTC", week, "2026-03-02T18:00:00Z", "2026-03-03T09:00:00Z"},
		{"open over midnight", "UTC", week, "2026-03-03T21:00:00Z", "2026-03-04T02:00:00Z"},
		{"closed for the rest of the week", "UTC", week, "2026-03-04T02:00:00Z", "2026-03-09T09:00:00Z"},
		{"in the zone of the hours", "Asia/Tokyo", week, "2026-03-01T12:00:00Z", "2026-03-02T09:00:00+09:00"},
		{"a zone of half hours", "Asia/Kathmandu", week, "2026-03-02T00:00:00Z", "2026-03-02T09:00:00+05:45"},
		{"the same hour a week on", "UTC", `{"days":["mon"],"from":"09:00","to":"10:00"}`, "2026-03-02T10:00:00Z", "2026-03-09T09:00:00Z"},
		{"clocks go forward over the opening", "Europe/Lisbon", nights, "2026-03-29T00:00:00Z", "2026-03-29T02:00:00+01:00"},
		{"clocks go back after it", "Europe/Lisbon", nights, "2026-10-25T00:40:00Z", "2026-10-25T01:00:00Z"},
		{"and they open again", "Europe/Lisbon", nights, "2026-10-25T01:00:00Z", "2026-10-25T01:30:00Z"},
		{"always", "UTC", `{"days":["mon","tue","wed","thu","fri","sat","sun"],"from":"00:00","to":"24:00"}`, "2026-03-02T10:00:00Z", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339, tt.at)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if next, ok := hoursOf(t, tt.zone, tt.weekly).Change(at); ok {
				got = next.Format(time.RFC3339)
			}
			if got != tt.want {
				t.Errorf("Change(%s) = %q, want %q", tt.at, got, tt.want)
			}
		})
	}
}

// Holds docs/spec/10-config.md, "rules.json": between an instant and the change after it,
// people answer all the time or not at all, also when clocks are put back or forward.
func TestBusinessHoursChangeIsTheFirst(t *testing.T) {
	days := []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}
	rapid.Check(t, func(t *rapid.T) {
		var weekly []tenant.Hours
		for range rapid.IntRange(1, 3).Draw(t, "entries") {
			from := rapid.IntRange(0, 24*60-1).Draw(t, "from")
			to := rapid.IntRange(from+1, 24*60).Draw(t, "to")
			w := tenant.Hours{From: clock(from), To: clock(to)}
			for _, d := range rapid.SliceOfNDistinct(rapid.SampledFrom(days), 1, 7, rapid.ID[string]).Draw(t, "days") {
				w.Days = append(w.Days, tenant.Weekday(d))
			}
			weekly = append(weekly, w)
		}
		zone := rapid.SampledFrom([]string{"UTC", "Europe/Lisbon", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"}).Draw(t, "zone")
		h := zoned(t, zone, weekly)
		starts := []time.Time{ // days before clocks change somewhere, and one in between
			time.Date(2026, 3, 7, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC), time.Date(2026, 4, 4, 0, 0, 0, 0, time.UTC),
			time.Date(2026, 10, 3, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 24, 0, 0, 0, 0, time.UTC), time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC),
		}
		at := rapid.SampledFrom(starts).Draw(t, "start").Add(time.Duration(rapid.IntRange(0, 3*24*60).Draw(t, "minute")) * time.Minute)
		next, found := h.Change(at)
		for i := range 9 * 24 * 60 {
			minute := at.Add(time.Duration(i) * time.Minute)
			if h.Open(minute) != h.Open(at) {
				if !found || !next.Equal(minute) {
					t.Fatalf("Change(%s) = %s, %v, but Open changes at %s", at, next, found, minute)
				}
				return
			}
		}
		if found {
			t.Fatalf("Change(%s) = %s, but Open does not change", at, next)
		}
	})
}

// clock is a time of day after so many minutes.
func clock(minutes int) tenant.Clock {
	return tenant.Clock(fmt.Sprintf("%02d:%02d", minutes/60, minutes%60))
}

// zoned loads hours in a zone.
func zoned(t *rapid.T, zone string, weekly []tenant.Hours) *tenant.BusinessHours {
	text, err := json.Marshal(map[string]any{"messages": map[string]string{"acknowledgement": "a", "escalation": "e"},
		"timezone": zone, "businessHours": map[string]any{"weekly": weekly}})
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := tenant.Load(folder(map[string]string{"rules.json": string(text)}), tenant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return loaded.Rules.BusinessHours
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

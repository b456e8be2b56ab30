package nudge_test

import (
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
)

// Holds docs/spec/09-nudge.md: what calls a nudge off, and which reason is stored when several
// hold.
func TestCalledOff(t *testing.T) {
	message := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	quiet := nudge.Facts{
		MessageAt: message, PlannedAt: message.Add(10 * time.Second), Now: message.Add(3 * time.Hour),
		HandoffAt: message.Add(-time.Hour), Stage: contact.Prepared, Tag: nudge.TagAbsent,
	}
	everything := nudge.Facts{
		MessageAt: message, PlannedAt: message, Now: message.Add(48 * time.Hour), HandoffAt: message.Add(time.Minute),
		Wrote: true, Paused: true, OptedOut: true, Stage: contact.LinkSent, OverCap: true, Tag: nudge.TagCarried,
	}
	with := func(from nudge.Facts, change func(*nudge.Facts)) nudge.Facts {
		change(&from)
		return from
	}
	tests := []struct {
		name  string
		facts nudge.Facts
		want  nudge.Reason // empty: it goes out
	}{
		{"a contact who went quiet", quiet, ""},
		{"the business has no tag", with(quiet, func(f *nudge.Facts) { f.Tag = nudge.TagUnasked }), ""},
		{"the contact wrote", with(quiet, func(f *nudge.Facts) { f.Wrote = true }), nudge.ContactReplied},
		{"they opted out", with(quiet, func(f *nudge.Facts) { f.OptedOut = true }), nudge.OptedOut},
		{"a person has them", with(quiet, func(f *nudge.Facts) { f.Paused = true }), nudge.Paused},
		{"a handoff since", with(quiet, func(f *nudge.Facts) { f.HandoffAt = f.PlannedAt.Add(time.Microsecond) }), nudge.Escalated},
		{"a handoff before", with(quiet, func(f *nudge.Facts) { f.HandoffAt = f.PlannedAt }), ""},
		{"they have the link to pay", with(quiet, func(f *nudge.Facts) { f.Stage = contact.LinkSent }), nudge.LinkSent},
		{"at the window's end", with(quiet, func(f *nudge.Facts) { f.Now = message.Add(1425 * time.Minute) }), ""},
		{"behind the window's end", with(quiet, func(f *nudge.Facts) { f.Now = message.Add(1425*time.Minute + time.Microsecond) }), nudge.WindowClosing},
		{"a cap is used up", with(quiet, func(f *nudge.Facts) { f.OverCap = true }), nudge.CapReached},
		{"the tag could not be read", with(quiet, func(f *nudge.Facts) { f.Tag = nudge.TagUnread }), nudge.ReadFailed},
		{"they carry the tag", with(quiet, func(f *nudge.Facts) { f.Tag = nudge.TagCarried }), nudge.HumanActive},

		{"everything at once", everything, nudge.ContactReplied},
		{"all but the message", with(everything, func(f *nudge.Facts) { f.Wrote = false }), nudge.OptedOut},
		{"all but what the contact did", with(everything, func(f *nudge.Facts) { f.Wrote, f.OptedOut = false, false }), nudge.Paused},
	}
	seen := map[nudge.Reason]bool{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, off := tt.facts.CalledOff()
			if got != tt.want || off != (tt.want != "") {
				t.Errorf("called off: %q, %v; want %q", got, off, tt.want)
			}
		})
		seen[tt.want] = true
	}
	for _, reason := range nudge.Reasons() {
		if !seen[reason] {
			t.Errorf("nothing is called off for %s", reason)
		}
	}
}

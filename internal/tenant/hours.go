package tenant

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// BusinessHours is when people answer.
type BusinessHours struct {
	Timezone       string  `json:"timezone,omitempty" jsonschema:"minLength=1" jsonschema_description:"IANA time zone of the hours; the rules' timezone when left out."`
	Weekly         []Hours `json:"weekly" jsonschema:"required,minItems=1" jsonschema_description:"The hours of a week."`
	OutsideMessage string  `json:"outsideMessage,omitempty" jsonschema:"minLength=1" jsonschema_description:"Sent outside the hours in place of messages.escalation."`

	zone *time.Location // of Timezone
}

// Hours are the same hours on one or more days of the week.
type Hours struct {
	Days []Weekday `json:"days" jsonschema:"required,minItems=1,uniqueItems=true,enum=mon,enum=tue,enum=wed,enum=thu,enum=fri,enum=sat,enum=sun" jsonschema_description:"Days of the week."`
	From Clock     `json:"from" jsonschema:"required,pattern=^([01][0-9]|2[0-3]):[0-5][0-9]$" expect:"a time from 00:00 to 23:59" jsonschema_description:"First minute, as 09:00."`
	To   Clock     `json:"to" jsonschema:"required,pattern=^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$" expect:"a time from 00:01 to 24:00" jsonschema_description:"The minute they end, later than from; 24:00 is midnight. Hours past midnight are two entries."`
}

// Clock is a time of day, "09:00" to "24:00"; such texts compare as the times do.
type Clock string

// Weekday is a day of the week, "mon" to "sun".
type Weekday string

// weekdays are in the order of [time.Weekday].
var weekdays = [...]Weekday{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// Open reports whether people answer at an instant.
func (h *BusinessHours) Open(at time.Time) bool {
	local := at.In(h.location())
	day, clock := weekdays[local.Weekday()], Clock(local.Format("15:04"))
	return slices.ContainsFunc(h.Weekly, func(w Hours) bool {
		return slices.Contains(w.Days, day) && w.From <= clock && clock < w.To
	})
}

// Change is the first instant after at from which people answer when they do not at it,
// or no longer answer when they do, in the zone of the hours. It is false when they
// always do, or never.
func (h *BusinessHours) Change(at time.Time) (next time.Time, found bool) {
	open := h.Open(at)
	for _, candidate := range h.bounds(at.In(h.location())) {
		if candidate.After(at) && (!found || candidate.Before(next)) && h.Open(candidate) != open {
			next, found = candidate, true
		}
	}
	return next, found
}

// bounds are the instants at which the hours of a week from local on may begin or end,
// in no order. A clock that is put back or forward shifts them, and is one itself.
func (h *BusinessHours) bounds(local time.Time) []time.Time {
	_, offset := local.Zone()
	offsets := []int{offset}
	var all []time.Time
	if _, shift := local.ZoneBounds(); !shift.IsZero() {
		_, then := shift.In(local.Location()).Zone()
		all, offsets = append(all, shift.In(local.Location())), append(offsets, then)
	}
	year, month, day := local.Date()
	const week = 8 // a day of the week comes round within it, whatever the clock does
	for days := range week {
		midnight := time.Date(year, month, day+days, 0, 0, 0, 0, time.UTC)
		for _, w := range h.Weekly {
			if !slices.Contains(w.Days, weekdays[midnight.Weekday()]) {
				continue
			}
			for _, clock := range []Clock{w.From, w.To} {
				for _, offset := range offsets {
					all = append(all, midnight.Add(clock.sinceMidnight()-time.Duration(offset)*time.Second).In(local.Location()))
				}
			}
		}
	}
	return all
}

// location is the zone of the hours; UTC for hours that no [Load] has read.
func (h *BusinessHours) location() *time.Location {
	if h.zone == nil {
		return time.UTC
	}
	return h.zone
}

// sinceMidnight is how long after midnight a clock shows the time; 0 for none of a clock.
func (c Clock) sinceMidnight() time.Duration {
	hours, minutes, _ := strings.Cut(string(c), ":")
	h, _ := strconv.Atoi(hours)
	m, _ := strconv.Atoi(minutes)
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute
}

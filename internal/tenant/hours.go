package tenant

import (
	"slices"
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
	local := at.UTC()
	if h.zone != nil {
		local = at.In(h.zone)
	}
	day, clock := weekdays[local.Weekday()], Clock(local.Format("15:04"))
	return slices.ContainsFunc(h.Weekly, func(w Hours) bool {
		return slices.Contains(w.Days, day) && w.From <= clock && clock < w.To
	})
}

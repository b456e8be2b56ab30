package budget

import "time"

// Day is a UTC date: days since 1 January 1970.
type Day int64

// DayOf is the day of an instant.
func DayOf(t time.Time) Day {
	const seconds = 24 * 60 * 60
	unix := t.Unix()
	day := unix / seconds
	if unix%seconds < 0 {
		day--
	}
	return Day(day)
}

// String is the date as 2006-01-02.
func (d Day) String() string { return time.Unix(int64(d)*24*60*60, 0).UTC().Format(time.DateOnly) }

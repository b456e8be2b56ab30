package redact

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/redact/glyph"
	"github.com/manychat-agent/manychat-agent/internal/redact/ordinary"
)

// judge says what a number is: the marker that replaces it, or nothing when it may stay.
func (f *finder) judge(g groups) string {
	zero := g.startsWithZero()
	switch {
	case g.digits < fewestDigits:
		return ""
	case g.isDialled():
		return phone
	case g.digits < fewestPhone || g.isEveryday() || f.isAmount(g):
		return ""
	case g.digits > mostPhone || g.digits >= fewestLong && !zero && len(g.all) == 1:
		return number
	case g.digits >= fewestLong, zero && (len(g.all) > 1 || g.digits > fewestPhone), g.hasAreaCode():
		return phone
	}
	// One more number may stand in front of it or behind.
	for _, part := range [...]groups{g, g.slice(1, len(g.all)), g.slice(0, len(g.all)-1)} {
		if part.isLocal() {
			return phone
		}
	}
	return ""
}

// isDialled reports whether a plus sign, or tel: and the like, stands before the number.
func (g groups) isDialled() bool {
	before := strings.TrimRight(g.t[:g.all[0].start], " (")
	if strings.HasSuffix(before, "+") && g.digits >= fewestPhone {
		return !g.joinedBy(",")
	}
	before = strings.TrimRight(before, "+")
	name := strings.ToLower(g.t[max(0, len(before)-len("whatsapp:")):len(before)])
	for _, scheme := range [...]string{"tel", "sms", "callto", "phone", "mobile", "whatsapp", "fax"} {
		if strings.HasSuffix(name, scheme+":") || strings.HasSuffix(name, scheme+"=") {
			return g.digits >= fewestDigits
		}
	}
	return false
}

// startsWithZero reports whether the number begins as one that is dialled within a
// country or out of it; 0.5 does not.
func (g groups) startsWithZero() bool { return g.size(0) > 1 && g.text(0)[0] == '0' }

// hasAreaCode reports whether a group of the number is bracketed, and no year.
func (g groups) hasAreaCode() bool {
	for i, one := range g.all {
		if one.start > 0 && g.t[one.start-1] == '(' && strings.HasPrefix(g.t[one.end:], ")") &&
			len(g.all) > 1 && g.size(i) >= 2 && g.size(i) <= 5 && !ordinary.IsYear(g.text(i)) {
			return true
		}
	}
	return false
}

// localForms are how many digits the groups of numbers have that are dialled within one
// place: 555-1234, 123-45-67, 2345 6789, 20 12 34 56, 912 34 567.
const localForms = " 34 322 44 2222 323 134 35 "

// isLocal reports whether the number is written as one of a single place.
func (g groups) isLocal() bool {
	if len(g.all) < 2 || len(g.all) > 4 || g.startsWithThousand() || len(g.all) == 2 && g.isRange() {
		return false
	}
	form := append(make([]byte, 0, 8), ' ')
	for i := range g.all {
		if g.size(i) > 5 || i > 0 && !glyph.In(" -.", g.all[i].mark) {
			return false
		}
		form = append(form, '0'+byte(g.size(i)))
	}
	return strings.Contains(localForms, string(append(form, ' ')))
}

// isRange reports whether two groups are a fraction, a number beside a year, or two
// numbers that are years or round: 500-1000, 1200-2026.
func (g groups) isRange() bool {
	mark := g.all[1].mark
	plain := func(i int) bool { return ordinary.Value(g.text(i))%50 == 0 || ordinary.IsYear(g.text(i)) }
	return mark == '.' || mark == ' ' && ordinary.IsYear(g.text(1)) || plain(0) && plain(1)
}

// startsWithThousand reports whether the first two groups are one amount, as in 1 200.
func (g groups) startsWithThousand() bool {
	return g.size(0) <= 3 && g.size(1) == 3 && g.all[1].mark != '-' && len(g.all) > 2 && g.size(2) == 3
}

package redact

import (
	"github.com/manychat-agent/manychat-agent/internal/redact/glyph"
	"github.com/manychat-agent/manychat-agent/internal/redact/ordinary"
)

// isEveryday reports whether a number of several groups is one that sentences hold: a
// fraction, amounts with thousands, decimals, years, hours, a short count upwards.
func (g groups) isEveryday() bool {
	if g.startsWithZero() {
		return g.areHours() || g.areClockTimes() || g.isSpacedDate()
	}
	return g.isFraction() || g.isThousands() || g.areThousands() || g.areDecimals() || g.areYears() ||
		g.isCount() || g.areHours()
}

// isFraction reports 0.123456789.
func (g groups) isFraction() bool {
	return len(g.all) == 2 && g.text(0) == "0" && g.all[1].mark == '.'
}

// isThousands reports 1.234.567, 1 234 567 or 1,234,567.89, of at most 8 digits before
// the fraction.
func (g groups) isThousands() bool {
	whole := g.thousands()
	return whole > 0 && whole < fewestLong
}

// thousands is how many digits stand before the fraction of an amount with thousands;
// 0 when the number is none.
func (g groups) thousands() int {
	last := len(g.all)
	if last > 2 && g.size(last-1) <= 2 && g.all[last-1].mark == '.' && g.all[1].mark != '.' {
		last--
	}
	if last < 2 || g.size(0) > 3 || g.text(0)[0] == '0' {
		return 0
	}
	digits := g.size(0)
	for i := 1; i < last; i++ {
		if g.size(i) != 3 || g.all[i].mark != g.all[1].mark || g.all[i].mark == '-' || g.all[i].mark == '/' || g.all[i].mark == '(' {
			return 0
		}
		digits += 3
	}
	return digits
}

// parts cuts the number at spaces, dashes and slashes.
func (g groups) parts(marks string) []groups {
	var parts []groups
	from := 0
	for i := 1; i <= len(g.all); i++ {
		if i == len(g.all) || glyph.In(marks, g.all[i].mark) {
			parts = append(parts, g.slice(from, i))
			from = i
		}
	}
	return parts
}

// each reports whether the number is several, cut at the marks, and every one is so.
func (g groups) each(marks string, so func(groups) bool) bool {
	parts := g.parts(marks)
	for _, part := range parts {
		if !so(part) {
			return false
		}
	}
	return len(parts) > 1
}

// areThousands reports 1.200 - 1.500.
func (g groups) areThousands() bool { return g.each(" -/", groups.isThousands) }

// areDecimals reports 4.5 4.75 5.0.
func (g groups) areDecimals() bool {
	return g.each(" -/", func(p groups) bool {
		return len(p.all) == 2 && p.all[1].mark == '.' && p.size(0) <= 4 && p.size(1) <= 2
	})
}

// areClockTimes reports 08.30-12.30.
func (g groups) areClockTimes() bool {
	return g.each(" -/", func(p groups) bool {
		return len(p.all) == 2 && p.all[1].mark == '.' && ordinary.Between(p.text(0), 0, 24) && p.size(1) == 2 && ordinary.Between(p.text(1), 0, 59)
	})
}

// areYears reports 2024 2025 2026 and 2024-2026.
func (g groups) areYears() bool {
	for i := range g.all {
		if !ordinary.IsYear(g.text(i)) {
			return false
		}
	}
	return true
}

// areHours reports 9-13 15-19.
func (g groups) areHours() bool {
	for i := range g.all {
		want := byte('-')
		if i%2 == 0 {
			want = ' '
		}
		if !ordinary.Between(g.text(i), 0, 24) || i > 0 && g.all[i].mark != want {
			return false
		}
	}
	return len(g.all)%2 == 0
}

// isCount reports 36 38 40 42: at least three numbers a step of at most 10 apart.
func (g groups) isCount() bool {
	if len(g.all) < 3 {
		return false
	}
	step := ordinary.Value(g.text(1)) - ordinary.Value(g.text(0))
	for i := 1; i < len(g.all); i++ {
		if ordinary.Value(g.text(i))-ordinary.Value(g.text(i-1)) != step || g.all[i].mark != g.all[1].mark || g.size(i) > 4 || g.text(i)[0] == '0' {
			return false
		}
	}
	return step > 0 && step <= 10
}

// isSpacedDate reports 02 01 2026.
func (g groups) isSpacedDate() bool {
	return len(g.all) == 3 && ordinary.IsDay(g.text(0)) && ordinary.IsDay(g.text(1)) && ordinary.IsYear(g.text(2)) &&
		(ordinary.IsMonth(g.text(0)) || ordinary.IsMonth(g.text(1))) && g.size(1) == 2
}

// joinedBy reports whether all the marks of the number are among those.
func (g groups) joinedBy(marks string) bool {
	for _, one := range g.all[1:] {
		if !glyph.In(marks, one.mark) {
			return false
		}
	}
	return len(g.all) > 1
}

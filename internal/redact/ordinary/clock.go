package ordinary

import "github.com/manychat-agent/manychat-agent/internal/redact/glyph"

// clock is the end of a time of day at i, 9:30 or 09:30:05.123456789; i where there is
// none.
func clock(t string, i int) int {
	if i > 0 && (glyph.Is(t[i-1], glyph.Digit) || t[i-1] == ':') {
		return i
	}
	hour := glyph.Run(t, i, glyph.Digit)
	if !Between(t[i:hour], 0, 24) || hour == len(t) || t[hour] != ':' {
		return i
	}
	end := minutes(t, hour)
	if end == hour {
		return i
	}
	if second := minutes(t, end); second > end {
		end = second
		if end < len(t) && (t[end] == '.' || t[end] == ',') {
			if stop := glyph.Run(t, end+1, glyph.Digit); stop-end <= 10 {
				end = stop
			}
		}
	}
	if end < len(t) && (glyph.Is(t[end], glyph.Digit) || t[end] == ':') {
		return i
	}
	return end
}

// minutes is the end of a colon and two digits up to 59 at i; i where there are none.
func minutes(t string, i int) int {
	if i+3 > len(t) || t[i] != ':' || glyph.Run(t, i+1, glyph.Digit) != i+3 || !Between(t[i+1:i+3], 0, 59) {
		return i
	}
	return i + 3
}

// zone is the end of a time zone at i, +02:00 or +0200; i where there is none.
func zone(t string, i int) int {
	if i == len(t) || t[i] != '+' && t[i] != '-' {
		return i
	}
	end := glyph.Run(t, i+1, glyph.Digit)
	switch {
	case end-i == 3 && Between(t[i+1:end], 0, 14) && minutes(t, end) > end:
		return minutes(t, end)
	case end-i == 5 && Between(t[i+1:i+3], 0, 14) && Between(t[i+3:end], 0, 59) && ends(t, end):
		return end
	}
	return i
}

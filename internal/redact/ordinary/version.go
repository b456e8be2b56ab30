package ordinary

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/redact/glyph"
)

// version is the end of a version behind a v: v1.26.8, v0.0.0-20260102150405-abcdefabcdef.
func version(t string, i int) int {
	if i == 0 || t[i-1] != 'v' || i > 1 && glyph.Is(t[i-2], glyph.Alnum) {
		return i
	}
	end := i
	for range 5 {
		stop := glyph.Run(t, end, glyph.Digit)
		if stop == end || stop-end > 5 {
			return i
		}
		if stop+1 >= len(t) || t[stop] != '.' || !glyph.Is(t[stop+1], glyph.Digit) {
			return commit(t, stop)
		}
		end = stop + 1
	}
	return i
}

// commit is the end of the time and the commit behind a version that has no tag; end
// where there are none.
func commit(t string, end int) int {
	rest := strings.TrimPrefix(strings.TrimPrefix(t[end:], "-"), "0.")
	at := len(t) - len(rest)
	when := glyph.Run(t, at, glyph.Digit)
	if at == end || when-at != 14 || when == len(t) || t[when] != '-' {
		return end
	}
	if stop := glyph.Run(t, when+1, glyph.Digit|glyph.HexLetter); stop-when == 1+12 {
		return stop
	}
	return end
}

// modelDate is the end of the numbers in a model's name, such as claude-x-4-5-20260102.
func modelDate(t string, i int) int {
	if i < 2 || t[i-1] != '-' || !glyph.Is(t[i-2], glyph.Letter) {
		return i
	}
	for at := i; ; {
		end := glyph.Run(t, at, glyph.Digit)
		switch {
		case end-at == 8 && IsYear(t[at:at+4]) && IsMonth(t[at+4:at+6]) && IsDay(t[at+6:at+8]) && ends(t, end):
			return end
		case end-at > 2 || end == at || end == len(t) || t[end] != '-' && t[end] != '.':
			return i
		}
		at = end + 1
	}
}

// duration is the end of 8.5s, 1m30.123456789s or 250ms.
func duration(t string, i int) int {
	if i > 0 && glyph.Is(t[i-1], glyph.Alnum|glyph.Dot) {
		return i
	}
	end := i
	for end < len(t) && glyph.Is(t[end], glyph.Digit) {
		at := glyph.Run(t, end, glyph.Digit)
		if at-end > 7 {
			return i
		}
		if at < len(t) && t[at] == '.' {
			if stop := glyph.Run(t, at+1, glyph.Digit); stop-at <= 10 {
				at = stop
			}
		}
		length := unitLength(t[at:])
		if length == 0 {
			return i
		}
		end = at + length
	}
	if end < len(t) && glyph.Is(t[end], glyph.Alnum|glyph.Beyond) {
		return i
	}
	return end
}

func unitLength(t string) int {
	for _, unit := range [...]string{"ns", "us", "ms", "\x80s", "s", "m", "h"} {
		if strings.HasPrefix(t, unit) {
			return len(unit)
		}
	}
	return 0
}

package redact

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/redact/domain"
	"github.com/manychat-agent/manychat-agent/internal/redact/glyph"
	"github.com/manychat-agent/manychat-agent/internal/redact/ordinary"
)

// What is taken out of a text for people alone. A person may tap on what an operator
// needs to see: a host without a path, this machine, a package. And what parts the digits
// of a number in a note may be any mark, where in a log it parts columns.
//
// Known limits: numbers parted by letters, by spaces beside such marks, or by several
// kinds of brackets; and hosts with an ending that the domain package does not know.

// forPeople reports whether the text is one for people.
func (f *finder) forPeople() bool { return f.mark != "" }

// findHosts takes out bare host names and their ports: evil.com, evil.com:8080.
func (f *finder) findHosts() {
	t := f.text
	for i := 0; i < len(t); i++ {
		if t[i] != '.' {
			continue
		}
		start, end := hostStart(t, i), i
		for letters := hostLetters(t, i); end < len(t) && (glyph.Is(t[end], letters|glyph.Dot) || t[end] == '-'); end++ {
		}
		next := end - 1 // nothing more to look for in what runs on
		for end > i && !f.isBareHost(start, end) {
			end = start + max(0, strings.LastIndexByte(t[start:end], '.'))
		}
		if end > i {
			f.take(start, portEnd(t, end), link)
		} else if end = ordinary.Quad(t, start); end > 0 && portEnd(t, end) > end {
			f.take(start, portEnd(t, end), link)
		}
		i = max(next, end-1)
	}
}

// hostLetters are what a host name goes on with behind the point at i. One in ASCII does
// not run into the letters of a script that puts no space before them.
func hostLetters(t string, i int) glyph.Kind {
	if i+1 < len(t) && glyph.Is(t[i+1], glyph.Alnum) {
		return glyph.Alnum
	}
	return glyph.Alnum | glyph.Beyond
}

// portEnd is the end of a host's port at i; i where there is none.
func portEnd(t string, i int) int {
	if i == len(t) || t[i] != ':' {
		return i
	}
	if end := glyph.Run(t, i+1, glyph.Digit); end > i+1 {
		return end
	}
	return i
}

// isBareHost reports whether a host name stands there that nothing shows to be one but
// itself: it does not end as a sentence does that runs into the next one, as an
// abbreviation, or as a number with a unit.
func (f *finder) isBareHost(start, end int) bool {
	t := f.text
	last := strings.LastIndexByte(t[:end], '.')
	if last <= start || end-last < 3 || !f.isHost(start, end) {
		return false
	}
	ending, label := t[last+1:end], t[start:last]
	if label = label[strings.LastIndexByte(label, '.')+1:]; len(label) < 3 && !glyph.Has(label, glyph.Letter) {
		return false
	}
	capital := glyph.Is(ending[0], glyph.Upper) && glyph.Is(ending[1], glyph.Lower)
	known := strings.ToLower(ending)
	return (!capital || domain.Firm(known)) && (len(label) > 1 || domain.OfLetter(known)) && !strings.EqualFold(t[start:end], "co.kg")
}

// findParted takes out long numbers whose digits are parted by marks that no date, time
// or price has: 555*123*4567. Counts, years and amounts in a currency stay.
func (f *finder) findParted() {
	t := f.text
	for i := 0; i < len(t); {
		if !glyph.Is(t[i], glyph.Digit) {
			i++
			continue
		}
		if end := ordinary.At(t, i, -1); end > i {
			i = end
			continue
		}
		g := groups{t: t}
		for mark := byte(0); ; {
			end := glyph.Run(t, i, glyph.Digit)
			g.all = append(g.all, group{i, end, mark})
			g.digits += end - i
			if i = partEnd(t, end); i == end {
				break
			}
			mark = t[end]
		}
		amount := g.joinedBy(",") && g.size(len(g.all)-1) == 3 && f.besideCurrency(g)
		if len(g.all) > 1 && g.digits >= fewestLong && !amount && !g.areYears() && !g.isCount() {
			start, end := g.bounds()
			f.take(start, end, phone)
		}
	}
}

// partEnd is where the digits go on behind one to three such marks at i; i where they do
// not.
func partEnd(t string, i int) int {
	end := i
	for end < len(t) && end-i < 3 && (glyph.In("*,;|_~^&#\\", t[end]) || t[end] == glyph.Other) {
		end++
	}
	if end == i {
		for end < len(t) && end-i < 3 && t[end] == '.' { // also of an ellipsis
			end++
		}
		if end == i+1 {
			return i
		}
	}
	if end == len(t) || !glyph.Is(t[end], glyph.Digit) {
		return i
	}
	return end
}

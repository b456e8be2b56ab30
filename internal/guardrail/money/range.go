package money

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// spread marks what stands in a range or a list with an amount as money too: "100 to 240
// EUR", "100, 200 or 300 EUR", "€100/200".
func spread(runes []rune, found []numeral) {
	listed := false // an "or" stands behind
	for i := len(found) - 1; i > 0; i-- {
		from, to := &found[i-1], found[i]
		joint := jointOf(runes, *from, to)
		if !to.money || from.money || joint == none || from.isClock(runes) || joint == comma && (!listed || from.isYear(runes)) {
			listed = false
			continue
		}
		from.money, from.currency = true, to.currency
		listed = joint == comma || joint == either
	}
	for i := 1; i < len(found); i++ {
		from := found[i-1]
		if !from.money || found[i].money {
			continue
		}
		last := i
		for last+1 < len(found) && !found[last+1].money && jointOf(runes, found[last-1], found[last]) == comma {
			last++
		}
		joint := jointOf(runes, found[last-1], found[last])
		if joint == none || joint == comma || found[last].isClock(runes) ||
			(joint == either || joint == dash || from.reach > from.end) && !found[last].standsAlone(runes) {
			continue
		}
		for ; i <= last; i++ {
			found[i].money, found[i].currency = true, from.currency
		}
		i--
	}
}

// joint is what joins two numbers.
type joint int

const (
	none   joint = iota
	comma        // of a list
	either       // "and", "or"
	dash         // with space round it
	upTo         // "to", a dash or a stroke that touches both
)

// jointOf is what joins two neighbouring numbers. A time of day is no end of a range, nor
// is a single digit before a spaced dash, a comma or an "and", which is more often the
// number of a thing.
func jointOf(runes []rune, from, to numeral) joint {
	between := string(runes[from.reach:to.start])
	word := strings.ToLower(strings.TrimSpace(between))
	list := strings.TrimSpace(strings.TrimLeft(word, ",،、"))
	single := from.end-from.start == 1
	switch {
	case isRangeMark(word) && word == between:
		return upTo
	case from.start > 0 && strings.ContainsRune(":/-.", runes[from.start-1]), isLabelled(runes, from.start):
		return none
	case untils[word]:
		return upTo
	case single || word == "":
		return none
	case list == "" && word != between:
		return comma
	case ands[list]:
		return either
	case isRangeMark(word):
		return dash
	}
	return none
}

// isRangeMark reports whether what stands between two numbers is a dash, a tilde or a stroke.
func isRangeMark(word string) bool {
	r, size := utf8.DecodeRuneInString(word)
	return word != "" && size == len(word) && (isDash(r) || r == '~' || r == '/')
}

// ands are "and" and "or" in several languages.
var ands = wordSet(`and or y e o u ou et und oder i lub albo oraz и или και ή ve veya ya और या و أو او of en eller och og
	sau și si ja tai a nebo és vagy atau dan hoặc และ หรือ 或 或者 和 か と 또는`)

// untils are "to" in several languages, and dots.
var untils = wordSet(`… ... until through to up.to a à à até al ao bis hasta do до έως ως μέχρι إلى الى حتى से तक tot till til până
	la ile ila 到 至 から から~ ~ sampai hingga đến ถึง 에서`)

// pers are words behind an amount that say for what it is.
var pers = wordSet("per pro por par pp each je a al à la le η το την τον за po für for only nur solo seulement только tylko sadece apenas só μόνο za od")

// isYear reports whether a number looks like a year.
func (n numeral) isYear(runes []rune) bool {
	digits := string(runes[n.start:n.end])
	return len(digits) == 4 && (strings.HasPrefix(digits, "19") || strings.HasPrefix(digits, "20"))
}

// standsAlone reports whether a number counts nothing: no word, sign or figure follows it,
// but one such as "per".
func (n numeral) standsAlone(runes []rune) bool { return aloneAt(runes, n.end) }

// aloneAt reports whether what ends at i has no word, sign or figure behind it.
func aloneAt(runes []rune, i int) bool {
	for i < len(runes) && isBlank(runes[i]) {
		i++
	}
	if i == len(runes) {
		return true
	}
	if end := wordEnd(runes, i); end > i {
		return pers[strings.ToLower(string(runes[i:end]))]
	}
	ends := i+1 == len(runes) || !isWord(runes[i+1])
	return !unicode.IsDigit(runes[i]) && !isDash(runes[i]) && !strings.ContainsRune("%+/:°×", runes[i]) && (ends || !strings.ContainsRune(".,", runes[i]))
}

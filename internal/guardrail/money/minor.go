package money

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/guardrail/money/number"
)

// minorBehind is how many decimals the next number writes of a whole amount before it, as
// in "2 euros and 50 cents", "12 zł 90 gr", "3 руб. 50 коп." and "8 € 50 per head"; 0: it
// is no part of it.
func (n numeral) minorBehind(runes []rune, next numeral) int {
	if !n.money || n.minor > 0 || n.power > 0 || n.sign != 0 || n.reach == n.end || !n.isWhole(runes[:n.last]) ||
		next.power > 0 || next.sign != 0 || next.isClock(runes) {
		return 0
	}
	between := string(runes[n.reach:next.start])
	if short := string(runes[wordStart(runes, n.reach):n.reach]); strings.HasPrefix(between, ".") && (pointed[strings.ToLower(short)] || isAbbreviation(short+".")) {
		between = between[1:]
	}
	word := strings.ToLower(strings.TrimSpace(between))
	if strings.Contains(between, "\n") || word != "" && !ands[word] && !withs[word] {
		return 0
	}
	digits, decimals := next.end-next.start, next.minor
	switch {
	case decimals == 0 && next.reach == next.end:
		if decimals = minorsBehind[foldName(wordBehind(runes, next.end))]; decimals == 0 && !ands[word] && next.standsAlone(runes) {
			if decimals = digits; decimals != 2 && !(decimals == 3 && n.unit.hasThousandths()) {
				return 0
			}
		}
	case decimals == 3 && !n.unit.hasThousandths():
		decimals = 2 // 100 fils make a dirham
	}
	if digits > decimals {
		return 0
	}
	return decimals
}

// pointed are the abbreviations that stand behind a number only, with a point or without.
var pointed = wordSet("руб р грн zł kč")

// withs are "with" in languages that name a smaller unit so: 4 euros con 50.
var withs = wordSet("con com")

func (n numeral) withMinor(runes []rune, minor numeral, decimals int) amount {
	sure, _ := number.Readings(string(runes[n.digits:n.last]))
	fraction := number.Plain(string(runes[minor.digits:minor.last]))
	for len(fraction) < decimals {
		fraction = "0" + fraction
	}
	return amount{readings: []string{number.Canonical(sure[0], fraction)}, currency: n.currency}
}

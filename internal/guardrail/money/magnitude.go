package money

import (
	"strings"
	"unicode"

	"github.com/manychat-agent/manychat-agent/internal/guardrail/money/number"
)

// magnitudes are the words that multiply the number before them, by the power of ten.
// An amount with one has the exact value of both: 1.2 thousand is 1200, and 2k is not 1999.
var magnitudes = minorTable{
	2: "hundred",
	3: `thousand thousands mil mila mille miles tausend tsd χιλιάδες χιλ тысяч тысячи тысяча тыс тыщ हज़ार हजार ألف ألفا الف آلاف الاف هزار
		bin tys tysiące tysięcy tysiąc tisíc tisíce tuhat tuhatta ezer mii tusen tusind duizend ribu rb nghìn ngàn พัน`,
	4: "หมื่น",
	5: "lakh lakhs lac lacs लाख แสน",
	6: `million millions millón millones milhão milhões millionen milioni milione mio εκατομμύρια εκ млн миллион миллиона миллионов
		مليون ملايين میلیون milyon mln milion miliony milionů milionów millió miljoner miljoona juta jt triệu ล้าน`,
	7: "crore crores करोड़",
	9: "milliarden mrd milliard milliards млрд миллиард миллиарда миллиардов مليار میلیارد milyar miliard miliarda tỷ",
}.compile()

// unspacedMagnitudes are those of scripts without spaces, which other words follow.
var unspacedMagnitudes = map[rune]int{'千': 3, '천': 3, '万': 4, '萬': 4, '만': 4, '億': 8, '亿': 8, '억': 8}

// maxPower bounds what magnitudes make of a number, as a power of ten. No price is near.
const maxPower = 12

// overMagnitude is where a number that ends at i ends with its words of magnitude, and
// the power of ten that they multiply it with.
func overMagnitude(runes []rune, i int) (end, power int) {
	for power < maxPower {
		next, times := magnitudeAt(runes, i)
		if times == 0 {
			break
		}
		i, power = next, power+times
	}
	return i, power
}

func magnitudeAt(runes []rune, i int) (end, power int) {
	from := i
	for from < len(runes) && isBlank(runes[from]) {
		from++
	}
	if from == len(runes) {
		return i, 0
	}
	if power, ok := unspacedMagnitudes[runes[from]]; ok {
		return from + 1, power
	}
	end = wordEnd(runes, from)
	if end-from > maxMagnitude {
		return i, 0
	}
	if word := string(runes[from:end]); from == i || end < len(runes) && unicode.Is(unicode.Sc, runes[end]) {
		switch word {
		case "k", "K":
			return end, 3
		case "M":
			return end, 6
		}
	}
	if power = powerOf(runes[from:end]); power == 0 {
		return i, 0
	}
	if end < len(runes) && runes[end] == '.' && end-from <= 4 { // Tsd.
		end++
	}
	return end, power
}

// powerOf is the power of ten that a word of at most maxMagnitude runes says; 0: none.
func powerOf(word []rune) int {
	var lower [maxMagnitude]byte
	for i, r := range word {
		if r >= 0x80 {
			return magnitudes[foldName(string(word))]
		}
		lower[i] = byte(unicode.ToLower(r))
	}
	return magnitudes[string(lower[:len(word)])]
}

// maxMagnitude is the most runes of a word of magnitude; the longest is миллиардов.
const maxMagnitude = 12

// join puts together the numbers that say one in parts, each smaller than the magnitude
// of the one before: 1万2,800, 1 lakh 25 thousand.
func join(runes []rune, found []numeral) []numeral {
	out := found[:0]
	for _, n := range found {
		if last := len(out) - 1; last >= 0 && out[last].continues(runes, n) {
			first := out[last]
			n.start, n.added = first.start, first.value(runes)[0]
			out[last] = n
			continue
		}
		out = append(out, n)
	}
	return out
}

// continues reports whether the next number is the smaller part of this one.
func (n numeral) continues(runes []rune, next numeral) bool {
	if n.power < 3 || strings.ContainsRune("kKM", runes[n.end-1]) || next.isClock(runes) {
		return false
	}
	between := strings.ToLower(strings.TrimSpace(string(runes[n.end:next.start])))
	if between != "" && between != "و" && between != "ve" {
		return false
	}
	mine, theirs := n.value(runes), next.value(runes)
	whole, _, _ := strings.Cut(theirs[0], ".")
	return len(mine) == 1 && len(theirs) == 1 && len(whole) <= n.power && strings.HasSuffix(mine[0], strings.Repeat("0", len(whole))) &&
		!strings.ContainsAny(mine[0], ".,")
}

// value is what a number says with its magnitudes. With one, three digits behind a
// separator may be a fraction in any currency.
func (n numeral) value(runes []rune) []string {
	sure, thousandths := number.Readings(string(runes[n.digits:n.last]))
	if n.power > 0 && thousandths != "" {
		sure = append(sure, thousandths)
	}
	for i, reading := range sure {
		sure[i] = number.Sum(n.added, number.Shift(reading, n.power))
	}
	return sure
}

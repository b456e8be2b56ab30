package money

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/manychat-agent/manychat-agent/internal/guardrail/visible"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// currencyWords are the codes and the lower-case words that a catalog has for its
// currencies.
type currencyWords map[string]unit

// currency is one beside a number.
type currency struct {
	unit  unit
	loose bool // a word for other things too: it counts only beside a number of the catalog
	minor int  // the number counts a smaller unit of so many decimals; 0: it does not
}

// beside looks for a currency right behind a number, then right before it, and says
// where the number with a currency behind it ends.
func (c currencyWords) beside(runes []rune, n numeral) (currency, int, bool) {
	behind, end, ok := c.after(runes, n.end)
	if ok && n.isYear(runes) && isNext(runes, n.end, "in") { // prices of 2026 in EUR
		ok = false
	}
	if ok && !behind.loose {
		return behind, end, true
	}
	if before, ok := c.before(runes, n); ok {
		return before, n.end, true
	}
	return behind, end, ok
}

// before looks for a currency right before a number. One that stands nearer to a number
// before itself is that one's: "240 EUR (8 evenings)". In another line, or outside the
// number's brackets, it counts for a number that counts nothing else.
func (c currencyWords) before(runes []rune, n numeral) (currency, bool) {
	i, joined := n.start, touching
	if i > 0 && (isDash(runes[i-1]) || runes[i-1] == '+') {
		if i--; !strings.ContainsRune("-−+", runes[i]) { // €-20
			joined = aside // EUR–250, but 240 EUR–8 evenings
		}
	}
	end := i
	for end > 0 && (isGap(runes[end-1]) || strings.ContainsRune(":=", runes[end-1])) {
		end--
	}
	if end == 0 {
		return currency{}, false
	}
	start := end
	sign := unicode.Is(unicode.Sc, runes[end-1])
	marked := sign || runes[end-1] == '.' || runes[end-1] == '/'
	if marked {
		start--
	}
	start = wordStart(runes, start)
	word, own, theirs := string(runes[start:end]), max(joined, apart(runes[end:i])), numberBefore(runes[:start])
	switch {
	case marked && !sign && (!isAbbreviation(word) || theirs == own): // the end of a sentence
		return currency{}, false
	case (theirs == own && own < absent || loosens(runes[end:i])) && !n.standsAlone(runes):
		return currency{}, false
	case theirs < own, own >= aside && theirs == own, theirs == own && !sign && !isCode(word):
		return currency{}, false
	case sign:
		return currency{unit: ofSign(string(runes[start:end-1]), runes[end-1])}, runes[end-1] != '¢'
	}
	found, ok := c.named(word)
	return found, ok && found.minor == 0 && leads(word) && !n.isOnFriday(runes, start)
}

// after looks for a currency right behind a number, and says where it ends. One that
// stands nearer to a number behind itself is that one's: "Level 2 (€240)". In another line,
// or in brackets, it counts when no other word follows it there.
func (c currencyWords) after(runes []rune, i int) (currency, int, bool) {
	joined := touching
	if i+1 < len(runes) && strings.ContainsRune(".,/", runes[i]) && isDash(runes[i+1]) {
		if i += 2; runes[i-2] == '/' && (i == len(runes) || !isWord(runes[i])) {
			return currency{unit: rupees}, i, true // 500/-
		}
	} else if i+1 < len(runes) && (isDash(runes[i]) && unicode.IsLetter(runes[i+1]) || isMark(runes[i]) && unicode.Is(unicode.Sc, runes[i+1])) {
		joined = joinedBy(runes[i]) // a 240-euro course
		i++
	}
	start := i
	for start < len(runes) && (isGap(runes[start]) || runes[start] == '/') {
		start++
	}
	end := wordEnd(runes, start)
	sign := end < len(runes) && unicode.Is(unicode.Sc, runes[end]) && (end == start || runes[end] == '$')
	reach := end
	if sign {
		reach++
	}
	gap := runes[i:start]
	if reach == start || numberBehind(runes[reach:]) < max(joined, apart(gap)) || loosens(gap) && !aloneAt(runes, reach) {
		return currency{}, 0, false
	}
	if sign { // 350 €, 350 US$
		return currency{unit: ofSign(string(runes[start:end]), runes[end]), minor: minorNames[string(runes[end])]}, reach, true
	}
	word := strings.ToLower(string(runes[start:end]))
	if qualifiers[word] && end < len(runes) && (isBlank(runes[end]) || runes[end] == '-') {
		found, reach, ok := c.after(runes, end)
		if of, narrow := dollarPrefixes[word]; narrow && of.is(found.unit) {
			found.unit = of // 240 US dollars
		}
		return found, reach, ok && !found.loose
	}
	if ambiguousNames.has(foldName(word)) && (isNext(runes, end, "of") || isNext(runes, end, "silver") || isTimes(runes, i, end)) {
		return currency{}, 0, false // 5 pounds of clay
	}
	found, ok := c.named(string(runes[start:end]))
	return found, reach, ok
}

// minorOf is how many decimals a folded word for a smaller unit has, where the catalog
// has a currency of three; 0: it is no such word.
func (c currencyWords) minorOf(word string) int {
	decimals, ok := minorNames[word]
	for prefix := 0; !ok && prefix < len(arabicPrefixes); prefix++ {
		if bare, cut := strings.CutPrefix(word, arabicPrefixes[prefix]); cut {
			decimals, ok = minorNames[bare]
		}
	}
	if decimals < 3 {
		return decimals
	}
	for _, u := range c {
		if u.hasThousandths() {
			return decimals
		}
	}
	return 2
}

// leads reports whether a currency's word stands before a number.
func leads(word string) bool {
	folded := foldName(word)
	name := strings.TrimSuffix(folded, ".")
	return isCode(word) || leading[folded] || !ambiguousNames.has(name) && !ownNames.has(name)
}

// loosens reports whether a gap is an opening bracket or the end of a line.
func loosens(gap []rune) bool {
	return slices.ContainsFunc(gap, func(r rune) bool { return r == '\n' || r == '(' || r == '[' })
}

// isTimes reports whether a letter for roubles is one for times: 2 р. в неделю.
func isTimes(runes []rune, number, end int) bool {
	if end < len(runes) && runes[end] == '.' {
		end++
	}
	return number > 0 && (number == 1 || !unicode.IsDigit(runes[number-2])) && isNext(runes, end, "в")
}

// hours are what follows a day of the week and no price: 9–12 Uhr, 8.30–12.00.
var hours = regexp.MustCompile(`^\d{1,2}(?:[.:]\d\d)?(?:\s?[-–—]\s?\d{1,2}(?:[.:]\d\d)?)?\s?(?i:uhr|h)\b` +
	`|^\d{1,2}\.(?:00|15|30|45)\s?[-–—]\s?\d{1,2}\.(?:00|15|30|45)(?:\D|$)`)

// isOnFriday reports whether the word at start, before a number, is the day of the week
// and no francs: Mo–Fr 8.30–12.00.
func (n numeral) isOnFriday(runes []rune, start int) bool {
	if !strings.EqualFold(string(runes[start:min(start+2, len(runes))]), "fr") || start+2 < len(runes) && unicode.IsLetter(runes[start+2]) {
		return false
	}
	if hours.MatchString(string(runes[n.start:min(n.start+16, len(runes))])) {
		return true
	}
	end := start
	for end > 0 && (isBlank(runes[end-1]) || strings.ContainsRune(".,/&+-–—", runes[end-1])) {
		end--
	}
	before := wordStart(runes, end)
	return weekdays[strings.ToLower(string(runes[before:end]))]
}

// weekdays are the days that stand before a Friday.
var weekdays = wordSet("mo di mi do sa so montag dienstag mittwoch donnerstag bis")

// distance is how far a currency stands from a number.
type distance int

const (
	touching distance = iota
	spaced
	aside  // with markup or brackets between
	broken // in another line
	absent // there is no number
)

// apart is the distance that a gap makes.
func apart(gap []rune) distance {
	switch {
	case len(gap) == 0:
		return touching
	case slices.Contains(gap, '\n'):
		return broken
	case slices.ContainsFunc(gap, func(r rune) bool { return !isBlank(r) }):
		return aside
	}
	return spaced
}

// joinedBy is the distance that a hyphen or a dash makes which touches both.
func joinedBy(r rune) distance {
	if r == '-' {
		return spaced
	}
	return aside
}

// isDash reports whether a rune is a hyphen, a dash or a minus sign.
func isDash(r rune) bool {
	return r == '-' || r >= 0x80 && (unicode.Is(unicode.Pd, r) || strings.ContainsRune("−⁃➖", r))
}

// isMark reports whether a rune that touches a number and a currency sign joins them.
func isMark(r rune) bool { return isDash(r) || strings.ContainsRune(".,:=·", r) }

// numberBehind is the distance of the number that follows.
func numberBehind(runes []rune) distance {
	for i, r := range runes {
		switch {
		case unicode.IsDigit(r):
			return apart(runes[:i])
		case !isGap(r):
			return absent
		}
	}
	return absent
}

// numberBefore is the distance of the number that ends before.
func numberBefore(runes []rune) distance {
	for i := len(runes); i > 0; i-- {
		switch r := runes[i-1]; {
		case unicode.IsDigit(r):
			return apart(runes[i:])
		case i == len(runes) && i > 1 && isDash(r) && unicode.IsDigit(runes[i-2]):
			return joinedBy(r)
		case !isGap(r):
			return absent
		}
	}
	return absent
}

// isNext reports whether a word, in lower case, is the one that follows.
func isNext(runes []rune, i int, word string) bool {
	for i < len(runes) && isBlank(runes[i]) {
		i++
	}
	for _, r := range word {
		if i == len(runes) || unicode.ToLower(runes[i]) != r {
			return false
		}
		i++
	}
	return i == len(runes) || !isWord(runes[i])
}

// isAbbreviation reports whether a currency's word is written with a point or a stroke:
// Rs. 500, S/ 240.
func isAbbreviation(word string) bool {
	switch strings.ToLower(word) {
	case "rs.", "kr.", "fr.", "sfr.", "bs.", "rp.", "q.", "l.", "s/", "s/.":
		return true
	}
	return false
}

// isCode reports whether a word is an ISO code or an abbreviation, which stands on
// either side of a number; a name stands behind.
func isCode(word string) bool {
	return word == strings.ToUpper(word) && word != strings.ToLower(word) || isAbbreviation(word)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func isBlank(r rune) bool { return r != '\n' && unicode.IsSpace(r) }

// isGap reports whether a rune may stand between a number and its currency: space,
// markup, a quote or a bracket.
func isGap(r rune) bool {
	return unicode.IsSpace(r) || strings.ContainsRune("*_~`()[]|\"“”„«»", r)
}

// wordEnd is where the word that begins at i ends. An abbreviation of single letters
// with points between is one, as ر.س is, and one with a quotation mark, as ש"ח is.
func wordEnd(runes []rune, i int) int {
	start := i
	for i < len(runes) {
		switch {
		case unicode.IsLetter(runes[i]), i > start && unicode.IsMark(runes[i]):
		case i > start && i+1 < len(runes) && unicode.IsLetter(runes[i+1]) &&
			(runes[i] == '.' && i == start+1 && unicode.Is(unicode.Arabic, runes[i+1]) ||
				strings.ContainsRune("\"״", runes[i]) && unicode.Is(unicode.Hebrew, runes[i+1])):
		default:
			return i
		}
		i++
	}
	return i
}

// wordStart is where the word that ends at i begins.
func wordStart(runes []rune, i int) int {
	end := i
	for i > 0 {
		switch {
		case unicode.IsLetter(runes[i-1]), unicode.IsMark(runes[i-1]):
		case i == end-1 && i > 1 && runes[i-1] == '.' && unicode.Is(unicode.Arabic, runes[i-2]):
		case i == end && i < len(runes) && runes[i] == '.' && runes[i-1] == '/': // S/.
		default:
			return i
		}
		i--
	}
	return i
}

// named is the currency that a word names, if it names one.
func (c currencyWords) named(word string) (currency, bool) {
	if word == "" {
		return currency{}, false
	}
	lower := strings.ToLower(word)
	trimmed := strings.TrimSuffix(foldName(word), ".")
	if decimals := c.minorOf(trimmed); decimals > 0 {
		return currency{minor: decimals}, true
	}
	doubtful, isDoubtful := ambiguousNames.of(trimmed)
	own, _ := ownNames.of(trimmed)
	for _, name := range append(strings.Fields(string(doubtful+" "+own)), strings.ToUpper(word), lower) {
		if u, ok := c[name]; ok && (name != strings.ToUpper(word) || name == word || !wordCodes[name]) {
			return currency{unit: u}, true
		}
	}
	if tenant.Currency(word).Valid() && !strings.Contains(" ALL CUP MOP TOP TRY ", " "+word+" ") || lowerCodes[lower] {
		return currency{unit: unit(strings.ToUpper(word))}, true
	}
	if u, ok := currencyNames.of(trimmed); ok {
		return currency{unit: u}, true
	}
	return currency{unit: doubtful, loose: true}, isDoubtful
}

// measures are words that count something else, whatever number they stand behind.
const measures = " min minute minutes minuten minuti minutos minutter minuto mins hour hours heure heures hora horas ore stunden std" +
	" saat dakika минут часов λεπτά ώρες دقيقة ساعة मिनट घंटे godzin godziny minut kilo gram grams person persons people personen personas pessoas "

// learn adds the words that stand behind at least two different prices in a catalog's
// texts and behind no number that is no price, for that counts something else. They
// stand for the catalog's main currency.
func (c currencyWords) learn(texts []string, prices Facts, main unit) {
	behind := map[string]map[string]bool{} // word: the prices; nil: also another number
	for _, text := range texts {
		runes := []rune(visible.Text(text))
		for _, n := range c.numerals(runes) {
			word := strings.ToLower(wordBehind(runes, n.end))
			if len([]rune(word)) < 3 || strings.Contains(measures, " "+word+" ") {
				continue
			}
			if seen, ok := behind[word]; !prices.holds(n.amount(runes)) {
				behind[word] = nil
			} else if !ok {
				behind[word] = map[string]bool{string(runes[n.start:n.end]): true}
			} else if seen != nil {
				seen[string(runes[n.start:n.end])] = true
			}
		}
	}
	for word, seen := range behind {
		if len(seen) > 1 {
			c[word] = main
		}
	}
}

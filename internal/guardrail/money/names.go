package money

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// currencyNames recognise amounts, also in currencies that the catalog does not use.
// All names are as [foldName] writes them. One that ends in a hyphen is the beginning of
// its inflected forms: five letters may follow, but three after four and two after fewer.
var currencyNames = nameTable{
	"EUR":  "euro- eur eura euru eurai eurais eurus evro- avro- ευρω евро 欧元 歐元 ユーロ 유로 يورو اورو یورو यूरो ยูโร",
	noUnit: "europ- evrop- avrop- европ- rialto",
	dollarNames: "dollar- dolar- dollari доллар- долар- δολαρι- 美元 ドル 달러 دولار- دولارات دلار- डॉलर डॉलरों ดอลลาร์" +
		" bucks usd",
	pesos: "pesos песо",
	"BRL": "reais brl",
	francs: "francs franken franchi franki franku frankow frankiem frankach frankami frangi- φραγκ-" +
		" франк франка франки франков франкам франками франках フラン فرنك فرنكا فرنكات chf",
	"JPY":                 "yen jeny jenow иен иены 円 日元 엔 ين",
	"CNY":                 "yuan yuanes cny rmb 人民币 人民幣 юан- 위안 يوان",
	"CNY HKD MOP SGD TWD": "元 圆",
	"KRW":                 "원 krw",
	rupees:                "rupee- rupia- rupii rupij roupie- rupie- рупи- रुपये रुपया रुपए रुपयों रुपयो रूपये रूपए रुपैया रु रू روپیه روبيه روبيات",
	"INR":                 "inr",
	"RUB BYN":             "rubl- rubel- rupla- рубл- руб рублеи ρουβλι- روبل- rub",
	"UAH":                 "грн гривн- гривен- hryvni- hrywn- hrywien",
	"PLN":                 "złoty złote złotych złotym złotymi złotego złotemu złotowk- zł zloty- zlote zlotych злот- pln",
	"TRY LBP SYP":         "lira- lirou lirach λιρα λιρες λιρων λιρασ ليره ليرات ليرتان ليرتين лира лиры лир лире лиру лирои лирам лирами лирах",
	"AED MAD":             "dirham- dirhem- дирхам- ντιρχαμ दिरहम درهم- دراهم",
	"SAR QAR OMR YER IRR": "riyal- rial- риал- ريال- ريالات ریال-",
	dinars:                "dinar- دينار- دنانير- динар- δηναρι- דינר דינרים",
	"HUF":                 "forint- forintonként форинт- huf",
	"CZK":                 "kc korun- czk",
	"NGN":                 "naira-",
	"GBP":                 "quid sterlin sterline sterlina στερλιν- gbp",
	"EGP SDG GBP":         "جنيه- جنيهات",
	"TRY":                 "tl",
	"IRT":                 "تومان- tomans", // ten rials each, and no code of ISO 4217
	"BTC":                 "btc usdt bitcoin-",
	"THB":                 "baht บาท",
	"MYR":                 "ringgit-",
	"ILS":                 "shekel- שקל שקלים ש״ח ש\"ח шекел-",
	"GTQ":                 "quetzales",
	"PYG":                 "guarani guaranies",
	"HNL":                 "lempira-",
	"CRC":                 "colones",
	"VES VED":             "bolivares",
	"PEN":                 "s/ s/.",
	"VND":                 "đong vnđ",
	"KZT":                 "тенге tenge",
	"KES":                 "ksh kshs",
	"TWD":                 "ntd",
	crowns:                "kronor kronur kronum kroner kruunu- крон- kr",
	"SAR":                 "ر.س",
	"AED":                 "د.إ",
	"KWD":                 "د.ك",
	"QAR":                 "ر.ق",
	"OMR":                 "ر.ع",
	"BHD":                 "د.ب",
	"JOD":                 "د.أ د.ا",
	"TND":                 "د.ت",
	"MAD":                 "د.م",
	"EGP":                 "ج.م",
	"LBP":                 "ل.ل",
}.compile()

// ambiguousNames are words for other things too: each counts only for a catalog in its
// currency, and beside a number that the catalog holds.
var ambiguousNames = nameTable{
	pounds:    "pound pounds libra libras libr liber libry funt- фунт- punta puntaa sterling",
	"ZAR":     "rand r",
	"RON MDL": "lei leu лей леев леи ron",
	"BRL":     "real",
	"KRW":     "won",
	"CNY":     "块",
	"PEN":     "sol soles",
	rupees:    "rs rp",
	pesos:     "peso",
	"PHP":     "piso",
	"RUB BYN": "р",
	"VND":     "đ dong",
	"HUF":     "ft",
	"MYR":     "rm",
	"BGN":     "лв лева лев",
	"ILS":     "nis",
	"IRT":     "toman",
	crowns:    "krona krone kronen koron- korona",
}.compile()

// ownNames are words that count only for a catalog in their currency.
var ownNames = nameTable{
	francs:        "fr sfr franc frank franka fcfa f",
	"TRY LBP SYP": "lire",
	"BOB VES":     "bs",
	"GTQ":         "q quetzal",
	"HNL":         "l",
	"VES VED":     "bolivar",
	"KWD":         "kd",
	"JOD":         "jd",
	"SAR":         "sr",
	"AED MAD":     "dh dhs",
	"EGP":         "le",
	"ETB BYN":     "br",
	"RSD":         "din",
	"MKD":         "den",
	"PYG":         "gs",
	"CRC":         "colon",
}.compile()

// leading are the doubtful names that stand before a number, in any case: Rs 500. Of the
// others only those in capitals do, for "won 3 prizes" and "Calle Sol 12" are no money.
var leading = wordSet("rs rp fr sfr bs rm kd jd dh dhs gs ft đ r rs. rp. fr. sfr. bs.")

// lowerCodes are the ISO codes that count in lower case too; others are words or
// abbreviations there, as "ils", "pen", "sek" and "cad." are.
var lowerCodes = wordSet("usd eur gbp chf jpy inr brl pln czk nok dkk huf mxn aud nzd hkd sgd twd cny krw thb vnd idr" +
	" myr php zar ngn kes egp aed sar qar kwd bhd omr jod uah rub kzt clp uyu pkr lkr bgn rsd isk")

// wordCodes are the ISO codes that are words in lower case, also where they are the
// catalog's own.
var wordCodes = wordSet("ALL BAM BOB CAD COP CUP GEL LAK MAD MOP MUR PEN RON SEK SOS TOP TRY")

// qualifiers stand between a number and the name of its currency.
var qualifiers = wordSet(`us american canadian australian singapore swiss schweizer mexican bahraini kuwaiti jordanian indian swedish
	norwegian danish czech british polish turkish in de of more extra full whole σε`)

// labels stand before the number of a thing.
var labels = wordSet("nr no n num número numero level room raum zimmer niveau nivel sala salle aula livello номер № класс")

// minorNames are the words for a smaller unit, of whatever currency, with its decimals.
var minorNames = minorTable{
	2: "cent cents centů centy centów centa centų ¢ centavo centavos céntimo céntimos centime centimes centesimo centesimi cêntimo cêntimos" +
		" senttiä senttia kuruş kuruştur rappen eurocent eurocents σεντ σεντς цент цента центов центы копеек копейки копейка копейку коп" +
		" копійок копійки grosz grosze groszy groszami haléř haléře haléřů fillér paise paisa पैसे पैसा öre øre pence стотинки стотинок" +
		" bani kobo agorot אגורות قرش قروش قرشا سنت سنتا سنتات هلله هللات",
	3: "fils فلس فلسا فلسات baisa بيسه millimes millime مليم مليما",
}.compile()

// minorsBehind are the words that name a smaller unit only right behind a whole amount,
// for they have other meanings: 12 zł 90 gr.
var minorsBehind = minorTable{
	2: "gr ct cts c p λεπτα λεπτο lepta sen penny halalas halala 分 角",
}.compile()

type minorTable map[int]string

func (t minorTable) compile() map[string]int {
	all := map[string]int{}
	for decimals, list := range t {
		for name := range strings.FieldsSeq(list) {
			all[foldName(name)] = decimals
		}
	}
	return all
}

// scriptsWithoutSpaces name a currency right behind the number, whatever word follows.
var scriptsWithoutSpaces = strings.Fields(foldName("円 元 块 圆 원 บาท ยูโร ユーロ ドル 欧元 美元 유로 달러 人民币 엔"))

// noUnit is of the words that only begin as a currency does.
const noUnit unit = "-"

// nameTable lists the names of each unit, lower case, with spaces between.
type nameTable map[unit]string

// names are the units of whole names, and of beginnings, which end in a hyphen.
type names map[string]unit

func (t nameTable) compile() names {
	all := names{}
	for u, list := range t {
		for name := range strings.FieldsSeq(list) {
			all[foldName(name)] = u
		}
	}
	return all
}

// foldName writes a word as names are compared: lower case, without the accents of
// Latin, Greek and Cyrillic letters and without the vowels and the letter forms that
// Arabic writers leave out or mix. The vowel signs of other scripts stay.
func foldName(word string) string {
	if strings.IndexFunc(word, func(r rune) bool { return r >= 0x80 }) < 0 {
		return strings.ToLower(word)
	}
	return strings.Map(func(r rune) rune {
		switch {
		case 0x300 <= r && r <= 0x36f, 0x591 <= r && r <= 0x5c7, 0x64b <= r && r <= 0x652, r == 0x670, r == 'ـ':
			return -1
		case r == 'ة':
			return 'ه'
		case r == 'ی', r == 'ى':
			return 'ي'
		case r == 'ک':
			return 'ك'
		case r == 'ς':
			return 'σ'
		}
		return unicode.ToLower(r)
	}, norm.NFD.String(word))
}

// of is the unit that a folded word names.
func (n names) of(word string) (unit, bool) {
	if u, ok := n[word]; ok {
		return u, true
	}
	if u, ok := n.inflected(word); ok {
		return u, u != noUnit
	}
	for _, name := range scriptsWithoutSpaces {
		if u, ok := n[name]; ok && strings.HasPrefix(word, name) {
			return u, true
		}
	}
	for _, article := range arabicPrefixes {
		if bare, ok := strings.CutPrefix(word, article); ok && word[0] >= 0x80 {
			return n.of(bare)
		}
	}
	return "", false
}

// inflected is the unit of the longest beginning that a word has.
func (n names) inflected(word string) (unit, bool) {
	for stem, ending := word, 0; ending <= 5 && stem != ""; ending++ {
		if u, ok := n[stem+"-"]; ok {
			letters := utf8.RuneCountInString(stem)
			return u, letters > 4 || ending < 3 || letters == 4 && ending == 3
		}
		_, size := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-size]
	}
	return "", false
}

// arabicPrefixes are the article, "with", "for" and "and", which a word is written with.
var arabicPrefixes = strings.Fields("وبال بال وال ال لل ب و ل")

func (n names) has(word string) bool {
	_, ok := n.of(word)
	return ok
}

func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

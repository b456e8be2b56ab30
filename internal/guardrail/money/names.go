package money

import (
	"strings"
	"unicode/utf8"
)

// currencyNames recognise amounts, also in currencies that the catalog does not use.
// A name that ends in a hyphen is the beginning of one: up to three letters may follow, or
// two after three letters and fewer.
var currencyNames = nameTable{
	"EUR": "euro- evro- ευρώ ευρω евро- 欧元 歐元 ユーロ 유로 يورو یورو यूरो ยูโร eur",
	dollarNames: "dollar- dólar- dolar- dolár- dollari доллар- δολάριο δολάρια δολαρίων 美元 ドル 달러 دولار دلار डॉलर ดอลลาร์" +
		" bucks usd",
	pesos:                 "pesos песо",
	"BRL":                 "reais brl",
	francs:                "francs franken franchi franków франк- フラン chf",
	"JPY":                 "yen jpy 円 日元 엔",
	"CNY":                 "yuan cny rmb 人民币 人民幣 块 юан-",
	"CNY HKD MOP SGD TWD": "元 圆",
	"KRW":                 "원 krw",
	rupees:                "rupee- rupia- rupiah- roupie- rupie рупи- रुपये रुपया रुपए रुपयों रु रू روپیه روبية",
	"INR":                 "inr",
	"RUB BYN":             "rublo- rubel- ruble- рубл- руб рублей р rub",
	"UAH":                 "грн гривн- hryvni-",
	"PLN":                 "złot- zł zloty- zlotych zl злот- pln",
	"TRY LBP SYP":         "lira- ليرة лир-",
	"AED MAD":             "dirham- درهم دراهم",
	"SAR QAR OMR YER IRR": "riyal- ريال ریال ريالات ريالا",
	dinars:                "dinar- دينار دنانير دينارا динар-",
	"HUF":                 "forint- huf",
	"CZK":                 "kč korun- czk",
	"NGN":                 "naira-",
	"GBP":                 "sterling quid στερλίνες gbp",
	"EGP SDG GBP":         "جنيه جنيها",
	"TRY":                 "tl",
	"IRT":                 "تومان toman-", // ten rials each, and no code of ISO 4217
	"BTC":                 "btc usdt bitcoin-",
	"THB":                 "baht บาท",
	"MYR":                 "ringgit-",
	"ILS":                 "shekel- nis שקל שקלים ש״ח ש\"ח",
	"GTQ":                 "quetzal-",
	"PYG":                 "guaraní guaraníes",
	"HNL":                 "lempira-",
	"CRC":                 "colones",
	"VES VED":             "bolívar-",
	"PEN":                 "soles s/ s/.",
	"VND":                 "đồng vnđ",
	"KZT":                 "тенге tenge",
	"PHP":                 "piso",
	"KES":                 "ksh kshs",
	"TWD":                 "ntd",
	"RON":                 "ron",
	crowns:                "krona- kronor kronen krone- kroner kr",
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
	pounds:    "pound pounds libra libras",
	"ZAR":     "rand r",
	"RON MDL": "lei leu лей леев",
	"BRL":     "real",
	"KRW":     "won",
	"PEN":     "sol",
	rupees:    "rs rp",
	pesos:     "peso",
	"VND":     "đ dong",
	"HUF":     "ft",
	"MYR":     "rm",
	"BGN":     "лв лева лев",
}.compile()

// ownNames are abbreviations that count only for a catalog in their currency.
var ownNames = nameTable{
	francs:        "fr sfr franc fcfa f",
	"TRY LBP SYP": "lire",
	"BOB VES":     "bs",
	"GTQ":         "q",
	"HNL":         "l",
	"KWD":         "kd",
	"JOD":         "jd",
	"SAR":         "sr",
	"AED MAD":     "dh dhs",
	"EGP":         "le",
	"ETB BYN":     "br",
	"RSD":         "din",
	"MKD":         "den",
	"PYG":         "gs",
	"CRC":         "colón",
}.compile()

// lowerCodes are the ISO codes that count in lower case too; others are words there.
var lowerCodes = wordSet("usd eur gbp chf jpy inr brl pln czk sek nok dkk huf mxn cad aud nzd hkd sgd twd cny krw thb vnd idr" +
	" myr php zar ngn kes egp aed sar qar kwd bhd omr jod ils uah rub kzt clp pen uyu pkr lkr bgn rsd isk")

// qualifiers stand between a number and the name of its currency.
var qualifiers = wordSet(`us american canadian australian singapore swiss schweizer mexican bahraini kuwaiti jordanian indian swedish
	norwegian danish czech british polish turkish in de of more extra full whole σε`)

// labels stand before the number of a thing.
var labels = wordSet("nr no n num número numero level room raum zimmer niveau nivel sala salle aula livello номер № класс")

// centNames are words for a hundredth of whatever currency.
var centNames = wordSet("cent cents ¢ centavo centavos céntimo céntimos centime centimes centesimi rappen" +
	" копеек копейки копейка grosz grosze groszy paise öre øre pence")

// scriptsWithoutSpaces name a currency right behind the number, whatever word follows.
var scriptsWithoutSpaces = strings.Fields("円 元 块 圆 원 บาท ยูโร ユーロ ドル 欧元 美元 유로 달러 人民币 엔")

// nameTable lists the names of each unit, lower case, with spaces between.
type nameTable map[unit]string

// names are the units of whole names, and of beginnings, which end in a hyphen.
type names map[string]unit

func (t nameTable) compile() names {
	all := names{}
	for u, list := range t {
		for name := range strings.FieldsSeq(list) {
			all[name] = u
		}
	}
	return all
}

// of is the unit that a lower-case word names.
func (n names) of(word string) (unit, bool) {
	if u, ok := n[word]; ok {
		return u, true
	}
	for stem, ending := word, 0; ending <= 3 && stem != ""; ending++ {
		if ending < 3 || utf8.RuneCountInString(stem) > 3 {
			if u, ok := n[stem+"-"]; ok {
				return u, true
			}
		}
		_, size := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-size]
	}
	for _, name := range scriptsWithoutSpaces {
		if strings.HasPrefix(word, name) {
			return n[name], true
		}
	}
	return "", false
}

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

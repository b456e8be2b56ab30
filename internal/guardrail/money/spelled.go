package money

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// spelled finds the amounts of which the number is written in words: "two hundred and
// forty euros", "zweihundertvierzig Euro", "五千円". One alone is an article in many
// languages and no amount.
func (c currencyWords) spelled(text string) []amount {
	var out []amount
	var run []int // the number that ends before this word
	just := false // the word before made an amount
	for word, joined := range words(text) {
		if !joined {
			run = nil
		}
		if first, _ := utf8.DecodeRuneInString(word); unicode.IsDigit(first) {
			if joined && just {
				out = out[:len(out)-1] // two EUR 240: the currency is of the numeral
			}
			run, just = nil, false
			continue
		}
		just = false
		values, ok := splitNumber(foldNumber(word))
		switch {
		case ok:
			run = append(run, values...)
			continue
		case run != nil && ands[strings.ToLower(word)]:
			continue
		}
		number, name := total(run), word
		if number == 0 && word[0] >= 0x80 {
			number, name = hanAmount(word)
		}
		if run = nil; number < 2 {
			continue
		}
		found, ok := c.named(name)
		if sign, _ := utf8.DecodeRuneInString(name); unicode.Is(unicode.Sc, sign) {
			found, ok = currency{unit: ofSign("", sign)}, true
		}
		if ok {
			out = append(out, spelledAmount(number, found))
			just = true
		}
	}
	return out
}

func spelledAmount(number int, found currency) amount {
	reading := strconv.Itoa(number)
	if found.cents {
		reading = hundredth(reading)
	}
	return amount{readings: []string{reading}, currency: found}
}

// words are the words, the currency signs and the numerals of a text, and whether only
// spaces, or a hyphen, join each to the one before.
func words(text string) func(yield func(string, bool) bool) {
	return func(yield func(string, bool) bool) {
		for rest, joined := text, false; rest != ""; {
			end := strings.IndexFunc(rest, func(r rune) bool { return !isWord(r) && !unicode.IsMark(r) })
			if end < 0 {
				end = len(rest)
			}
			if end == 0 {
				r, size := utf8.DecodeRuneInString(rest)
				end = size
				switch {
				case unicode.Is(unicode.Sc, r):
					if !yield(rest[:end], joined) {
						return
					}
					joined = false
				case !isGap(r) && r != '-':
					joined = false
				}
				rest = rest[end:]
				continue
			}
			if !yield(rest[:end], joined) {
				return
			}
			rest, joined = rest[end:], true
		}
	}
}

// numberWords are the words of numbers, folded, as they stand alone or in a compound.
var numberWords = numberTable{
	1:       "one un uno una um uma une ein eins eine ένα один одна jeden bir",
	2:       "two dos dois duas deux due zwei zwo δύο δυο два две dwa iki",
	3:       "three tres três trois tre drei τρία три trzy üç",
	4:       "four cuatro quatro quatre quattro vier τέσσερα четыре cztery dört",
	5:       "five cinco cinq cinque fünf πέντε пять pięć beş",
	6:       "six seis sei sechs έξι шесть sześć altı",
	7:       "seven siete sete sept sette sieben επτά εφτά семь siedem yedi",
	8:       "eight ocho oito huit otto acht οκτώ οχτώ восемь osiem sekiz",
	9:       "nine nueve nove neuf neun εννέα εννιά девять dziewięć dokuz",
	10:      "ten diez dieci dez dix zehn δέκα десять dziesięć",
	11:      "eleven once onze undici elf έντεκα одиннадцать jedenaście",
	12:      "twelve doce doze douze dodici zwölf δώδεκα двенадцать dwanaście",
	13:      "thirteen trece treze treize tredici dreizehn тринадцать trzynaście",
	14:      "fourteen catorce quatorze catorze quattordici vierzehn четырнадцать czternaście",
	15:      "fifteen quince quinze quindici fünfzehn пятнадцать piętnaście",
	16:      "sixteen dezesseis dezasseis seize sedici sechzehn шестнадцать szesnaście",
	17:      "seventeen dezessete dezassete diciassette siebzehn семнадцать siedemnaście",
	18:      "eighteen dezoito diciotto achtzehn восемнадцать osiemnaście",
	19:      "nineteen dezenove dezanove diciannove neunzehn девятнадцать dziewiętnaście",
	20:      "twenty veinte veinti vinte vingt venti vent zwanzig είκοσι двадцать dwadzieścia yirmi",
	30:      "thirty treinta trinta trente trenta trent dreißig dreissig τριάντα тридцать trzydzieści otuz",
	40:      "forty fourty cuarenta quarenta quarante quaranta quarant vierzig σαράντα сорок czterdzieści kırk",
	50:      "fifty cincuenta cinquenta cinquante cinquanta cinquant fünfzig πενήντα пятьдесят pięćdziesiąt elli",
	60:      "sixty sesenta sessenta soixante sessanta sessant sechzig εξήντα шестьдесят sześćdziesiąt altmış",
	70:      "seventy setenta septante settanta settant siebzig εβδομήντα семьдесят siedemdziesiąt yetmiş",
	80:      "eighty ochenta oitenta ottanta ottant achtzig ογδόντα восемьдесят osiemdziesiąt seksen huitante",
	90:      "ninety noventa nonante novanta novant neunzig ενενήντα девяносто dziewięćdziesiąt doksan",
	100:     "hundred cien ciento cem cento cent cents hundert εκατό εκατόν сто sto yüz",
	200:     "doscientos doscientas duzentos duzentas διακόσια двести dwieście",
	300:     "trescientos trescientas trezentos trezentas τριακόσια триста trzysta",
	400:     "cuatrocientos quatrocentos τετρακόσια четыреста czterysta",
	500:     "quinientos quinhentos πεντακόσια пятьсот pięćset",
	600:     "seiscientos seiscentos εξακόσια шестьсот sześćset",
	700:     "setecientos setecentos επτακόσια εφτακόσια семьсот siedemset",
	800:     "ochocientos oitocentos οκτακόσια οχτακόσια восемьсот osiemset",
	900:     "novecientos novecentos εννιακόσια девятьсот dziewięćset",
	1000:    "thousand mil mille mila tausend χίλια χιλιάδες тысяча тысячи тысяч tysiąc tysiące tysięcy bin",
	1000000: "million millions millón millones milhão milhões milione milioni millionen εκατομμύριο миллион",
}.compile()

type numberTable map[int]string

func (t numberTable) compile() map[string]int {
	all := map[string]int{}
	for value, list := range t {
		for word := range strings.FieldsSeq(foldNumber(list)) {
			all[word] = value
		}
	}
	return all
}

// foldNumber takes case and accents off a word.
func foldNumber(word string) string {
	if isASCII(word) {
		return strings.ToLower(word)
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsMark(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, norm.NFKD.String(word))
}

// maxNumberWord bounds the search for a compound, in bytes: the longest below a million
// in German has fewer.
const maxNumberWord = 64

// splitNumber is what the parts of a folded number word say, which may be a compound.
func splitNumber(word string) ([]int, bool) {
	if value, ok := numberWords[word]; ok {
		return []int{value}, true
	}
	if len(word) < 6 || len(word) > maxNumberWord {
		return nil, false
	}
	for i := len(word) - 2; i >= 2; i-- {
		value, ok := numberWords[word[:i]]
		if !ok {
			continue
		}
		for _, joint := range [...]string{"", "und"} {
			if rest, ok := strings.CutPrefix(word[i:], joint); ok {
				if values, ok := splitNumber(rest); ok {
					return append([]int{value}, values...), true
				}
			}
		}
	}
	return nil, false
}

// total is the number that the parts make; 0: none. Hundreds and thousands multiply what
// stands before them, and a French 20 multiplies 4.
func total(parts []int) int {
	sum, part := 0, 0
	for _, value := range parts {
		switch {
		case value >= 1000:
			sum, part = sum+max(part, 1)*value, 0
		case value == 100, value == 20 && part%100 == 4:
			low := part % 100
			part += max(low, 1)*value - low
		default:
			part += value
		}
	}
	return sum + part
}

// hanAmount is the number that Han numerals write before a currency in a word, and the
// rest of the word; 0: there is none.
func hanAmount(word string) (number int, name string) {
	const digits = "〇一二三四五六七八九"
	section, digit := 0, 0
	for i, r := range word {
		value := strings.IndexRune(digits, r) / len("〇")
		switch {
		case strings.ContainsRune(digits, r):
			digit = value
		case r == '两' || r == '兩':
			digit = 2
		case strings.ContainsRune("十百千", r):
			section += max(digit, 1) * map[rune]int{'十': 10, '百': 100, '千': 1000}[r]
			digit = 0
		case r == '万' || r == '萬':
			number, section, digit = max(section+digit, 1)*10000, 0, 0
		default:
			if number += section + digit; number > 0 {
				return number, word[i:]
			}
		}
	}
	return 0, ""
}

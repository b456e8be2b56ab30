package number

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Of is what the parts of a word say, which may be a compound, as zweihundertvierzig is.
func Of(word string) ([]int, bool) { return split(fold(word)) }

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
	1e5:     "lakh lakhs lac lacs",
	1e7:     "crore crores",
	1000000: "million millions millón millones milhão milhões milione milioni millionen εκατομμύριο миллион",
	1e9:     "billion billions milliard milliards milliarde milliarden miliardo miliardi bilhão bilhões δισεκατομμύρια миллиард miliard",
}.compile()

type numberTable map[int]string

func (t numberTable) compile() map[string]int {
	all := map[string]int{}
	for value, list := range t {
		for word := range strings.FieldsSeq(fold(list)) {
			all[word] = value
		}
	}
	return all
}

// fold takes case and accents off a word.
func fold(word string) string {
	if strings.IndexFunc(word, func(r rune) bool { return r >= 0x80 }) < 0 {
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

// split is what the parts of a folded number word say, which may be a compound.
func split(word string) ([]int, bool) {
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
				if values, ok := split(rest); ok {
					return append([]int{value}, values...), true
				}
			}
		}
	}
	return nil, false
}

// Total is the number that the parts make; 0: none. Hundreds and thousands multiply what
// stands before them, and a French 20 multiplies 4.
func Total(parts []int) int {
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

// Han is the number that Han numerals write before a currency in a word, and the
// rest of the word; 0: there is none.
func Han(word string) (number int, name string) {
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

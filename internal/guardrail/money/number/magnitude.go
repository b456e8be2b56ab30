package number

import "unicode"

// magnitudes are the words that multiply the number before them, by the power of ten.
// An amount with one has the exact value of both: 1.2 thousand is 1200, and 2k is not 1999.
var magnitudes = numberTable{
	2: "hundred",
	3: `thousand thousands thou mil mila mille miles tausend tsd χιλιάδες χιλ тысяч тысячи тысяча тыс тыщ हज़ार हजार ألف ألفا الف آلاف الاف هزار
		bin tys tysiące tysięcy tysiąc tisíc tisíce tuhat tuhatta ezer mii tusen tusind duizend ribu rb nghìn ngàn พัน`,
	4: "หมื่น",
	5: "lakh lakhs lac lacs लाख แสน",
	6: `million millions mn millón millones milhão milhões millionen milioni milione mio εκατομμύρια εκ млн миллион миллиона миллионов
		مليون ملايين میلیون milyon mln milion miliony milionů milionów millió miljoner miljoona juta jt triệu ล้าน`,
	7: "crore crores करोड़",
	9: `milliarden mrd milliard milliards mld mlrd mia млрд миллиард миллиарда миллиардов مليار میلیارد milyar miliard miliarda tỷ tỉ
		billion billions bn bln bilhão bilhões milliarde miliardo miliardi miljarder miljard milliarder δισεκατομμύρια δις miliar अरब`,
	12: "trillion trillions trn billón billones billionen trilhão trilhões triliun",
}.compile()

// unspacedMagnitudes are those of scripts without spaces, which other words follow.
var unspacedMagnitudes = map[rune]int{'千': 3, '천': 3, '万': 4, '萬': 4, '만': 4, '億': 8, '亿': 8, '억': 8}

// RuneMagnitude is the power of ten that a rune of a script without spaces says, which
// other words may follow; 0: none.
func RuneMagnitude(r rune) int { return unspacedMagnitudes[r] }

// letters are short for a magnitude only where a currency stands on either side.
var letters = map[string]int{"k": 3, "K": 3, "к": 3, "К": 3, "T": 3, "m": 6, "M": 6, "mi": 6, "b": 9, "B": 9, "bi": 9}

// LetterMagnitude is the power of ten that a letter or two may say beside a currency; 0: none.
func LetterMagnitude(word []rune) int {
	if len(word) > 2 {
		return 0
	}
	return letters[string(word)]
}

// Magnitude is the power of ten that a word says; 0: none.
func Magnitude(word []rune) int {
	if len(word) > maxMagnitude {
		return 0
	}
	var lower [maxMagnitude]byte
	for i, r := range word {
		if r >= 0x80 {
			return magnitudes[fold(string(word))]
		}
		lower[i] = byte(unicode.ToLower(r))
	}
	return magnitudes[string(lower[:len(word)])]
}

// maxMagnitude is the most runes of a word of magnitude; the longest is δισεκατομμύρια.
const maxMagnitude = 14

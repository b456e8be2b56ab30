package prompt

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// wide appends what a character beyond ASCII, at the start of text, reads as: the kind
// of its look-alike, or those of the characters that it folds to (full width,
// mathematical, circled and accented letters).
func wide(kinds []byte, r rune, text string) []byte {
	if k := lookAlike(r); k != 0 {
		return append(kinds, k)
	}
	decomposed := norm.NFKD.PropertiesString(text).Decomposition()
	if len(decomposed) == 0 {
		return addKind(kinds, class(r))
	}
	for _, d := range string(decomposed) {
		switch k := lookAlike(d); {
		case d < utf8.RuneSelf:
			kinds = addKind(kinds, ascii(byte(d)))
		case k != 0:
			kinds = append(kinds, k)
		default:
			kinds = addKind(kinds, class(d))
		}
	}
	return kinds
}

// wideLetters appends the letters among the kinds that wide would.
func wideLetters(kinds []byte, r rune, text string) []byte {
	if k := lookAlike(r); k != 0 {
		return append(kinds, k)
	}
	for _, d := range string(norm.NFKD.PropertiesString(text).Decomposition()) {
		if d < utf8.RuneSelf {
			kinds = append(kinds, ascii(byte(d)))
		} else if k := lookAlike(d); k != 0 {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

func addKind(kinds []byte, k byte) []byte {
	if k == unseen {
		return kinds
	}
	return append(kinds, k)
}

// class is the kind of a character beyond ASCII that looks like no letter of the markers.
func class(r rune) byte {
	switch {
	case r == 0x07FA: // NKO LAJANYALAN
		return joint
	case isAngle(r):
		return angle
	case r == '\u0085', r == '\u2028', r == '\u2029':
		return newline
	case r != 0x3164 && r != 0xFFA0 && r != 0x115F && r != 0x1160 && unicode.IsLetter(r): // all but the fillers, which do not show
		return solid
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Zs, unicode.Cc, unicode.Other_Default_Ignorable_Code_Point):
		return unseen
	case isRound(r):
		return round
	case unicode.Is(unicode.Pc, r):
		return joint
	case unicode.IsNumber(r), unicode.Is(unicode.Mc, r):
		return solid
	}
	return rule
}

// isAngle holds for every bracket that is not round, with what looks like an angle
// bracket and is none.
func isAngle(r rune) bool {
	switch r {
	case '‘', '’', '‚', '‛', '“', '”', '„', '‟', '⹂', '〝', '〞', '〟': // brackets to Unicode, quotes to people
		return false
	case '‹', '›', '«', '»', '˂', '˃', 'ᐸ', 'ᐳ', 'ᚲ', '≪', '≫', '⋘', '⋙', '≺', '≻', '⋖', '⋗', '⪡', '⪢', '⪻', '⪼', '⨠',
		'≶', '≷', '⩽', '⩾', '⊰', '⊱', '⥶', '⥸', 0x16F3F, 0x1D236, 0x1D237:
		return true
	}
	return !isRound(r) && unicode.In(r, unicode.Ps, unicode.Pe)
}

func isRound(r rune) bool {
	switch r {
	case '﴾', '﴿', '❨', '❩', '❪', '❫', '⟮', '⟯', '⦅', '⦆', '⸨', '⸩':
		return true
	}
	return false
}

// lookAlike is the letter of the markers that a character looks like, or 0. The tables
// are Unicode's confusables (UTS #39) of these ten letters and of 0, with their other
// case, and the letters that Unicode names as a small capital or as a turned, barred or
// hooked form. What folds to one of them, or to ASCII, is left out.
func lookAlike(r rune) byte {
	switch {
	case r < utf8.RuneSelf:
		return 0
	case 0x1F150 <= r && r <= 0x1F169: // negative circled letters
		return 'A' + byte(r-0x1F150)
	case 0x1F170 <= r && r <= 0x1F189: // negative squared letters
		return 'A' + byte(r-0x1F170)
	case 0x1F1E6 <= r && r <= 0x1F1FF: // regional indicators, the halves of flags
		return 'A' + byte(r-0x1F1E6)
	}
	switch r {
	case 'Ⱥ', 'ɐ', 'ɑ', 'Α', 'α', 'А', 'а', 'Ꭺ', 'ᗅ', 'ᴀ', 'ᶏ', '⍶', '⍺', 'ⱥ', 'Ɑ', 'Ɐ', 'ꓮ', 'ꭺ', '𐊠', '𖽀':
		return 'A'
	case '¢', 'Ƈ', 'ƈ', 'Ȼ', 'ȼ', 'ɕ', 'ʗ', 'ϲ', 'Ϲ', 'С', 'с', 'Ҫ', 'ҫ', 'Ꮯ', 'ᴄ', '₡', 'Ↄ', 'ↄ', 'Ⲥ', 'ⲥ', 'ꓚ', 'Ꜿ',
		'ꜿ', 'Ꞓ', 'ꞓ', 'ꞔ', 'Ꞔ', 'ꮯ', '𐊢', '𐌂', '𐐕', '𐐽', '𐔜', '𑣩', '𑣲', '𝼏', '𝼝', '🅮', '🝌':
		return 'C'
	case 'Ð', 'ð', 'Đ', 'đ', 'Ɖ', 'Ɗ', 'Ƌ', 'ƌ', 'ȡ', 'ɖ', 'ɗ', 'Ԁ', 'ԁ', 'Ꭰ', 'Ꮷ', 'ᑯ', 'ᗞ', 'ᗪ', 'ᴅ', 'ᵭ', 'ᶁ', 'ᶑ',
		'₫', 'ꓒ', 'ꓓ', 'Ꝺ', 'ꝺ', 'Ꟈ', 'ꟈ', 'ꭰ', 'ꮷ', 0x1DF25:
		return 'D'
	case 'Ǝ', 'Ɛ', 'ǝ', 'Ɇ', 'ɇ', 'ɘ', 'ɛ', 'ɜ', 'ɝ', 'Ε', 'ε', 'Є', 'Е', 'е', 'є', 'Ҽ', 'ҽ', 'Ҿ', 'ҿ', 'Ꭼ', 'ᴇ', 'ᴈ',
		'ᶒ', 'ᶓ', 'ᶔ', '℮', '⋿', 'ⱸ', 'ⱻ', 'ⴹ', 'ꓰ', 'Ɜ', 'ꬲ', 'ꬳ', 'ꬴ', 'ꭼ', '𐊆', '𑢦', '𑢮', '𑣆', '𑣎':
		return 'E'
	case 'ƍ', 'Ɠ', 'Ǥ', 'ǥ', 'ɠ', 'ɡ', 'ɢ', 'ʛ', 'Ԍ', 'ԍ', 'Ց', 'ց', 'Ꮐ', 'Ᏻ', 'ᏻ', 'ᵷ', 'ᵹ', 'ᶃ', 'ꓖ', 'Ᵹ', 'Ꝿ', 'ꝿ',
		'Ꞡ', 'ꞡ', 'Ɡ', 'ꬶ', 'ꮐ', '𝼁', '𝼂':
		return 'G'
	case 'Ɯ', 'ɯ', 'ɰ', 'ɱ', 'Μ', 'μ', 'Ϻ', 'ϻ', 'М', 'м', 'Ӎ', 'ӎ', 'Ꮇ', 'ᗰ', 'ᛖ', 'ᴍ', 'ᴟ', 'ᵯ', 'ᶆ', '₥', 'Ɱ', 'Ⲙ',
		'ⲙ', 'ꓟ', 'ꟺ', 'ꬺ', 'ꮇ', '𐊰', '𐌑', '𑜀', '𑣣':
		return 'M'
	case 'Ɲ', 'ƞ', 'Ƞ', 'ȵ', 'ɲ', 'ɳ', 'ɴ', 'Ν', 'η', 'ν', 'П', 'п', 'Ո', 'Ռ', 'ո', 'ռ', 'ᴎ', 'ᵰ', 'ᶇ', 'Ⲛ', 'ⲛ', 'ꓠ',
		'Ꞑ', 'ꞑ', 'Ꞥ', 'ꞥ', 'ꬻ', '𐆎', '𐔓', 0x1DF27:
		return 'N'
	case 'Ø', 'ø', 'Ɔ', 'Ɵ', 'ɔ', 'ɵ', 'Θ', 'Ο', 'θ', 'ο', 'σ', 'О', 'о', 'Ѳ', 'ѳ', 'Ө', 'ө', 'Օ', 'օ', 0x05E1,
		0x0647, 0x0665, 0x06BE, 0x06C1, 0x06D5, '۵', 0x06FF, 0x07C0, '०', '০', '੦', '૦', 'ଠ', '୦', '௦', 0x0C02, '౦',
		0x0C82, '೦', 0x0D02, 'ഠ', '൦', 0x0D82, '๐', '໐', 'ဝ', '၀', 'ჿ', 'ዐ', 'Ꭴ', 'Ꮎ', 'Ꮻ', 'Ჿ', 'ᴏ', 'ᴐ', 'ᴑ', 'ᴒ',
		'ᴓ', 'ᶗ', '⊖', '⊝', '⍬', 'ⱺ', 'Ⲟ', 'ⲟ', 'ⴱ', 'ⵁ', 'ⵔ', '〇', 'ꓳ', 'Ꝋ', 'ꝋ', 'Ꝍ', 'ꝍ', 'ꬽ', 'ꬾ', 'ꬿ', 'ꭴ', 'ꮎ',
		'ꮻ', '𐊒', '𐊫', '𐐄', '𐐬', '𐓂', '𐓪', '𐔖', '𑓐', '𑢨', '𑢵', '𑢷', '𑣈', '𑣕', '𑣗', '𑣠', '𝈚', '𝼛', '🜔':
		return 'O'
	case 'Ƽ', 'ƽ', 'ȿ', 'ʂ', 'Ѕ', 'ѕ', 'Տ', 'տ', 'Ꮥ', 'Ꮪ', 'ᵴ', 'ᶊ', 'Ȿ', 'ꓢ', 'ꜱ', 'Ꞅ', 'ꞅ', 'Ꞩ', 'ꞩ', 'Ʂ', 'Ꟊ', 'ꟊ',
		'ꮥ', 'ꮪ', '𐊖', '𐐠', '𐑈', '𑢡', '𑣁', '𖼺', '𝼞', 0x1DF29:
		return 'S'
	case 'Ŧ', 'ŧ', 'ƫ', 'Ƭ', 'ƭ', 'Ʈ', 'ȶ', 'Ⱦ', 'ʇ', 'ʈ', 'Τ', 'τ', 'Т', 'т', 'Ҭ', 'ҭ', 'Ꭲ', 'ᴛ', 'ᵵ', '₮', '⊤', '⍡',
		'⟙', 'ⱦ', 'Ⲧ', 'ⲧ', 'ꓔ', 'Ꞇ', 'ꞇ', 'Ʇ', 'ꭲ', '𐊗', '𐊱', '𐌕', '𑢼', '𑣜', '𖼊', '𝼉', '𝼍', 0x1DF2A, '🝨':
		return 'T'
	}
	return 0
}

package guardrail

import "strings"

// currencyNames are the beginnings of currency names that mean nothing else beside a
// number; up to two letters may follow. They recognise amounts, also in currencies that
// the catalog does not use.
var currencyNames = [...]struct {
	names string
	unit  unit
}{
	{" euro evro ευρώ евро 欧元 歐元 ユーロ يورو ", "EUR"},
	{" dollar dólar dolar доллар ", dollars},
	{" peso ", pesos},
	{" reais ", "BRL"},
	{" franc franken ", francs},
	{" yen 円 ", "JPY"},
	{" yuan ", "CNY"},
	{" 元 ", "CNY HKD MOP SGD TWD"},
	{" 원 ", "KRW"},
	{" rupee rupia rupiah roupie ", rupees},
	{" rublo rubel ruble рубл руб ", "RUB BYN"},
	{" грн гривн ", "UAH"},
	{" złot zł zloty ", "PLN"},
	{" lira lire ", "TRY LBP SYP"},
	{" dirham ", "AED MAD"},
	{" riyal ", "SAR QAR OMR YER IRR"},
	{" dinar ", dinars},
	{" forint ", "HUF"},
	{" kč korun ", "CZK"},
	{" naira ", "NGN"},
	{" sterling ", "GBP"},
	{" tl ", "TRY"},
	{" btc usdt bitcoin ", "BTC"}, // no code of ISO 4217, and so no catalog's
	{" baht ", "THB"},
	{" ringgit ", "MYR"},
	{" shekel ", "ILS"},
	{" quetzal ", "GTQ"},
	{" guaraní ", "PYG"},
	{" lempira ", "HNL"},
	{" colones ", "CRC"},
	{" bolívar ", "VES VED"},
	{" soles ", "PEN"},
	{" krona kronor krone kroner kr ", crowns},
}

// ambiguousNames are words for other things too: each counts only for a catalog in its
// currency, and beside a number that the catalog holds.
var ambiguousNames = [...]struct {
	names string
	unit  unit
}{
	{" pound pounds libra libras ", pounds},
	{" rand ", "ZAR"},
	{" lei ", "RON MDL"},
	{" real ", "BRL"},
	{" won ", "KRW"},
	{" sol ", "PEN"},
	{" rs ", rupees},
}

// ambiguous is what an ambiguous name may mean; empty for another word.
func ambiguous(word string) unit {
	for _, a := range ambiguousNames {
		if strings.Contains(a.names, " "+word+" ") {
			return a.unit
		}
	}
	return ""
}

// isName reports whether a word is one of names with at most two letters after it.
func isName(word, names string) bool {
	runes := []rune(word)
	for ending := 0; ending <= 2 && ending < len(runes); ending++ {
		if strings.Contains(names, " "+string(runes[:len(runes)-ending])+" ") {
			return true
		}
	}
	return false
}

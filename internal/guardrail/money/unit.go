package money

import (
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// unit is the currency that stands beside a number: the ISO codes, a space between,
// that a code, sign or name may mean; empty for a word that may mean any.
type unit string

// The currencies that share a sign or a name.
const (
	dollars     unit = "ARS AUD BBD BMD BND BRL BSD BZD CAD CLP COP CUP DOP FJD GYD HKD JMD KYD LRD MXN NAD NIO NZD PHP SBD SGD SRD TTD TWD USD UYU XCD"
	dollarNames unit = "AUD BBD BMD BND BSD BZD CAD FJD GYD HKD JMD KYD LRD NAD NZD SBD SGD SRD TTD TWD USD XCD"
	pesos       unit = "ARS CLP COP CUP DOP MXN PHP UYU"
	yens        unit = "JPY CNY"
	pounds      unit = "GBP EGP FKP GIP LBP SDG SHP SSP SYP"
	francs      unit = "CHF BIF CDF DJF GNF KMF RWF XAF XOF XPF"
	rupees      unit = "INR IDR LKR MUR NPR PKR SCR"
	crowns      unit = "CZK DKK ISK NOK SEK"
	dinars      unit = "BHD DZD IQD JOD KWD LYD MKD RSD TND"
)

// is reports whether two units may be the same currency.
func (u unit) is(other unit) bool {
	if u == "" || other == "" {
		return true
	}
	theirs := strings.Fields(string(other))
	return slices.ContainsFunc(strings.Fields(string(u)), func(code string) bool { return slices.Contains(theirs, code) })
}

// within is the unit as a text of a catalog means it, which has this main currency.
func (u unit) within(main unit) unit {
	if u != "" && u.is(main) {
		return main
	}
	return u
}

// hasThousandths reports whether the unit may be a currency of three decimals.
func (u unit) hasThousandths() bool {
	return slices.ContainsFunc(strings.Fields(string(u)), func(code string) bool { return tenant.Currency(code).Exponent() == 3 })
}

// signs are what the currency signs mean.
var signs = map[rune]unit{
	'$': dollars, '¥': yens, '£': pounds, '€': "EUR", '₹': "INR", '₽': "RUB", '₺': "TRY", '₴': "UAH", '₪': "ILS",
	'₫': "VND", '₦': "NGN", '₩': "KRW KPW", '₱': "PHP", '฿': "THB", '₡': "CRC SVC", '₲': "PYG", '₸': "KZT", '₾': "GEL",
	'֏': "AMD", '₵': "GHS", '৳': "BDT", '៛': "KHR", '₭': "LAK", '₮': "MNT", '؋': "AFN", '₼': "AZN", '₿': "BTC", '₨': rupees,
}

// dollarPrefixes say which dollars, pesos or reais a sign means.
var dollarPrefixes = map[string]unit{
	"us": "USD", "u": "USD UYU", "a": "AUD", "au": "AUD", "c": "CAD NIO", "ca": "CAD", "can": "CAD", "nz": "NZD", "hk": "HKD", "s": "SGD",
	"sg": "SGD", "nt": "TWD", "mx": "MXN", "mex": "MXN", "r": "BRL", "ar": "ARS", "col": "COP", "rd": "DOP", "j": "JMD",
	"tt": "TTD", "bz": "BZD", "n": "NAD", "clp": "CLP", "cop": "COP", "mxn": "MXN", "usd": "USD", "ars": "ARS",
}

// ofSign is the unit of a currency sign with the letters before it, as in R$; empty for
// a sign that is not listed.
func ofSign(prefix string, sign rune) unit {
	if u, ok := dollarPrefixes[strings.ToLower(prefix)]; ok && sign == '$' {
		return u
	}
	return signs[sign]
}

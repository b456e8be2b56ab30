package guardrail

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
	dollars unit = "ARS AUD BBD BMD BND BRL BSD BZD CAD CLP COP CUP DOP FJD GYD HKD JMD KYD LRD MXN NAD NIO NZD PHP SBD SGD SRD TTD TWD USD UYU XCD"
	pesos   unit = "ARS CLP COP CUP DOP MXN PHP UYU"
	yens    unit = "JPY CNY"
	pounds  unit = "GBP EGP FKP GIP LBP SDG SHP SSP SYP"
	francs  unit = "CHF BIF CDF DJF GNF KMF RWF XAF XOF XPF"
	rupees  unit = "INR IDR LKR MUR NPR PKR SCR"
	crowns  unit = "CZK DKK ISK NOK SEK"
	dinars  unit = "BHD DZD IQD JOD KWD LYD MKD RSD TND"
)

// is reports whether two units may be the same currency.
func (u unit) is(other unit) bool {
	if u == "" || other == "" {
		return true
	}
	theirs := strings.Fields(string(other))
	return slices.ContainsFunc(strings.Fields(string(u)), func(code string) bool { return slices.Contains(theirs, code) })
}

// hasThousandths reports whether the unit may be a currency of three decimals.
func (u unit) hasThousandths() bool {
	return slices.ContainsFunc(strings.Fields(string(u)), func(code string) bool { return tenant.Currency(code).Exponent() == 3 })
}

// ofSign is the unit of a currency sign; empty for one that is not listed.
func ofSign(sign rune) unit {
	switch sign {
	case '$':
		return dollars
	case '¥', '￥':
		return yens
	case '£':
		return pounds
	case '€':
		return "EUR"
	case '₹':
		return "INR"
	case '₽':
		return "RUB"
	case '₺':
		return "TRY"
	case '₴':
		return "UAH"
	case '₪':
		return "ILS"
	case '₫':
		return "VND"
	case '₦':
		return "NGN"
	case '₩':
		return "KRW"
	case '₱':
		return "PHP"
	case '฿':
		return "THB"
	case '₡':
		return "CRC"
	case '₲':
		return "PYG"
	}
	return ""
}

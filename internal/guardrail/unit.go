package guardrail

import "strings"

// unit is the currency that stands beside a number: an ISO code, a sign or name that
// several currencies share ("$", "¥"), or empty for a word that may be any.
type unit string

const (
	dollar unit = "$"
	yen    unit = "¥"
)

// is reports whether two units may be the same currency.
func (u unit) is(other unit) bool {
	return u == other || u == "" || other == "" || u.covers(other) || other.covers(u)
}

// covers reports whether u is a shared sign that may stand for a code: $ is the sign of
// dollars, pesos and the real.
func (u unit) covers(code unit) bool {
	const dollars = " ARS AUD BBD BMD BND BRL BSD BZD CAD CLP COP CUP DOP FJD GYD HKD JMD KYD LRD MXN NAD NIO NZD PHP SBD SGD SRD TTD TWD USD UYU XCD "
	switch u {
	case dollar:
		return strings.Contains(dollars, " "+string(code)+" ")
	case yen:
		return code == "JPY" || code == "CNY"
	}
	return false
}

// ofSign is the unit of a currency sign; empty when more than one country uses it.
func ofSign(sign rune) unit {
	switch sign {
	case '$':
		return dollar
	case '¥', '￥':
		return yen
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
	}
	return ""
}

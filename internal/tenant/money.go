package tenant

import (
	"strconv"
	"strings"
)

// Money is an amount in the minor units of its currency: 4900 EUR is 49.00 euros,
// 4900 JPY is 4900 yen, 4900 KWD is 4.900 dinars.
type Money struct {
	Amount   int64    `json:"amount" jsonschema:"required,minimum=0" jsonschema_description:"The amount in minor units of the currency (cents, for most)."`
	Currency Currency `json:"currency" jsonschema:"required,pattern=^[A-Z]{3}$" expect:"an ISO 4217 code such as EUR" jsonschema_description:"ISO 4217 code."`
}

// Decimal is the amount in major units with all the digits of the currency: "49.00".
func (m Money) Decimal() string {
	exponent := m.Currency.Exponent()
	sign, digits := "", strconv.FormatInt(m.Amount, 10)
	if m.Amount < 0 {
		sign, digits = "-", digits[1:]
	}
	if exponent == 0 {
		return sign + digits
	}
	digits = strings.Repeat("0", max(exponent+1-len(digits), 0)) + digits
	point := len(digits) - exponent
	return sign + digits[:point] + "." + digits[point:]
}

// String is the amount and its currency: "49.00 EUR".
func (m Money) String() string { return m.Decimal() + " " + string(m.Currency) }

// Currency is an ISO 4217 alphabetic code.
type Currency string

// currencies are the active codes of ISO 4217 that money can be quoted in; funds,
// metals and testing codes are left out.
const currencies = " AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD" +
	" CAD CDF CHF CLF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ" +
	" GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL" +
	" LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN" +
	" PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD" +
	" TWD TZS UAH UGX USD UYU UYW UZS VED VES VND VUV WST XAF XCD XCG XOF XPF YER ZAR ZMW ZWG "

// Valid reports whether the code is an active one of ISO 4217.
func (c Currency) Valid() bool {
	return len(c) == 3 && strings.Contains(currencies, " "+string(c)+" ")
}

// Exponent is the number of decimal digits of the minor unit, as ISO 4217 lists it.
func (c Currency) Exponent() int {
	switch c {
	case "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "VND", "VUV", "XAF", "XOF", "XPF":
		return 0
	case "BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND":
		return 3
	case "CLF", "UYW":
		return 4
	}
	return 2
}

package ordinary

import "strings"

// IsCurrency reports whether a word is a currency's code or name that stands beside amounts.
func IsCurrency(name string) bool {
	return name != "" && strings.Contains(currencyNames, " "+strings.ToLower(name)+" ")
}

// currencyNames are the codes and names of currencies that stand beside amounts.
const currencyNames = " eur euro euros usd dollar dollars dólares dolares gbp pound pounds sterling chf fr franken franc francs " +
	"brl r reais mxn cop clp ars uyu peso pesos pen sol soles gs guaraníes inr rs rupee rupees rupien pkr lkr " +
	"rub руб рублей рубля uah грн гривень kzt тенге тг try tl lira idr rp rupiah vnd đồng dong vnđ jpy yen 円 krw won 원 " +
	"cny rmb yuan 元 twd hkd sgd php myr rm thb baht บาท pln zł zloty złotych czk kč korun huf ft forint ron lei bgn лв " +
	"sek nok dkk kr kronor kroner aed sar درهم ريال جنيه egp ngn naira kes ksh ugx tzs zar rand xof xaf cfa fcfa " +
	"aud cad nzd ils irr تومان ریال crc colones "

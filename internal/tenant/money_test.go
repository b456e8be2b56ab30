package tenant_test

import (
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Holds docs/spec/10-config.md, "catalog.json": minor units follow the currency.
func TestMoneyString(t *testing.T) {
	tests := []struct {
		money tenant.Money
		want  string
	}{
		{tenant.Money{Amount: 4900, Currency: "EUR"}, "49.00 EUR"},
		{tenant.Money{Amount: 5, Currency: "EUR"}, "0.05 EUR"},
		{tenant.Money{Amount: 0, Currency: "USD"}, "0.00 USD"},
		{tenant.Money{Amount: -5, Currency: "USD"}, "-0.05 USD"},
		{tenant.Money{Amount: 4900, Currency: "JPY"}, "4900 JPY"},
		{tenant.Money{Amount: -12, Currency: "CLP"}, "-12 CLP"},
		{tenant.Money{Amount: 4900, Currency: "KWD"}, "4.900 KWD"},
		{tenant.Money{Amount: 7, Currency: "TND"}, "0.007 TND"},
		{tenant.Money{Amount: 123456, Currency: "CLF"}, "12.3456 CLF"},
	}
	for _, tt := range tests {
		if got := tt.money.String(); got != tt.want {
			t.Errorf("%+v = %q, want %q", tt.money, got, tt.want)
		}
	}
}

func TestCurrencyValid(t *testing.T) {
	for code, want := range map[tenant.Currency]bool{
		"EUR": true, "AED": true, "ZWG": true, "KWD": true, "eur": false, "DEM": false, "XXX": false, "": false, "EU": false, "R E": false,
	} {
		if got := code.Valid(); got != want {
			t.Errorf("%q valid = %v, want %v", code, got, want)
		}
	}
}

package number_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/guardrail/money/number"
)

// Holds docs/spec/04-agent.md, "Guardrails", 5: a numeral in any script and any locale's
// separators.
func TestReadings(t *testing.T) {
	for numeral, want := range map[string][]string{
		"240": {"240"}, "1.200,50": {"1200.5"}, "1,200.50": {"1200.5"}, "1 200,5": {"1200.5"}, "1,20,000": {"120000"}, "0.750": {"0.75"},
		"1.200": {"1200", "1.2"}, "٤٫٩٠٠": {"4900", "4.9"}, "１２，８００": {"12800", "12.8"}, "00": {"0"},
	} {
		sure, thousandths := number.Readings(strings.ReplaceAll(numeral, "，", ","))
		if thousandths != "" {
			sure = append(sure, thousandths)
		}
		if d := cmp.Diff(want, sure); d != "" {
			t.Errorf("%q (-want +got):\n%s", numeral, d)
		}
	}
}

// A number in words says the same in one word as in several.
func TestWords(t *testing.T) {
	for words, want := range map[string]int{
		"two hundred forty": 240, "zweihundertvierzig": 240, "quatre vingt dix": 90, "duecentoquaranta": 240, "двести сорок": 240,
		"doscientos cuarenta": 240, "yüz elli": 150, "three thousand five hundred": 3500, "trzy tysiące": 3000,
	} {
		var parts []int
		for word := range strings.FieldsSeq(words) {
			values, ok := number.Of(word)
			if !ok {
				t.Errorf("%q is no number", word)
			}
			parts = append(parts, values...)
		}
		if got := number.Total(parts); got != want {
			t.Errorf("%q = %d, want %d", words, got, want)
		}
	}
	if value, rest := number.Han("三千五百円"); value != 3500 || rest != "円" {
		t.Errorf("三千五百円 = %d and %q", value, rest)
	}
}

// A word of magnitude is a power of ten in any case and language; other words are none.
func TestMagnitudes(t *testing.T) {
	for word, want := range map[string]int{
		"thousand": 3, "Tsd": 3, "ТЫС": 3, "ألف": 3, "हज़ार": 3, "lakh": 5, "Mio": 6, "bn": 9, "bln": 9, "Billion": 9, "Mrd": 9,
		"δισεκατομμύρια": 9, "billones": 12, "k": 0, "evenings": 0, "": 0, "thousandsandthousands": 0,
	} {
		if got := number.Magnitude([]rune(word)); got != want {
			t.Errorf("%q = %d, want %d", word, got, want)
		}
	}
	for letter, want := range map[string]int{"k": 3, "K": 3, "T": 3, "m": 6, "B": 9, "x": 0, "km": 0, "": 0} {
		if got := number.LetterMagnitude([]rune(letter)); got != want {
			t.Errorf("%q = %d, want %d", letter, got, want)
		}
	}
}

// What is multiplied by a power of ten and divided again is as it was.
func TestShiftAndFraction(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := fmt.Sprint(rapid.Uint32().Draw(t, "number"))
		power := rapid.IntRange(1, 9).Draw(t, "power")
		if got := number.Shift(number.Fraction(whole, power), power); got != whole {
			t.Fatalf("%s by ten to the %d = %s", whole, power, got)
		}
		if got := number.Sum(whole, "0.5"); got != whole+".5" {
			t.Fatalf("%s and a half = %s", whole, got)
		}
	})
}

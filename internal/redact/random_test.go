package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"

	"github.com/manychat-agent/manychat-agent/internal/redact"
)

// dialled are the ways to write a phone number whose digits may be any.
var dialled = []string{
	"+## ### #######", "+##-(0)###-#######", "+# (###) ###-####", "+########", "+### ## ### ## ##", "00## ## ########",
	"(0###) ### ## ##", "0###/#######", "0#### ######", "0##-#### ####", "0# ## ## ## ##", "0#.##.##.##.##", "(0##) #####",
	"###-###-####", "(###) ###-####", "### ### ## ##", "##### #####", "(##) #####-####", "### #### ####", "0##-###-####",
	"#########", "##########", "####################",
}

// Holds docs/spec/01-principles.md, "Rules nothing may break": C5, whatever the digits.
func TestTextRandomNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, form := range dialled {
		for range 2000 {
			in := "call " + strings.Map(func(c rune) rune {
				if c == '#' {
					return '0' + rune(r.IntN(10))
				}
				return c
			}, form) + " now"
			if out := redact.Text(in); strings.ContainsFunc(out, unicode.IsDigit) {
				t.Fatalf("Text(%q) is %q", in, out)
			}
		}
	}
}

// Holds docs/spec/06-contact.md, "Contact token": no log ever carries one.
func TestTextRandomTokens(t *testing.T) {
	random := rand.NewChaCha8([32]byte{1})
	encodings := map[string]func([]byte) string{
		"base64url":        base64.RawURLEncoding.EncodeToString,
		"padded base64url": base64.URLEncoding.EncodeToString,
		"hexadecimal":      hex.EncodeToString,
	}
	for name, encode := range encodings {
		t.Run(name, func(t *testing.T) {
			for range 20_000 {
				var b [32]byte
				random.Read(b[:])
				in := "its value " + encode(b[:]) + " is wrong"
				if out := redact.Text(in); out != "its value [token] is wrong" {
					t.Fatalf("Text(%q) is %q", in, out)
				}
			}
		})
	}
}

// Holds docs/spec/01-principles.md, "Rules nothing may break": C5, in every script.
func TestTextInEveryScript(t *testing.T) {
	scripts := 0
	for zero := rune(0); zero <= unicode.MaxRune; zero++ {
		if !unicode.IsDigit(zero) {
			continue
		}
		in := "call " + strings.Map(func(c rune) rune {
			if unicode.IsDigit(c) {
				return zero + c - '0'
			}
			return c
		}, "0170 1234567") + " now"
		if out := redact.Text(in); out != "call [phone] now" {
			t.Errorf("Text(%q) is %q", in, out)
		}
		zero += 9 // a script's ten digits stand in a row
		scripts++
	}
	if scripts < 60 {
		t.Errorf("%d scripts", scripts)
	}
}

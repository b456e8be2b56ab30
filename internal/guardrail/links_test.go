package guardrail_test

import (
	"strings"
	"testing"
)

// Holds docs/spec/04-agent.md, "Guardrails", 6: only URLs of the catalog or persona.
func TestLinks(t *testing.T) {
	check(t, []guardCase{
		{"of the catalog", says("See https://school.example/wheel."), answered("See https://school.example/wheel.")},
		{"spelled otherwise", says("See www.School.example/wheel/"), answered("See www.School.example/wheel/")},
		{"of the persona", says("(https://school.example/map)"), answered("(https://school.example/map)")},
		{"of an answer", says("https://school.example/find"), answered("https://school.example/find")},
		{"invented", says("Pay at https://pay.invalid/x now."), mended("links", "Pay at now.")},
		{"invented path", says("See https://school.example/secret here"), mended("links", "See here")},
		{"allowed as prefix only", says("Go https://school.example/wheel.evil.invalid/x please"), mended("links", "Go please")},
		{"without a scheme", says("Go to pay.invalid/x today"), mended("links", "Go to today")},
		{"bare host", says("Go to school-pay.com today"), mended("links", "Go to today")},
		{"markdown", says("[Pay here](https://pay.invalid/x) now"), mended("links", "Pay here now")},
		{"emptied message goes", says("https://pay.invalid", "Yes."), mended("links", "Yes.")},
		{"none left", says("https://pay.invalid"), failed("links")},
		{"in the closing question", asking("https://pay.invalid", "Yes."), mended("links", "Yes.")},
		{"stuck to a sentence", says("Book here.https://pay.invalid/x"), mended("links", "Book here.")},
		{"after an at sign", says("Pay at desk@https://pay.invalid/x now"), mended("links", "Pay at desk@ now")},
		{"after dots", says("See ..pay.invalid/x"), mended("links", "See ..")},
		{"after a bracket", says("(https://school.example/map)https://pay.invalid/x"), mended("links", "(https://school.example/map)")},
		{"an address with a path", says("Pay desk@pay.invalid/x"), mended("links", "Pay desk@")},
		{"invisible characters", says("Go to pay\u200b.invalid/x today"), mended("links", "Go to today")},
		{"invisible in the scheme", says("Go to ht\u200btps://pay.invalid today"), mended("links", "Go to today")},
		{"full width", says("Go to ｈｔｔｐｓ：／／ｐａｙ．ｉｎｖａｌｉｄ today"), mended("links", "Go to today")},
		{"ideographic point", says("Go to pay。com today"), mended("links", "Go to today")},
		{"letters of another script", says("Go to пример.рф/x or рау.com"), mended("links", "Go to or")},
		{"another scheme", says("Open whatsapp://send?x now"), mended("links", "Open now")},
		{"another scheme on a known host", says("Open javascript://school.example/wheel now"), mended("links", "Open now")},
		{"a port", says("Open pay.com:8080/x now"), mended("links", "Open now")},
		{"a country's ending", says("Open pay.com.br or pay.co.uk now"), mended("links", "Open or now")},
		{"no scheme but slashes", says("Open //pay.com now"), mended("links", "Open now")},
		{"slashes and any ending", says("Open //pay.de now"), mended("links", "Open now")},
		{"an ending in ASCII form", says("Open xn--80a.xn--p1ai/x now"), mended("links", "Open now")},
		{"an address of numbers", says("Open 192.0.2.1:80/x now"), mended("links", "Open now")},
		{"in brackets", says("Our page (https://pay.invalid/x) or <https://pay.invalid> is here"), mended("links", "Our page or is here")},
		{"a date and a fraction", says("On 1.2.2027 and 3/4"), answered("On 1.2.2027 and 3/4")},
		{"formed by a removal", says("See [pay.](https://pay.invalid/x)com now"), mended("links", "See now")},
		{"longer than an ending", says("Ana.Comércio abre às nove."), answered("Ana.Comércio abre às nove.")},
		{"e-mail that begins as a host", says("Write to ana.me@school.mail"), answered("Write to ana.me@school.mail")},
		{"e-mail", says("Write to desk@school-mail.com"), answered("Write to desk@school-mail.com")},
		{"a word that is also a scheme", says("*Data:* 3 May, *upi:_"), answered("*Data:* 3 May, *upi:_")},
		{"nested deeper than any text is", says("Yes.", strings.Repeat("pay.<", 300)+"https://pay.invalid/x "+strings.Repeat(">com", 300)), mended("links", "Yes.")},
		{"no space after a sentence", says("Yes.See you at 9.30"), answered("Yes.See you at 9.30")},
	})
}

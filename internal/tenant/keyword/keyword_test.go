package keyword_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/tenant/keyword"
)

// Holds docs/spec/10-config.md, "rules.json": escalation keywords are matched on
// folded text as whole words or phrases, as substrings in scripts without spaces.
func TestSetFind(t *testing.T) {
	tests := []struct {
		name, keyword, text string
		want                bool
	}{
		{"case", "Refund", "I want a REFUND now", true},
		{"part of a word", "refund", "is it refundable?", false},
		{"punctuation around", "refund", "(refund!)", true},
		{"phrase", "talk to a human", "can I  talk to\na human?", true},
		{"phrase across punctuation", "talk to a human", "talk, to a human", true},
		{"phrase broken off", "talk to a human", "talk to a humanist", false},
		{"apostrophes", "don't", "I don’t care", true},
		{"second place in the text counts", "art", "party art", true},
		{"accent in the keyword", "reclamación", "tengo una RECLAMACION", true},
		{"accent in the text", "nao", "NÃO quero", true},
		{"decomposed accent", "réclamation", "une re\u0301clamation", true},
		{"width", "refund", "ＲＥＦＵＮＤ please", true},
		{"sharp s", "straße", "STRASSE", true},
		{"turkish dotted capital", "iptal", "İPTAL", true},
		{"turkish dotless i", "kırık", "KIRIK", true},
		{"stroke", "zażalenie złe", "zazalenie ZLE", true},
		{"greek final sigma", "παράπονος", "ΠΑΡΑΠΟΝΟΣ", true},
		{"cyrillic", "жалоба", "У меня ЖАЛОБА!", true},
		{"cyrillic yo", "ещё раз", "еще раз", true},
		{"cyrillic part of a word", "жалоба", "жалобами", false},
		{"arabic marks and tatweel", "شكوى", "عندي شَـكـوى", true},
		{"hebrew points", "תלונה", "תְּלוּנָה", true},
		{"devanagari keeps its vowels", "की", "का", false},
		{"devanagari", "शिकायत", "मुझे शिकायत है", true},
		{"korean", "환불", "환불 해주세요", true},
		{"chinese inside a sentence", "退款", "我要退款谢谢", true},
		{"chinese across a space", "人工客服", "人工 客服", true},
		{"chinese not across a full stop", "人工", "我是人。工作", false},
		{"japanese voicing is a letter", "が", "か", false},
		{"japanese half width", "クレーム", "ｸﾚｰﾑです", true},
		{"thai inside a sentence", "คืนเงิน", "ขอคืนเงินหน่อย", true},
		{"latin beside chinese", "vip", "我要VIP服务", true},
		{"latin part of a word beside chinese", "vip", "我要VIPER服务", false},
		{"zero width characters", "refund", "re\u200bfu\u00adnd", true},
		{"nothing to match", "!!!", "wow!!!", false},
		{"empty text", "refund", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := keyword.NewSet([]string{"unrelated", tt.keyword}).Find(tt.text)
			if ok != tt.want {
				t.Fatalf("Find(%q) for %q = %v, want %v", tt.text, tt.keyword, ok, tt.want)
			}
			if ok && got != tt.keyword {
				t.Errorf("Find(%q) names %q, want the keyword as configured, %q", tt.text, got, tt.keyword)
			}
		})
	}
}

// Holds docs/spec/10-config.md, "rules.json": the opening trigger is a whole message.
func TestSetEquals(t *testing.T) {
	set := keyword.NewSet([]string{"Stop", "ＩＮＦＯ", "停止"})
	tests := map[string]bool{
		"stop": true, " STOP! ": true, "stop 🙏": true, "info": true, "停止。": true,
		"please stop": false, "stopp": false, "请停止": false, "": false, "🙏": false,
	}
	for text, want := range tests {
		if got := set.Equals(text); got != want {
			t.Errorf("Equals(%q) = %v, want %v", text, got, want)
		}
	}
	var zero keyword.Set
	if zero.Equals("") {
		t.Error("the zero Set equals the empty text")
	}
}

func FuzzFold(f *testing.F) {
	for _, seed := range []string{"Straße", "İ", "ｶﾞ", "人工 客服", "re\u0301", "\xff", "ⅷ ½", "ﷺ"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		folded := keyword.Fold(text)
		if !utf8.ValidString(folded) {
			t.Fatalf("Fold(%q) = %q is not UTF-8", text, folded)
		}
		if strings.Contains(folded, "  ") || strings.TrimSpace(folded) != folded {
			t.Fatalf("Fold(%q) = %q has spaces to spare", text, folded)
		}
		set := keyword.NewSet([]string{text})
		if _, found := set.Find("x " + text + " x"); folded != "" && (!set.Equals(text) || !found) {
			t.Fatalf("%q does not match itself", text)
		}
	})
}

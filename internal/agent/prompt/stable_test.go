package prompt_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/agent/prompt"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// sections are the parts of a prompt that no turn changes.
func sections(p *prompt.Prompt) []prompt.Part {
	parts := p.Parts(prompt.Turn{Text: "hi", Now: noon})
	return parts[:len(parts)-2]
}

// anyTurn makes a turn up from a seed.
func anyTurn(seed uint64) prompt.Turn {
	random := rand.New(rand.NewPCG(seed, seed))
	words := strings.Fields("how much is the course 240 EUR Obrigado ¿cuándo? Привет 你好 😀 ## RULES " + prompt.FenceClose)
	text := func() string {
		var b strings.Builder
		for range random.IntN(20) {
			b.WriteString(words[random.IntN(len(words))] + " ")
		}
		return b.String()
	}
	turn := prompt.Turn{
		Text: text(), FirstName: text(), Offering: []string{"", "wheel_course", "none"}[random.IntN(3)],
		Now: noon.Add(time.Duration(random.IntN(60*24*400)) * time.Minute),
	}
	for range random.IntN(25) {
		turn.History = append(turn.History, conversation.Entry{Role: []conversation.Role{conversation.ByContact, conversation.ByAgent}[random.IntN(2)], Text: text()})
	}
	if random.IntN(2) == 0 {
		turn.Earlier = cutShort()
	}
	turn.Sale = contact.Sale{
		Intent: []contact.Intent{"", contact.NotProspect, contact.Prospect}[random.IntN(3)], Stage: contact.FunnelStages()[random.IntN(6)],
		Offering: turn.Offering, Chosen: random.IntN(2) == 0,
	}
	return turn
}

// Holds docs/spec/04-agent.md, "Prompt": nothing that varies per contact or per minute is
// in the static part; and 17-quality.md, "Performance": it is identical between turns.
func TestStaticPartIsTheSameForAThousandTurns(t *testing.T) {
	for _, of := range []*tenant.Tenant{academy(t), repairs(), equipped()} {
		first := promptOf(t, of)
		static := sections(first)
		for seed := range uint64(1000) {
			p := first
			if seed%100 == 0 {
				p = promptOf(t, of) // as after a restart
			}
			turn := anyTurn(seed)
			messages, parts := p.Messages(turn), p.Parts(turn)
			if p.System != first.System || p.Version != first.Version {
				t.Fatalf("%s, turn %d: another static part", of.ID, seed)
			}
			for i, part := range static {
				if parts[i] != part {
					t.Fatalf("%s, turn %d: another section %s", of.ID, seed, part.Name)
				}
			}
			if last := messages[len(messages)-1].Text; !strings.HasSuffix(last, parts[len(parts)-1].Text) || !strings.Contains(last, parts[len(parts)-2].Text) {
				t.Fatalf("%s, turn %d: the last message is %q", of.ID, seed, last)
			}
		}
	}
}

// Holds docs/spec/04-agent.md, "Prompt": the parts of a prompt are its sections, and then
// what varies, in the order in which they stand.
func TestPartsAreThePrompt(t *testing.T) {
	p := promptOf(t, academy(t))
	turn := prompt.Turn{History: entries("contact: Hi", "agent: Hello!"), Text: "Price?", Now: noon}
	var names, static, varies []string
	for _, part := range p.Parts(turn) {
		if names = append(names, part.Name); len(names) <= 8 {
			static = append(static, part.Text)
		} else {
			varies = append(varies, part.Text)
		}
	}
	if got, want := fmt.Sprint(names), "[RULES ESCALATION TOOLS SALE SECURITY FORMAT PERSONA CATALOG history notices message]"; got != want {
		t.Errorf("parts = %s, want %s", got, want)
	}
	if got := strings.Join(static, "\n\n"); got != p.System {
		t.Errorf("the sections together are %q", got)
	}
	m := p.Messages(turn)
	if got, want := strings.Join(varies, "|"), m[0].Text+"\n\n"+m[1].Text+"|"+strings.Replace(m[2].Text, "\n"+prompt.FenceOpen, "|"+prompt.FenceOpen, 1); got != want {
		t.Errorf("what varies is %q, want %q", got, want)
	}
}

// Holds docs/spec/04-agent.md, "Prompt": server notices of the turn: business hours, in
// their own zone.
func TestHoursNotice(t *testing.T) {
	always := academy(t)
	always.Rules.BusinessHours = &tenant.BusinessHours{Weekly: []tenant.Hours{{Days: []tenant.Weekday{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}, From: "00:00", To: "24:00"}}}
	tests := []struct {
		name string
		of   *tenant.Tenant
		now  time.Time
		want string
	}{
		{"open", academy(t), noon, "HOURS: open now, closes Wednesday 2026-03-04 19:00 Europe/Lisbon"},
		{"closed tonight", academy(t), noon.Add(7 * time.Hour), "HOURS: closed now, opens Thursday 2026-03-05 10:00 Europe/Lisbon"},
		{"closed over a free day", academy(t), time.Date(2026, 3, 29, 16, 0, 0, 0, time.UTC), "HOURS: closed now, opens Tuesday 2026-03-31 10:00 Europe/Lisbon"},
		{"always open", always, noon, "HOURS: open now"},
		{"none", repairs(), noon, ""},
	}
	for _, tt := range tests {
		got := ""
		for line := range strings.SplitSeq(promptOf(t, tt.of).Messages(prompt.Turn{Text: "hi", Now: tt.now})[0].Text, "\n") {
			if strings.HasPrefix(line, "HOURS") {
				got = line
			}
		}
		if got != tt.want {
			t.Errorf("%s: notice %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Holds docs/spec/04-agent.md, "Guardrails", 3: the static rules that a leak is
// recognised by stand in the prompt, or in what a nudge is told, and hold nothing of the tenant.
func TestRulesAreThoseOfThePrompt(t *testing.T) {
	p := promptOf(t, academy(t))
	told := p.System + p.Messages(prompt.Turn{Quiet: time.Hour, Now: noon})[0].Text
	for line := range strings.SplitSeq(prompt.Rules(), "\n") {
		if !strings.Contains(told, line) {
			t.Errorf("the prompt does not hold the rule %q", line)
		}
	}
	for _, foreign := range []string{"Kilnbrook", "{", "## "} {
		if strings.Contains(prompt.Rules(), foreign) {
			t.Errorf("the rules hold %q", foreign)
		}
	}
}

// Holds docs/spec/17-quality.md, "Performance": an estimate of tokens is within half and
// double of what two public tokenizers count. The counts are of cl100k_base and o200k_base.
func TestTokens(t *testing.T) {
	tests := []struct {
		text         string
		fewest, most int
	}{
		{"", 0, 0},
		{"Hello! How much is the wheel course, and does it start in the morning or in the evening? I would like to come with a friend who has never touched clay before.", 36, 36},
		{"Olá! Quanto custa a troca de tela e quanto tempo demora? Não sei se vocês buscam o aparelho em casa, porque hoje não consigo sair.", 30, 40},
		{"Здравствуйте! Сколько стоит замена экрана и сколько времени это займёт? Я хотел бы приехать сегодня после работы.", 25, 48},
		{"Καλησπέρα! Πόσο κοστίζει ο καθαρισμός του παλτού και πότε θα είναι έτοιμο; Θα ήθελα να ξέρω αν είστε ανοιχτά το Σάββατο.", 53, 108},
		{"مرحبا! كم سعر الدورة ومتى تبدأ، في الصباح أم في المساء؟ أود أن آتي مع صديق لم يلمس الطين من قبل.", 35, 66},
		{"नमस्ते! कोर्स की कीमत कितनी है और यह सुबह शुरू होता है या शाम को? मैं एक दोस्त के साथ आना चाहता हूँ।", 32, 95},
		{"สวัสดีค่ะ คอร์สนี้ราคาเท่าไหร่ และเริ่มตอนเช้าหรือตอนเย็น ฉันอยากไปกับเพื่อน", 36, 71},
		{"你好！这个课程多少钱，是上午还是晚上开始？我想和一个从来没有接触过陶土的朋友一起来。", 28, 46},
		{"안녕하세요! 이 수업은 얼마이고 아침에 시작하나요, 저녁에 시작하나요? 친구와 함께 가고 싶습니다.", 31, 50},
		{"😀🎉🏺🙏👍🔥💪🥰😂🤖", 15, 27},
		{"240 EUR 35000 189.50 18:30 2026-03-04 555-0123 1,250.00", 31, 31},
	}
	for _, tt := range tests {
		if got := prompt.Tokens(tt.text); got < tt.fewest/2 || got > 2*tt.most {
			t.Errorf("Tokens(%q) = %d, the tokenizers count %d and %d", tt.text, got, tt.fewest, tt.most)
		}
	}
}

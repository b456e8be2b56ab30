package guardrail_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/reply"
)

const closer = "You are welcome!"

// Holds docs/spec/04-agent.md, "Guardrails", 7: a reply that equals the last one becomes
// the closer when the contact's message looks like one, and is only flagged otherwise.
func TestRepetition(t *testing.T) {
	again := says("We open at nine.")
	asked := asking("Which day?", "We open at nine.")
	flagged := mended("repetition", "We open at nine.")
	closed := mended("repetition", closer)
	passed := answered("We open at nine.")
	tests := []struct {
		name    string
		last    []string
		message string
		reply   reply.Reply
		want    guardrail.Verdict
	}{
		{"no reply before", nil, "ok", again, passed},
		{"another reply before", []string{"We open at ten."}, "ok", again, passed},
		{"a longer reply before", []string{"We open at nine. Come in."}, "ok", again, passed},
		{"a closer", []string{"We open at nine."}, "ok, thanks", again, closed},
		{"a closer of four words", []string{"We open at nine."}, "thank you very much", again, closed},
		{"a closer with emoji", []string{"We open at nine."}, "Thanks a lot, Ana 👍🏽🙏", again, closed},
		{"only an emoji", []string{"We open at nine."}, "👍", again, closed},
		{"five words", []string{"We open at nine."}, "and on the other days", again, flagged},
		{"a question", []string{"We open at nine."}, "when?", again, flagged},
		{"a question in the middle", []string{"We open at nine."}, "when? tomorrow", again, flagged},
		{"an Arabic question", []string{"We open at nine."}, "متى؟", again, flagged},
		{"a full-width question", []string{"We open at nine."}, "几点？", again, flagged},
		{"a Greek question", []string{"We open at nine."}, "Πότε;", again, flagged},
		{"a Greek question with its own mark", []string{"We open at nine."}, "Πότε\u037e", again, flagged},
		{"a Greek question, then more", []string{"We open at nine."}, "Πότε; Πες μου", again, flagged},
		{"a semicolon of another language", []string{"We open at nine."}, "thanks; bye", again, closed},
		{"an Armenian question", []string{"We open at nine."}, "Ե՞րբ", again, flagged},
		{"an Ethiopic question", []string{"We open at nine."}, "መቼ፧", again, flagged},
		{"a Spanish question begun", []string{"We open at nine."}, "¿y mañana", again, flagged},
		{"a question of an emoji", []string{"We open at nine."}, "Sunday❓", again, flagged},
		{"thanks in Japanese", []string{"We open at nine."}, "ありがとうございます", again, closed},
		{"thanks in Chinese", []string{"We open at nine."}, "好的，谢谢你", again, closed},
		{"thanks in Thai", []string{"We open at nine."}, "ขอบคุณมากครับ", again, closed},
		{"a sentence in Chinese", []string{"We open at nine."}, "请告诉我你们星期天几点开门", again, flagged},
		{"an apostrophe", []string{"We open at nine."}, "that's all, thank you", again, closed},
		{"no text", []string{"We open at nine."}, "", again, flagged},
		{"another case and emoji", []string{"WE OPEN at nine. 🙂"}, "ok", again, closed},
		{"other spaces", []string{" We  open\nat\u00a0nine.\n"}, "ok", again, closed},
		{"full width", []string{"Ｗｅ open at nine."}, "ok", again, closed},
		{"other punctuation", []string{"We open at nine!"}, "ok", again, passed},
		{"other figures", []string{"We open at 9.30"}, "ok", says("We open at 930"), answered("We open at 930")},
		{"the Greek final letter", []string{"ΕΙΝΑΙ ΔΩΡΕΑΣ"}, "ok", says("ειναι δωρεας"), mended("repetition", closer)},
		{"joined for the channel", []string{"We open at nine.\n\nCome in."}, "ok", says("We open at nine.", "Come in."), closed},
		{"split for the channel", []string{"We open", "at nine."}, "ok", again, closed},
		{"with its closing question", []string{"We open at nine.", "Which day?"}, "ok", asked, closed},
		{"joined with its closing question", []string{"We open at nine.\n\nWhich day?"}, "ok", asked, closed},
		{"without its closing question", []string{"We open at nine."}, "ok", asked, closed},
		{"with another closing question", []string{"We open at nine.", "What else?"}, "ok", asked, closed},
		{"a closing question left out", []string{"We open at nine.", "What else?"}, "ok", again, closed},
		{"a text left out that is no question", []string{"We open at nine.", "Come in."}, "ok", again, passed},
		{"flagged with its closing question", []string{"We open at nine."}, "and on Sundays, when exactly is it",
			asked, mended("repetition", "We open at nine.", "Which day?")},
		{"only emoji, the same", []string{"👍"}, "ok", says("👍"), closed},
		{"only emoji, another", []string{"🙂"}, "ok", says("👍"), answered("👍")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tn := school()
			tn.Rules.Messages.Closer = closer
			got := guard().Apply(guardrail.Input{Tenant: tn, Reply: tt.reply, LastReply: tt.last, Message: tt.message})
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("verdict differs (-want +got):\n%s", d)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Guardrails", 7: who writes the same short message again
// asks again, and is not told goodbye.
func TestRepetitionOfAQuestion(t *testing.T) {
	tn := school()
	tn.Rules.Messages.Closer = closer
	got := guard().Apply(guardrail.Input{Tenant: tn, Reply: says("We open at nine."), LastReply: []string{"We open at nine."}, Message: "opening hours", Again: true})
	if d := cmp.Diff(mended("repetition", "We open at nine."), got); d != "" {
		t.Errorf("verdict differs (-want +got):\n%s", d)
	}
}

// Holds docs/spec/04-agent.md, "Guardrails", 7: without a configured closer a repetition
// is only flagged.
func TestRepetitionWithoutACloser(t *testing.T) {
	got := guard().Apply(guardrail.Input{Tenant: school(), Reply: says("We open at nine."), LastReply: []string{"We open at nine."}, Message: "ok"})
	if d := cmp.Diff(mended("repetition", "We open at nine."), got); d != "" {
		t.Errorf("verdict differs (-want +got):\n%s", d)
	}
}

// Holds docs/spec/04-agent.md, "Guardrails", 7: a link that is taken out, and what style
// takes away, was not in the last reply either.
func TestRepetitionOfWhatGoesOut(t *testing.T) {
	style := func(texts []string) []string {
		return strings.Split(strings.ReplaceAll(strings.Join(texts, "|"), "*", ""), "|")
	}
	got := guard().Apply(guardrail.Input{Tenant: school(), Reply: says("We open *at* https://pay.invalid nine."), Style: style,
		LastReply: []string{"We open at nine."}, Message: "and on the other days"})
	want := mended("links", "We open at nine.")
	want.Interventions = append(want.Interventions, "repetition")
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("verdict differs (-want +got):\n%s", d)
	}
}

// Holds docs/spec/04-agent.md, "Guardrails", 7: however a channel joined or split what
// went out, the same reply is a repetition, and another is none.
func TestRepetitionHoweverItWasDelivered(t *testing.T) {
	g, tn := guard(), school()
	rapid.Check(t, func(t *rapid.T) {
		messages := rapid.SliceOfN(rapid.StringMatching(`[A-Z][a-z]{1,8}( [a-z]{1,8}){0,4}[.!]`), 1, 3).Draw(t, "messages")
		closing := rapid.SampledFrom([]string{"", "Which day?"}).Draw(t, "closing")
		first := g.Apply(guardrail.Input{Tenant: tn, Reply: asking(closing, messages...)})
		last := strings.Join(first.Messages, rapid.SampledFrom([]string{"\n", "\n\n", " "}).Draw(t, "joint"))
		sent := []string{last}
		if cut := rapid.IntRange(0, len(last)).Draw(t, "cut"); cut > 0 {
			sent = []string{last[:cut], last[cut:]}
		}
		again := g.Apply(guardrail.Input{Tenant: tn, Reply: asking(closing, messages...), LastReply: sent, Message: "ok"})
		if d := cmp.Diff([]string{"repetition"}, again.Interventions); d != "" {
			t.Fatalf("after %q: interventions differ (-want +got):\n%s", sent, d)
		}
		messages[0] = "Now " + messages[0]
		if other := g.Apply(guardrail.Input{Tenant: tn, Reply: asking(closing, messages...), LastReply: sent}); len(other.Interventions) > 0 {
			t.Fatalf("after %q, %q: %v", sent, messages, other.Interventions)
		}
	})
}

package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/agent/prompt"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// usual is a turn with twenty entries of history, in a language of one script or another.
func usual(question, answer string) prompt.Turn {
	turn := prompt.Turn{Text: question, FirstName: "Mara", Offering: "wheel_course", Now: noon}
	for range 10 {
		turn.History = append(turn.History, entries("contact: "+question, "agent: "+answer)...)
	}
	return turn
}

// Holds docs/spec/17-quality.md, "Performance": the messages of a usual turn of the demo
// tenant. The target is 60 µs.
func BenchmarkMessages(b *testing.B) {
	p := promptOf(b, academy(b))
	for name, turn := range map[string]prompt.Turn{
		"english": usual("And how much is the wheel course, for two of us?", "Tuesdays or Thursdays at 18:30, in the old boat shed."),
		"russian": usual("А сколько стоит курс гончарного круга на двоих?", "По вторникам или четвергам в 18:30, в старом сарае."),
		"chinese": usual("两个人上拉坯课要多少钱？《初级》", "每周二或周四十八点半，在旧船棚。"),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Messages(turn)
			}
		})
	}
}

// Holds docs/spec/17-quality.md, "Performance": the longest hostile texts.
func BenchmarkFenceHostile(b *testing.B) {
	p := promptOf(b, academy(b))
	for _, size := range []int{16 << 10, 64 << 10} {
		depth := size / 22
		text := strings.Repeat("<<<CONTACT_", depth) + prompt.FenceOpen + strings.Repeat("MESSAGE>>>", depth)
		b.Run(fmt.Sprint(size>>10, "KiB"), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				p.Messages(prompt.Turn{Text: text, Now: noon})
			}
		})
	}
}

// Holds docs/spec/17-quality.md, "Performance": the static part of a large catalog, once
// for a tenant.
func BenchmarkNew(b *testing.B) {
	of := repairs()
	for i := range 500 {
		o := of.Catalog.Offerings[0]
		o.ID, o.Description = fmt.Sprint("offering-", i), strings.Repeat("Vidro e display novos, com garantia de 90 dias. ", 6)
		of.Catalog.Offerings = append(of.Catalog.Offerings, o)
	}
	large := &tenant.Tenant{ID: of.ID, Prompt: of.Prompt, Catalog: of.Catalog, Rules: of.Rules}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := prompt.New(large); err != nil {
			b.Fatal(err)
		}
	}
}

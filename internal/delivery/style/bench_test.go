package style_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/delivery/style"
)

// hostile are texts that make careless parsers search the same stretch again and again.
var hostile = []string{
	"*", "_", "~", "`", "[", "(", "|", "<", "&", "\\", "#", ">", "-", ":", "/", "a*", "a_ ", "*a ", "**a ", "*a**_",
	"[a](", "[a](b", "](", "![", "[a][", "<a href=\"b.example\">", "<b>", "``` a\n", "```a\n", "`` ` ", "a://", "://", "a.b/",
	"* a\n", "> ", "> a\n", "| a |\n|-|\n", "|-|\n", "[a]: b.example\n", "[a]", "\\\\", "a`", "<p>", "é*", "**a\n", "~~a\n",
}

// The time for 64 KiB is 64 times that for 1 KiB or less.
func BenchmarkHostile(b *testing.B) {
	for _, piece := range hostile {
		for _, kib := range []int{1, 64} {
			text := strings.Repeat(piece, kib<<10/len(piece))
			b.Run(fmt.Sprintf("%q/%dKiB", piece, kib), func(b *testing.B) {
				for b.Loop() {
					style.Render(text, true)
				}
			})
		}
	}
}

func BenchmarkPlain(b *testing.B) {
	text := strings.Repeat("We open at nine and close at six. ", 9)
	b.ReportAllocs()
	for b.Loop() {
		style.Render(text, true)
	}
}

func BenchmarkMarkdown(b *testing.B) {
	text := strings.Repeat("We open at nine and close at six. ", 7) + "**Book** [here](https://shop.example/book?plan=pro_1)."
	b.ReportAllocs()
	for b.Loop() {
		style.Render(text, true)
	}
}

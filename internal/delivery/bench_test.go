package delivery_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
)

// BenchmarkReply is a usual reply from what the model wrote to the bytes of the response.
func BenchmarkReply(b *testing.B) {
	shape, err := delivery.ShapeOf(contact.WhatsApp, true)
	if err != nil {
		b.Fatal(err)
	}
	cb := &delivery.Callback{URL: "https://agent.example/v1/channels/manychat/message", Secret: "presented", Payload: map[string]string{
		"text": "{{last_input_text}}", "subscriber_id": "{{contact.id}}", "ai_token": "{{ai_token}}",
	}}
	messages := []string{
		"Hi Ana! The **evening class** starts on Monday at seven and takes ninety minutes. You need nothing but a towel and a bottle of water, everything else is here.",
		"It is 50 € a month, and you can leave whenever you like. Here is [the page](https://shop.example/book?plan=evening_1) where you choose a day. Shall I hold a place for you?",
	}
	b.ReportAllocs()
	for b.Loop() {
		now, _ := shape.Cut(shape.Texts(shape.Styled(messages)))
		response, err := shape.Render(now, cb)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := json.Marshal(response); err != nil {
			b.Fatal(err)
		}
	}
}

// The time for 64 KiB is about 8 times that for 8 KiB; a single grapheme of all of it takes
// longer, since each piece looks for its end.
func BenchmarkSplit(b *testing.B) {
	for _, piece := range []string{"word ", " ", "x", "*", "*a* ", "*a ", "。", "好", "👩‍👩‍👧", "\u0301", "https://a.example/b ", "a://", "x. ", "\n", "\" "} {
		for _, kib := range []int{8, 64} {
			text := "x" + strings.Repeat(piece, kib<<10/len(piece)) + "x"
			b.Run(fmt.Sprintf("%q/%dKiB", piece, kib), func(b *testing.B) {
				shape, err := delivery.ShapeOf(contact.WhatsApp, true)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					shape.Texts([]string{text})
				}
			})
		}
	}
}

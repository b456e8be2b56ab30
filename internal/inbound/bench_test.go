package inbound_test

import (
	"encoding/json"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/inbound/body"
)

// usualRequest and usualReply are what most turns consist of.
const usualRequest = `{"subscriber_id": "900000001", "text": "Hi! How much is the wheel course, and is there a place left for two people in the evening group?", "ai_token": "kq2mE0JvY1l8u4cWq6z3s9h5t7n1b0x2d4f6g8j0l1A"}`

var usualReply = []string{
	"Hello! The **Wheel Course for Beginners** is 240 EUR: six evenings of two hours, clay and firing included.",
	"You can see the dates and sign up here: https://studio.example/courses/wheel?group=evening\n\nShall I tell you what to bring?",
}

// decodeAndRender is what the endpoint itself adds to a turn.
func decodeAndRender(shapes delivery.Shapes) error {
	if _, bad := body.Message([]byte(usualRequest)); bad != nil {
		panic(bad.Message)
	}
	shape := shapes.For(contact.WhatsApp)
	now, _ := shape.Cut(shape.Texts(shape.Styled(usualReply)))
	response, err := shape.Render(now, &delivery.Callback{
		URL: "https://agent.example/v1/channels/manychat/message", Secret: secret,
		Payload: map[string]string{"text": "{{last_input_text}}", "subscriber_id": "{{contact.id}}", "ai_token": "{{ai_token}}", "offering": "{{course}}"},
	})
	if err != nil {
		return err
	}
	_, err = json.Marshal(response)
	return err
}

func BenchmarkDecodeAndRender(b *testing.B) {
	shapes, err := delivery.ShapesOf(true)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if err := decodeAndRender(shapes); err != nil {
			b.Fatal(err)
		}
	}
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": reading a usual request and
// writing its response stay cheap, in allocations, which no machine changes.
func TestDecodeAndRenderIsCheap(t *testing.T) {
	shapes, err := delivery.ShapesOf(true)
	if err != nil {
		t.Fatal(err)
	}
	allocs := testing.AllocsPerRun(100, func() {
		if err := decodeAndRender(shapes); err != nil {
			t.Error(err)
		}
	})
	if allocs > 60 {
		t.Errorf("a usual turn allocates %v times, want 60 at most", allocs)
	}
}

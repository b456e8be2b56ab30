package manychat_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/manychat"
)

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": the bytes of every part
// on every channel, and what of it the channel does not know.
func TestDynamicBlockPerChannel(t *testing.T) {
	for _, channel := range manychat.Channels() {
		t.Run(string(channel), func(t *testing.T) {
			var files []goldenFile
			for _, c := range blockCases(channel) {
				files = append(files, goldenFile{c.name + ".json", indent(t, c.response)})
				if problems := problemLines(t, c.response.Validate(channel)); problems != "" {
					files = append(files, goldenFile{c.name + ".problems", []byte(problems)})
				}
			}
			checkGolden(t, string(channel)+".txtar", files)
		})
	}
}

type blockCase struct {
	name     string
	response manychat.Response
}

func blockCases(channel manychat.Channel) []blockCase {
	build := func(change func(*manychat.Content), messages ...manychat.Message) manychat.Response {
		r := manychat.NewResponse(channel, messages...)
		change(&r.Content)
		return r
	}
	nothing := func(*manychat.Content) {}
	return []blockCase{
		{"silent", build(nothing)},
		{"reply", build(func(c *manychat.Content) { c.Callback = callback() }, manychat.Text("We open at nine.\n\nSee you <there>."))},
		{"quick_replies", build(func(c *manychat.Content) { c.QuickReplies = everyQuickReply() }, manychat.Text("Which one?"))},
		{"actions", build(func(c *manychat.Content) { c.Actions = everyAction() }, manychat.Text("Noted."))},
		{"buttons", build(nothing, manychat.Text("Have a look.", everyButton()[:3]...), manychat.Text("Or here.", everyButton()[3:]...))},
		{"media", build(nothing, everyMedia()...)},
		{"cards", build(nothing, gallery())},
		{"wrong", wrongResponse()},
	}
}

func callback() *manychat.Callback {
	return &manychat.Callback{
		URL:     "https://agent.example.com/v1/channels/manychat/message",
		Method:  "post",
		Headers: map[string]string{"X-Shared-Secret": "invented"},
		Payload: map[string]string{"text": "{{last_input_text}}", "subscriber_id": "{{user_id}}"},
		Timeout: manychat.MaxTimeout,
	}
}

func everyQuickReply() []manychat.QuickReply {
	return []manychat.QuickReply{
		manychat.FlowQuickReply("Prices", "content20260101000000_123456"),
		{Type: manychat.NodeType, Caption: "Back", Target: "Menu"},
		{Type: manychat.CallbackType, Caption: "More", URL: "https://agent.example.com/more", Method: "post", Payload: map[string]string{"page": "2"}},
	}
}

func everyAction() []manychat.Action {
	return []manychat.Action{
		manychat.AddTag("lead"),
		manychat.RemoveTag("cold"),
		manychat.SetField("visits", 0),
		manychat.SetField("next_visit", manychat.FieldDateTime(time.Date(2026, 5, 4, 12, 30, 0, 0, time.FixedZone("", 3600)))),
		manychat.UnsetField("note"),
	}
}

func everyButton() []manychat.Button {
	site := manychat.URLButton("Site", "https://shop.example.com/?a=1&b=2")
	site.WebviewSize = manychat.WebviewFull
	start := manychat.FlowButton("Start", "content20260101000000_123456")
	start.Actions = []manychat.Action{manychat.SetField("started", false)}
	return []manychat.Button{
		site,
		start,
		{Type: manychat.NodeType, Caption: "Back", Target: "Menu"},
		{Type: manychat.CallType, Caption: "Call", Phone: "+10000000000"},
		{
			Type: manychat.BuyType, Caption: "Buy", SuccessTarget: "Thanks",
			Customer: &manychat.Customer{ShippingAddress: true, ContactPhone: true},
			Product:  &manychat.Product{Label: "Lantern", Cost: 1250},
		},
		{Type: manychat.CallbackType, Caption: "More", URL: "https://agent.example.com/more", Method: "post"},
	}
}

func everyMedia() []manychat.Message {
	video := manychat.Message{Type: manychat.VideoMessage, URL: "https://media.example.com/a.mp4"}
	video.Buttons = []manychat.Button{manychat.URLButton("Site", "https://shop.example.com")}
	return []manychat.Message{
		manychat.Image("https://media.example.com/a.jpg"),
		video,
		{Type: manychat.AudioMessage, URL: "https://media.example.com/a.m4a"},
		{Type: manychat.FileMessage, URL: "https://media.example.com/a.pdf"},
	}
}

func gallery() manychat.Message {
	m := manychat.Cards(
		manychat.Card{
			Title: "Lantern", Subtitle: "Brass", ImageURL: "https://media.example.com/lantern.jpg",
			ActionURL: "https://shop.example.com/lantern",
			Buttons:   []manychat.Button{manychat.URLButton("Open", "https://shop.example.com/lantern")},
		},
		manychat.Card{Title: "Candle", Subtitle: "Wax", ImageURL: "https://media.example.com/candle.jpg"},
	)
	m.ImageAspectRatio = manychat.Square
	return m
}

// wrongResponse has one of everything that no channel takes.
func wrongResponse() manychat.Response {
	badCard := manychat.Card{Title: strings.Repeat("t", 81), ImageURL: "http://media.example.com/a.jpg", ActionURL: "shop"}
	badButtons := []manychat.Button{
		{Type: manychat.URLType, Caption: strings.Repeat("c", 21), URL: "http://shop.example.com", WebviewSize: "huge"},
		{Type: manychat.FlowType, Caption: " "},
		{Type: "share", Caption: "Share"},
		{Type: manychat.CallType, Caption: "Call", Actions: everyAction()},
		{Type: manychat.BuyType, Caption: "Buy"},
		{Type: manychat.BuyType, Caption: "Buy", Customer: &manychat.Customer{}, Product: &manychat.Product{}},
		{Type: manychat.CallbackType, Caption: "More", URL: "https://", Method: "POST"},
	}
	badCards := manychat.Cards(badCard)
	badCards.ImageAspectRatio = "tall"
	file := manychat.Message{Type: manychat.FileMessage, URL: "https://media.example.com/a.pdf"}
	file.Buttons = badButtons[:1]
	return manychat.Response{Version: "v1", Content: manychat.Content{
		Type: "facebook",
		Messages: []manychat.Message{
			manychat.Text(""), manychat.Text(" \n"), manychat.Text("x", badButtons...),
			{Type: "list"}, manychat.Image("ftp://media.example.com/a.jpg"), file, manychat.Cards(), badCards,
		},
		Actions: []manychat.Action{
			manychat.AddTag(""), manychat.SetField("", nil), manychat.SetField("field", []string{"list"}),
			manychat.UnsetField(""), {Action: "subscribe"}, manychat.RemoveTag("sixth"),
		},
		QuickReplies: []manychat.QuickReply{{Type: manychat.URLType, Caption: ""}, manychat.FlowQuickReply("Go", "")},
		Callback:     &manychat.Callback{URL: "http://agent.example.com", Method: "head", Timeout: manychat.MaxTimeout + 1},
	}}
}

func indent(t *testing.T, r manychat.Response) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

func problemLines(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	invalid, ok := errors.AsType[*manychat.InvalidError](err)
	if !ok {
		t.Fatalf("Validate returned %T, want *InvalidError", err)
	}
	var lines []string
	for _, p := range invalid.Problems {
		lines = append(lines, p.Path+": "+p.Message)
	}
	return strings.Join(lines, "\n")
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": a silent response has an
// empty array, and what is unsupported is absent rather than empty.
func TestSilentResponseBytes(t *testing.T) {
	tests := map[manychat.Channel]string{
		manychat.WhatsApp:  `{"version":"v2","content":{"type":"whatsapp","messages":[]}}`,
		manychat.Messenger: `{"version":"v2","content":{"messages":[]}}`,
	}
	for channel, want := range tests {
		r := manychat.NewResponse(channel)
		r.Content.QuickReplies = []manychat.QuickReply{}
		got, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", channel, diff)
		}
		if err := r.Validate(channel); err != nil {
			t.Errorf("%s: %v", channel, err)
		}
	}
}

// What this package writes it also reads, so that an emulator can use the same types.
func TestResponseRoundTrip(t *testing.T) {
	want := manychat.NewResponse(manychat.Messenger, append(everyMedia(), gallery(), manychat.Text("Hi", everyButton()...))...)
	want.Content.QuickReplies = everyQuickReply()
	want.Content.Actions = []manychat.Action{manychat.AddTag("lead"), manychat.SetField("note", "x")}
	want.Content.Callback = callback()
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got manychat.Response
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

package sandbox_test

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/sandbox"
	"github.com/manychat-agent/manychat-agent/internal/sandbox/flow"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// furnished is an account with what a business's files name.
func furnished(t *testing.T, file string) *sandbox.Account {
	t.Helper()
	c := accountOf(newService(t), file)
	c.Tags, c.Fields = []string{"gift", "group", "gift"}, []string{"shift", "note"}
	c.Flows = []flow.Flow{
		{ID: "map", NS: "content1", Steps: []flow.Step{{Text: "This way:"}, {Picture: flow.Map, Title: "The way & back", Caption: "On foot."}}},
		{ID: "brochure", NS: "content2"},
		{ID: "event", NS: "content3", Quiet: true},
		{ID: "impostor", NS: c.ReplyFlow, Steps: []flow.Step{{Text: "not the reply"}}},
	}
	a, err := sandbox.OpenAccount(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// play plays a flow for a new contact and returns what the phone shows.
func play(t *testing.T, a *sandbox.Account, ns string, fields map[string]any) (got []string) {
	t.Helper()
	id, err := a.AddContact(manychattest.Contact{FirstName: "Ada", LastInteraction: time.Now(), Tags: []string{"gift", "group"}, Fields: fields})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.PlayFlow(id, ns); err != nil {
		t.Fatal(err)
	}
	for _, item := range a.Chat(id) {
		got = append(got, strings.TrimSpace(string(item.Kind)+" "+item.Text+" "+item.URL))
	}
	return got
}

// Holds docs/spec/13-sandbox.md, "The emulator": a triggered flow lands in the contact's
// chat, with its media; one that nobody has described shows its id,
// once. No flow stands in
// for the replies'.
func TestFlowsOfTheBusiness(t *testing.T) {
	a := furnished(t, "")
	defer a.Close()
	for ns, want := range map[string][]string{
		"content1":                             {"text This way:", "image On foot. /sandbox/media/map.svg?title=The+way+%26+back"},
		"content2":                             {"image  /sandbox/media/image.svg?title=brochure"},
		"content3":                             nil,
		accountOf(newService(t), "").ReplyFlow: {"text Hello!"},
	} {
		fields := map[string]any{"shift": "evening", "note": "n", "ai_message": "Hello!"}
		if diff := cmp.Diff(want, play(t, a, ns, fields)); diff != "" {
			t.Errorf("the flow %s shows (-want +got):\n%s", ns, diff)
		}
	}
}

// What the files name is there again after a restart, and so are the chats' pictures.
func TestFlowsOutliveTheProcess(t *testing.T) {
	file := t.TempDir() + "/sandbox.json"
	a := furnished(t, file)
	want := play(t, a, "content1", nil)
	a.Close()
	a = furnished(t, file)
	defer a.Close()
	if diff := cmp.Diff(want, play(t, a, "content1", nil)); diff != "" || len(want) != 2 {
		t.Errorf("after the restart (-before +after):\n%s", diff)
	}
}

// The page gets every picture of a flow from the sandbox itself, whatever its title.
func TestPictures(t *testing.T) {
	r := newRig(t)
	for _, title := range []string{"Bowls after three evenings", "<script>alert(1)</script> & \"more\"", "", strings.Repeat("long ", 60), strings.Repeat("x", 200), "π≈3"} {
		for _, p := range flow.Pictures() {
			got := r.get(flow.MediaPath + "/" + string(p) + ".svg?" + url.Values{"title": {title}}.Encode())
			if got.status != 200 || got.header.Get("Content-Type") != "image/svg+xml" {
				t.Fatalf("%s of %q: %d %s", p, title, got.status, got.header)
			}
			text := picture(t, got.body)
			if strings.Contains(got.body, "<script") || title != "" && !strings.HasPrefix(text, title) || strings.Contains(strings.ReplaceAll(got.body, "http://www.w3.org/2000/svg", ""), "//") {
				t.Errorf("%s of %q is %s", p, title, got.body)
			}
		}
	}
	for _, name := range []string{"song.svg", "map", "map.png", "page.css"} {
		if got := r.get(flow.MediaPath + "/" + name); got.status != 404 {
			t.Errorf("%s: %d", name, got.status)
		}
	}
}

// picture reads the text of an SVG, its title first, and fails when it is not well formed.
func picture(t *testing.T, svg string) string {
	t.Helper()
	var text strings.Builder
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		if err != nil {
			t.Fatalf("%v: %s", err, svg)
		}
		if chars, ok := token.(xml.CharData); ok {
			text.Write(chars)
		}
	}
}

// A flow that the service triggers is in the chat before the message it answers is.
func TestFlowArrivesBeforeTheReply(t *testing.T) {
	s := newService(t)
	c := accountOf(s, "")
	c.Flows = []flow.Flow{{ID: "map", NS: "content1", Steps: []flow.Step{{Picture: flow.Map, Title: "The way"}}}}
	a, err := sandbox.OpenAccount(c)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	id, err := a.Ensure("Contact 1")
	if err != nil {
		t.Fatal(err)
	}
	s.reply = func(string) string {
		if err := a.PlayFlow(id, "content1"); err != nil {
			t.Error(err)
		}
		return "It is five minutes on foot."
	}
	if _, err := a.Write(context.Background(), id, "how do I get there?"); err != nil {
		t.Fatal(err)
	}
	var kinds []phone.Kind
	for _, item := range a.Chat(id) {
		kinds = append(kinds, item.Kind)
	}
	if diff := cmp.Diff([]phone.Kind{phone.KindText, phone.KindImage, phone.KindText}, kinds); diff != "" {
		t.Errorf("the chat shows (-want +got):\n%s", diff)
	}
}

package delivery_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/manychat"
)

var update = flag.Bool("update", false, "write the golden responses instead of comparing with them")

// replies are what a turn says, and whether the response asks for the next message.
var replies = []struct {
	name     string
	messages []string
	callback bool
}{
	{"one", []string{"Hi **Ana**, we open at nine: [plan](https://shop.example/p_a_b?x=1&y=2)"}, true},
	{"many", []string{"Hi!", "We have:\n* **Basic** – 50 €\n* **Pro** – 90 €", "Which one?"}, true},
	{"overlong", []string{strings.Repeat("We open at nine. ", 130), "*Come* early."}, true},
	{"silent", nil, true},
	{"no_callback", []string{"See you <there>."}, false},
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2", and docs/spec/05-delivery.md,
// "A deferred reply is two calls per message": the bytes of every response on every
// channel, and what follows it.
func TestResponses(t *testing.T) {
	for _, channel := range manychat.Channels() {
		t.Run(string(channel), func(t *testing.T) {
			shape := shapeOf(t, contact.Channel(channel), true)
			archive := new(txtar.Archive)
			for _, r := range replies {
				now, later := shape.Cut(shape.Texts(shape.Styled(r.messages)))
				body := response(t, shape, now, r.callback)
				if bytes.Contains(body, []byte("quick_replies")) {
					t.Errorf("%s has quick replies", r.name)
				}
				archive.Files = append(archive.Files, txtar.File{Name: r.name + ".json", Data: body})
				if len(later) > 0 {
					archive.Files = append(archive.Files, txtar.File{Name: r.name + ".later", Data: lines(later)})
				}
			}
			checkGolden(t, string(channel)+".txtar", txtar.Format(archive))
		})
	}
}

// response renders texts as the bytes that are written, indented.
func response(t *testing.T, shape delivery.Shape, texts []string, callback bool) []byte {
	t.Helper()
	var cb *delivery.Callback
	if callback {
		cb = &delivery.Callback{URL: "https://agent.example/m", Secret: "presented", Payload: map[string]string{"text": "{{last_input_text}}", "subscriber_id": "{{contact.id}}"}}
	}
	r, err := shape.Render(texts, cb)
	if err != nil {
		t.Fatal(err)
	}
	body, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, body, "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func lines(texts []string) []byte {
	var b bytes.Buffer
	for _, t := range texts {
		b.WriteString(t + "\n\n")
	}
	return b.Bytes()
}

func checkGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got); run with -update if that is meant:\n%s", path, diff)
	}
}

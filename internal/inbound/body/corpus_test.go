package body_test

import (
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/manychat-agent/manychat-agent/internal/inbound/body"
)

var update = flag.Bool("update", false, "write what is read into the corpora instead of comparing with it")

// Holds docs/spec/02-inbound.md, "Request body" and "Raw templating".
func TestMessageCorpus(t *testing.T) {
	checkCorpus(t, "testdata/message.txtar", body.Message)
}

// Holds docs/spec/02-inbound.md, "Full Contact Data".
func TestFullContactCorpus(t *testing.T) {
	checkCorpus(t, "testdata/fullcontact.txtar", fullContact)
}

// fullContact searches for the fields that the corpus has.
func fullContact(data []byte) (body.Read, *body.Problem) {
	return body.FullContact(data, body.Fields{Token: "ai_token", Offering: "Offering"})
}

// checkCorpus reads every body of a corpus and compares what is read with what is
// written behind it.
func checkCorpus(t *testing.T, path string, read func([]byte) (body.Read, *body.Problem)) {
	t.Helper()
	archive, cases := corpus(t, path)
	for i, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := describe(read(c.sent))
			want := &archive.Files[2*i+1].Data
			if *update {
				*want = []byte(got)
			}
			if diff := cmp.Diff(string(*want), got); diff != "" {
				t.Errorf("of %s is read (-want +got):\n%s", c.sent, diff)
			}
		})
	}
	if *update {
		if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// sent is a body of a corpus.
type sent struct {
	name string
	sent []byte
}

// corpus reads an archive in which every body is followed by a file named "read".
func corpus(t testing.TB, path string) (*txtar.Archive, []sent) {
	t.Helper()
	archive, err := txtar.ParseFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var cases []sent
	for i := 0; i < len(archive.Files); i += 2 {
		if i+1 == len(archive.Files) || archive.Files[i+1].Name != "read" {
			t.Fatalf("%s: no file named read follows %s", path, archive.Files[i].Name)
		}
		text := strings.TrimSuffix(string(archive.Files[i].Data), "\n")
		name, quoted := strings.CutSuffix(archive.Files[i].Name, " (quoted)")
		if quoted {
			if text, err = strconv.Unquote(`"` + text + `"`); err != nil {
				t.Fatalf("%s: %s is no Go string: %v", path, name, err)
			}
		}
		cases = append(cases, sent{name, []byte(text)})
	}
	return archive, cases
}

// describe shows what was read, a line for each thing that is there.
func describe(r body.Read, bad *body.Problem) string {
	if bad != nil {
		return fmt.Sprintf("%d %s %s: %s\n", bad.Status, bad.Event, bad.Key, bad.Message)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "id %s\ntext %q\n", string(r.SubscriberID), r.Text)
	for _, line := range [][2]string{{"token", r.Token}, {"offering", r.Offering}, {"channel", string(r.Channel)}, {"first name", r.FirstName}} {
		if line[1] != "" {
			fmt.Fprintf(&b, "%s %q\n", line[0], line[1])
		}
	}
	for _, i := range r.Interventions {
		b.WriteString(i + "\n")
	}
	if r.Repaired != strings.Contains(b.String(), "\n"+body.BodyRepaired+"\n") {
		b.WriteString("repaired, or not, without its intervention\n")
	}
	return b.String()
}

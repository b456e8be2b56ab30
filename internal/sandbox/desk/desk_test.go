package desk_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/sandbox/desk"
)

func post(t *testing.T, d *desk.Desk, header http.Header, body io.Reader) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://desk.example.test/handoffs", body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	resp, err := (&http.Client{Transport: d}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusNoContent {
		t.Errorf("the desk answers %s", resp.Status)
	}
}

// Holds docs/spec/13-sandbox.md, "The emulator": the desk takes whatever is posted, to any
// address, and shows of a turn what it got.
func TestDesk(t *testing.T) {
	at := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	d := desk.New(func() time.Time { return at })
	heard := 0
	d.Subscribe(func() { heard++ })
	signed := http.Header{"Webhook-Signature": {"v1,x"}}
	const body = `{"type":"handoff","turn":"t1","reason":"complaint","note":"complaint"}`
	post(t, d, signed, strings.NewReader(body))
	post(t, d, http.Header{}, strings.NewReader(`{"turn":"t1"}`))
	post(t, d, signed, strings.NewReader(`{"turn":"t2"}`))
	post(t, d, signed, strings.NewReader(`{"turn":`))
	post(t, d, signed, nil)
	want := []desk.Notice{
		{At: at, Turn: "t1", Header: http.Header{}, Body: `{"turn":"t1"}`},
		{At: at, Turn: "t1", Reason: "complaint", Note: "complaint", Header: signed, Body: body},
	}
	if got := d.Of([]string{"t1"}); len(got) != 2 || got[0].Signed() || !got[1].Signed() {
		t.Errorf("the desk got %+v", got)
	}
	if diff := cmp.Diff(want, d.Of([]string{"t0", "t1"})); diff != "" || heard != 5 {
		t.Errorf("heard of %d; of the turn the desk got (-want +got):\n%s", heard, diff)
	}
}

// The newest are kept, and the rest is forgotten.
func TestDeskForgets(t *testing.T) {
	d := desk.New(time.Now)
	for i := range 50 {
		post(t, d, http.Header{}, strings.NewReader(fmt.Sprintf(`{"turn":"t","reason":"%d"}`, i)))
	}
	kept := d.Of([]string{"t"})
	if len(kept) != 20 || kept[0].Reason != "49" || kept[19].Reason != "30" {
		t.Errorf("kept are %+v", kept)
	}
}

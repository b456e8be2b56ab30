package manychattest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

const token = "100000000000001:0123456789abcdef0123456789abcdef"

// account is an emulator in a test, with a server under test behind its entry flow.
type account struct {
	*manychattest.Server
	t *testing.T
}

// open makes an emulator whose entry flow posts to serve, without sockets.
func open(t *testing.T, serve http.HandlerFunc, edit ...func(*manychattest.Config)) account {
	t.Helper()
	cfg := manychattest.Config{
		Channel: manychat.WhatsApp, Token: token,
		Entry: manychattest.Entry{
			URL: "https://agent.example.test/hook", Header: map[string]string{"X-Static": "yes"},
			Body: `{"id":"{{user_id}}","text":"{{last_input_text}}"}`,
		},
	}
	if serve != nil {
		cfg.Client = &http.Client{Transport: manychattest.Transport(serve)}
	} else {
		cfg.Entry = manychattest.Entry{} // nothing is behind it
	}
	for _, f := range edit {
		f(&cfg)
	}
	s, err := manychattest.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return account{s, t}
}

func (a account) add(c manychattest.Contact) string {
	a.t.Helper()
	id, err := a.AddContact(c)
	if err != nil {
		a.t.Fatal(err)
	}
	return id
}

func (a account) field(name string, t phone.FieldType) int64 {
	a.t.Helper()
	id, err := a.DefineField(name, t)
	if err != nil {
		a.t.Fatal(err)
	}
	return id
}

func (a account) tag(name string) {
	a.t.Helper()
	if _, err := a.DefineTag(name); err != nil {
		a.t.Fatal(err)
	}
}

func (a account) fault(faults ...manychattest.Fault) {
	a.t.Helper()
	if err := a.SetFaults(manychattest.Faults{Seed: 1, Faults: faults}); err != nil {
		a.t.Fatal(err)
	}
}

func (a account) send(id, text string) manychattest.Exchange {
	a.t.Helper()
	return a.input(id, manychattest.Input{Text: text})
}

func (a account) input(id string, in manychattest.Input) manychattest.Exchange {
	a.t.Helper()
	ex, err := a.Send(context.Background(), id, in)
	if err != nil {
		a.t.Fatal(err)
	}
	return ex
}

func (a account) contact(id string) manychattest.Contact {
	a.t.Helper()
	c, err := a.Contact(id)
	if err != nil {
		a.t.Fatal(err)
	}
	return c
}

// texts is what the business said on the phone.
func (a account) texts(id string) []string {
	texts := []string{}
	for _, item := range a.Chat(id) {
		if item.From == phone.FromBusiness {
			texts = append(texts, item.Text)
		}
	}
	return texts
}

// answer of the public API.
type answer struct {
	status int
	body   string
}

// call makes a call of the public API; a body makes it a POST.
func (a account) call(ctx context.Context, path, body string) (answer, error) {
	return a.callWith(ctx, token, path, body)
}

func (a account) callWith(ctx context.Context, key, path, body string) (answer, error) {
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, "https://api.manychat.com"+path, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := manychattest.Transport(a).RoundTrip(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, string(data)}, err
}

// api is a call that is expected to be answered.
func (a account) api(path, body string) answer {
	a.t.Helper()
	got, err := a.call(context.Background(), path, body)
	if err != nil {
		a.t.Fatal(err)
	}
	return got
}

func (a account) wantOK(path, body string) string {
	a.t.Helper()
	got := a.api(path, body)
	if got.status != http.StatusOK || !strings.Contains(got.body, `"status":"success"`) {
		a.t.Fatalf("%s %s: got %d %s", path, body, got.status, got.body)
	}
	return got.body
}

func (a account) wantAnswer(path, body string, want answer) {
	a.t.Helper()
	if got := a.api(path, body); got != want {
		a.t.Errorf("%s %s:\n got %d %s\nwant %d %s", path, body, got.status, got.body, want.status, want.body)
	}
}

// reply answers every request with the same body.
func reply(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
}

// whatsapp is a Dynamic Block with one text and more keys of content.
func whatsapp(text string, more ...string) string {
	quoted, _ := json.Marshal(text)
	return `{"version":"v2","content":{"type":"whatsapp","messages":[{"type":"text","text":` + string(quoted) + `}]` +
		strings.Join(append([]string{""}, more...), ",") + `}}`
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}

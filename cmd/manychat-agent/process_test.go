package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	question = "how much is the wheel course?"
	price    = "Wheel Course for Beginners: 240 EUR"
	ack      = "Give me a moment, I am looking that up for you."
)

// process is a running program. Its test ends it.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  *bufio.Reader
	log  *syncBuffer
	url  string
	http *http.Client
}

// start is how a program is started, with no environment but the given one.
type start struct {
	program []string // what args belong to; empty: this binary, under the program's name
	folder  string
	env     []string
	args    []string
	in      *os.File // nil: empty
}

func run(t *testing.T, s start) *process {
	t.Helper()
	if len(s.program) == 0 {
		s.program = []string{"manychat-agent"}
	}
	p := &process{t: t, cmd: exec.Command(s.program[0], slices.Concat(s.program[1:], s.args)...), log: &syncBuffer{}, http: &http.Client{Timeout: answersWithin}}
	p.cmd.Dir = s.folder
	p.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + s.folder, noRaceSleep}, s.env...)
	p.cmd.Stderr = p.log
	if s.in != nil {
		p.cmd.Stdin = s.in
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		p.http.CloseIdleConnections()
		if t.Failed() {
			t.Logf("log of the process:\n%s", p.log.String())
		}
	})
	return p
}

var announced = regexp.MustCompile(`Open the phone: +(http://\S+)/sandbox\n`)

// dev starts the sandbox in a folder and reads from the screen where it is. Replies are
// late after 700 ms.
func dev(t *testing.T, folder string, env ...string) *process {
	t.Helper()
	env = append([]string{"PORT=0", "RACE_DEADLINE_MS=700", "MANYCHAT_REPLY_GAP_MS=100"}, env...)
	p := run(t, start{folder: folder, env: env, args: []string{"dev"}})
	for {
		line, err := p.out.ReadString('\n')
		if err != nil {
			t.Fatalf("dev ended before it said where it is: %v\n%s", err, p.log.String())
		}
		if found := announced.FindStringSubmatch(line); found != nil {
			p.url = found[1]
			return p
		}
	}
}

// kill is kill -9.
func (p *process) kill() {
	p.t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		p.t.Fatal(err)
	}
	_ = p.cmd.Wait() // it was killed
}

// post sends one of the page's forms and returns the contact it was about.
func (p *process) post(path string, form url.Values) string {
	p.t.Helper()
	req, err := http.NewRequest(http.MethodPost, p.url+"/sandbox/"+path, strings.NewReader(form.Encode()))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "text/plain")
	return p.do(req)
}

// do makes a request, expects 200 and returns the body.
func (p *process) do(req *http.Request) string {
	p.t.Helper()
	resp, err := p.http.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		p.t.Fatalf("%s answers %s: %s (%v)", req.URL, resp.Status, body, err)
	}
	return string(body)
}

// page is what stands on the phone page of a contact.
func (p *process) page(contact string) string {
	p.t.Helper()
	req, err := http.NewRequest(http.MethodGet, p.url+"/sandbox/live?contact="+contact, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return p.do(req)
}

var bubbles = regexp.MustCompile(`<div class="bubble (?:contact|business)"[^>]*>\s*<p[^>]*>(.*?)</p>`)

// chat lists the texts on a contact's phone.
func (p *process) chat(contact string) (texts []string) {
	p.t.Helper()
	for _, found := range bubbles.FindAllStringSubmatch(p.page(contact), -1) {
		texts = append(texts, html.UnescapeString(found[1]))
	}
	return texts
}

// awaitChat waits until exactly these texts are on a contact's phone.
func (p *process) awaitChat(contact string, want ...string) {
	p.t.Helper()
	err := poll(func() error {
		if diff := cmp.Diff(want, p.chat(contact)); diff != "" {
			return errors.New(diff)
		}
		return nil
	})
	if err != nil {
		p.t.Fatalf("phone (-want +got):\n%v", err)
	}
}

// awaitDelivery waits until the reply to a contact's newest message has the given state
// in the outbox.
func (p *process) awaitDelivery(contact, state string) {
	p.t.Helper()
	err := poll(func() error {
		recorded, err := recent(p.url, "sandbox-console-key", contact)
		if err == nil && (len(recorded) != 1 || !slices.Equal(recorded[0].Deliveries, []string{state})) {
			err = fmt.Errorf("recorded turns: %+v, want a delivery that is %s", recorded, state)
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// recordedTurn is a turn as the console's API tells it.
type recordedTurn struct {
	ID         string   `json:"id"`
	State      string   `json:"state"`
	Outcome    string   `json:"outcome"`
	MergedInto string   `json:"mergedInto"`
	Replies    []string `json:"replies"`
	Deliveries []string `json:"deliveries"`
}

// recent asks a service for the newest turns of a contact.
func recent(service, key, contact string) ([]recordedTurn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answersWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, service+"/console/api/turns?limit=100&subscriber="+contact, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, errors.New(resp.Status)
	}
	var list struct {
		Turns []recordedTurn `json:"turns"`
	}
	err = json.NewDecoder(resp.Body).Decode(&list)
	return list.Turns, err
}

// refused is a call that ManyChat refused, as the page shows it.
var refused = regexp.MustCompile(`setCustomFieldByName[^→\n]*→ 500`)

// awaitRefusal waits until ManyChat has refused a call for a contact.
func (p *process) awaitRefusal(contact string) {
	p.t.Helper()
	err := poll(func() error {
		if !refused.MatchString(p.page(contact)) {
			return errors.New("no refused call is shown")
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// awaitSaved waits until the sandbox has written a text down: the emulated ManyChat
// lives in the killed process as well, where the real one would not.
func awaitSaved(t *testing.T, folder, text string) {
	t.Helper()
	err := poll(func() error {
		data, err := os.ReadFile(filepath.Join(folder, "data", "sandbox.json"))
		if err == nil && !bytes.Contains(data, []byte(text)) {
			err = fmt.Errorf("%q is not saved", text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Holds docs/spec/03-turn.md, "Crash recovery": a turn that was killed while the model
// was thinking runs again, and the contact gets one answer.
func TestKilledWhileTheModelThinks(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	writeFrontDesk(t, filepath.Join(folder, "config"))
	p := dev(t, folder)
	contact := p.post("contacts", nil)
	p.post("model", url.Values{"latency": {"25"}, "mode": {"ok"}, "contact": {contact}})
	p.post("send", url.Values{"contact": {contact}, "text": {question}})
	p.awaitChat(contact, question, ack)
	awaitSaved(t, folder, ack)
	p.kill()

	p = dev(t, folder)
	p.awaitChat(contact, question, ack, price)
	p.awaitDelivery(contact, "delivered")
	p.awaitChat(contact, question, ack, price)
}

// Holds docs/spec/05-delivery.md, "Outbox": a reply that waits for ManyChat to recover
// outlives the process.
func TestKilledWhileAReplyIsQueued(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	writeFrontDesk(t, filepath.Join(folder, "config"))
	p := dev(t, folder)
	contact := p.post("contacts", nil)
	p.post("model", url.Values{"latency": {"1"}, "mode": {"ok"}, "contact": {contact}})
	p.post("faults", url.Values{"kind": {"server_error"}, "path": {"subscriber writes"}, "times": {"0"}, "contact": {contact}})
	p.post("send", url.Values{"contact": {contact}, "text": {question}})
	p.awaitRefusal(contact)
	p.awaitDelivery(contact, "pending")
	p.awaitChat(contact, question, ack)
	awaitSaved(t, folder, ack)
	p.kill()

	p = dev(t, folder)
	p.awaitDelivery(contact, "delivered")
	p.awaitChat(contact, question, ack, price)
}

// Holds docs/spec/03-turn.md, "Shutdown": neither an open event stream nor a connection
// that waits for its next request keeps the program from ending.
func TestTerminated(t *testing.T) {
	t.Parallel()
	const foreverMS = "600000"
	p := dev(t, t.TempDir(), "SHUTDOWN_GRACE_MS="+foreverMS)
	contact := p.post("contacts", nil) // leaves a connection behind
	p.chat(contact)
	stream, err := p.http.Get(p.url + "/sandbox/events")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	if _, err := bufio.NewReader(stream.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGTERM)
	if err := p.ended(); err != nil {
		t.Errorf("the program ended with %v, want 0", err)
	}
}

// Holds docs/spec/10-config.md, "Reload": a SIGHUP puts the files in force as they are now,
// and files that are not valid change nothing.
func TestReload(t *testing.T) {
	t.Parallel()
	d := newDeployment(t)
	p := d.serve()
	catalog := filepath.Join(d.folder, "config", "catalog.json")
	original, err := os.ReadFile(catalog)
	if err != nil {
		t.Fatal(err)
	}
	write := func(old, replacement string) {
		t.Helper()
		changed := strings.Replace(string(original), old, replacement, 1)
		if changed == string(original) {
			t.Fatalf("the demo's catalog lacks %s", old)
		}
		if err := os.WriteFile(catalog, []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	d.asks(reader, "240 EUR")
	write(`"amount": 24000`, `"amount": 26500`)
	p.hangUp("configuration reloaded")
	d.asks(reader, "265 EUR")
	write(`"amount": 24000`, `"amount": "free"`)
	p.hangUp("reload refused, what was in force stays")
	if log := p.log.String(); !strings.Contains(log, "catalog.json:11:28 /offerings/0/price/amount") {
		t.Errorf("the log does not say what is wrong:\n%s", log)
	}
	d.asks(reader, "265 EUR")
	p.signal(syscall.SIGTERM)
	if err := p.ended(); err != nil {
		t.Errorf("the program ended with %v, want 0", err)
	}
}

// reader is a contact of the deployment.
const reader = "900000001"

// asks asks for a price and looks at the answer.
func (d *deployment) asks(id, want string) {
	d.t.Helper()
	d.write(id, question)
	chat := d.at.Chat(id)
	if last := chat[len(chat)-1]; !strings.Contains(last.Text, want) {
		d.t.Errorf("the answer is %q, want %s", last.Text, want)
	}
}

// Holds docs/spec/10-config.md, "Reload": dev, whose tenant is built in, goes on too.
func TestReloadOfDev(t *testing.T) {
	t.Parallel()
	p := dev(t, t.TempDir())
	p.hangUp("configuration reloaded")
	p.signal(syscall.SIGTERM)
	if err := p.ended(); err != nil {
		t.Errorf("the program ended with %v, want 0", err)
	}
}

// hangUp sends a SIGHUP and waits until the log speaks of it.
func (p *process) hangUp(want string) {
	p.t.Helper()
	p.signal(syscall.SIGHUP)
	err := poll(func() error {
		if !strings.Contains(p.log.String(), want) {
			return fmt.Errorf("the log does not say %q:\n%s", want, p.log.String())
		}
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

// A second signal does not wait for the turns in flight.
func TestTerminatedTwice(t *testing.T) {
	t.Parallel()
	p := dev(t, t.TempDir(), "SHUTDOWN_GRACE_MS=600000", "MODEL_ABORT_MS=600000")
	contact := p.post("contacts", nil)
	p.post("model", url.Values{"mode": {"hang"}, "latency": {"0"}, "contact": {contact}})
	p.post("send", url.Values{"contact": {contact}, "text": {question}})
	p.awaitChat(contact, question, ack)
	done := make(chan error, 1)
	go func() { done <- p.ended() }()
	err := poll(func() error {
		select {
		case err := <-done:
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM {
				t.Errorf("the program ended with %v, want the signal", err)
			}
			return nil
		default:
			p.signal(syscall.SIGTERM)
			return errors.New("the program goes on")
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// An interrupt ends a chat that waits for its next line.
func TestChatInterrupted(t *testing.T) {
	t.Parallel()
	in, typing, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer typing.Close()
	folder := t.TempDir()
	writeFrontDesk(t, filepath.Join(folder, "config"))
	p := run(t, start{folder: folder, in: in, args: []string{"simulate"}})
	if _, err := io.WriteString(typing, question+"\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := p.out.ReadString('\n'); err != nil || line != price+"\n" {
		t.Fatalf("simulate answers %q, %v", line, err)
	}
	p.signal(os.Interrupt)
	if err := p.ended(); err != nil {
		t.Errorf("the program ended with %v, want 0", err)
	}
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Error(err)
	}
}

// ended waits for the program's end; the error is its exit code.
func (p *process) ended() error {
	ctx, cancel := context.WithTimeout(context.Background(), answersWithin)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { _ = p.cmd.Process.Kill() })
	defer stop()
	err := p.cmd.Wait()
	if ctx.Err() != nil {
		return errors.New("it did not end")
	}
	return err
}

// syncBuffer is a log that is read while it is written.
type syncBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

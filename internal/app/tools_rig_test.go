package app_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/console"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/sandbox"
	"github.com/manychat-agent/manychat-agent/internal/telemetry"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

const (
	studioKey  = "the-key-of-the-studio-console"
	studioFlow = "content20260101000000_000002" // the reply flow of [serving]
)

// studio is the service as an operator runs it, in a synctest bubble, with an account that
// has all that the demo's files name and outlives the service. It writes down in one order
// what the service puts on the wire to ManyChat and what it asks of ManyChat.
type studio struct {
	t       *testing.T
	folder  string
	setup   setup
	webhook http.RoundTripper
	tenant  *tenant.Tenant
	account *manychattest.Server
	network *pipes
	client  *http.Client // as ManyChat, and as the operator's console
	service *app.Service
	turns   sandbox.Turns
	log     safeBuffer
	journal journal
	alive   *atomic.Bool // whether the service's requests to ManyChat get there
	stop    func()
	ending  sync.WaitGroup // processes that crashed
}

// inStudio runs a test against a started studio.
func inStudio(t *testing.T, change setup, test func(*studio)) {
	t.Helper()
	inStudioWith(t, change, unreachable{}, test)
}

// inStudioWith is [inStudio] with the business's own address for notices.
func inStudioWith(t *testing.T, change setup, webhook http.RoundTripper, test func(*studio)) {
	t.Helper()
	s := &studio{folder: t.TempDir(), setup: change, webhook: webhook}
	synctest.Test(t, func(t *testing.T) {
		s.t = t
		s.open()
		test(s)
		s.close()
	})
}

// open makes the account and starts the service.
func (s *studio) open() {
	s.t.Helper()
	s.client = &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		return s.network.dial(ctx, network, address)
	}}}
	s.start()
}

// close stops the service, and after it the account.
func (s *studio) close() {
	s.t.Helper()
	s.stop()
	s.ending.Wait()
	keepContacts(s.account)
	s.account.Close()
	s.checkJournal()
}

// start starts the service over the studio's folder, as often as a test needs.
func (s *studio) start() {
	s.t.Helper()
	environ := append(serving(s.folder), "CONSOLE_API_KEY="+studioKey)
	c, business := load(s.t, config.Serve, environ, s.setup)
	if s.tenant = business; s.account == nil {
		s.furnish(manychat.Channel(c.Tenant.Channel))
	}
	s.network, s.alive = newPipes(), &atomic.Bool{}
	s.alive.Store(true)
	s.turns = sandbox.Turns{Service: "http://127.0.0.1:3000", Path: console.TurnsPath, Key: studioKey, Client: s.client}
	var err error
	s.service, err = app.New(s.t.Context(), app.Options{
		Config: c, Tenant: business, Now: time.Now, ToWebhook: s.webhook,
		Models:    []attempt.Model{{Name: c.Agent.Model.String(), Model: counting{s.setup.model}}},
		Transport: whileAlive(s.alive, s.journal.transport(manychattest.Transport(s.account), s.what)),
		Log:       telemetry.NewLogger(io.MultiWriter(&s.log, &captured), slog.LevelDebug, telemetry.JSON),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	mux := http.NewServeMux()
	s.service.Register(mux)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() {
		served <- s.service.Serve(ctx, app.Front{Listener: wire{s.network, &s.journal}, Handler: mux})
	}()
	service := s.service
	s.stop = func() {
		for _, secret := range []string{newSecret, oldSecret, apiToken, studioFlow, studioKey} {
			captured.keep("secret", secret)
		}
		cancel()
		if err := <-served; err != nil {
			s.t.Error(err)
		}
		s.client.CloseIdleConnections()
		if err := service.Close(); err != nil {
			s.t.Error(err)
		}
	}
	synctest.Wait()
}

// crash starts the service over what its database holds at this instant. What the process before
// still does reaches nobody.
func (s *studio) crash() {
	s.t.Helper()
	s.alive.Store(false)
	before, folder := s.stop, s.t.TempDir()
	for _, name := range []string{"agent.db", "agent.db-wal"} {
		content, err := os.ReadFile(filepath.Join(s.folder, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.t.Error(err)
		}
		put(s.t, filepath.Join(folder, name), string(content))
	}
	s.folder = folder
	s.start()
	s.ending.Go(before)
}

// whileAlive is a way to ManyChat that ends with the process.
func whileAlive(alive *atomic.Bool, to http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		if !alive.Load() {
			return nil, errors.New("the process is dead")
		}
		return to.RoundTrip(req)
	})
}

// furnish makes the account, with all that the demo's files name.
func (s *studio) furnish(channel manychat.Channel) {
	s.t.Helper()
	s.account = newAccount(s.t, channel, s.client, nil)
	tags := []string{"needs-a-person", "human-active"}
	var fields []string
	for _, tag := range s.tenant.Tools.Tags {
		tags = append(tags, tag.Tag)
	}
	for _, tag := range s.tenant.Tools.Readable.Tags {
		tags = append(tags, tag.Tag)
	}
	for _, f := range s.tenant.Tools.Fields {
		fields = append(fields, f.Field)
	}
	for _, f := range s.tenant.Tools.Readable.Fields {
		fields = append(fields, f.Field)
	}
	for _, n := range s.tenant.Tools.Notes {
		fields = append(fields, n.Field)
	}
	for _, tag := range tags {
		if _, err := s.account.DefineTag(tag); err != nil {
			s.t.Fatal(err)
		}
	}
	for _, field := range fields {
		if _, err := s.account.DefineField(field, phone.Text); err != nil {
			s.t.Fatal(err)
		}
	}
	for _, f := range s.tenant.Tools.Flows {
		s.account.DefineFlow(manychattest.Flow{NS: f.FlowNs, Name: f.ID, Steps: []manychattest.Step{{Text: "flow " + f.ID}}})
	}
	for _, e := range s.tenant.Tools.Events {
		s.account.DefineFlow(manychattest.Flow{NS: e.FlowNs, Name: e.ID})
	}
	if h := s.tenant.Rules.Handoff; h != nil && h.FlowNs != "" {
		s.account.DefineFlow(manychattest.Flow{NS: h.FlowNs, Name: "handoff"})
	}
}

// counting is a model that reports what it used.
type counting struct{ llm.Model }

func (m counting) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	resp, err := m.Model.Generate(ctx, req)
	if resp.Usage == (llm.Usage{}) {
		resp.Usage = llm.Usage{Input: 900, Output: 30}
	}
	return resp, err
}

// contact adds a contact.
func (s *studio) contact(id string) string {
	s.t.Helper()
	return addContact(s.t, s.account, id)
}

// write sends a text as a contact, and returns what ManyChat made of the answer.
func (s *studio) write(id, text string) manychattest.Exchange {
	s.t.Helper()
	return sendAs(s.t, s.account, id, text)
}

// faults sets what goes wrong at ManyChat.
func (s *studio) faults(all ...manychattest.Fault) {
	s.t.Helper()
	if err := s.account.SetFaults(manychattest.Faults{Faults: all}); err != nil {
		s.t.Fatal(err)
	}
}

// rest lets time pass until what was begun is over.
func (s *studio) rest(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// reads is what the business wrote to a contact, in order.
func (s *studio) reads(id string) (all []string) {
	for _, item := range s.account.Chat(id) {
		if item.From == phone.FromBusiness {
			all = append(all, item.Text)
		}
	}
	return all
}

// recorded are a contact's recorded turns, newest first.
func (s *studio) recorded(id string, n int) []sandbox.Turn {
	s.t.Helper()
	turns, err := s.turns.Recent(context.Background(), id, n)
	if err != nil || len(turns) != n {
		s.t.Fatalf("%d recorded turns, want %d: %v", len(turns), n, err)
	}
	return turns
}

// acted is what the newest turn of a contact did, each as "tool id=value status (error)".
func (s *studio) acted(id string) []string {
	s.t.Helper()
	return actedIn(s.recorded(id, 1)[0])
}

func actedIn(turn sandbox.Turn) (all []string) {
	for _, a := range turn.Actions {
		line := a.Tool + " " + a.ID
		if a.Value != "" {
			line += "=" + a.Value
		}
		if line += " " + a.Status; a.Error != "" {
			line += " (" + a.Error + ")"
		}
		all = append(all, line)
	}
	return all
}

// asked is what a call of a model to a tool looks like.
func asked(name, arguments string) llm.ToolCall {
	return llm.ToolCall{ID: "call_" + name, Name: name, Arguments: []byte(arguments)}
}

// calling is a step of a model that calls tools.
func calling(calls ...llm.ToolCall) llmtest.Step {
	calls = slices.Clone(calls)
	for i := range calls {
		calls[i].ID += "_" + string(rune('a'+i%26)) + string(rune('a'+i/26))
	}
	return llmtest.Step{Response: llm.Response{Stop: llm.StopTools, Calls: calls}}
}

// The calls that most tests make.
var (
	addGift    = asked("add_tag", `{"tag":"gift"}`)
	dropGroup  = asked("remove_tag", `{"tag":"group_booking"}`)
	setEvening = asked("set_field", `{"field":"preferred_shift","value":"evening"}`)
	noteDown   = asked("write_note", `{"note":"summary","text":"Wants a big blue bowl for breakfast."}`)
	noteWhy    = asked("write_note", `{"note":"handoff_note","text":"Asked about a lost parcel."}`)
	sendMap    = asked("send_flow", `{"flow":"studio_map"}`)      // plays no time
	sendPhotos = asked("send_flow", `{"flow":"student_gallery"}`) // plays 4 s
	readThem   = asked("get_contact", `{}`)
)

// scripted is a model that plays steps.
func scripted(steps ...llmtest.Step) *llmtest.Scripted { return &llmtest.Scripted{Steps: steps} }

// slow is a step that takes a while.
func slow(after time.Duration, step llmtest.Step) llmtest.Step {
	step.After = after
	return step
}

// what a request to ManyChat is: a reply's two calls, a token, a part of a notice, or an action.
func (s *studio) what(path string, body []byte) (is, contact string) {
	var b struct {
		Subscriber json.RawMessage `json:"subscriber_id"`
		Flow       string          `json:"flow_ns"`
		Tag        string          `json:"tag_name"`
		Field      string          `json:"field_name"`
		Value      string          `json:"field_value"`
	}
	if path == "/fb/subscriber/getInfo" {
		return "get_contact", ""
	}
	if err := json.Unmarshal(body, &b); err != nil {
		return "unreadable: " + string(body), ""
	}
	contact = strings.Trim(string(b.Subscriber), `"`)
	is = path
	switch path {
	case "/fb/sending/sendFlow":
		is = s.flowOf(b.Flow)
	case "/fb/subscriber/addTagByName":
		is = s.tagOf("add_tag ", b.Tag)
	case "/fb/subscriber/removeTagByName":
		is = s.tagOf("remove_tag ", b.Tag)
	case "/fb/subscriber/setCustomFieldByName":
		is = s.fieldOf(b.Field, b.Value)
	}
	return is, contact
}

func (s *studio) flowOf(ns string) string {
	for _, f := range s.tenant.Tools.Flows {
		if f.FlowNs == ns {
			return "send_flow " + f.ID
		}
	}
	for _, e := range s.tenant.Tools.Events {
		if e.FlowNs == ns {
			return "send_event " + e.ID
		}
	}
	if h := s.tenant.Rules.Handoff; h != nil && h.FlowNs == ns {
		return "notice flow"
	}
	if ns == studioFlow {
		return "show"
	}
	return "flow " + ns
}

func (s *studio) tagOf(verb, name string) string {
	for _, tag := range s.tenant.Tools.Tags {
		if tag.Tag == name {
			return verb + tag.ID
		}
	}
	if h := s.tenant.Rules.Handoff; h != nil && h.Tag == name {
		return "notice tag"
	}
	return verb + "of " + name
}

func (s *studio) fieldOf(name, value string) string {
	switch name {
	case "ai_message":
		return "say " + value
	case "ai_token":
		return "token"
	}
	for _, f := range s.tenant.Tools.Fields {
		if f.Field == name {
			return "set_field " + f.ID + "=" + value
		}
	}
	for _, n := range s.tenant.Tools.Notes {
		if n.Field == name {
			return "write_note " + n.ID + "=" + value
		}
	}
	return "field " + name + "=" + value
}

// did is what the emulator's log says was asked of ManyChat for a contact, tokens aside.
func (s *studio) did(id string) (all []string) {
	for _, c := range s.account.Calls() {
		is, _ := s.what(c.Path, []byte(c.Body))
		if c.Contact == id && is != "token" {
			all = append(all, is)
		}
	}
	return all
}

// acts leaves out of such a list what delivers replies.
func acts(did []string) (all []string) {
	for _, is := range did {
		if is != "show" && !strings.HasPrefix(is, "say ") {
			all = append(all, is)
		}
	}
	return all
}

// staging reports whether a request performs something that was staged, or a notice.
func staging(is string) bool {
	for _, verb := range []string{"add_tag", "remove_tag", "set_field", "write_note", "notice"} {
		if strings.HasPrefix(is, verb) {
			return true
		}
	}
	return false
}

// byContact are models by a word of the message that they answer; the one without a word
// answers the others.
type byContact map[string]llm.Model

func (m byContact) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	for _, message := range slices.Backward(req.Messages) {
		if message.Role != llm.User {
			continue
		}
		for word, model := range m {
			if word != "" && strings.Contains(message.Text, word) {
				return model.Generate(ctx, req)
			}
		}
	}
	return m[""].Generate(ctx, req)
}

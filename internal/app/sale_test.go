package app_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
	"github.com/manychat-agent/manychat-agent/internal/telemetry"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// isProspect is a model that finds a prospect on every turn.
func isProspect(turns int) *llmtest.Scripted {
	var steps []llmtest.Step
	for i := range turns {
		steps = append(steps, calling(asked("set_field", `{"field":"intent","value":"prospect"}`)), wrote(fmt.Sprintf("Reply %d.", i+1)))
	}
	return scripted(steps...)
}

// sells is the demo academy with its sale.
func sells(t *testing.T) func() *tenant.Tenant {
	return func() *tenant.Tenant {
		business := academy(t, "demo")
		for i, f := range business.Tools.Fields {
			business.Tools.Fields[i].Intent, business.Tools.Fields[i].Funnel = f.ID == "intent", f.ID == "stage"
		}
		for i, f := range business.Tools.Flows {
			if f.Role == tenant.RoleOpening {
				business.Tools.Flows[i].SettleSeconds = 3
			}
		}
		return business
	}
}

// Holds docs/spec/08-sales.md, "Opening", and docs/spec/07-tools.md, "Flows go out before the reply": of
// three first messages at once the first answered gets the opening, before its reply, which waits until
// it ends; nothing sends it again.
func TestOpeningOfThreeFirstMessages(t *testing.T) {
	for _, merge := range []string{"true", "false"} {
		inStudio(t, setup{model: isProspect(4), business: sells(t), env: []string{"MERGE_WAITING=" + merge}}, func(s *studio) {
			id := s.contact("900000001")
			answers := s.says(id, wrotes{0, "one bowl"}, wrotes{0, "two cups"}, wrotes{0, "three jugs"})
			s.rest(time.Minute)
			s.write(id, "and plates?")
			s.rest(time.Minute)
			reads := s.reads(id)
			if len(reads) < 3 || reads[0] != "flow welcome_video" || reads[1] != "Reply 1." || slices.Contains(reads[1:], reads[0]) {
				t.Errorf("merging %s, the contact reads %q", merge, reads)
			}
			if sent := acts(s.did(id)); len(slices.DeleteFunc(sent, func(a string) bool { return !strings.Contains(a, "welcome_video") })) != 1 {
				t.Errorf("merging %s, ManyChat was asked for %q", merge, s.did(id))
			}
			if first := slices.IndexFunc(answers, func(r response) bool { return r.shows == "Reply 1." }); first < 0 || answers[first].at != 3*time.Second {
				t.Errorf("merging %s, the responses are %q, want the reply when the opening ends", merge, lines(answers))
			}
		})
	}
}

// several is processes on one database, and a balancer before them that sends each connection to the
// next one.
type several struct {
	account  *manychattest.Server
	networks []*pipes
	next     atomic.Int64
	stops    []func()
}

// dial connects to the process whose turn it is.
func (s *several) dial(ctx context.Context, network, address string) (net.Conn, error) {
	return s.networks[int(s.next.Add(1))%len(s.networks)].dial(ctx, network, address)
}

// together starts processes on the database of a setup, with one account.
func together(t *testing.T, n int, change setup) *several {
	t.Helper()
	s := &several{}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: s.dial}}
	c, business := load(t, config.Serve, serving(t.TempDir()), change)
	s.account = newAccount(t, manychat.Channel(c.Tenant.Channel), client, nil)
	for _, f := range business.Tools.Fields {
		if _, err := s.account.DefineField(f.Field, phone.Text); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range business.Tools.Flows {
		s.account.DefineFlow(manychattest.Flow{NS: f.FlowNs, Name: f.ID, Steps: []manychattest.Step{{Text: "flow " + f.ID}}})
	}
	for range n {
		service, err := app.New(t.Context(), app.Options{
			Config: c, Tenant: business, Models: change.models(c), Now: time.Now, Transport: manychattest.Transport(s.account),
			Log: telemetry.NewLogger(&captured, slog.LevelDebug, telemetry.JSON),
		})
		if err != nil {
			t.Fatal(err)
		}
		mux, network := http.NewServeMux(), newPipes()
		service.Register(mux)
		s.networks = append(s.networks, network)
		ctx, cancel := context.WithCancel(context.Background())
		served := make(chan error, 1)
		go func() { served <- service.Serve(ctx, app.Front{Listener: network, Handler: mux}) }()
		s.stops = append(s.stops, func() {
			cancel()
			if err := errors.Join(<-served, service.Close()); err != nil {
				t.Error(err)
			}
		})
	}
	return s
}

// stop stops all of them.
func (s *several) stop() {
	for _, secret := range []string{newSecret, oldSecret, apiToken, studioFlow} {
		captured.keep("secret", secret)
	}
	keepContacts(s.account)
	for _, stop := range s.stops {
		stop()
	}
	s.account.Close()
}

// Holds docs/spec/08-sales.md, "Opening", and docs/spec/15-storage.md: the same on two processes, which
// take the messages at the same time.
func TestOpeningOnTwoProcesses(t *testing.T) {
	for _, merge := range []string{"true", "false"} {
		env := []string{"DATABASE_URL=" + postgrestest.Open(t), "MERGE_WAITING=" + merge}
		s := together(t, 2, setup{model: isProspect(3), business: sells(t), env: env})
		id := addContact(t, s.account, "900000001")
		var writing sync.WaitGroup
		for i := range 3 {
			writing.Go(func() { sendAs(t, s.account, id, fmt.Sprint("bowl number ", i)) })
		}
		writing.Wait()
		s.stop() // when what was begun has ended
		var reads []string
		for _, item := range s.account.Chat(id) {
			if item.From == phone.FromBusiness {
				reads = append(reads, item.Text)
			}
		}
		if len(reads) < 2 || reads[0] != "flow welcome_video" || !strings.HasPrefix(reads[1], "Reply ") || slices.Contains(reads[1:], reads[0]) {
			t.Errorf("merging %s, the contact reads %q", merge, reads)
		}
	}
}

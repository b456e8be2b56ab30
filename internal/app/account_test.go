package app_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// own loads the demo tenant's files from a folder of a tenant's own, with more beside them.
func own(t *testing.T, more map[string]string) (config.Config, *tenant.Tenant) {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"prompt.md", "catalog.json", "rules.json", "tools.json"} {
		text, err := demo.Demo.ReadFile(name + ".example")
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(folder, name), string(text))
	}
	for name, text := range more {
		put(t, filepath.Join(folder, name), text)
	}
	c, err := config.Load(config.Source{Mode: config.Dev, Environ: []string{"CONFIG_DIR=" + folder, "DATABASE_URL=sqlite:" + filepath.Join(t.TempDir(), "agent.db")}})
	if err != nil {
		t.Fatal(err)
	}
	business, err := app.Business(c, 0)
	if err != nil {
		t.Fatal(err)
	}
	return c, business
}

func put(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// accountOf builds the sandbox of a business.
func accountOf(t *testing.T, c config.Config, business *tenant.Tenant) (*app.Dev, error) {
	t.Helper()
	d, err := app.NewDev(t.Context(), app.DevOptions{Config: c, Tenant: business, Listener: newPipes(), Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if err == nil {
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	return d, err
}

// Holds docs/spec/13-sandbox.md, "The emulator": the account has every flow that the
// business's files name, and what a contact gets of each is over within its settleSeconds.
func TestAccountHasTheFlows(t *testing.T) {
	c, business := load(t, config.Dev, []string{"DATABASE_URL=sqlite:" + filepath.Join(t.TempDir(), "agent.db")})
	business.Rules.Handoff = &tenant.Handoff{FlowNs: "content1"}
	d, err := accountOf(t, c, business)
	if err != nil {
		t.Fatal(err)
	}
	flows := map[string]manychattest.Flow{}
	for _, f := range d.Account.Flows() {
		flows[f.NS] = f
	}
	for _, f := range business.Tools.Flows {
		var pictures int
		var plays time.Duration
		for _, s := range flows[f.FlowNs].Steps {
			plays += s.Delay
			if s.Media != nil {
				pictures++
			}
		}
		if pictures == 0 || plays > f.Settle() {
			t.Errorf("%s shows %d pictures in %v; want one at least within the %v of settleSeconds", f.ID, pictures, plays, f.Settle())
		}
	}
	silent := []string{business.Rules.Handoff.FlowNs}
	for _, e := range business.Tools.Events {
		silent = append(silent, e.FlowNs)
	}
	for _, ns := range silent {
		if f, found := flows[ns]; !found || len(f.Steps) > 0 {
			t.Errorf("the flow %s, which is no message to the contact, is %+v", ns, f)
		}
	}
}

// Holds docs/spec/13-sandbox.md, "The emulator": the account has every tag and field that
// the business's files name.
func TestAccountHasTagsAndFields(t *testing.T) {
	c, business := load(t, config.Dev, []string{"DATABASE_URL=sqlite:" + filepath.Join(t.TempDir(), "agent.db")})
	business.Tools.Nudge.HumanActiveTag = "human-active"
	business.Rules.Learning = &tenant.Learning{ConvertedTag: "paid"}
	d, err := accountOf(t, c, business)
	if err != nil {
		t.Fatal(err)
	}
	tools := business.Tools
	tags := []string{tools.Nudge.HumanActiveTag, business.Rules.Handoff.Tag, business.Rules.Learning.ConvertedTag}
	for _, tag := range tools.Tags {
		tags = append(tags, tag.Tag)
	}
	for _, tag := range tools.Readable.Tags {
		tags = append(tags, tag.Tag)
	}
	fields := map[string]any{}
	for _, f := range tools.Fields {
		fields[f.Field] = f.Values[0]
	}
	for _, f := range tools.Readable.Fields {
		fields[f.Field] = f.Values[0]
	}
	for _, n := range tools.Notes {
		fields[n.Field] = "a note"
	}
	for _, tag := range tags {
		if _, err := d.Account.AddContact(manychattest.Contact{FirstName: "Ada", Tags: []string{tag}}); err != nil {
			t.Error(err)
		}
	}
	for name, value := range fields {
		if _, err := d.Account.AddContact(manychattest.Contact{FirstName: "Ada", Fields: map[string]any{name: value}}); err != nil {
			t.Error(err)
		}
	}
}

// A business whose flows nobody has described for the sandbox sees their ids, once each.
func TestFlowsWithoutContents(t *testing.T) {
	c, business := own(t, nil)
	d, err := accountOf(t, c, business)
	if err != nil {
		t.Fatal(err)
	}
	id, err := d.Account.AddContact(manychattest.Contact{FirstName: "Ada", LastInteraction: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Account.PlayFlow(id, business.Tools.Flows[3].FlowNs); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, item := range d.Account.Chat(id) {
		got = append(got, string(item.Kind)+" "+item.Text+item.URL)
	}
	want := []string{string(phone.KindImage) + " /sandbox/media/image.svg?title=studio_map"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the phone shows (-want +got):\n%s", diff)
	}
}

// What a business says of its flows is shown, and every mistake in it has its place.
func TestContentsOfFlows(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"right", `{"flows": {"studio_map": [{"text": "Here."}, {"afterSeconds": 0.5, "picture": "map", "title": "The way", "caption": "On foot."}]}}`, ""},
		{"an unknown flow", `{"flows": {"studio_map": [{"text": "Here."}], "studo_map": []}}`, `/flows/studo_map: found the flow "studo_map", expected the id of a flow of tools.json`},
		{"an empty step", `{"flows": {"studio_map": [{"text": "Here."}, {"afterSeconds": 2}]}}`, `/flows/studio_map/1: found a step that shows nothing`},
		{"a title alone", `{"flows": {"studio_map": [{"text": "Here.", "title": "Map"}]}}`, `/flows/studio_map/0: found a title or a caption without a picture`},
		{"an unknown picture", `{"flows": {"studio_map": [{"picture": "song"}]}}`, `/flows/studio_map/0/picture: found`},
		{"an unknown key", `{"flows": {"studio_map": [{"text": "Here.", "after": 1}]}}`, `/flows/studio_map/0/after: found the unknown key`},
		{"no JSON", `{"flows": `, `sandbox.json:1:`},
		{"no flows", `{}`, `sandbox.json:1:1`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, business := own(t, map[string]string{"sandbox.json": tt.text})
			d, err := accountOf(t, c, business)
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("the error is %v, want %s", err, tt.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			want := []manychattest.Step{{Text: "Here."}, {Delay: time.Second / 2, Media: &manychattest.Media{Kind: phone.KindImage, URL: "/sandbox/media/map.svg?title=The+way", Caption: "On foot."}}}
			for _, f := range d.Account.Flows() {
				if diff := cmp.Diff(want, f.Steps); f.NS == business.Tools.Flows[3].FlowNs && diff != "" {
					t.Errorf("the flow plays (-want +got):\n%s", diff)
				}
			}
		})
	}
}

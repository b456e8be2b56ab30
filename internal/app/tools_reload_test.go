package app_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// reloadable is a folder of the demo's files, from which the service reads them again.
type reloadable struct {
	t              *testing.T
	folder, before string // the demo's tools
}

func newReloadable(t *testing.T) reloadable {
	t.Helper()
	text, err := demo.Demo.ReadFile("tools.json.example")
	if err != nil {
		t.Fatal(err)
	}
	front, _, found := strings.Cut(string(text), `"events": [`) // the front desk only, as in [academy]
	front = strings.NewReplacer(`"intent": true`, `"intent": false`, `"funnel": true`, `"funnel": false`, `"role": "opening",`, "").Replace(front)
	if !found || strings.Contains(front, "opening") {
		t.Fatal("the demo's tools have another order")
	}
	r := reloadable{t, t.TempDir(), front + "}\n"}
	demoFiles(t, r.folder, r.before)
	return r
}

// change puts other tools into the folder: pairs of what is there and what replaces it.
func (r reloadable) change(pairs ...string) {
	r.t.Helper()
	changed := strings.NewReplacer(pairs...).Replace(r.before)
	if changed == r.before {
		r.t.Errorf("the demo's tools lack %q", pairs)
	}
	put(r.t, filepath.Join(r.folder, "tools.json"), changed)
}

func (r reloadable) env() []string { return []string{"CONFIG_DIR=" + r.folder} }

// tagsOf are the tags that a request offers to add.
func tagsOf(t *testing.T, req llm.Request) []string {
	t.Helper()
	return enums(t, req)["add_tag"]["tag"]
}

// Holds docs/spec/10-config.md, "Reload": tools that are not valid change nothing, and the log
// says what is wrong with them; valid ones are offered from the next turn on.
func TestToolsReloaded(t *testing.T) {
	files := newReloadable(t)
	model := scripted(wrote("One."), wrote("Two."), wrote("Three."))
	inStudio(t, setup{model: model, env: files.env()}, func(s *studio) {
		id := s.contact("900000001")
		s.write(id, "first")
		for name, bad := range map[string][]string{
			"a collision": {`"content00000000000000_000004"`, `"` + studioFlow + `"`},
			"a type":      {`"settleSeconds": 1`, `"settleSeconds": "long"`},
			"no JSON":     {`"tags": [`, `"tags": `},
			"a note":      {`"neverRendered": true`, `"neverRendered": false`},
		} {
			files.change(bad...)
			if err := s.service.Reload(); err == nil || !strings.Contains(err.Error(), "tools.json") {
				t.Errorf("%s: the error is %v", name, err)
			}
		}
		if n := strings.Count(s.log.String(), "reload refused, what was in force stays"); n != 4 {
			t.Errorf("the log tells of %d refused reloads", n)
		}
		s.write(id, "second")
		files.change(`"id": "gift"`, `"id": "present"`)
		if err := s.service.Reload(); err != nil {
			t.Error(err)
		}
		s.write(id, "third")
		s.rest(time.Minute)
		var got [][]string
		for _, req := range model.Requests() {
			got = append(got, tagsOf(t, req))
		}
		old := []string{"gift", "group_booking"}
		if diff := cmp.Diff([][]string{old, old, {"present", "group_booking"}}, got); diff != "" {
			t.Errorf("offered (-want +got):\n%s", diff)
		}
	})
}

// Holds docs/spec/10-config.md, "Reload", and docs/spec/07-tools.md, "A tool stages an action; the
// server performs it": a turn keeps the tools that it started with, to its last action.
func TestToolsReloadedWithinATurn(t *testing.T) {
	files := newReloadable(t)
	model := scripted(
		calling(addGift), slow(2*time.Second, calling(setEvening, sendMap)), wrote("Gladly."),
		calling(asked("add_tag", `{"tag":"present"}`), addGift, sendMap), wrote("Next."),
	)
	inStudio(t, setup{model: model, env: files.env()}, func(s *studio) {
		id := s.contact("900000001")
		if _, err := s.account.DefineTag("bought-by-a-friend"); err != nil {
			t.Error(err)
		}
		go s.write(id, "first")
		s.rest(time.Second)
		files.change(`"id": "gift"`, `"id": "present"`, "buys-a-gift", "bought-by-a-friend", "content00000000000000_000004", "content00000000000000_000099")
		if err := s.service.Reload(); err != nil {
			t.Error(err)
		}
		s.rest(time.Minute)
		if diff := cmp.Diff([]string{"send_flow studio_map", "add_tag gift", "set_field preferred_shift=evening"}, s.did(id)); diff != "" {
			t.Errorf("within the turn ManyChat was asked (-want +got):\n%s", diff)
		}
		if got := tagsOf(t, model.Requests()[2]); !slices.Contains(got, "gift") {
			t.Errorf("the last step of the turn is offered the tags %q", got)
		}
		s.account.ForgetCalls()
		s.write(id, "second")
		s.rest(time.Minute)
		if diff := cmp.Diff([]string{"get_contact", "flow content00000000000000_000099", "add_tag of bought-by-a-friend"}, s.did(id)); diff != "" {
			t.Errorf("in the next turn ManyChat was asked (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"add_tag present performed", "send_flow studio_map failed (rejected (400))"}, s.acted(id)); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
	})
}

// Holds docs/spec/07-tools.md, "Performing": what a deferred reply staged is looked up when it is
// performed; what tools.json no longer names is not, and its record says why.
func TestToolsReloadedBehindADeferredReply(t *testing.T) {
	files := newReloadable(t)
	model := scripted(calling(addGift, dropGroup), slow(9*time.Second, wrote("Gladly.")))
	inStudio(t, setup{model: model, env: files.env()}, func(s *studio) {
		id := s.contact("900000001")
		s.write(id, "first")
		files.change(`"id": "gift"`, `"id": "present"`)
		if err := s.service.Reload(); err != nil {
			t.Error(err)
		}
		s.rest(time.Minute)
		if diff := cmp.Diff([]string{"say Gladly.", "show", "remove_tag group_booking"}, s.did(id)); diff != "" {
			t.Errorf("ManyChat was asked (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"add_tag gift failed (no longer configured)", "remove_tag group_booking performed"}, s.acted(id)); diff != "" {
			t.Errorf("recorded (-want +got):\n%s", diff)
		}
	})
}

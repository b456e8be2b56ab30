package app_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// did are the newest turn's actions, with what became of them.
func (r *rig) did(id string) (all []string) {
	r.t.Helper()
	for _, a := range r.newest(id).Actions {
		all = append(all, strings.TrimSpace(a.Tool+" "+a.ID+" "+a.Status+" "+a.Error))
	}
	return all
}

// Holds docs/spec/13-sandbox.md, "The emulator", and docs/spec/10-config.md, "Reload": the
// flows, tags and fields that changed files name are there behind a reload.
func TestDevReloadFurnishesTheAccount(t *testing.T) {
	files := newReloadable(t)
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		r.write(id, "the wheel course would be a gift for my sister, evenings suit her better")
		r.phone(id, time.Minute)
		files.change("buys-a-gift", "wants-a-present", `"preferred_shift",
      "values"`, `"suits_best",
      "values"`, "content00000000000000_000004", "content00000000000000_000099", "agent_handoff_note", "note_for_us")
		rules, err := demo.Demo.ReadFile("rules.json.example")
		if err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(files.folder, "rules.json"), strings.Replace(string(rules), `"needs-a-person"`, `"colleague-wanted"`, 1))
		if err := r.Reload(); err != nil {
			t.Fatal(err)
		}
		id = r.contact("900000002")
		r.write(id, "the wheel course would be a gift for my sister, evenings suit her better")
		r.phone(id, time.Minute)
		if diff := cmp.Diff([]string{"add_tag gift performed", "set_field preferred_shift performed"}, r.did(id)); diff != "" {
			t.Errorf("behind the reload (-want +got):\n%s", diff)
		}
		r.write(id, "how do I get there?")
		r.phone(id, time.Minute)
		if diff := cmp.Diff([]string{"send_flow studio_map performed"}, r.did(id)); diff != "" {
			t.Errorf("behind the reload (-want +got):\n%s", diff)
		}
		r.write(id, "I was charged twice")
		r.phone(id, time.Minute)
		if diff := cmp.Diff([]string{"write_note handoff_note performed", "notify_handoff tag performed"}, r.did(id)); diff != "" {
			t.Errorf("behind the reload (-want +got):\n%s", diff)
		}
		got, err := r.Account.Contact(id)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Sort(got.Tags); !slices.Equal(got.Tags, []string{"colleague-wanted", "wants-a-present"}) || got.Fields["suits_best"] != "evening" || got.Fields["note_for_us"] == nil {
			t.Errorf("ManyChat holds %v, %v", got.Tags, got.Fields)
		}
		if old, err := r.Account.Contact("900000001"); err != nil || !slices.Equal(old.Tags, []string{"buys-a-gift"}) || old.Fields["preferred_shift"] != "evening" {
			t.Errorf("of the first contact there is left %v, %v, %v", old.Tags, old.Fields, err)
		}
	}, setup{env: files.env()})
}

// What flows show is reloaded with the other files, and refused with them.
func TestDevReloadsWhatFlowsShow(t *testing.T) {
	files := newReloadable(t)
	inBubble(t, func(r *rig) {
		id := r.contact("900000001")
		show := func(text string) error {
			put(t, filepath.Join(files.folder, "sandbox.json"), text)
			return r.Reload()
		}
		if err := show(`{"flows": {"studio_map": [{"text": "Down the hill."}]}}`); err != nil {
			t.Fatal(err)
		}
		files.change(`"id": "gift"`, `"id": "present"`)
		if err := show(`{"flows": {"studio_mop": []}}`); err == nil || !strings.Contains(err.Error(), "studio_mop") || !strings.Contains(r.log.String(), "reload refused, what was in force stays") {
			t.Errorf("a mistake in it is %v", err)
		}
		r.write(id, "the wheel course would be a gift for my sister, evenings suit her better")
		r.phone(id, time.Minute)
		did := r.did(id)
		r.write(id, "how do I get there?")
		var texts []string
		for _, s := range r.phone(id, time.Minute) {
			if s.Via == phone.ViaFlow {
				texts = append(texts, s.Text)
			}
		}
		if !slices.Equal(texts, []string{"Down the hill."}) || !slices.Contains(did, "add_tag gift performed") {
			t.Errorf("the flow shows %q, and the first turn did %q", texts, did)
		}
	}, setup{env: files.env()})
}

// Holds docs/spec/13-sandbox.md, "The emulator": a notice of a handoff reaches nobody but the
// sandbox, is not signed with the real secret, and shows on the page.
func TestDevNoticeStaysHere(t *testing.T) {
	for name, env := range map[string][]string{"with a secret": {"HANDOFF_WEBHOOK_SECRET=" + hookKey}, "without": nil} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(r *rig) {
				id := r.contact("900000001")
				r.write(id, "I was charged twice")
				r.phone(id, time.Minute)
				if diff := cmp.Diff([]string{"write_note handoff_note performed", "notify_handoff webhook performed"}, r.did(id)); diff != "" {
					t.Errorf("the handoff did (-want +got):\n%s", diff)
				}
				notices := r.Desk.Of([]string{r.newest(id).ID})
				if len(notices) != 1 || notices[0].Reason != "complaint" || notices[0].Note != "reason: complaint" {
					t.Fatalf("the desk got %+v", notices)
				}
				n := notices[0]
				mac := hmac.New(sha256.New, []byte(hookKey))
				mac.Write([]byte(n.Header.Get("Webhook-Id") + "." + n.Header.Get("Webhook-Timestamp") + "." + n.Body))
				if signed := n.Header.Get("Webhook-Signature"); signed == "" || signed == "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
					t.Errorf("it is signed %q", signed)
				}
				resp, err := r.http.Get(r.base + "/sandbox?contact=" + id)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				page, err := io.ReadAll(resp.Body)
				if err != nil || !strings.Contains(string(page), "The handoff notice, as your desk would get it") || !strings.Contains(string(page), "with a signature") {
					t.Errorf("the page does not show the notice: %v", err)
				}
			}, setup{env: env, rules: func(rules *tenant.Rules) { rules.Handoff = &tenant.Handoff{Webhook: hookURL} }})
		})
	}
}

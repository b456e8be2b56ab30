package app_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/console"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
)

// kept is part of every name of the account in [namedApart], and of nothing else.
const kept = "zqkept"

// namedApart is the academy with names in its account that none of its ids resembles.
func namedApart(t *testing.T) func() *tenant.Tenant {
	return academyWith(t, func(b *tenant.Tenant) {
		x := b.Tools
		for i := range x.Flows {
			x.Flows[i].FlowNs = fmt.Sprintf("content%s_%06d", kept, i)
		}
		for i := range x.Tags {
			x.Tags[i].Tag = fmt.Sprintf("Tag %s %d", kept, i)
		}
		for i := range x.Readable.Tags {
			x.Readable.Tags[i].Tag = fmt.Sprintf("Read %s %d", kept, i)
		}
		for i := range x.Fields {
			x.Fields[i].Field = fmt.Sprintf("field_%s_%d", kept, i)
		}
		for i := range x.Readable.Fields {
			x.Readable.Fields[i].Field = fmt.Sprintf("read_%s_%d", kept, i)
		}
		for i := range x.Notes {
			x.Notes[i].Field = fmt.Sprintf("note_%s_%d", kept, i)
		}
		b.Rules.Handoff = &tenant.Handoff{Tag: "Handoff " + kept, FlowNs: "content" + kept + "_900000", Webhook: "https://hooks.example/" + kept}
		b.Rules.EscalationQuietMinutes = 0
	})
}

// What the model writes into notes, what people wrote into them, and the ids of contacts.
const (
	newNote = "The quince enamel is for her aunt."
	oldNote = "Paid for the heron vase in cash."
	whoIs   = "73451298600"
)

// secrecy is a conversation in which all of the tools are used, well and badly.
func secrecy() *llmtest.Scripted {
	note := func(id string) llm.ToolCall { return asked("write_note", `{"note":"`+id+`","text":"`+newNote+`"}`) }
	everything := func() llmtest.Step {
		return calling(readThem, sendMap, addGift, dropGroup, setEvening, note("summary"), note("handoff_note"), asked("open_the_till", `{"text":"`+newNote+`"}`))
	}
	bad := calling(
		asked("write_note", `{"note":"`+newNote+`","text":"x"}`), asked("add_tag", `{"tag":"Tag zqkept 0"}`),
		asked("set_field", `{"field":"preferred_shift","value":"`+newNote+`"}`), asked("send_flow", `{"flow":"contentzqkept_000001"}`),
	)
	return scripted(
		wrote("Hello."),
		everything(), wrote("Done."),
		everything(), slow(9*time.Second, wrote("Late.")),
		everything(), with(draft{"escalate": true, "escalation_reason": "complaint"}),
		everything(), llmtest.Step{Text: "no reply"},
		bad, everything(), everything(), wrote("Closed."),
		everything(), slow(9*time.Second, wrote("Dead.")),
		wrote("Bye."),
	)
}

// Holds docs/spec/07-tools.md, "The tools" and "The action record", and docs/spec/01-principles.md,
// "Rules nothing may break": C5. Whatever happens, no namespace, no name of a tag or a field,
// no note and no contact's id is in a prompt, a tool's answer, a record, a trace, a log, an
// answer of the console or a notice.
func TestToolsKeepTheirSecrets(t *testing.T) {
	for name, faults := range map[string][]manychattest.Fault{
		"healthy": nil,
		"rejected": {
			{Kind: fault.MissingField, Name: "field_zqkept_3"}, {Kind: fault.MissingField, Name: "note_zqkept_0"}, {Kind: fault.MissingFlow, Name: "contentzqkept_000003"},
			{Kind: fault.OKWithError, Path: "/fb/subscriber/addTagByName"}, {Kind: fault.FalseMissing, Path: "/fb/subscriber/getInfo", Times: 1},
		},
		"broken": {{Kind: fault.LostAnswer, Path: "/fb/subscriber/*", Probability: 0.5}, {Kind: fault.ServerErrorHTML, Path: "sendFlow", Probability: 0.3}},
	} {
		t.Run(name, func(t *testing.T) {
			model, h := secrecy(), &hook{}
			var seen haul
			var folder string
			inStudioWith(t, setup{model: model, business: namedApart(t), env: []string{"HANDOFF_WEBHOOK_SECRET=" + hookKey, "OUTBOX_MAX_ATTEMPTS=4"}}, h, func(s *studio) {
				folder = s.folder
				s.talkSecretly(faults)
				seen.add("the console's answer", s.consoleSays(whoIs+"01"))
				seen.add("the log", s.log.String())
			})
			for i, req := range model.Requests() {
				seen.addRequest(i, req)
			}
			for _, p := range h.all() { // the note for people is theirs to read
				seen.add("a notice", strings.ReplaceAll(string(p.body), newNote, ""))
			}
			seen.addTurns(t, folder)
			if len(model.Requests()) != len(model.Steps) || len(h.all()) == 0 || len(seen.texts) < 40 {
				t.Errorf("the model was asked %d times, %d notices, %d texts seen", len(model.Requests()), len(h.all()), len(seen.texts))
			}
			seen.check(t)
		})
	}
}

// talkSecretly has a contact of whom people keep notes talk through the whole script.
func (s *studio) talkSecretly(faults []manychattest.Fault) {
	s.t.Helper()
	id := s.contact(whoIs + "01")
	err := s.account.EditContact(id, func(c *manychattest.Contact) {
		c.Fields = map[string]any{"note_zqkept_0": oldNote, "field_zqkept_3": "at night", "read_zqkept_0": "valid"}
		c.Tags = []string{"Read zqkept 0", "Tag zqkept 0"}
	})
	if err != nil {
		s.t.Error(err)
	}
	for i, text := range []string{"hello", "one", "two", "three", "four", "five", "six"} {
		if s.faults(faults...); i == 6 {
			s.faults(manychattest.Fault{Kind: fault.MissingFlow, Name: studioFlow})
		}
		s.write(id, text)
		s.rest(2 * time.Minute)
	}
	s.faults()
	s.write(id, "and bye")
	s.rest(10 * time.Minute) // the last try of whatever is tried again
}

// consoleSays is the console's answer about a contact, as it is written.
func (s *studio) consoleSays(id string) string {
	s.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.turns.Service+console.TurnsPath+"?subscriber="+id, http.NoBody)
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+studioKey)
	resp, err := s.client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(body), `"write_note"`) {
		s.t.Errorf("the console says %s, %v", body, err)
	}
	return string(body)
}

// haul is everything that was captured, by where it was.
type haul struct{ texts []found }

type found struct{ where, text string }

func (h *haul) add(where, text string) { h.texts = append(h.texts, found{where, text}) }

// addRequest takes a request apart. What the model wrote itself it gets back, and what people
// noted of the contact it may read within a fence, of what get_contact answers.
func (h *haul) addRequest(n int, req llm.Request) {
	where := fmt.Sprintf("request %d: ", n)
	h.add(where+"the static part", req.System)
	tools, _ := json.Marshal(req.Tools)
	h.add(where+"the tools", string(tools))
	for _, tool := range req.Tools {
		h.add(where+tool.Name, tool.Description+string(tool.Parameters))
	}
	for _, m := range req.Messages {
		outside, inside := apart(m.Text)
		if m.Role == llm.User { // it may hold what was read, as the last successful read
			inside = []string{strings.ReplaceAll(strings.Join(inside, "\n"), oldNote, "")}
			inside[0] = strings.ReplaceAll(inside[0], newNote, "")
		}
		h.add(where+"a message", outside+strings.Join(inside, "\n"))
		for _, r := range m.Results {
			text := string(r.Content)
			if r.Name == "get_contact" {
				text, _ = apart(text)
			}
			h.add(where+"what "+r.Name+" answered", text)
		}
	}
}

// addTurns reads all that the database keeps of turns, flows and rows. A row has its contact as
// a key; its error is for whoever repairs the account, and may name what is missing there.
func (h *haul) addTurns(t *testing.T, folder string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, "agent.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for table, but := range map[string]string{"turns": "", "flow_sends": "subscriber_id", "outbox": "last_error subscriber_id"} {
		rows, err := db.Query("SELECT * FROM " + table)
		if err != nil {
			t.Fatal(err)
		}
		h.addRows(t, table, but, rows)
	}
}

func (h *haul) addRows(t *testing.T, table, but string, rows *sql.Rows) {
	t.Helper()
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(any)
		}
		if err := rows.Scan(values...); err != nil {
			t.Fatal(err)
		}
		for i, column := range columns {
			if v := *values[i].(*any); !strings.Contains(but, column) && v != nil {
				h.add("the column "+column+" of "+table, fmt.Sprintf("%s", v))
			}
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// check is the one assertion.
func (h *haul) check(t *testing.T) {
	t.Helper()
	said := map[string]bool{}
	for _, f := range h.texts {
		low := strings.ToLower(f.text)
		for what, secret := range map[string]string{
			"a name of the account": kept, "a note": "quince enamel", "what people noted": "heron vase", "a contact": whoIs, "the reply flow": studioFlow,
		} {
			if i := strings.Index(low, strings.ToLower(secret)); i >= 0 && !said[f.where+what] {
				said[f.where+what] = true
				t.Errorf("%s holds %s: …%.120s", f.where, what, f.text[max(0, i-50):])
			}
		}
	}
}

package tool_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Holds docs/spec/07-tools.md, "The tools": a tool whose list is empty is not offered. No
// tools.json: no tools.
func TestOffered(t *testing.T) {
	all := "send_flow add_tag remove_tag set_field write_note schedule_nudge get_contact"
	opening := []tenant.Flow{{ID: "hello", Role: tenant.RoleOpening}}
	tests := []struct {
		name   string
		change func(*tool.Turn)
		want   string
	}{
		{"everything", func(*tool.Turn) {}, all},
		{"no tools.json", func(turn *tool.Turn) { turn.Tools = nil }, ""},
		{"empty tools.json", func(turn *tool.Turn) { turn.Tools = &tenant.Tools{} }, ""},
		{"no flows", func(turn *tool.Turn) { turn.Tools.Flows = nil }, strings.Replace(all, "send_flow ", "", 1)},
		{"only the opening", func(turn *tool.Turn) { turn.Tools.Flows = opening }, strings.Replace(all, "send_flow ", "", 1)},
		{"only flows that were sent", func(turn *tool.Turn) {
			turn.Tools.Flows = turn.Tools.Flows[2:4]
			turn.Sent = []string{"film", "folder"}
		}, strings.Replace(all, "send_flow ", "", 1)},
		{"no tags", func(turn *tool.Turn) { turn.Tools.Tags = nil }, strings.Replace(all, "add_tag remove_tag ", "", 1)},
		{"no fields", func(turn *tool.Turn) { turn.Tools.Fields = nil }, strings.Replace(all, "set_field ", "", 1)},
		{"a field that only the server sets", func(turn *tool.Turn) {
			turn.Tools.Fields = []tenant.Field{{ID: "stage", Funnel: true, Values: []string{"link_sent"}}}
		}, strings.Replace(all, "set_field ", "", 1)},
		{"no notes", func(turn *tool.Turn) { turn.Tools.Notes = nil }, strings.Replace(all, "write_note ", "", 1)},
		{"no nudges in this turn", func(turn *tool.Turn) { turn.Nudges = false }, strings.Replace(all, "schedule_nudge ", "", 1)},
		{"no nudge", func(turn *tool.Turn) { turn.Tools.Nudge = nil }, strings.Replace(all, "schedule_nudge ", "", 1)},
		{"no delays", func(turn *tool.Turn) { turn.Tools.Nudge.Delays = nil }, strings.Replace(all, "schedule_nudge ", "", 1)},
		{"contact not to be read", func(turn *tool.Turn) { turn.Contact = nil }, strings.Replace(all, " get_contact", "", 1)},
		{"nothing to read", func(turn *tool.Turn) { turn.Tools = &tenant.Tools{Flows: turn.Tools.Flows} }, "send_flow"},
		{"something only to read", func(turn *tool.Turn) { turn.Tools = &tenant.Tools{Readable: turn.Tools.Readable} }, "get_contact"},
		{"flows staged", func(turn *tool.Turn) { turn.Flows = nil }, all},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			turn := inbound(&account{})
			tt.change(&turn)
			d := tool.NewDesk(turn)
			same(t, "offered", tt.want, strings.Join(offered(d), " "))
			result := d.Close()
			if (result.Record == nil) != (tt.want == "") || len(result.Record)+len(result.Pending)+len(result.Calls) != 0 {
				t.Errorf("result = %#v", result)
			}
		})
	}
}

// Holds docs/spec/07-tools.md, "The tools": parameter schemas are enums built from the
// tenant's tools.json.
func TestSchemas(t *testing.T) {
	const flows = "map: The way here. Send when asked for it.\\nfolder: All there is to read.\\nfilm: A film.\\npay: The link to pay."
	tests := map[string]string{
		"send_flow":      `{"flow":{"type":"string","enum":["map","folder","film","pay"],"description":"` + flows + `"},"contactAsked":{"type":"boolean","description":"`,
		"add_tag":        `{"tag":{"type":"string","enum":["gift","group"],"description":"gift: Buys for somebody else.\ngroup: Comes with others."}},"required":["tag"],`,
		"remove_tag":     `{"tag":{"type":"string","enum":["gift","group"],"description":"gift: Buys for somebody else.\ngroup: Comes with others."}},"required":["tag"],`,
		"set_field":      `{"field":{"type":"string","enum":["shift","stage","mood"],"description":"shift (morning | evening): When it suits them.\nstage (new | offered): How far it has come.\nmood (good | new): How they are."},"value":{"type":"string","enum":["morning","evening","new","offered","good"],"description":"morning: a value of shift\nevening: a value of shift\nnew: a value of stage, mood\noffered: a value of stage\ngood: a value of mood"}},"required":["field","value"],`,
		"write_note":     `{"note":{"type":"string","enum":["summary","handover"],"description":"summary: What they want. (at most 40 characters)\nhandover: Why a colleague is needed. (at most 12 characters)"},"text":{"type":"string","description":"`,
		"schedule_nudge": `{"delay":{"type":"string","enum":["soon","later"],"description":"soon: They think about it. (60 minutes after the person's last message)\nlater: (1200 minutes after the person's last message)"}},"required":["delay"],`,
		"get_contact":    `{},"additionalProperties":false}`,
	}
	for _, offered := range desk(&account{}).Tools() {
		spec := offered.Spec()
		want := `{"type":"object","properties":` + strings.ReplaceAll(tests[spec.Name], "\n", `\n`)
		if got := string(spec.Parameters); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, `"additionalProperties":false}`) {
			t.Errorf("%s takes\n%s\nwant it to begin with\n%s", spec.Name, got, want)
		}
		compiled(t, spec.Parameters)
	}
}

func compiled(t *testing.T, parameters []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(parameters))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("parameters.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("parameters.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Holds docs/spec/07-tools.md, "The tools": an id outside the enum is refused by the schema,
// and by the tool even if the provider lets it through. Nothing that the model made up is
// told or kept.
func TestBadCalls(t *testing.T) {
	const object = "the arguments must be one JSON object that names nothing twice"
	const flows, tags = "flow must be one of: map, folder, film, pay", "tag must be one of: gift, group"
	tests := []struct {
		call   string
		want   string
		kept   action.Call // beside the tool
		schema bool        // whether the schema lets it through
	}{
		{`send_flow {"flow":"zzz"}`, flows, action.Call{Reason: "flow"}, false},
		{`send_flow {"flow":"hello"}`, flows, action.Call{Reason: "flow"}, false},
		{`send_flow {"flow":"Map"}`, flows, action.Call{Reason: "flow"}, false},
		{`send_flow {}`, flows, action.Call{Reason: "flow"}, false},
		{`send_flow null`, flows, action.Call{Reason: "flow"}, false},
		{`send_flow {"flow":null}`, flows, action.Call{Reason: "flow"}, false},
		{`send_flow {"flow":["map"]}`, flows, action.Call{Reason: "flow"}, false},
		{`send_flow {"flow":""}`, flows, action.Call{Reason: "flow"}, false},
		{`send_flow {"flow":"map","contactAsked":"zzz"}`, "contactAsked must be true or false", action.Call{ID: "map", Reason: "contactAsked"}, false},
		{`send_flow ["map"]`, object, action.Call{Reason: "arguments"}, false},
		{`send_flow {"flow":"map","flow":"film"}`, object, action.Call{Reason: "arguments"}, true},
		{`send_flow {"flow":"map"`, object, action.Call{Reason: "arguments"}, false},
		{`send_flow "\"{}\""`, object, action.Call{Reason: "arguments"}, false},
		{`add_tag {"tag":"zzz"}`, tags, action.Call{Reason: "tag"}, false},
		{`add_tag {"tag":"regular"}`, tags, action.Call{Reason: "tag"}, false},
		{`add_tag {"id":"gift"}`, tags, action.Call{Reason: "tag"}, false},
		{`remove_tag {"tag":7}`, tags, action.Call{Reason: "tag"}, false},
		{`set_field {"field":"zzz","value":"new"}`, "field must be one of: shift, stage, mood", action.Call{Reason: "field"}, false},
		{`set_field {"field":"voucher","value":"used"}`, "field must be one of: shift, stage, mood", action.Call{Reason: "field"}, false},
		{`set_field {"field":"shift","value":"new"}`, "value of shift must be one of: morning, evening", action.Call{ID: "shift", Reason: "value"}, true},
		{`set_field {"field":"stage","value":"link_sent"}`, "value of stage must be one of: new, offered", action.Call{ID: "stage", Reason: "value"}, false},
		{`set_field {"field":"stage","value":"zzz"}`, "value of stage must be one of: new, offered", action.Call{ID: "stage", Reason: "value"}, false},
		{`set_field {"field":"stage"}`, "value of stage must be one of: new, offered", action.Call{ID: "stage", Reason: "value"}, false},
		{`write_note {"note":"zzz","text":"zzz"}`, "note must be one of: summary, handover", action.Call{Reason: "note"}, false},
		{`write_note {"note":"summary"}`, "text must be a string", action.Call{ID: "summary", Reason: "text"}, false},
		{`write_note {"note":"summary","text":["zzz"]}`, "text must be a string", action.Call{ID: "summary", Reason: "text"}, false},
		{`schedule_nudge {"delay":60}`, "delay must be one of: soon, later", action.Call{Reason: "delay"}, false},
		{`get_contact [1]`, object, action.Call{Reason: "arguments"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.call, func(t *testing.T) {
			a := &account{}
			d := desk(a)
			name, arguments, _ := strings.Cut(tt.call, " ")
			same(t, "told", "bad: "+tt.want, call(t, d, tt.call))
			if doc, err := jsonschema.UnmarshalJSON(strings.NewReader(arguments)); err == nil {
				if err := compiled(t, find(d, name).Spec().Parameters).Validate(doc); (err == nil) != tt.schema {
					t.Errorf("the schema says %v", err)
				}
			}
			tt.kept.Step, tt.kept.Tool, tt.kept.Answer = 1, action.Kind(name), action.AnsweredBad
			same(t, "result", tool.Result{Record: []action.Record{}, Calls: []action.Call{tt.kept}}, d.Close())
			if len(a.saw)+a.reads > 0 || !strings.Contains(d.SoFar(), "not made") {
				t.Errorf("asked for %v, read %d times; so far %q", a.saw, a.reads, d.SoFar())
			}
		})
	}
}

// Holds docs/spec/07-tools.md, "The tools": no tool takes a subscriber id; an extra argument
// naming one is dropped. Arguments come as providers write them.
func TestArgumentsAsTheyCome(t *testing.T) {
	for _, arguments := range []string{
		`{"tag":"gift"}`,
		` { "tag" : "gift" } `,
		`{"subscriber_id":"777000777","tag":"gift","to":{"id":[777000777]}}`,
		`"{\"tag\":\"gift\"}"`,
		`{"t\u0061g":"\u0067ift"}`,
	} {
		d := desk(&account{})
		same(t, arguments, staged, call(t, d, "add_tag "+arguments))
		same(t, arguments, tool.Result{
			Record:  []action.Record{{Tool: action.AddTag, ID: "gift", Status: action.Staged}},
			Pending: []action.Pending{{Tool: action.AddTag, ID: "gift"}},
			Calls:   []action.Call{{Step: 1, Tool: action.AddTag, ID: "gift", Answer: action.AnsweredStaged}},
		}, d.Close())
	}
	for _, arguments := range []string{``, `{}`, `null`, `""`, `"{}"`, `{"subscriber_id":"777000777"}`} {
		same(t, "get_contact "+arguments, unread, call(t, desk(&account{}), "get_contact "+arguments))
	}
	huge := `{"note":"summary","text":"` + strings.Repeat("a", 64<<10) + `"}`
	same(t, "too long", "bad: the arguments must be one JSON object that names nothing twice", call(t, desk(&account{}), "write_note "+huge))
	deep := strings.Repeat(`{"tag":`, 4000) + `"gift"` + strings.Repeat("}", 4000)
	same(t, "too deep", "bad: tag must be one of: gift, group", call(t, desk(&account{}), "add_tag "+deep))
}

// Holds docs/spec/07-tools.md, "The tools": flowNs, tag and field never reach a prompt; the
// word "success" is never told.
func TestWordsOfTheTools(t *testing.T) {
	all := tool.Rules()
	for _, offered := range desk(&account{}).Tools() {
		spec := offered.Spec()
		text := spec.Name + spec.Description + string(spec.Parameters)
		if i := strings.Index(text, "HIDDEN"); i >= 0 {
			t.Errorf("%s tells %q", spec.Name, text[i:i+12])
		}
		if strings.Contains(strings.ToLower(text+all), "success") {
			t.Errorf("%s speaks of success", spec.Name)
		}
		own, _, _ := strings.Cut(spec.Description, "\n\nWhat there may be:")
		if len(own) < 150 || !strings.Contains(all, own) {
			t.Errorf("the rules do not hold what %s says: %q", spec.Name, own)
		}
	}
	for _, want := range []string{"tags:\n- gift\n- group\n- regular\nfields:\n- shift\n- stage\n", "\n- voucher (valid | used): Of a voucher.\nnotes:\n- summary\n- handover"} {
		if got := find(desk(&account{}), "get_contact").Spec().Description; !strings.Contains(got, want) {
			t.Errorf("get_contact says %q, without %q", got, want)
		}
	}
}

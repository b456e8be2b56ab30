package tool_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// Holds docs/spec/07-tools.md, "The tools": whatever a model writes as arguments, a tool
// answers, names only what is configured, and stages only that.
func FuzzArguments(f *testing.F) {
	for _, arguments := range []string{
		``, `{}`, `null`, `[]`, `"`, `{"flow":"map"}`, `"{\"tag\":\"gift\"}"`, `{"tag":"gift","tag":"group"}`, `{"field":"mood","value":"new","subscriber_id":777000777}`,
		`{"note":"summary","text":"\ud800 0170 1234567"}`, `{"delay":"soon"}{}`, `{"flow":"pay","contactAsked":1e999}`, strings.Repeat(`[`, 20_000), "{\"tag\":\"\xff\"}", "\ufeff{}",
	} {
		for which := range 7 {
			f.Add(uint(which), []byte(arguments))
		}
	}
	f.Fuzz(func(t *testing.T, which uint, arguments []byte) {
		a := &account{read: reads(profile)}
		d := desk(a)
		called := d.Tools()[which%7]
		o := called.Call(1, arguments)
		if o.Run != nil {
			o.Told = o.Run(t.Context())
		}
		result := d.Close()
		allowed := []string{"map", "folder", "film", "pay", "gift", "group", "shift", "stage", "mood", "summary", "handover", "soon", "later"}
		values := []string{"", "morning", "evening", "new", "offered", "good"}
		for _, r := range result.Record {
			if !slices.Contains(allowed, r.ID) || !slices.Contains(values, r.Value) || string(r.Tool) != called.Spec().Name {
				t.Errorf("%q is recorded as %+v", arguments, r)
			}
		}
		if len(result.Calls) != 1 || len(result.Record) > 1 || (o.Bad != "") != (result.Calls[0].Answer == action.AnsweredBad) || (o.Bad == "") != (o.Told != nil) {
			t.Errorf("%q is told %+v, result %+v", arguments, o, result)
		}
		if id := result.Calls[0].ID; id != "" && !slices.Contains(allowed, id) {
			t.Errorf("%q is traced as %+v", arguments, result.Calls[0])
		}
		if len(o.Bad) > 120 || o.Bad != "" && len(result.Record) > 0 {
			t.Errorf("%q is told %q, result %+v", arguments, o.Bad, result)
		}
	})
}

// Holds docs/spec/07-tools.md, "The tools": what a description says is the same for every
// call of it, whoever changes what was handed out.
func TestToolsCannotBeChanged(t *testing.T) {
	d := desk(&account{})
	d.Tools()[0] = nil
	if d.Tools()[0] == nil {
		t.Error("the desk's tools can be taken away")
	}
	var none llm.Tool
	if d.Tools()[0].Spec().Name == none.Name {
		t.Error("a tool without a name")
	}
}

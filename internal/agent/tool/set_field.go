package tool

import (
	_ "embed" // the description
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

//go:embed set_field.md
var setFieldText string

// setField offers the fields and the values of all of them. A value has to be the named
// field's own.
func (d *Desk) setField() *offered {
	var fields, values []option
	own := map[string][]string{}
	for _, f := range d.turn.Tools.Fields {
		if own[f.ID] = settable(f); len(own[f.ID]) == 0 {
			continue
		}
		fields = append(fields, option{f.ID, f.Description})
		for _, v := range own[f.ID] {
			values = add(values, v, f.ID)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	allowed := ids(fields)
	describe := func() (string, []property) {
		return setFieldText, []property{fieldEnum(fields, own), enum("value", values)}
	}
	return d.offer(sheet{kind: action.SetField, describe: describe}, func(c action.Call, a arguments) Outcome {
		id, ok := a.text("field")
		if !ok || !slices.Contains(allowed, id) {
			return d.bad(c, "field", notOneOf("field", allowed))
		}
		c.ID = id
		value, ok := a.text("value")
		if !ok || !slices.Contains(own[id], value) {
			return d.bad(c, "value", notOneOf("value of "+id, own[id]))
		}
		c.Value = value
		return d.stage(c, action.Record{Tool: action.SetField, ID: id, Value: value}, "")
	})
}

// settable are the values that the model may set a field to: that the link to pay was sent,
// the server writes (docs/spec/08-sales.md, "Funnel").
func settable(f tenant.Field) []string {
	return slices.DeleteFunc(slices.Clone(f.Values), func(v string) bool {
		return f.Funnel && v == string(contact.LinkSent)
	})
}

// add adds a value of a field to those of others, which may share it.
func add(values []option, value, field string) []option {
	for i := range values {
		if values[i].id == value {
			values[i].description += ", " + field
			return values
		}
	}
	return append(values, option{value, "a value of " + field})
}

// fieldEnum has each field's values in its line: "id (a | b): description".
func fieldEnum(fields []option, own map[string][]string) property {
	p := enum("field", fields)
	var lines []string
	for _, f := range fields {
		lines = append(lines, option{f.id + " (" + strings.Join(own[f.id], " | ") + ")", f.description}.line())
	}
	p.schema.Description = strings.Join(lines, "\n")
	return p
}

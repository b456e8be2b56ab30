package tool

import (
	_ "embed" // the description
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool/form"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

//go:embed set_field.md
var setFieldText string

//go:embed set_field_sale.md
var setFieldSaleText string // of a tenant that sells

// setField offers the fields and the values of all of them. A value has to be the named
// field's own.
func (d *Desk) setField() *offered {
	var fields, values []form.Option
	own := map[string][]string{}
	for _, f := range d.turn.Tools.Fields {
		if own[f.ID] = settable(f); len(own[f.ID]) == 0 {
			continue
		}
		fields = append(fields, form.Option{ID: f.ID, Description: f.Description})
		for _, v := range own[f.ID] {
			values = add(values, v, f.ID)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	allowed := form.IDs(fields)
	describe := func() (string, []form.Property) {
		return d.withSale(setFieldText, setFieldSaleText), []form.Property{fieldEnum(fields, own), form.Enum("value", values)}
	}
	return d.offer(sheet{kind: action.SetField, describe: describe}, func(c action.Call, a form.Arguments) Outcome {
		id, ok := a.Text("field")
		if !ok || !slices.Contains(allowed, id) {
			return d.bad(c, "field", notOneOf("field", allowed))
		}
		c.ID = id
		value, ok := a.Text("value")
		if !ok || !slices.Contains(own[id], value) {
			return d.bad(c, "value", notOneOf("value of "+id, own[id]))
		}
		c.Value = value
		field, _ := d.turn.Tools.Field(id)
		return d.write(c, field, value)
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
func add(values []form.Option, value, field string) []form.Option {
	for i := range values {
		if values[i].ID == value {
			values[i].Description += ", " + field
			return values
		}
	}
	return append(values, form.Option{ID: value, Description: "a value of " + field})
}

// fieldEnum has each field's values in its line: "id (a | b): description".
func fieldEnum(fields []form.Option, own map[string][]string) form.Property {
	p := form.Enum("field", fields)
	var lines []string
	for _, f := range fields {
		lines = append(lines, form.Option{ID: f.ID + " (" + strings.Join(own[f.ID], " | ") + ")", Description: f.Description}.Line())
	}
	p.Schema.Description = strings.Join(lines, "\n")
	return p
}

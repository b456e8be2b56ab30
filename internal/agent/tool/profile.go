package tool

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/agent/tool/form"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// profile is what the tenant's files let the agent read of a contact. What the other tools
// describe already is told here by its id alone.
type profile struct {
	tags, fields, notes []form.Option
	values              map[string][]string // by field
}

func readable(t *tenant.Tools) profile {
	p := profile{values: map[string][]string{}}
	for _, tag := range t.Tags {
		p.tags = append(p.tags, form.Option{ID: tag.ID})
	}
	for _, tag := range t.Readable.Tags {
		p.tags = append(p.tags, form.Option{ID: tag.ID, Description: tag.Description})
	}
	for _, f := range t.Fields {
		p.fields, p.values[f.ID] = append(p.fields, form.Option{ID: f.ID}), f.Values
	}
	for _, f := range t.Readable.Fields {
		p.fields, p.values[f.ID] = append(p.fields, form.Option{ID: f.ID, Description: f.Description}), f.Values
	}
	for _, n := range t.Notes {
		p.notes = append(p.notes, form.Option{ID: n.ID})
	}
	return p
}

func (p profile) empty() bool { return len(p.tags)+len(p.fields)+len(p.notes) == 0 }

// lines says what may be in a profile, one id a line.
func (p profile) lines() string {
	var lines []string
	list := func(heading string, options []form.Option) {
		if len(options) > 0 {
			lines = append(lines, heading)
		}
		for _, o := range options {
			if values := p.values[o.ID]; heading == fieldsHeading && o.Description != "" {
				o.ID += " (" + strings.Join(values, " | ") + ")"
			}
			lines = append(lines, "- "+o.Line())
		}
	}
	list("tags:", p.tags)
	list(fieldsHeading, p.fields)
	list("notes:", p.notes)
	return strings.Join(lines, "\n")
}

const fieldsHeading = "fields:"

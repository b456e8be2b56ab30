package tool

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// profile is what the tenant's files let the agent read of a contact. What the other tools
// describe already is told here by its id alone.
type profile struct {
	tags, fields, notes []option
	values              map[string][]string // by field
}

func readable(t *tenant.Tools) profile {
	p := profile{values: map[string][]string{}}
	for _, tag := range t.Tags {
		p.tags = append(p.tags, option{tag.ID, ""})
	}
	for _, tag := range t.Readable.Tags {
		p.tags = append(p.tags, option{tag.ID, tag.Description})
	}
	for _, f := range t.Fields {
		p.fields, p.values[f.ID] = append(p.fields, option{f.ID, ""}), f.Values
	}
	for _, f := range t.Readable.Fields {
		p.fields, p.values[f.ID] = append(p.fields, option{f.ID, f.Description}), f.Values
	}
	for _, n := range t.Notes {
		p.notes = append(p.notes, option{n.ID, ""})
	}
	return p
}

func (p profile) empty() bool { return len(p.tags)+len(p.fields)+len(p.notes) == 0 }

// lines says what may be in a profile, one id a line.
func (p profile) lines() string {
	var lines []string
	list := func(heading string, options []option) {
		if len(options) > 0 {
			lines = append(lines, heading)
		}
		for _, o := range options {
			if values := p.values[o.id]; heading == fieldsHeading && o.description != "" {
				o.id += " (" + strings.Join(values, " | ") + ")"
			}
			lines = append(lines, "- "+o.line())
		}
	}
	list("tags:", p.tags)
	list(fieldsHeading, p.fields)
	list("notes:", p.notes)
	return strings.Join(lines, "\n")
}

const fieldsHeading = "fields:"

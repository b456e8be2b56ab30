package tenant

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/tenant/document"
)

// markers holds the marker table of docs/spec/08-sales.md.
func (c check) markers(t *Tools, catalog *Catalog) {
	offerings := make([]string, len(catalog.Offerings))
	for i, o := range catalog.Offerings {
		offerings[i] = o.ID
	}
	c.markedFields(t, offerings)
	stages, roles := c.marks("one flow for each stage"), c.marks("one flow with the role")
	for i, f := range t.Flows {
		c.flowMarkers(at("flows", i), f, t.IntentField() != nil)
		if f.Offering != "" && len(offerings) > 0 {
			c.member(at("flows", i, "offering"), f.Offering, offerings)
		}
		stages.add(string(f.OnStage), at("flows", i, "onStage"))
		roles.add(string(f.Role), at("flows", i, "role"))
	}
	fired := c.marks("one event for each stage")
	for i, e := range t.Events {
		fired.add(string(e.Stage), at("events", i, "stage"))
	}
	if len(t.Events) > 0 && t.FunnelField() == nil {
		c.report("/events", "events without a funnel", "a field with \"funnel\": true", "")
	}
}

// marks remembers which entry carries a marker that only one may carry.
type marks struct {
	check    check
	expected string
	first    map[string]string // marker to the pointer of its first entry
}

func (c check) marks(expected string) marks {
	return marks{c, expected, map[string]string{}}
}

// add reports a marker that an earlier entry carries.
func (m marks) add(marker, pointer string) {
	if marker == "" {
		return
	}
	if earlier, ok := m.first[marker]; ok {
		m.check.report(pointer, fmt.Sprintf("%q a second time", marker), m.expected, "the first is "+earlier)
		return
	}
	m.first[marker] = pointer
}

func (c check) markedFields(t *Tools, offerings []string) {
	marks := c.marks("one field with the mark")
	for i, f := range t.Fields {
		var marked []string
		for _, m := range []struct {
			key    string
			set    bool
			values []string
		}{
			{"intent", f.Intent, texts(contact.Intents())},
			{"funnel", f.Funnel, texts(contact.FunnelStages())},
			{"offering", f.Offering, offerings},
		} {
			if !m.set {
				continue
			}
			marked = append(marked, m.key)
			if f.Funnel && t.IntentField() == nil {
				c.report(at("fields", i, "funnel"), "a funnel without an intent", "another field with \"intent\": true", "")
			}
			marks.add(m.key, at("fields", i, m.key))
			c.values(at("fields", i, "values"), f.Values, m.values, m.key != "funnel")
		}
		if len(marked) > 1 {
			c.report(at("fields", i), "the marks "+strings.Join(marked, " and "), "one mark on a field", "")
		}
	}
}

// values checks the values of a marked field; the order matters for a funnel only.
func (c check) values(pointer string, got, want []string, anyOrder bool) {
	if len(got) == 0 || len(want) == 0 || slices.Contains(got, "") {
		return // reported already
	}
	if anyOrder {
		got, want = slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))
	}
	if slices.Equal(got, want) {
		return
	}
	expected := "exactly " + strings.Join(want, ", ")
	if !anyOrder {
		expected += ", in that order"
	}
	c.report(pointer, strings.Join(got, ", "), expected, "")
}

func (c check) flowMarkers(pointer string, f Flow, hasIntent bool) {
	if f.Role == "" {
		return
	}
	if f.Offering != "" {
		c.report(pointer+"/offering", "an offering", "none on a flow with the role "+string(f.Role), "")
	}
	if f.OnStage != "" {
		c.report(pointer+"/onStage", "a stage", "none on a flow with the role "+string(f.Role), "")
	}
	if f.Role != RoleOpening {
		return
	}
	if f.Repeatable {
		c.report(pointer+"/repeatable", "true", "false on the opening, which is sent once", "")
	}
	if !hasIntent {
		c.report(pointer+"/role", "an opening without an intent", "a field with \"intent\": true", "")
	}
}

// member checks that an id names one of the catalog's offerings.
func (c check) member(pointer, id string, ids []string) {
	if slices.Contains(ids, id) {
		return
	}
	hint := ""
	if near, ok := document.Nearest(id, ids); ok {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	c.report(pointer, strconv.Quote(id), "the id of an offering of "+CatalogFile, hint)
}

func texts[T ~string](values []T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}

package tenant

import (
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/tenant/document"
)

// checkTools checks what the types of tools.json do not say, and what they say about
// the other files.
func (l *loader) checkTools(doc *document.Document, t *Tenant) {
	c, tools := check{doc, &l.problems}, t.Tools
	c.ids(tools)
	c.fields(tools, l.options)
	c.flows(tools, t.Rules.Handoff, l.options)
	c.tags(tools)
	c.markers(tools, &t.Catalog)
	if n := tools.Nudge; n != nil && n.HumanActiveTag != "" {
		for _, tag := range tools.Tags {
			if sameTag(tag.Tag, n.HumanActiveTag) {
				c.report("/nudge/humanActiveTag", "the tag of "+tag.ID, "a tag that the agent cannot set", "")
			}
		}
	}
}

func (c check) ids(t *Tools) {
	c.distinct(names("flows", t.Flows, "id", func(f Flow) string { return f.ID }), "an id of its own for each flow")
	c.distinct(slices.Concat(
		names("tags", t.Tags, "id", func(g Tag) string { return g.ID }),
		names("readable/tags", t.Readable.Tags, "id", func(g ReadableTag) string { return g.ID }),
	), "an id of its own for each tag, readable ones included")
	c.distinct(slices.Concat(
		names("fields", t.Fields, "id", func(f Field) string { return f.ID }),
		names("readable/fields", t.Readable.Fields, "id", func(f ReadableField) string { return f.ID }),
	), "an id of its own for each field, readable ones included")
	c.distinct(names("notes", t.Notes, "id", func(n Note) string { return n.ID }), "an id of its own for each note")
	c.distinct(names("events", t.Events, "id", func(e Event) string { return e.ID }), "an id of its own for each event")
	if t.Nudge != nil {
		c.distinct(names("nudge/delays", t.Nudge.Delays, "id", func(d Delay) string { return d.ID }), "an id of its own for each delay")
	}
}

// fields checks the names of custom fields: each has one meaning.
func (c check) fields(t *Tools, o Options) {
	written := slices.Concat(
		names("fields", t.Fields, "field", func(f Field) string { return f.Field }),
		names("notes", t.Notes, "field", func(n Note) string { return n.Field }),
	)
	read := names("readable/fields", t.Readable.Fields, "field", func(f ReadableField) string { return f.Field })
	c.ownFields(written, o, "a write would replace a reply in flight", "a write would replace the contact's token")
	c.ownFields(read, o, "it holds the last late reply", "it holds the contact's token")
	c.distinctBy(fieldKey, slices.Concat(written, read), "a custom field of its own for each field and note")
}

// ownFields reports the names of the fields that delivery writes.
func (c check) ownFields(fields []named, o Options, reply, token string) {
	for _, f := range fields {
		switch fieldKey(f.name) {
		case "":
		case fieldKey(o.ReplyField):
			c.report(f.pointer, "the field of MANYCHAT_REPLY_FIELD", "another field", reply)
		case fieldKey(o.TokenField):
			c.report(f.pointer, "the field of MANYCHAT_TOKEN_FIELD", "another field", token)
		}
	}
}

// tags checks the names of tags: each has one meaning, and is written or only read.
func (c check) tags(t *Tools) {
	var all []named
	for i, g := range t.Tags {
		all = append(all, named{g.Tag, at("tags", i, "tag"), g.ID})
	}
	for i, g := range t.Readable.Tags {
		all = append(all, named{g.Tag, at("readable/tags", i, "tag"), g.ID})
	}
	c.owned(all, kind{tagKey, "tag", "a tag of its own for each id, readable ones included", "the model would take one tag for two"})
}

// flows checks flow namespaces: none is the reply flow, and each has one id.
func (c check) flows(t *Tools, handoff *Handoff, o Options) {
	sent := make([]named, len(t.Flows))
	for i, f := range t.Flows {
		sent[i] = named{f.FlowNs, at("flows", i, "flowNs"), f.ID}
	}
	c.owned(sent, kind{flowKey, "flow", "a flow of its own for each id", "a contact would get it once for each"})
	fired := names("events", t.Events, "flowNs", func(e Event) string { return e.FlowNs })
	for _, f := range slices.Concat(sent, fired) {
		if sameFlow(f.name, o.ReplyFlowNs) {
			c.report(f.pointer, "the flow of MANYCHAT_REPLY_FLOW_NS", "another flow", "it would send the last reply again")
		}
	}
	taken := map[string]bool{}
	for _, f := range sent {
		taken[flowKey(f.name)] = true
	}
	if handoff != nil {
		taken[flowKey(handoff.FlowNs)] = true
	}
	for _, f := range fired {
		if f.name != "" && taken[flowKey(f.name)] {
			c.report(f.pointer, "a flow that another entry names", "a flow of its own for each event", "")
		}
		taken[flowKey(f.name)] = true
	}
}

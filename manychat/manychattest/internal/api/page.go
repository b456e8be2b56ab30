package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

func (c *call) pageInfo() result {
	p := c.cfg.Page
	id, err := strconv.ParseInt(c.cfg.PageID, 10, 64)
	if err != nil {
		id = 0
	}
	return success(map[string]any{
		"id": id, "name": p.Name, "category": p.Category, "avatar_link": p.AvatarLink, "username": p.Username,
		"about": p.About, "description": p.Description, "is_pro": true, "timezone": cmp.Or(p.Timezone, "UTC"),
	})
}

func (c *call) pageTags() (res result) {
	c.cfg.Account.View(func(s *account.State) { res = list(slices.Clone(s.Tags)) })
	return res
}

func (c *call) createTag() result {
	name := c.text("name")
	return c.update(func(s *account.State) result {
		t, err := s.AddTag(name)
		if err != nil {
			return definition("Tag", err)
		}
		return success(map[string]any{"tag": t})
	})
}

func (c *call) deleteTag() result {
	return c.update(func(s *account.State) result {
		if t, ok := c.tag(s, c.log.Path == "/fb/page/removeTagByName"); ok {
			s.DropTag(t)
		}
		return success(nil)
	})
}

// tag finds the tag that the call names by tag_name or tag_id.
func (c *call) tag(s *account.State, byName bool) (account.Tag, bool) {
	var t account.Tag
	var ok bool
	if byName {
		t, ok = s.Tag(c.text("tag_name"))
	} else {
		t, ok = s.TagByID(c.id("tag_id"))
	}
	if !ok {
		c.stop(invalid("Wrong tag"))
	}
	return t, ok
}

func (c *call) customFields() (res result) {
	c.cfg.Account.View(func(s *account.State) { res = list(slices.Clone(s.Fields)) })
	return res
}

func (c *call) createCustomField() result {
	caption, kind, description := c.text("caption"), c.text("type"), c.optionalPointer("description")
	return c.update(func(s *account.State) result {
		f, err := s.AddField(caption, phone.FieldType(kind), description)
		if err != nil {
			return definition("Custom field", err)
		}
		return success(map[string]any{"field": f})
	})
}

func (c *call) botFields() (res result) {
	c.cfg.Account.View(func(s *account.State) { res = list(slices.Clone(s.BotFields)) })
	return res
}

func (c *call) createBotField() result {
	name, kind, description := c.text("name"), phone.FieldType(c.text("type")), c.optionalPointer("description")
	var value any
	if c.has("value") && kind.Valid() {
		value = c.parse(kind, c.values["value"])
	}
	return c.update(func(s *account.State) result {
		f, err := s.AddBotField(name, kind, description)
		if err != nil {
			return definition("Bot field", err)
		}
		f.Value = value
		return success(map[string]any{"field": *f})
	})
}

func (c *call) setBotField() result {
	return c.update(func(s *account.State) result { return c.setBotFieldsTo(s, []in{c.in}) })
}

func (c *call) setBotFields() result {
	records := c.records("fields")
	return c.update(func(s *account.State) result { return c.setBotFieldsTo(s, records) })
}

// setBotFieldsTo checks every record before it writes the first.
func (c *call) setBotFieldsTo(s *account.State, records []in) result {
	writes := make([]func(), 0, len(records))
	for _, p := range records {
		f := c.botField(s, &p)
		if f == nil {
			break
		}
		v := c.parse(f.Type, p.value("field_value"))
		c.adopt(&p)
		writes = append(writes, func() { f.Value = v })
	}
	if c.failed() {
		return *c.problem
	}
	for _, write := range writes {
		write()
	}
	s.Touch("")
	return success(nil)
}

func (c *call) botField(s *account.State, p *in) *account.BotField {
	var f *account.BotField
	if p.has("field_name") {
		f = s.BotField(p.text("field_name"))
	} else {
		f = s.BotFieldByID(p.id("field_id"))
	}
	c.adopt(p)
	if f == nil {
		c.stop(invalid("Wrong field"))
	}
	return f
}

func (c *call) flows() result {
	type flow struct {
		NS       string `json:"ns"`
		Name     string `json:"name"`
		FolderID int64  `json:"folder_id"`
	}
	flows := []flow{}
	for _, f := range c.cfg.Flows.List() {
		flows = append(flows, flow{NS: f.NS, Name: f.Name})
	}
	return success(map[string]any{"flows": flows, "folders": []any{}})
}

func (c *call) growthTools() result { return list[any](nil) }

func (c *call) otnTopics() result {
	type topic struct {
		ID          int64   `json:"id"`
		Name        string  `json:"name"`
		Description *string `json:"description"`
	}
	var topics []topic
	for i, name := range c.cfg.Page.OTNTopics {
		topics = append(topics, topic{ID: int64(i + 1), Name: name})
	}
	return list(topics)
}

// update runs f with the account, unless a parameter was wrong already.
func (c *call) update(f func(*account.State) result) (res result) {
	if c.failed() {
		return *c.problem
	}
	err := c.cfg.Account.Update(func(s *account.State) error {
		res = f(s)
		return nil
	})
	if err != nil {
		return fail(500, err.Error()) // unreachable: the function above returns none
	}
	return res
}

// parse reads a field value in the public API's form (3.1).
func (c *call) parse(t phone.FieldType, raw json.RawMessage) any {
	if raw == nil {
		return nil // its absence is a problem already
	}
	v, err := account.ParseValue(t, raw, account.APITimeLayout)
	if err != nil {
		c.stop(invalid("field_value must be of the type " + string(t)))
	}
	return v
}

// adopt makes a problem of a record the problem of the call.
func (c *call) adopt(p *in) {
	if p.problem != nil {
		c.stop(*p.problem)
	}
}

func definition(what string, err error) result {
	switch {
	case errors.Is(err, account.ErrExists):
		return invalid(what + " with same name already exists")
	case errors.Is(err, account.ErrBadType):
		return invalid("Wrong field type")
	}
	return invalid("name is required")
}

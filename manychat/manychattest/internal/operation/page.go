package operation

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/wire"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// PageInfo is GET /fb/page/getInfo.
func (c *Call) PageInfo() wire.Result {
	p := c.Page
	id, err := strconv.ParseInt(c.PageID, 10, 64)
	if err != nil {
		id = 0
	}
	return wire.Success(map[string]any{
		"id": id, "name": p.Name, "category": p.Category, "avatar_link": p.AvatarLink, "username": p.Username,
		"about": p.About, "description": p.Description, "is_pro": true, "timezone": cmp.Or(p.Timezone, "UTC"),
	})
}

// PageTags is GET /fb/page/getTags.
func (c *Call) PageTags() (res wire.Result) {
	c.Account.View(func(s *account.State) { res = wire.List(slices.Clone(s.Tags)) })
	return res
}

// CreateTag is POST /fb/page/createTag.
func (c *Call) CreateTag() wire.Result {
	name := c.Text("name")
	return c.update(func(s *account.State) wire.Result {
		t, err := s.AddTag(name)
		if err != nil {
			return definition("Tag", err)
		}
		return wire.Success(map[string]any{"tag": t})
	})
}

// DeleteTag is POST /fb/page/removeTag and POST /fb/page/removeTagByName.
func (c *Call) DeleteTag() wire.Result {
	return c.update(func(s *account.State) wire.Result {
		if t, ok := c.tag(s, c.Path == "/fb/page/removeTagByName"); ok {
			s.DropTag(t)
		}
		return wire.Success(nil)
	})
}

// tag finds the tag that the call names by tag_name or tag_id.
func (c *Call) tag(s *account.State, byName bool) (account.Tag, bool) {
	var t account.Tag
	var ok bool
	if byName {
		t, ok = s.Tag(c.Text("tag_name"))
	} else {
		t, ok = s.TagByID(c.ID("tag_id"))
	}
	if !ok {
		c.Stop(wire.Invalid("Wrong tag"))
	}
	return t, ok
}

// CustomFields is GET /fb/page/getCustomFields.
func (c *Call) CustomFields() (res wire.Result) {
	c.Account.View(func(s *account.State) { res = wire.List(slices.Clone(s.Fields)) })
	return res
}

// CreateCustomField is POST /fb/page/createCustomField.
func (c *Call) CreateCustomField() wire.Result {
	caption, kind, description := c.Text("caption"), c.Text("type"), c.OptionalPointer("description")
	return c.update(func(s *account.State) wire.Result {
		f, err := s.AddField(caption, phone.FieldType(kind), description)
		if err != nil {
			return definition("Custom field", err)
		}
		return wire.Success(map[string]any{"field": f})
	})
}

// BotFields is GET /fb/page/getBotFields.
func (c *Call) BotFields() (res wire.Result) {
	c.Account.View(func(s *account.State) { res = wire.List(slices.Clone(s.BotFields)) })
	return res
}

// CreateBotField is POST /fb/page/createBotField.
func (c *Call) CreateBotField() wire.Result {
	name, kind, description := c.Text("name"), phone.FieldType(c.Text("type")), c.OptionalPointer("description")
	var value any
	if c.Has("value") && kind.Valid() {
		value = c.parse(kind, c.Values["value"])
	}
	return c.update(func(s *account.State) wire.Result {
		f, err := s.AddBotField(name, kind, description)
		if err != nil {
			return definition("Bot field", err)
		}
		f.Value = value
		return wire.Success(map[string]any{"field": *f})
	})
}

// SetBotField is POST /fb/page/setBotField and POST /fb/page/setBotFieldByName.
func (c *Call) SetBotField() wire.Result {
	return c.update(func(s *account.State) wire.Result { return c.setBotFieldsTo(s, []wire.In{c.In}) })
}

// SetBotFields is POST /fb/page/setBotFields.
func (c *Call) SetBotFields() wire.Result {
	records := c.Records("fields")
	return c.update(func(s *account.State) wire.Result { return c.setBotFieldsTo(s, records) })
}

// setBotFieldsTo checks every record before it writes the first.
func (c *Call) setBotFieldsTo(s *account.State, records []wire.In) wire.Result {
	writes := make([]func(), 0, len(records))
	for _, p := range records {
		f := c.botField(s, &p)
		if f == nil {
			break
		}
		v := c.parse(f.Type, p.Value("field_value"))
		c.adopt(&p)
		writes = append(writes, func() { f.Value = v })
	}
	if c.Failed() {
		return *c.Problem
	}
	for _, write := range writes {
		write()
	}
	s.Touch("")
	return wire.Success(nil)
}

func (c *Call) botField(s *account.State, p *wire.In) *account.BotField {
	var f *account.BotField
	if p.Has("field_name") {
		f = s.BotField(p.Text("field_name"))
	} else {
		f = s.BotFieldByID(p.ID("field_id"))
	}
	c.adopt(p)
	if f == nil {
		c.Stop(wire.Invalid("Wrong field"))
	}
	return f
}

// FlowList is GET /fb/page/getFlows.
func (c *Call) FlowList() wire.Result {
	type flow struct {
		NS       string `json:"ns"`
		Name     string `json:"name"`
		FolderID int64  `json:"folder_id"`
	}
	flows := []flow{}
	for _, f := range c.Flows.List() {
		flows = append(flows, flow{NS: f.NS, Name: f.Name})
	}
	return wire.Success(map[string]any{"flows": flows, "folders": []any{}})
}

// GrowthTools is GET /fb/page/getGrowthTools and GET /fb/page/getWidgets.
func (c *Call) GrowthTools() wire.Result { return wire.List[any](nil) }

// OtnTopics is GET /fb/page/getOtnTopics.
func (c *Call) OtnTopics() wire.Result {
	type topic struct {
		ID          int64   `json:"id"`
		Name        string  `json:"name"`
		Description *string `json:"description"`
	}
	var topics []topic
	for i, name := range c.Page.OTNTopics {
		topics = append(topics, topic{ID: int64(i + 1), Name: name})
	}
	return wire.List(topics)
}

// update runs f with the account, unless a parameter was wrong already.
func (c *Call) update(f func(*account.State) wire.Result) (res wire.Result) {
	if c.Failed() {
		return *c.Problem
	}
	err := c.Account.Update(func(s *account.State) error {
		res = f(s)
		return nil
	})
	if err != nil {
		return wire.Fail(500, err.Error()) // unreachable: the function above returns none
	}
	return res
}

// parse reads a field value in the public API's form (3.1).
func (c *Call) parse(t phone.FieldType, raw json.RawMessage) any {
	if raw == nil {
		return nil // its absence is a problem already
	}
	v, err := account.ParseValue(t, raw, account.APITimeLayout)
	if err != nil {
		c.Stop(wire.Invalid("field_value must be of the type " + string(t)))
	}
	return v
}

// adopt makes a problem of a record the problem of the call.
func (c *Call) adopt(p *wire.In) {
	if p.Problem != nil {
		c.Stop(*p.Problem)
	}
}

func definition(what string, err error) wire.Result {
	switch {
	case errors.Is(err, account.ErrExists):
		return wire.Invalid(what + " with same name already exists")
	case errors.Is(err, account.ErrBadType):
		return wire.Invalid("Wrong field type")
	}
	return wire.Invalid("name is required")
}

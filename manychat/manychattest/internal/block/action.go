package block

import (
	"encoding/json"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

func (r *reader) actions(c object, limit int) []phone.Action {
	var actions []phone.Action
	for _, o := range c.list("actions", "Too many actions", limit) {
		o.place = "an action"
		actions = append(actions, r.action(o))
	}
	return actions
}

func (r *reader) action(o object) phone.Action {
	a := phone.Action{Action: o.text("action")}
	switch a.Action {
	case "add_tag", "remove_tag":
		o.only("action", "tag_name")
		a.Tag = o.text("tag_name")
		if !r.rules.Account.HasTag(a.Tag) {
			r.refuse("tag with same name not found")
		}
	case "set_field_value":
		o.only("action", "field_name", "value")
		a.Field = o.text("field_name")
		a.Value = r.value(a.Field, o)
	case "unset_field_value":
		o.only("action", "field_name")
		a.Field = o.text("field_name")
		r.fieldType(a.Field)
	default:
		r.refuse("unknown action %q", a.Action)
	}
	return a
}

func (r *reader) fieldType(name string) phone.FieldType {
	t, ok := r.rules.Account.FieldType(name)
	if !ok {
		r.refuse("field with same name not found")
	}
	return t
}

func (r *reader) value(field string, o object) any {
	t := r.fieldType(field)
	raw, ok := o.keys["value"]
	if !ok {
		r.refuse("value of an action is required")
		raw = json.RawMessage("null")
	}
	v, err := account.ParseValue(t, raw, account.BlockTimeLayout)
	if err != nil {
		r.refuse("value of the field %q must be of the type %s", field, t)
	}
	return v
}

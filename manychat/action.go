package manychat

import "time"

// ActionType is the value of an action's action key.
type ActionType string

// The actions of Dynamic Block v2. All four work on every channel. The tag or the
// custom field must exist in the account: ManyChat refuses the whole response for one
// that does not.
const (
	AddTagAction     ActionType = "add_tag"
	RemoveTagAction  ActionType = "remove_tag"
	SetFieldAction   ActionType = "set_field_value"
	UnsetFieldAction ActionType = "unset_field_value"
)

// Action is what ManyChat does with the contact's record when it renders a response
// or when the contact taps a button.
type Action struct {
	Action    ActionType `json:"action"`
	TagName   string     `json:"tag_name,omitempty"`
	FieldName string     `json:"field_name,omitempty"`
	Value     any        `json:"value,omitempty"` // string, bool or number, as the field's type wants
}

// AddTag returns an action that tags the contact.
func AddTag(name string) Action { return Action{Action: AddTagAction, TagName: name} }

// RemoveTag returns an action that takes a tag from the contact.
func RemoveTag(name string) Action { return Action{Action: RemoveTagAction, TagName: name} }

// SetField returns an action that writes a custom field. The value's JSON type must
// be the field's: a string for text, a number, or a boolean. A date is
// the string YYYY-MM-DD, a date with time what [FieldDateTime] returns.
func SetField(name string, value any) Action {
	return Action{Action: SetFieldAction, FieldName: name, Value: value}
}

// UnsetField returns an action that clears a custom field.
func UnsetField(name string) Action { return Action{Action: UnsetFieldAction, FieldName: name} }

// FieldDateTime writes t as an action wants it for a field of type Date Time: UTC with
// milliseconds. The API ([Client.SetCustomFieldByName]) wants another form, RFC 3339
// with the contact's offset.
func FieldDateTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

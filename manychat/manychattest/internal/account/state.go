package account

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// State is everything an account remembers. Its methods are for use inside
// [Account.Update] and [Account.View].
type State struct {
	Tags      []Tag               `json:"tags"`
	Fields    []Field             `json:"fields"`
	BotFields []BotField          `json:"bot_fields"`
	Contacts  map[string]*Contact `json:"contacts"`
	Media     map[string][]byte   `json:"media,omitempty"`     // by file name
	UserRefs  []string            `json:"user_refs,omitempty"` // registered, not yet linked to a contact

	Ids      Ids   `json:"ids"`
	LastItem int64 `json:"last_item"`

	now     time.Time
	changes []Change
}

// Tag is as the public API shows it.
type Tag struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// Field is a custom field as the public API shows it.
type Field struct {
	ID          int64           `json:"id"`
	Name        string          `json:"name"`
	Type        phone.FieldType `json:"type"`
	Description *string         `json:"description"`
}

// BotField is an account-wide field.
type BotField struct {
	Field
	Value any `json:"value"`
}

// Contact is a contact with their chat.
type Contact struct {
	phone.Contact
	Chat []phone.Item `json:"chat"`
	// FieldOrder says which field writes are newer than others, by field name.
	FieldOrder map[string]int64 `json:"field_order,omitempty"`
}

func newState() *State {
	return &State{Contacts: map[string]*Contact{}, Media: map[string][]byte{}, Ids: firstIds()}
}

// Now is the instant of the running update.
func (s *State) Now() time.Time { return s.now }

// Touch reports a change of a contact, or of the account when contact is empty.
func (s *State) Touch(contact string) {
	s.changes = append(s.changes, Change{Contact: contact})
}

// What the definitions refuse.
var (
	ErrExists   = errors.New("already exists")
	ErrNoName   = errors.New("a name is required")
	ErrBadType  = errors.New("the field type must be text, number, boolean, date or datetime")
	ErrBadValue = errors.New("the value does not fit the type of the field")
)

// AddTag defines a tag. Case is not normalised, so VIP and vip can both exist.
func (s *State) AddTag(name string) (Tag, error) {
	if name == "" {
		return Tag{}, ErrNoName
	}
	if _, ok := s.Tag(name); ok {
		return Tag{}, ErrExists
	}
	t := Tag{ID: s.Ids.take(&s.Ids.Tag), Name: name}
	s.Tags = append(s.Tags, t)
	s.Touch("")
	return t, nil
}

// Tag finds a tag by its exact name.
func (s *State) Tag(name string) (Tag, bool) {
	return find(s.Tags, func(t Tag) bool { return t.Name == name })
}

// TagByID finds a tag by its id.
func (s *State) TagByID(id int64) (Tag, bool) {
	return find(s.Tags, func(t Tag) bool { return t.ID == id })
}

// DropTag removes a tag from the account and from every contact.
func (s *State) DropTag(t Tag) {
	s.Tags = slices.DeleteFunc(s.Tags, func(o Tag) bool { return o.ID == t.ID })
	for _, c := range s.Contacts {
		c.Tags = slices.DeleteFunc(c.Tags, func(n string) bool { return n == t.Name })
	}
	s.Touch("")
}

// AddField defines a custom field. Names are compared without regard to case.
func (s *State) AddField(name string, t phone.FieldType, description *string) (Field, error) {
	if _, ok := s.FieldFold(name); ok {
		return Field{}, ErrExists
	}
	f, err := s.newField(name, t, description)
	if err == nil {
		s.Fields = append(s.Fields, f)
		s.Touch("")
	}
	return f, err
}

func (s *State) newField(name string, t phone.FieldType, description *string) (Field, error) {
	switch {
	case name == "":
		return Field{}, ErrNoName
	case !t.Valid():
		return Field{}, ErrBadType
	}
	return Field{ID: s.Ids.take(&s.Ids.Field), Name: name, Type: t, Description: description}, nil
}

// Field finds a custom field by its exact name.
func (s *State) Field(name string) (Field, bool) {
	return find(s.Fields, func(f Field) bool { return f.Name == name })
}

// FieldFold finds a custom field by its name in any case.
func (s *State) FieldFold(name string) (Field, bool) {
	return find(s.Fields, func(f Field) bool { return strings.EqualFold(f.Name, name) })
}

// FieldByID finds a custom field by its id.
func (s *State) FieldByID(id int64) (Field, bool) {
	return find(s.Fields, func(f Field) bool { return f.ID == id })
}

// AddBotField defines a bot field.
func (s *State) AddBotField(name string, t phone.FieldType, description *string) (*BotField, error) {
	if s.BotField(name) != nil {
		return nil, ErrExists
	}
	f, err := s.newField(name, t, description)
	if err != nil {
		return nil, err
	}
	s.BotFields = append(s.BotFields, BotField{Field: f})
	s.Touch("")
	return &s.BotFields[len(s.BotFields)-1], nil
}

// BotField finds a bot field by its name in any case; nil when there is none.
func (s *State) BotField(name string) *BotField {
	for i := range s.BotFields {
		if strings.EqualFold(s.BotFields[i].Name, name) {
			return &s.BotFields[i]
		}
	}
	return nil
}

// BotFieldByID finds a bot field by its id; nil when there is none.
func (s *State) BotFieldByID(id int64) *BotField {
	for i := range s.BotFields {
		if s.BotFields[i].ID == id {
			return &s.BotFields[i]
		}
	}
	return nil
}

func find[T any](list []T, match func(T) bool) (T, bool) {
	if i := slices.IndexFunc(list, match); i >= 0 {
		return list[i], true
	}
	var zero T
	return zero, false
}

package tenant

// What the ids of tools.json stand for. A tenant without that file has none of them.

// Flow returns the flow with an id.
func (t *Tools) Flow(id string) (Flow, bool) {
	return t.flow(func(f Flow) bool { return f.ID == id })
}

// Tag returns the tag with an id, of those that the agent may set.
func (t *Tools) Tag(id string) (Tag, bool) {
	if t != nil {
		for _, tag := range t.Tags {
			if tag.ID == id {
				return tag, true
			}
		}
	}
	return Tag{}, false
}

// Field returns the field with an id, of those that the agent may set.
func (t *Tools) Field(id string) (Field, bool) {
	if f := t.field(func(f *Field) bool { return f.ID == id }); f != nil {
		return *f, true
	}
	return Field{}, false
}

// Note returns the note with an id.
func (t *Tools) Note(id string) (Note, bool) {
	if t != nil {
		for _, n := range t.Notes {
			if n.ID == id {
				return n, true
			}
		}
	}
	return Note{}, false
}

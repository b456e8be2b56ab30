package wire

import (
	"bytes"
	"errors"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Fit is a JSON Schema as a provider takes it.
type Fit func(schema jsontext.Value) (jsontext.Value, error)

// maxFitted bounds how many schemas are kept: the reply's and those of all tools are less
// than half of it.
const maxFitted = 64

// Once is fit for schemas that come with every request: each is fitted once, and what that
// gave is nobody's to change. It is safe for concurrent use if fit is.
func Once(fit Fit) Fit {
	var mu sync.RWMutex
	fitted := map[string]jsontext.Value{}
	return func(schema jsontext.Value) (jsontext.Value, error) {
		mu.RLock()
		kept, found := fitted[string(schema)]
		mu.RUnlock()
		if found {
			return kept, nil
		}
		kept, err := fit(schema)
		if err != nil {
			return nil, err
		}
		mu.Lock()
		defer mu.Unlock()
		if len(fitted) == maxFitted {
			clear(fitted)
		}
		fitted[string(schema)] = kept
		return kept, nil
	}
}

// Parameters is the schema of a tool's arguments as it is, but for the properties that
// some servers want every object of arguments to have. A tool without one takes none.
func Parameters(schema jsontext.Value) (jsontext.Value, error) {
	if len(schema) == 0 {
		return jsontext.Value(`{"type":"object","properties":{}}`), nil
	}
	all, err := Members(schema)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if m.Name == "properties" {
			return Object(all)
		}
	}
	return Object(append(all, Member{"properties", jsontext.Value("{}")}))
}

// FitEach fits the schemas that an object holds by name.
func FitEach(schemas jsontext.Value, fit Fit) (jsontext.Value, error) {
	all, err := Members(schemas)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Value, err = fit(all[i].Value); err != nil {
			return nil, err
		}
	}
	return Object(all)
}

// FitAll fits the schemas of a list.
func FitAll(schemas jsontext.Value, fit Fit) (jsontext.Value, error) {
	var all []jsontext.Value
	if err := json.Unmarshal(schemas, &all); err != nil {
		return nil, err
	}
	for i := range all {
		var err error
		if all[i], err = fit(all[i]); err != nil {
			return nil, err
		}
	}
	return json.Marshal(all)
}

// Member is one of a JSON object, whose order is kept: models write the properties in the
// order of a schema.
type Member struct {
	Name  string
	Value jsontext.Value
}

// Members lists the members of an object in order.
func Members(object jsontext.Value) ([]Member, error) {
	if object.Kind() != '{' {
		return nil, errors.New("not a JSON object")
	}
	dec := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	var all []Member
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		m := Member{Name: name.String()}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		m.Value = value.Clone()
		all = append(all, m)
	}
	_, err := dec.ReadToken()
	return all, err
}

// Object writes what [Members] read. Its error is of a name that is not valid text.
func Object(all []Member) (jsontext.Value, error) {
	out := jsontext.Value{'{'}
	for i, m := range all {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = jsontext.AppendQuote(out, m.Name); err != nil {
			return nil, err
		}
		out = append(append(out, ':'), m.Value...)
	}
	return append(out, '}'), nil
}

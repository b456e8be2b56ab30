package body

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// strict reads a body that is JSON. The first rule that is broken is the problem; of
// what follows nothing is read, so that deep nesting costs nothing.
func strict(data []byte) (values, *Problem) {
	var v values
	// In valid UTF-8 only an escaped lone surrogate is invalid, as of a text that was
	// cut inside an emoji; it becomes U+FFFD.
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowInvalidUTF8(true))
	if kind := dec.PeekKind(); kind != '{' && kind != jsontext.KindInvalid {
		return v, notAnObject()
	}
	if _, err := dec.ReadToken(); err != nil {
		return v, notJSON()
	}
	for dec.PeekKind() != '}' {
		if bad := v.member(dec); bad != nil {
			return v, bad
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return v, notJSON()
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return v, notJSON()
	}
	return v, nil
}

// member reads one key and its value.
func (v *values) member(dec *jsontext.Decoder) *Problem {
	name, err := dec.ReadToken()
	if err != nil {
		return malformed(err)
	}
	written := name.String()
	k, ok := keyOf(written)
	if !ok {
		return invalid(written, "not a key of this request")
	}
	kind := dec.PeekKind()
	if kind == '{' || kind == '[' {
		return wrongType(k)
	}
	value, err := dec.ReadToken()
	if err != nil {
		return notJSON()
	}
	switch {
	case kind == 'n':
	case kind == '"', k.kind() == ID && kind == '0':
		v[k] = field{value: value.String(), given: true}
	default:
		return wrongType(k)
	}
	return nil
}

// wrongType refuses a value that is neither a string nor null; an id may be an integer.
func wrongType(k key) *Problem {
	if k.kind() == ID {
		_, bad := identify(field{given: true})
		return bad
	}
	return invalid(k.String(), "of the wrong type")
}

// malformed tells a key that is given twice from what is no JSON.
func malformed(err error) *Problem {
	var syntax *jsontext.SyntacticError
	if errors.Is(err, jsontext.ErrDuplicateName) && errors.As(err, &syntax) {
		return invalid(syntax.JSONPointer.LastToken(), "given twice")
	}
	return notJSON()
}

// nesting reads JSON for its form alone. parsed: it is one JSON value with nothing
// behind it, or one that is nested deeper than maxDepth, of which no more is read;
// depth is how deep it goes.
func nesting(data []byte) (depth int, parsed bool) {
	dec := decoder(data)
	for {
		if _, err := dec.ReadToken(); err != nil {
			return depth, false
		}
		depth = max(depth, dec.StackDepth())
		if depth > maxDepth {
			return depth, true
		}
		if dec.StackDepth() == 0 {
			_, err := dec.ReadToken()
			return depth, errors.Is(err, io.EOF)
		}
	}
}

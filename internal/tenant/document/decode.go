package document

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"
)

// Decode fills the struct that into points to and returns every violation of what
// the type says, the first 100 of them one by one. What is right is filled in even when
// something else is wrong.
//
// A field's `json` tag names its key. Its `jsonschema` tag holds the keywords
// required, default, enum, minimum, maximum, exclusiveMinimum, minLength,
// maxLength, pattern, format=uri (an https URL), minItems and uniqueItems; those
// that are not about lists hold for a list's elements. `expect` says a pattern in
// words. `was` names a key's old name, which is a problem of its own. Keys that no
// field names, keys given twice, nulls and values of another type are problems.
//
// Decode panics when a tag is not of this form: that is a mistake in the program.
func (d *Document) Decode(into any) Problems {
	dec := d.decode(into)
	if dec.more > 0 {
		dec.problems = append(dec.problems, Problem{File: d.name, More: dec.more})
	}
	return dec.problems
}

func (d *Document) decode(into any) *decoder {
	dec := &decoder{doc: d, shapes: map[reflect.Type]*shape{}, patterns: map[string]*regexp.Regexp{}}
	dec.element(&d.root, nil, reflect.ValueOf(into).Elem(), &rule{})
	return dec
}

type decoder struct {
	doc      *Document
	problems Problems
	more     int // problems beyond those
	shapes   map[reflect.Type]*shape
	patterns map[string]*regexp.Regexp
	renames  []rename
}

// pointer is a JSON Pointer under construction; it becomes text only in a problem.
type pointer struct {
	parent *pointer
	key    string
}

func (p *pointer) String() string {
	if p == nil {
		return ""
	}
	return p.parent.String() + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p.key)
}

// report adds a problem at a value; what is given says all but the place.
func (d *decoder) report(at *hujson.Value, path *pointer, p Problem) {
	if d.full() {
		d.more++
		return
	}
	p.File, p.Path = d.doc.name, path.String()
	p.Line, p.Column = d.doc.position(at.StartOffset)
	d.problems = append(d.problems, p)
}

// full reports whether further problems are only counted.
func (d *decoder) full() bool { return len(d.problems) >= maxListed }

// twice is a key that an object has already.
func twice() Problem { return Problem{Found: "the key a second time", Expected: "each key once"} }

// mismatch reports a value that its rule does not admit.
func (d *decoder) mismatch(v *hujson.Value, path *pointer, expected string) {
	d.report(v, path, Problem{Found: found(v), Expected: expected})
}

// defaults sets what the default tags say, also in the structs held by value.
func (d *decoder) defaults(target reflect.Value) {
	for _, f := range d.shapeOf(target.Type()).fields {
		field := target.Field(f.index)
		switch {
		case field.Kind() == reflect.Struct:
			d.defaults(field)
		case f.rule.fallback == "":
		case field.Kind() == reflect.String:
			field.SetString(f.rule.fallback)
		case field.Kind() == reflect.Bool:
			field.SetBool(f.rule.fallback == "true")
		case field.CanInt():
			field.SetInt(int64(number(f.rule.fallback)))
		case field.CanFloat():
			field.SetFloat(number(f.rule.fallback))
		default:
			panic(fmt.Sprintf("document: %s cannot have a default", field.Type()))
		}
	}
}

func (d *decoder) value(v *hujson.Value, path *pointer, target reflect.Value, r *rule) {
	switch target.Kind() {
	case reflect.Pointer:
		target.Set(reflect.New(target.Type().Elem()))
		d.element(v, path, target.Elem(), r)
	case reflect.Struct:
		d.object(v, path, target)
	case reflect.Map:
		d.table(v, path, target, r)
	case reflect.Slice:
		d.list(v, path, target, r)
	case reflect.String:
		d.text(v, path, target, r)
	case reflect.Bool:
		d.boolean(v, path, target, r)
	case reflect.Int, reflect.Int64:
		d.integer(v, path, target, r)
	case reflect.Float64:
		d.float(v, path, target, r)
	default:
		panic(fmt.Sprintf("document: cannot decode into %s", target.Type()))
	}
}

// element decodes into a value that was made for it and has no defaults yet.
func (d *decoder) element(v *hujson.Value, path *pointer, target reflect.Value, r *rule) {
	if target.Kind() == reflect.Struct {
		d.defaults(target)
	}
	d.value(v, path, target, r)
}

func (d *decoder) object(v *hujson.Value, path *pointer, target reflect.Value) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		d.mismatch(v, path, "an object")
		return
	}
	s := d.shapeOf(target.Type())
	seen := make([]bool, len(s.fields))
	unknown := map[string]bool{}
	for i := range object.Members {
		name, value := &object.Members[i].Name, &object.Members[i].Value
		key := unquote(name.Value.(hujson.Literal))
		at := &pointer{path, key}
		n := d.match(s, name, at, key)
		switch {
		case n < 0 && unknown[key]:
			d.report(name, at, twice())
		case n < 0:
			unknown[key] = true
			d.unknown(name, at, key, s.keys)
		case seen[n]:
			d.report(name, at, twice())
		default:
			seen[n] = true
			d.value(value, at, target.Field(s.fields[n].index), &s.fields[n].rule)
		}
	}
	for i, f := range s.fields {
		if f.rule.required && !seen[i] {
			d.report(v, &pointer{path, f.key}, Problem{Found: "nothing", Expected: expected(target.Type().Field(f.index).Type, &f.rule), Hint: "the key is required"})
		}
	}
}

// match returns the field a key belongs to, or -1. An old name counts as the new one,
// so that what it holds is checked too.
func (d *decoder) match(s *shape, name *hujson.Value, at *pointer, key string) int {
	for i, f := range s.fields {
		if f.key == key {
			return i
		}
		if f.was != "" && f.was == key {
			d.renamed(name, at, f.key)
			return i
		}
	}
	return -1
}

func (d *decoder) unknown(name *hujson.Value, at *pointer, key string, keys []string) {
	hint := ""
	if d.full() {
		keys = nil // nobody reads the hint
	}
	if near, ok := Nearest(key, keys); ok {
		hint = fmt.Sprintf("did you mean %q?", near)
	}
	d.report(name, at, Problem{Found: "the unknown key " + clip(strconv.Quote(key)), Expected: "one of " + strings.Join(keys, ", "), Hint: hint})
}

func (d *decoder) table(v *hujson.Value, path *pointer, target reflect.Value, r *rule) {
	object, ok := v.Value.(*hujson.Object)
	if !ok {
		d.mismatch(v, path, "an object")
		return
	}
	target.Set(reflect.MakeMapWithSize(target.Type(), len(object.Members)))
	for i := range object.Members {
		name, value := &object.Members[i].Name, &object.Members[i].Value
		key := reflect.ValueOf(unquote(name.Value.(hujson.Literal)))
		at := &pointer{path, key.String()}
		if target.MapIndex(key).IsValid() {
			d.report(name, at, twice())
			continue
		}
		entry := reflect.New(target.Type().Elem()).Elem()
		d.element(value, at, entry, r)
		target.SetMapIndex(key, entry)
	}
}

func (d *decoder) list(v *hujson.Value, path *pointer, target reflect.Value, r *rule) {
	array, ok := v.Value.(*hujson.Array)
	if !ok {
		d.mismatch(v, path, expected(target.Type(), r))
		return
	}
	if len(array.Elements) < r.minItems {
		d.report(v, path, Problem{Found: "an empty list", Expected: expected(target.Type(), r)})
	}
	target.Set(reflect.MakeSlice(target.Type(), len(array.Elements), len(array.Elements)))
	var seen map[string]bool
	if r.unique {
		seen = map[string]bool{}
	}
	for i := range array.Elements {
		element, at, into := &array.Elements[i], &pointer{path, strconv.Itoa(i)}, target.Index(i)
		d.element(element, at, into, r)
		if r.unique && isText(element) {
			if seen[into.String()] {
				d.report(element, at, Problem{Found: found(element) + " a second time", Expected: "each value once"})
			}
			seen[into.String()] = true
		}
	}
}

package document

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// shape is what a struct type says about the object it is decoded from.
type shape struct {
	fields []field
	keys   []string
}

type field struct {
	index int
	key   string // the key in the file
	was   string // the key's old name, or empty
	rule  rule
}

// rule is one field's `jsonschema` tag. Keywords that are not about a list hold for
// the list's elements, as they do in the editor schema.
type rule struct {
	required, unique     bool
	minItems             int
	minLength, maxLength int // code points after trimming; a maxLength of 0 is none
	minimum, maximum     *float64
	above                *float64 // exclusiveMinimum
	pattern              *regexp.Regexp
	url                  bool // format=uri: an https URL
	enum                 []string
	fallback             string // default
	expect               string // the `expect` tag: a pattern in words
}

// shapeOf reads the tags of a struct type, once per decoder.
func (d *decoder) shapeOf(t reflect.Type) *shape {
	if s, ok := d.shapes[t]; ok {
		return s
	}
	s := &shape{}
	d.shapes[t] = s
	for i := range t.NumField() {
		f := t.Field(i)
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if key == "-" || !f.IsExported() {
			continue
		}
		s.fields = append(s.fields, field{index: i, key: key, was: f.Tag.Get("was"), rule: d.parseRule(f.Tag)})
		s.keys = append(s.keys, key)
	}
	return s
}

func (d *decoder) parseRule(tag reflect.StructTag) rule {
	r := rule{expect: tag.Get("expect")}
	for keyword := range strings.SplitSeq(tag.Get("jsonschema"), ",") {
		name, value, _ := strings.Cut(keyword, "=")
		switch name {
		case "":
		case "required":
			r.required = true
		case "uniqueItems":
			r.unique = true
		case "minItems":
			r.minItems = int(number(value))
		case "minLength":
			r.minLength = int(number(value))
		case "maxLength":
			r.maxLength = int(number(value))
		case "minimum":
			r.minimum = new(number(value))
		case "maximum":
			r.maximum = new(number(value))
		case "exclusiveMinimum":
			r.above = new(number(value))
		case "pattern":
			r.pattern = d.compile(value)
		case "format":
			r.url = value == "uri"
		case "enum":
			r.enum = append(r.enum, value)
		case "default":
			r.fallback = value
		default:
			panic(fmt.Sprintf("document: the tag keyword %q is not known", name))
		}
	}
	return r
}

func (d *decoder) compile(pattern string) *regexp.Regexp {
	re, ok := d.patterns[pattern]
	if !ok {
		re = regexp.MustCompile(pattern)
		d.patterns[pattern] = re
	}
	return re
}

func number(s string) float64 {
	n, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(fmt.Sprintf("document: the tag value %q is not a number", s))
	}
	return n
}

package config

import (
	"bytes"
	"reflect"
	"regexp"
	"strings"

	"github.com/joho/godotenv"
)

// Source is what [Load] reads.
type Source struct {
	Mode     Mode
	Environ  []string // NAME=value, as [os.Environ] returns it
	DotEnv   []byte   // content of .env; nil without one
	Terminal bool     // whether a person reads the log: LOG_FORMAT is then text by default
}

// Origin says where a value in force comes from.
type Origin string

// The origins of a value.
const (
	Default     Origin = "default"
	DotEnv      Origin = ".env"
	Environment Origin = "environment"
)

// Problem is a sentence about one variable that says what to do.
type Problem struct {
	Variable string
	Sentence string // without the variable
}

// String is the whole sentence.
func (p Problem) String() string { return p.Variable + " " + p.Sentence }

// Problems are everything that is wrong with the environment, in the order of the
// variables in docs/spec/10-config.md.
type Problems []Problem

// Error lists the problems, one a line.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Load reads the environment. Its error is a [Problems], which ends with the misspelt
// names that would else be warnings: they explain why another variable is missing. It
// never quotes a secret. With problems, the Config has the defaults of the variables that
// have one: enough to look for what else is wrong, and nothing to start with.
func Load(source Source) (Config, error) {
	l := &loader{source: source, environment: map[string]string{}}
	for _, entry := range source.Environ {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			l.environment[name] = value
		}
	}
	l.readDotEnv()
	l.config.Mode = source.Mode
	l.group(reflect.ValueOf(&l.config).Elem())
	if l.config.Server.LogFormat == "" {
		l.config.Server.LogFormat = "json"
		if source.Terminal {
			l.config.Server.LogFormat = "text"
		}
	}
	l.check()
	l.config.values = l.values()
	misspelt := l.unknown()
	l.config.warnings = append(l.withoutEffect(), misspelt...)
	if len(l.problems) > 0 {
		l.restore()
		return l.config, append(l.sorted(), misspelt...)
	}
	return l.config, nil
}

type loader struct {
	source      Source
	environment map[string]string
	dotenv      map[string]string
	config      Config
	variables   []variable
	problems    Problems
}

// variable is one field of the Config.
type variable struct {
	name   string
	tag    reflect.StructTag
	field  reflect.Value
	origin Origin
	broken bool // what was set has no value of its type
}

// planned reports whether nothing uses the variable yet.
func (v variable) planned() bool { return v.tag.Get("planned") != "" }

func (l *loader) problem(name, sentence string) {
	l.problems = append(l.problems, Problem{name, sentence})
}

// readDotEnv keeps the parser's own error to itself: it quotes the file.
func (l *loader) readDotEnv() {
	text := bytes.TrimPrefix(l.source.DotEnv, []byte("\ufeff"))
	values, err := godotenv.UnmarshalBytes(text)
	if err != nil {
		l.problem(".env", "cannot be read: write one NAME=value a line, and close every quote")
	}
	for _, found := range expanded.FindAllSubmatch(text, -1) {
		l.problem(string(found[1]), "holds a $ in .env, which begins a reference there and would cut the value short: put the value in single quotes")
	}
	l.dotenv = values
}

// expanded finds the values that the parser would expand: unquoted or in double quotes,
// with a $ in them.
var expanded = regexp.MustCompile(`(?m)^[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*(?:"[^"\n]*\$|[^'"#\s][^#\n]*\$|\$)`)

// lookup finds a variable, without the white space around it: files of secrets end in a
// line break. One that is empty then counts as unset.
func (l *loader) lookup(name string) (string, Origin) {
	if value := strings.TrimSpace(l.environment[name]); value != "" {
		return value, Environment
	}
	if value := strings.TrimSpace(l.dotenv[name]); value != "" {
		return value, DotEnv
	}
	return "", Default
}

// group fills a struct of variables, and the structs in it.
func (l *loader) group(target reflect.Value) {
	for i := range target.NumField() {
		tag := target.Type().Field(i).Tag
		switch name := tag.Get("env"); {
		case name != "":
			l.variable(name, tag, target.Field(i))
		case target.Type().Field(i).IsExported() && target.Field(i).Kind() == reflect.Struct:
			l.group(target.Field(i))
		}
	}
}

func (l *loader) variable(name string, tag reflect.StructTag, field reflect.Value) {
	text, origin := l.lookup(name)
	l.variables = append(l.variables, variable{name: name, tag: tag, field: field, origin: origin})
	if text == "" {
		text = l.fallback(tag)
	}
	if text == "" {
		if tag.Get("need") == string(l.source.Mode) {
			l.problem(name, "is required: set it in .env or in the environment")
		}
		return
	}
	if err := set(field, tag, text); err != nil {
		l.variables[len(l.variables)-1].broken = true
		l.problem(name, err.Error())
	}
}

// fallback is the default of a variable in the mode; empty: there is none.
func (l *loader) fallback(tag reflect.StructTag) string {
	if dev := tag.Get("dev"); l.source.Mode != Serve && dev != "" {
		return dev
	}
	return tag.Get("default")
}

// restore gives every variable with a problem its default.
func (l *loader) restore() {
	for _, v := range l.variables {
		if !l.wrong(v.name) {
			continue
		}
		v.field.SetZero()
		if text := l.fallback(v.tag); text != "" {
			_ = set(v.field, v.tag, text) // a default is valid
		}
	}
}

// parser is a variable's type that knows its own form. The error continues a sentence
// that begins with the variable's name.
type parser interface{ parse(text string) error }

func set(field reflect.Value, tag reflect.StructTag, text string) error {
	if p, ok := field.Addr().Interface().(parser); ok {
		return p.parse(text)
	}
	switch field.Kind() {
	case reflect.Bool:
		return setBool(field, text)
	case reflect.Int, reflect.Int64:
		return setInteger(field, tag, text)
	case reflect.Float64:
		return setFloat(field, tag, text)
	case reflect.Slice:
		return setList(field, text)
	}
	return setText(field, tag, text)
}

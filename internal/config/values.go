package config

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// Value is what one variable is set to.
type Value struct {
	Name    string `json:"name"`
	Value   string `json:"value"` // as it may be set, but secrets and passwords masked; empty when there is none
	Origin  Origin `json:"from"`
	Planned bool   `json:"planned,omitempty"` // it has no effect in this version
}

// notValid stands for a value that has not the form of its variable: it may hold a
// secret.
const notValid = "(not valid)"

// Values lists every variable, in the order of docs/spec/10-config.md.
func (c Config) Values() []Value { return c.values }

// Set reports whether a variable is set in the environment or in .env, valid or not.
func (c Config) Set(name string) bool {
	return slices.ContainsFunc(c.values, func(v Value) bool { return v.Name == name && v.Origin != Default })
}

// Warnings are sentences about variables that are set and have no effect, and about
// names that look like ours and are none.
func (c Config) Warnings() Problems { return c.warnings }

// Print writes every variable as a table: name, value, origin.
func (c Config) Print(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range c.values {
		value := v.Value
		if value == "" {
			value = "-"
		}
		note := ""
		if v.Planned {
			note = "; no effect in this version"
		}
		fmt.Fprintf(table, "%s\t%s\t%s%s\n", v.Name, value, v.Origin, note)
	}
	return table.Flush()
}

// Names lists every variable, in the order of docs/spec/10-config.md.
func Names() []string {
	var l loader
	l.group(reflect.ValueOf(&l.config).Elem())
	names := make([]string, len(l.variables))
	for i, v := range l.variables {
		names[i] = v.name
	}
	return names
}

func (l *loader) values() []Value {
	values := make([]Value, len(l.variables))
	for i, v := range l.variables {
		values[i] = Value{v.name, v.show(), v.origin, v.planned()}
	}
	return values
}

// show is a value as it would be written in the environment, but masked.
func (v variable) show() string {
	if v.broken {
		return notValid
	}
	switch value := v.field.Interface().(type) {
	case time.Duration:
		return strconv.FormatInt(int64(value/units[v.tag.Get("unit")].length), 10)
	case bool:
		return switched(value, v.tag.Get("default"))
	case []string:
		return strings.Join(value, ",")
	default:
		return fmt.Sprint(value)
	}
}

// switched writes a switch in the words of its default.
func switched(on bool, fallback string) string {
	switch {
	case fallback != "on" && fallback != "off":
		return strconv.FormatBool(on)
	case on:
		return "on"
	}
	return "off"
}

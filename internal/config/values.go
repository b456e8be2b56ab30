package config

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"text/tabwriter"
	"time"
)

// Value is one variable in force.
type Value struct {
	Name   string
	Value  string // secrets and passwords masked; empty when there is none
	Origin Origin
}

// Values lists every variable in force, in the order of docs/spec/10-config.md,
// secrets masked.
func (c Config) Values() []Value { return c.values }

// Warnings are sentences about variables that look like ours and are none.
func (c Config) Warnings() Problems { return c.warnings }

// Print writes every variable in force as a table: name, value, origin.
func (c Config) Print(w io.Writer) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, v := range c.values {
		value := v.Value
		if value == "" {
			value = "-"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", v.Name, value, v.Origin)
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
		values[i] = Value{v.name, show(v.field), v.origin}
	}
	return values
}

// show is a value as it would be written in the environment, but masked.
func show(field reflect.Value) string {
	switch value := field.Interface().(type) {
	case time.Duration:
		return value.String()
	case []string:
		return strings.Join(value, ",")
	default:
		return fmt.Sprint(value)
	}
}

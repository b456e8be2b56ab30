package config

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// units are the units that durations are written in.
var units = map[string]struct {
	length time.Duration
	name   string
}{
	"ms":   {time.Millisecond, "milliseconds"},
	"min":  {time.Minute, "minutes"},
	"days": {24 * time.Hour, "days"},
}

func setBool(field reflect.Value, text string) error {
	switch strings.ToLower(text) {
	case "true", "on", "yes", "1":
		field.SetBool(true)
	case "false", "off", "no", "0":
		field.SetBool(false)
	default:
		return fmt.Errorf("is %q: set it to true or false (on and off do too)", text)
	}
	return nil
}

// setInteger sets a whole number, or a duration that is written as one.
func setInteger(field reflect.Value, tag reflect.StructTag, text string) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || float64(n) < bound(tag, "min") || float64(n) > bound(tag, "max") {
		return outOfRange("whole number", tag, text)
	}
	if unit, ok := units[tag.Get("unit")]; ok {
		n *= int64(unit.length)
	}
	field.SetInt(n)
	return nil
}

func setFloat(field reflect.Value, tag reflect.StructTag, text string) error {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= bound(tag, "min") && n <= bound(tag, "max")) {
		return outOfRange("number", tag, text)
	}
	field.SetFloat(n)
	return nil
}

func outOfRange(noun string, tag reflect.StructTag, text string) error {
	unit := ""
	if u, ok := units[tag.Get("unit")]; ok {
		unit = " (" + u.name + ")"
	}
	return fmt.Errorf("is %q: set it to a %s from %s to %s%s", text, noun, tag.Get("min"), tag.Get("max"), unit)
}

// bound reads a tag; every number has both.
func bound(tag reflect.StructTag, key string) float64 {
	n, err := strconv.ParseFloat(tag.Get(key), 64)
	if err != nil {
		panic(fmt.Sprintf("config: the tag %s of %s is not a number", key, tag.Get("env")))
	}
	return n
}

// setList splits a comma-separated list.
func setList(field reflect.Value, text string) error {
	var parts []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	field.Set(reflect.ValueOf(parts))
	return nil
}

func setText(field reflect.Value, tag reflect.StructTag, text string) error {
	if enum := tag.Get("enum"); enum != "" && !slices.Contains(strings.Split(enum, ","), text) {
		return fmt.Errorf("is %q: set it to one of %s", text, strings.ReplaceAll(enum, ",", ", "))
	}
	if pattern := tag.Get("pattern"); pattern != "" && !regexp.MustCompile(pattern).MatchString(text) {
		return fmt.Errorf("is %q: set it to %s", text, tag.Get("expect"))
	}
	field.SetString(text)
	return nil
}

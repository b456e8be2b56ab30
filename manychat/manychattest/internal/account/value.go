package account

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// The layouts of dates and times (platform notes, 1.6 and 3.1). The public API
// wants the contact's offset, an action of a Dynamic Block wants UTC with
// milliseconds.
const (
	DateLayout      = "2006-01-02"
	APITimeLayout   = "2006-01-02T15:04:05-07:00"
	BlockTimeLayout = "2006-01-02T15:04:05.000Z"
)

// ParseValue reads a field value from JSON. null clears and gives nil. layout is
// the form of a datetime: [APITimeLayout] or [BlockTimeLayout].
func ParseValue(t phone.FieldType, raw json.RawMessage, layout string) (any, error) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, fmt.Errorf("reading a field value: %w", err)
	}
	if v == nil {
		return nil, nil
	}
	if s, ok := v.(string); ok && t == phone.DateTime {
		if _, err := time.Parse(layout, s); err != nil {
			return nil, ErrBadValue
		}
		return s, nil
	}
	if !fits(t, v) {
		return nil, ErrBadValue
	}
	return v, nil
}

// ConvertValue reads a field value from text, as a flow's own "set field" does.
// An empty text gives nil, which clears.
func ConvertValue(t phone.FieldType, text string) (any, error) {
	if text == "" {
		return nil, nil
	}
	var v any = text
	var err error
	switch t {
	case phone.Number:
		v, err = strconv.ParseFloat(text, 64)
	case phone.Boolean:
		v, err = strconv.ParseBool(text)
	}
	if err != nil || !fits(t, v) {
		return nil, ErrBadValue
	}
	return v, nil
}

func fits(t phone.FieldType, v any) bool {
	switch v := v.(type) {
	case float64:
		return t == phone.Number
	case bool:
		return t == phone.Boolean
	case string:
		switch t {
		case phone.Text:
			return true
		case phone.Date:
			_, err := time.Parse(DateLayout, v)
			return err == nil
		case phone.DateTime:
			_, err := time.Parse(time.RFC3339Nano, v)
			return err == nil
		}
	}
	return false
}

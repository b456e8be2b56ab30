package wire

import (
	"math"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// lenient reads JSON as servers write it; text that is not valid becomes U+FFFD.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// Read reads one JSON value as servers write it: with a name that is there twice, or with
// text that is not valid, which becomes U+FFFD.
func Read(data []byte, into any) error { return json.Unmarshal(data, into, lenient) }

// String is a JSON string; any other value is an empty one.
type String string

func (s *String) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*s = ""
	value, err := dec.ReadValue()
	if err != nil || value.Kind() != '"' {
		return err
	}
	return Read(value, (*string)(s))
}

// Count is a number of tokens; what is none, or below 0, is 0.
type Count int64

// maxCount is beyond what any call uses, and small enough to be added up.
const maxCount = math.MaxInt32

func (c *Count) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	*c = 0
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if n, err := strconv.ParseFloat(string(value), 64); err == nil && n > 0 {
		*c = Count(min(n, maxCount))
	}
	return nil
}

// IsSet reports whether a member of an object is there, and not null.
func IsSet(v jsontext.Value) bool { return len(v) > 0 && v.Kind() != 'n' }

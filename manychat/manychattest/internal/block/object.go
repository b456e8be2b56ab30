package block

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// object is a JSON object with a place in the block, for messages. The zero keys
// mean that it was absent.
type object struct {
	r     *reader
	place string
	keys  map[string]json.RawMessage
}

func (r *reader) object(place string, data []byte) object {
	o := object{r: r, place: place}
	if err := json.Unmarshal(data, &o.keys); err != nil || o.keys == nil {
		r.refuse("%s must be an object", place)
		o.keys = map[string]json.RawMessage{}
	}
	return o
}

func (o object) missing() bool { return o.keys == nil }

func (o object) has(key string) bool {
	v, ok := o.keys[key]
	return ok && string(v) != "null"
}

// only notes every key that ManyChat does not know here.
func (o object) only(known ...string) {
	for _, key := range slices.Sorted(maps.Keys(o.keys)) {
		switch {
		case slices.Contains(known, key):
		case o.r.rules.RefuseUnknownKeys:
			o.r.refuse("unknown key %q in %s", key, o.place)
		default:
			o.r.warn("unknown key %q in %s is ignored", key, o.place)
		}
	}
}

func (o object) text(key string) string {
	if !o.has(key) {
		o.r.refuse("%s of %s is required", key, o.place)
		return ""
	}
	return o.optionalText(key)
}

func (o object) optionalText(key string) string {
	if !o.has(key) {
		return ""
	}
	var s string
	if json.Unmarshal(o.keys[key], &s) != nil {
		o.r.refuse("%s of %s must be a string", key, o.place)
	}
	return s
}

func (o object) optionalNumber(key string, otherwise float64) float64 {
	if !o.has(key) {
		return otherwise
	}
	var n float64
	if json.Unmarshal(o.keys[key], &n) != nil || n < 1 {
		o.r.refuse("%s of %s must be a number from 1 up", key, o.place)
	}
	return n
}

func (o object) child(key string) object {
	if !o.has(key) {
		o.r.refuse("%s of %s is required", key, o.place)
		return object{r: o.r, place: key, keys: map[string]json.RawMessage{}}
	}
	return o.optionalChild(key)
}

func (o object) optionalChild(key string) object {
	if !o.has(key) {
		return object{r: o.r, place: key}
	}
	return o.r.object(key, o.keys[key])
}

// list reads an array of at most limit objects; tooMany is the refusal above it.
func (o object) list(key, tooMany string, limit int) []object {
	if !o.has(key) {
		return nil
	}
	var raw []json.RawMessage
	if json.Unmarshal(o.keys[key], &raw) != nil {
		o.r.refuse("%s of %s must be an array", key, o.place)
		return nil
	}
	if len(raw) > limit {
		o.r.refuse("%s", tooMany)
		return nil
	}
	list := make([]object, len(raw))
	for i, data := range raw {
		list[i] = o.r.object("an element of "+key, data)
	}
	return list
}

// secureURL reads an https URL.
func (o object) secureURL(key string) string {
	u := o.text(key)
	if !strings.HasPrefix(u, "https://") {
		o.r.refuse("%s of %s must be an https URL", key, o.place)
	}
	return u
}

// request reads what the two callbacks have in common.
func (r *reader) request(o object) *phone.Callback {
	cb := &phone.Callback{URL: o.secureURL("url"), Method: strings.ToUpper(o.text("method"))}
	switch cb.Method {
	case "GET", "POST", "PUT", "DELETE":
	default:
		r.refuse("method of %s must be get, post, put or delete", o.place)
	}
	if headers := o.optionalChild("headers"); !headers.missing() {
		cb.Headers = make(map[string]string, len(headers.keys))
		for name := range headers.keys {
			cb.Headers[name] = headers.optionalText(name)
		}
	}
	if o.has("payload") {
		o.optionalChild("payload") // must be an object
		cb.Payload = o.keys["payload"]
	}
	return cb
}

func seconds(n float64) time.Duration {
	return time.Duration(min(n, maxCallback) * float64(time.Second))
}

package body

import "strings"

// maxPlaces bounds the work. The longest text that a channel carries, 4096 characters,
// has no room for more places of the shortest form, `,"text":`, beside the nine keys
// of the template.
const maxPlaces = MaxText/len(`,"text":`) + int(keyCount)

// place is where a key can stand in a body that is not JSON.
type place struct {
	key   key
	comma int  // offset of the comma before it, or of the opening brace
	value int  // offset of its value
	fits  bool // the value that runs to the next place looks like one of the key
}

// repair reads a body that is not JSON, if its readings agree.
func repair(body string) (values, *Problem) {
	p := places(body)
	if len(p) > maxPlaces {
		return values{}, ambiguous(text)
	}
	r := newReadings(body, p)
	v, ok := r.best()
	if !ok {
		return values{}, notJSON()
	}
	if k, differ := r.survey().differ(v); differ {
		return values{}, ambiguous(k)
	}
	return v, nil
}

// places finds every place where a key can stand. There are none in a body that does not
// begin with a brace and a key.
func places(body string) []place {
	var found []place
	start := len(body) - len(strings.TrimLeft(strings.TrimPrefix(body, "\ufeff"), white))
	for i := start; i < len(body); i++ {
		if body[i] != '"' {
			continue
		}
		p, ok := placeAt(body, i)
		behind := body[p.comma] == ','
		if len(found) == 0 {
			behind = p.comma == start && body[start] == '{'
		}
		if ok && behind {
			found = append(found, p)
		}
		if len(found) == 0 || len(found) > maxPlaces {
			break
		}
	}
	return found
}

// placeAt looks at a quote: whether a key and a colon stand there behind a comma or a brace.
func placeAt(body string, quote int) (place, bool) {
	before := strings.TrimRight(body[:quote], white)
	if !strings.HasSuffix(before, ",") && !strings.HasSuffix(before, "{") {
		return place{}, false
	}
	for k := range keyCount {
		rest, ok := strings.CutPrefix(body[quote+1:], k.String()+`"`)
		if !ok {
			continue
		}
		rest, ok = strings.CutPrefix(strings.TrimLeft(rest, white), ":")
		value := len(body) - len(strings.TrimLeft(rest, white))
		return place{key: k, comma: len(before) - 1, value: value}, ok
	}
	return place{}, false
}

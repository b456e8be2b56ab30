package body

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/contact"
)

// The hours of a pause.
const (
	MaxHours     = 720
	DefaultHours = 24
)

// The keys of the body that pauses a conversation.
const (
	pauseID    = "subscriber_id"
	pauseHours = "hours"
)

// Pausing is what the body of a pause says.
type Pausing struct {
	SubscriberID contact.SubscriberID
	Hours        float64 // 0: the agent goes on
}

// PauseKeys lists the keys that [Pause] takes. It refuses every other one.
func PauseKeys() []Key {
	return []Key{{Name: pauseID, Kind: ID}, {Name: pauseHours, Kind: Hours}}
}

// Pause reads the body of a pause. It holds nothing that a contact wrote, so that a body which
// is not JSON is not repaired.
func Pause(data []byte) (Pausing, *Problem) {
	if !utf8.Valid(data) {
		return Pausing{}, notUTF8()
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(data))
	if kind := dec.PeekKind(); kind != '{' && kind != jsontext.KindInvalid {
		return Pausing{}, notAnObject()
	}
	if _, err := dec.ReadToken(); err != nil {
		return Pausing{}, notJSON()
	}
	p, id := Pausing{Hours: DefaultHours}, field{}
	for dec.PeekKind() != '}' {
		if bad := p.member(dec, &id); bad != nil {
			return Pausing{}, bad
		}
	}
	if _, parsed := nesting(data); !parsed {
		return Pausing{}, notJSON()
	}
	var bad *Problem
	p.SubscriberID, bad = identify(id)
	return p, bad
}

// member reads one key and its value.
func (p *Pausing) member(dec *jsontext.Decoder, id *field) *Problem {
	name, err := dec.ReadToken()
	if err != nil {
		return malformed(err)
	}
	key := name.String()
	if key != pauseID && key != pauseHours {
		return invalid(key, "not a key of this request: it takes subscriber_id and hours")
	}
	kind := dec.PeekKind()
	if kind == '{' || kind == '[' {
		kind = 0
	} else if name, err = dec.ReadToken(); err != nil {
		return notJSON()
	}
	if key == pauseID {
		*id = field{given: kind != 'n'}
		if kind == '"' || kind == '0' {
			id.value = name.String()
		} else if kind != 'n' {
			_, bad := identify(*id)
			return bad
		}
		return nil
	}
	return p.hours(kind, name)
}

// hours reads how long a pause is.
func (p *Pausing) hours(kind jsontext.Kind, value jsontext.Token) (bad *Problem) {
	const wrong = "must be a number from 0 to 720, without quotes: 0 lets the agent go on, and without the key it is 24"
	if kind != '0' {
		return invalid(pauseHours, wrong)
	}
	hours, err := strconv.ParseFloat(value.String(), 64)
	if err != nil || hours < 0 || hours > MaxHours {
		return invalid(pauseHours, wrong)
	}
	p.Hours = hours
	return nil
}

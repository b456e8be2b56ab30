package body

// Kind is what the value of a key may be.
type Kind uint8

// The kinds. An id is refused unless it is digits, as a string or as an integer.
const (
	ID       Kind = iota // required
	Text                 // a string, required
	Optional             // a string or null, and the key may be left out
	Lenient              // anything, and the key may be left out: what does not fit is passed over
	Hours                // a number from 0 to [MaxHours], and the key may be left out
)

// Key is a key of a body, as far as it can be described without the code that reads it.
type Key struct {
	Name     string
	Kind     Kind
	MaxChars int // code points; a longer value is refused; 0: any number
}

// MessageKeys lists the keys that [Message] takes. It refuses every other one in a body
// that is JSON.
func MessageKeys() []Key {
	keys := make([]Key, 0, keyCount)
	for k := range keyCount {
		keys = append(keys, Key{Name: k.String(), Kind: k.kind(), MaxChars: k.limit()})
	}
	return keys
}

// The keys of a Full Contact Data object that are read.
const (
	contactID        = "id"
	contactText      = "last_input_text"
	contactFirstName = "first_name"
	contactFields    = "custom_fields"
)

// FullContactKeys lists the keys that [FullContact] reads. It passes over every other one.
func FullContactKeys() []Key {
	return []Key{
		{Name: contactID, Kind: ID},
		{Name: contactText, Kind: Lenient},
		{Name: contactFirstName, Kind: Lenient},
		{Name: contactFields, Kind: Lenient},
	}
}

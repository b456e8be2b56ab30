package body

// key is one of the keys that the body of a message may have
// (docs/spec/02-inbound.md, "Request body").
type key uint8

// The keys.
const (
	subscriberID key = iota
	text
	aiToken
	course
	offering
	channel
	firstName
	lastName
	locale
	keyCount // how many there are
)

// String is the key as it is written in a body.
func (k key) String() string {
	return [keyCount]string{"subscriber_id", "text", "ai_token", "course", "offering", "channel", "first_name", "last_name", "locale"}[k]
}

// keyOf finds a key by its exact name.
func keyOf(name string) (key, bool) {
	for k := range keyCount {
		if k.String() == name {
			return k, true
		}
	}
	return 0, false
}

// kind is what its value may be.
func (k key) kind() Kind {
	switch k {
	case subscriberID:
		return ID
	case text:
		return Text
	}
	return Optional
}

// limit is how many code points its value may have; 0: any number.
func (k key) limit() int {
	switch k {
	case aiToken, course, offering:
		return maxField
	}
	return 0
}

// pinned reports whether a contact has no say in the value of a key: ManyChat, this
// service or the operator fills it. Everything else can be a contact's own words, also
// their name, and a field that a flow asked them for.
func (k key) pinned() bool { return k == subscriberID || k == aiToken || k == channel }

// weighed reports whether the readings of a body must agree on a key.
func (k key) weighed() bool { return k.pinned() || k == offering || k == course }

// keySet is a set of keys, one bit each.
type keySet uint16

// keySets is how many sets of keys there are.
const keySets = 1 << keyCount

func (s keySet) has(k key) bool    { return s&(1<<k) != 0 }
func (s keySet) with(k key) keySet { return s | 1<<k }

// complete reports whether a body with these keys says who wrote what.
func (s keySet) complete() bool { return s.has(subscriberID) && s.has(text) }
